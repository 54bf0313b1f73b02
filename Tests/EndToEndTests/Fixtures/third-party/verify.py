"""Verifies checkpoints, proofs and an attestation with programs that others wrote.

Usage: verify.py FOLDER, which holds export old.checkpoint new.checkpoint row.proof growth.request
attestation.json key.pem key.vkey agent.py, and row (a number).

Each check is made twice: as it stands, and with something changed, which must be refused. Prints a
line for each; ends with 1 at the first that goes wrong.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pymerkle
from aics_tlog import cli as aics
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from google.protobuf import json_format
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.statement import Statement
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import SSlibKey

folder = Path(sys.argv[1])


def text(name: str) -> str:
    return (folder / name).read_text("utf-8")


def check(name: str, holds: bool) -> None:
    print(f"{'ok' if holds else 'WRONG'}: {name}", flush=True)
    if not holds:
        sys.exit(1)


def tlog(*words: str) -> bool:
    """Whether the transparency log's verifier says yes."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return aics.main([str(word) for word in words]) == 0


def changed(name: str, change: Callable[[str], str]) -> Path:
    """A copy of a file that differs."""
    other = change(text(name))
    assert other != text(name), name
    path = folder / f"changed-{name}"
    path.write_text(other, "utf-8")
    return path


def head(note: str) -> tuple[str, int, str]:
    origin, size, root = note.split("\n")[:3]
    return origin, int(size), root


def rows() -> list[bytes]:
    """The leaves: the lines of an export between header and footer."""
    lines = (folder / "export").read_bytes().split(b"\n")
    assert lines.pop() == b""
    return lines[1:-1]


def checkpoints() -> None:
    key = ("--vkey-file", folder / "key.vkey")
    for name in ("old.checkpoint", "new.checkpoint"):
        check(f"aics-tlog takes {name}", tlog("verify-checkpoint", "--note", folder / name, *key))
        _, size, _ = head(text(name))
        other = changed(name, lambda note, size=size: note.replace(f"\n{size}\n", f"\n{size + 1}\n", 1))
        check("and not one of another size", not tlog("verify-checkpoint", "--note", other, *key))


def trees() -> None:
    leaves = rows()
    tree = pymerkle.InmemoryTree(algorithm="sha256")
    states = [tree.get_root()]
    for leaf in leaves:
        tree.append_entry(leaf)
        states.append(tree.get_root())
    for name in ("old.checkpoint", "new.checkpoint"):
        _, size, root = head(text(name))
        check(f"pymerkle has the root of {name}", states[size] == base64.b64decode(root))
        check("and another one a row earlier", states[size - 1] != base64.b64decode(root))


def inclusion() -> None:
    row = int(text("row"))
    proof, _, note = text("row.proof").partition("\n\n")
    first, index, *hashes = proof.split("\n")
    check("the proof has the form of tlog-proof", first == "c2sp.org/tlog-proof@v1")
    check("and is of the row", index == f"index {row - 1}")
    (folder / "hashes").write_text("\n".join(hashes), "utf-8")
    (folder / "note").write_text(note, "utf-8")
    (folder / "leaves").write_bytes(b"\n".join(rows()) + b"\n")

    def proven(line: int) -> bool:
        return tlog(
            "verify-inclusion", "--leaves-file", folder / "leaves", "--leaf-line", line,
            "--index", row - 1, "--proof", folder / "hashes", "--checkpoint", folder / "note",
            "--vkey-file", folder / "key.vkey",
        )

    check("aics-tlog finds the row's line at its place", proven(row))
    check("and not the line of another row", not proven(row + 1))


def growth() -> None:
    request, _, note = text("growth.request").partition("\n\n")
    old, *hashes = request.split("\n")
    _, size, root = head(text("old.checkpoint"))
    check("a witness is told the old size", old == f"old {size}")
    _, new_size, new_root = head(note)
    (folder / "growth").write_text("\n".join(hashes), "utf-8")

    def continued(old_root: str) -> bool:
        return tlog(
            "verify-consistency", "--old-size", size, "--old-root", old_root,
            "--new-size", new_size, "--new-root", new_root, "--proof", folder / "growth",
        )

    check("aics-tlog sees that the record only grew", continued(root))
    other = base64.b64encode(hashlib.sha256(b"other").digest()).decode()
    check("and not from another root", not continued(other))


def attestation() -> None:
    pem = load_pem_public_key(text("key.pem").encode())
    envelope = json.loads(text("attestation.json"))
    key = SSlibKey.from_crypto(pem, keyid=envelope["signatures"][0]["keyid"])

    def taken(value: dict) -> bool:
        try:
            return bool(Envelope.from_dict(json.loads(json.dumps(value))).verify([key], 1))
        except VerificationError:
            return False

    check("securesystemslib takes the envelope", taken(envelope))
    payload = base64.b64decode(envelope["payload"])
    forged = base64.b64encode(payload.replace(b'"accepted"', b'"rejected"')).decode()
    check("and not another decision in it", not taken(envelope | {"payload": forged}))
    check("nor another type", not taken(envelope | {"payloadType": "text/plain"}))
    check("its type is in-toto's", envelope["payloadType"] == "application/vnd.in-toto+json")
    parsed = json_format.Parse(payload, statement_pb2.Statement())
    statement = Statement.copy_from_pb(parsed)
    statement.validate()
    check("in-toto-attestation reads the statement", True)
    subject = {entry.name: entry.digest["sha256"] for entry in statement.pb.subject}
    digest = hashlib.sha256((folder / "agent.py").read_bytes()).hexdigest()
    check("whose subject is the accepted file", subject == {"agent/agent.py": digest})
    said = json.loads(payload)["predicate"]
    line = json.loads(rows()[said["ledger"]["row"] - 1])
    check("it names the row of the decision", line["hash"] == said["ledger"]["hash"])
    check("which accepted it", (line["kind"], line["body"]["verdict"]) == ("decision", "accepted"))
    check("of this log", said["ledger"]["origin"] == head(text("new.checkpoint"))[0])
    spki = hashlib.sha256(base64.b64decode("".join(text("key.pem").split("\n")[1:-2]))).hexdigest()
    check("under the id of the key", envelope["signatures"][0]["keyid"] == spki)


checkpoints()
trees()
inclusion()
growth()
attestation()
