"""Verifies an export whose key changed, from FORMATS.md and ARCHITECTURE.md alone.

Usage: chain.py EXPORT KEY, where KEY is any key of the record, in hexadecimal.

Prints the keys, one a line, and "intact"; ends with 1 and a line that names what is wrong.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def sha256(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def domain(name: str) -> bytes:
    return f"invigilator.ledger.{name}/1\0".encode()


def number(value: int) -> bytes:
    return value.to_bytes(8, "big")


def refuse(what: str) -> None:
    print(f"WRONG: {what}")
    sys.exit(1)


def signed(key: str, signature: str, message: bytes, what: str) -> None:
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(
            bytes.fromhex(signature), message)
    except (InvalidSignature, ValueError):
        refuse(what)


def main(export: str, expected: str) -> None:
    lines = Path(export).read_bytes().split(b"\n")
    if lines.pop() != b"":
        refuse("the last line is not ended")
    header, *rows, footer = [json.loads(line) for line in lines]
    keys = [header["public_key"]]
    created = number(header["created"])
    seal = sha256(domain("origin"), created, bytes.fromhex(keys[0]))
    for place, row in enumerate(rows, 1):
        # The body as it stands in the line: what was signed is its bytes.
        raw = lines[place].removeprefix(b'{"body":').rpartition(b',"hash":"')[0]
        kind = row["kind"].encode()
        digest = sha256(
            domain("row"), number(row["sequence"]), number(row["time"]), number(len(kind)), kind,
            number(len(raw)), raw, bytes.fromhex(row["previous"]))
        if row["sequence"] != place or row["previous"] != seal.hex():
            refuse(f"row {place} does not continue the row before it")
        if row["hash"] != digest.hex():
            refuse(f"row {place} was changed")
        signer = keys[-1]
        if row["kind"] in ("key-rotated", "key-replaced"):
            new = row["body"]["public_key"]
            if row["kind"] == "key-rotated":
                proof = domain("next-key") + bytes.fromhex(new) + seal
                signed(new, row["body"]["proof"], proof, f"row {place}: the new key has no proof")
            else:
                if expected in keys:
                    refuse(f"row {place}: the key was replaced without its signature")
                signer = new
            keys.append(new)
        signed(
            signer, row["signature"], domain("signed-row") + digest,
            f"row {place} was not signed by its key")
        seal = sha256(domain("seal"), digest, bytes.fromhex(row["signature"]))
    if footer["count"] != len(rows) or footer["head"] != seal.hex():
        refuse("the footer is of other rows")
    signed(
        keys[-1], footer["signature"], domain("footer") + number(len(rows)) + seal,
        "the footer was not signed by the last key")
    if expected not in keys:
        refuse("the expected key is none of the record's")
    print("\n".join(keys))
    print("intact")


main(sys.argv[1], sys.argv[2])
