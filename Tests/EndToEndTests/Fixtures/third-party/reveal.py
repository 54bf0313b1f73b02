"""Opens every sealed exam of a folder that `ledger reveal` wrote, as FORMATS.md describes it.

Usage: reveal.py FOLDER. Nothing of the project is used: HMAC and JSON of the standard library, AES-GCM of
`cryptography`, a Merkle tree of a dozen lines. Prints a line for each check; ends with 1 at the first
that goes wrong.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import sys
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

SCHEMA = "invigilator.sealed-outcomes/1"

folder = Path(sys.argv[1])
key = (folder / "reveal.key").read_bytes()
rows = [json.loads(line) for line in (folder / "ledger.jsonl").read_bytes().splitlines()[1:-1]]
genesis = next(row["body"] for row in rows if row["kind"] == "genesis")


def check(name: str, holds: bool) -> None:
    print(f"{'ok' if holds else 'WRONG'}: {name}", flush=True)
    if not holds:
        sys.exit(1)


def canonical(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def derived(purpose: str, context: bytes) -> bytes:
    return hmac.digest(key, purpose.encode() + b"\0" + context, "sha256")


def root(leaves: list[bytes]) -> bytes:
    """RFC 6962, section 2.1."""
    if len(leaves) == 1:
        return hashlib.sha256(b"\0" + leaves[0]).digest()
    half = 1
    while half * 2 < len(leaves):
        half *= 2
    return hashlib.sha256(b"\1" + root(leaves[:half]) + root(leaves[half:])).digest()


def opened(identity: bytes, file: bytes) -> dict:
    cipher = AESGCM(derived("invigilator.reveal.cipher/1", identity))
    return json.loads(cipher.decrypt(file[:12], file[12:], identity))


def refuses(identity: bytes, file: bytes) -> bool:
    try:
        opened(identity, file)
    except InvalidTag:
        return True
    return False


def figures(leaves: list[dict], arm: str, count: int) -> tuple[float, int]:
    earned = [leaf.get("reward_millionths", 0) for leaf in leaves if leaf["arm"] == arm]
    check(f"it has {count} outcomes of the {arm}", len(earned) == count)
    return sum(earned) / (count * 1_000_000), sum(reward >= 500_000 for reward in earned)


def exam(started: dict, ended: dict) -> None:
    body, begun = ended["body"], started["body"]
    identity = canonical(
        {
            "digest": begun["digest"],
            "exam": started["sequence"],
            "experiment": genesis["experiment"],
            "iteration": begun["iteration"],
            "purpose": begun["purpose"],
            "schema": SCHEMA,
        }
    )
    file = (folder / "sealed" / f"{started['sequence']}.bin").read_bytes()
    found = opened(identity, file)
    check(f"row {ended['sequence']} is opened", found["schema"] == SCHEMA)
    changed = file[:-1] + bytes([file[-1] ^ 1])
    check("and not with a byte changed", refuses(identity, changed))
    check("nor as another exam's", refuses(identity.replace(b'"exam":', b'"exam":9'), file))
    seed, *outcomes = found["leaves"]
    check("it has a seed", len(bytes.fromhex(seed["seed"])) == 8)
    places = [(leaf["arm"], leaf["trial"], leaf["task"]) for leaf in outcomes]
    check("its leaves are in order", places == sorted(set(places)))
    hashes = []
    for index, leaf in enumerate(found["leaves"]):
        salt = derived("invigilator.reveal.salt/1", identity + b"\0" + index.to_bytes(8, "big"))
        hashes.append(hmac.digest(salt, canonical(leaf), "sha256"))
    check("its root is the row's", root(hashes).hex() == body["sealed_root"])
    count = body["count"] * body.get("trials", 1)
    mean, passed = figures(outcomes, "candidate", count)
    if "mean" in body:
        check("its mean is the row's", abs(mean - body["mean"]) < 1e-12)
        check("and so are its passes", passed == body["passed"])
    if "incumbent_mean" in body:
        mean, _ = figures(outcomes, "incumbent", count)
        check("so is the incumbent's mean", abs(mean - body["incumbent_mean"]) < 1e-12)


def split() -> None:
    opening = json.loads((folder / "sealed" / "split.json").read_bytes())
    sides = {"test": opening["test"], "train": opening["train"]}
    tasks = canonical(sides | ({"final": opening["final"]} if opening["final"] else {}))
    salted = b"invigilator split commitment v1\n" + base64.b64decode(opening["salt"]) + tasks
    check("the split is the one committed to", hashlib.sha256(salted).hexdigest() == genesis["split"]["commitment"])
    check("of these train tasks", opening["train"] == genesis["split"]["train"])


check("the key is the one of the genesis row", hashlib.sha256(key).hexdigest() == genesis["reveal_digest"])
split()
started: dict = {}
exams = 0
for row in rows:
    if row["kind"] == "exam-started":
        started = row
    elif row["kind"] == "exam-ended" and row["body"]["split"] == "test":
        exam(started, row)
        exams += 1
check(f"{exams} sealed exams were opened", exams > 0)
