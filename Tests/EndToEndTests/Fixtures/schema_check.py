"""Holds the schema of policies against their reader, over documents spoilt by a seed.

Usage: schema_check.py INVIGILATOR POLICIES SEED COUNT DIRECTORY

What the reader takes, the schema must take; and a key that is unknown or absent, or a value of another
kind, both must refuse. Prints one line a contradiction, and last the counts.
"""

import copy
import json
import random
import subprocess
import sys
from pathlib import Path

import jsonschema
import yaml

VALUES = [[], {}, [1], {"a": 1}, 0, 1, 7, -1, 2**40, 1.5, True, None, "", "x", "1GiB", "7m", "/x"]
OTHER_KIND = {
    str: [[], {}, [1], {"a": 1}], list: ["x", {"a": 1}, True], dict: ["x", [1], True],
    bool: [[], {}, [1]], int: [[], {}, "x", True],
}


def places(node, parents=()):
    """Every (container, key) of a document, with the containers above it."""
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in list(items):
        yield node, key
        if isinstance(value, (dict, list)):
            yield from places(value)


def is_known(container, key):
    """Whether a mapping has keys of the reader's and not of the author's."""
    return isinstance(container, dict) and isinstance(key, str) and not (
        key.startswith("/") or key.isupper() or "." in key or key == "MALLOC_MMAP_THRESHOLD_"
    )


def spoil(document, generator):
    """One change; the document, and whether both must refuse it."""
    spoilt = copy.deepcopy(document)
    container, key = generator.choice(list(places(spoilt)))
    way = generator.randrange(4)
    if way == 0 and is_known(container, key):
        container["unknown-" + key] = 1
        return spoilt, True
    if way == 1 and isinstance(container, dict):
        del container[key]
        return spoilt, False
    if way == 2 and type(container[key]) in OTHER_KIND:
        container[key] = generator.choice(OTHER_KIND[type(container[key])])
        return spoilt, True
    container[key] = generator.choice(VALUES)
    return spoilt, False


def main(program, policies, seed, count, directory):
    generator = random.Random(int(seed))
    schema = json.loads(subprocess.run([program, "policy", "schema"], stdout=subprocess.PIPE, check=True).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    shipped = [yaml.safe_load(file.read_text()) for file in sorted(Path(policies).glob("*.yaml"))]
    documents = [(document, False) for document in shipped]
    documents += [spoil(generator.choice(shipped), generator) for _ in range(int(count))]
    paths = []
    for index, (document, _) in enumerate(documents):
        path = Path(directory) / f"{index}.yaml"
        path.write_text(yaml.safe_dump(document, sort_keys=False))
        paths.append(str(path))
    done = subprocess.run(
        [program, "policy", "check", "--json", "--directory", policies, *paths], stdout=subprocess.PIPE
    )
    refused = {}
    for problem in json.loads(done.stdout)["problems"]:
        if problem["operation"] == "read a policy":
            refused.setdefault(problem["policy"], []).append(f"{problem['key']}: {problem['reason']}")
    taken = wrong = 0
    for path, (document, must_refuse) in zip(paths, documents):
        # JSON has texts as keys.
        valid = validator.is_valid(json.loads(json.dumps(document)))
        taken += path not in refused
        if path not in refused and not valid:
            wrong += 1
            fault = jsonschema.exceptions.best_match(validator.iter_errors(json.loads(json.dumps(document))))
            print(f"{path}: the reader takes it, the schema does not: {fault.json_path}: {fault.message}")
        if must_refuse and (valid or path not in refused):
            wrong += 1
            print(f"{path}: must be refused; schema {valid}, reader {refused.get(path)}")
    print(f"documents {len(documents)}, taken {taken}, wrong {wrong}")


if __name__ == "__main__":
    main(*sys.argv[1:])
