"""What the documents say of arm64, held against libseccomp and the cross compiler's headers."""

from __future__ import annotations

import re
import shutil
import subprocess
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
HEADERS = Path("/usr/aarch64-linux-gnu/include")
CALL = re.compile(r"^\s+- (?:call: )?([a-z0-9_]+)\s*$", re.MULTILINE)


def section() -> str:
    """The section of ARCHITECTURE.md on arm64."""
    text = (REPOSITORY / "ARCHITECTURE.md").read_text()
    found = re.search(r"^## \d+\. arm64\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise AssertionError("ARCHITECTURE.md has no section on arm64")
    return found.group(1)


class Arm64(unittest.TestCase):
    """The list of calls, and the C that is said to compile."""

    @unittest.skipUnless(shutil.which("scmp_sys_resolver"), "package seccomp is not installed")
    def test_calls_of_the_groups_that_arm64_has_not_are_those_of_the_document(self) -> None:
        def number(architecture: str, name: str) -> int:
            words = ["scmp_sys_resolver", "-a", architecture, name]
            return int(subprocess.run(words, capture_output=True, text=True, check=True).stdout)

        groups = sorted((REPOSITORY / "policies" / "syscalls").glob("*.yaml"))
        names = {name for file in groups for name in CALL.findall(file.read_text())}
        known = {name for name in names if number("x86_64", name) >= 0}
        # The instrument: most names of the groups are calls, and most of those arm64 has, too.
        self.assertGreater(len(known), 150)
        absent = {name for name in known if number("aarch64", name) < 0}
        self.assertLess(len(absent), 60)
        listed = re.search(r"^```\n(.*?)^```$", section(), re.MULTILINE | re.DOTALL)
        self.assertIsNotNone(listed)
        self.assertEqual(set(listed.group(1).split()), absent)

    @unittest.skipUnless(
        shutil.which("clang") and HEADERS.exists(), "clang or libc6-dev-arm64-cross is missing")
    def test_the_c_of_the_launcher_compiles_for_arm64_and_what_is_said_not_to_does_not(self) -> None:
        def compiles(file: Path) -> subprocess.CompletedProcess[str]:
            include = REPOSITORY / "Sources" / "CLinux" / "include"
            return subprocess.run(
                ["clang", "--target=aarch64-linux-gnu", "-D_GNU_SOURCE", "-Werror", "-Wno-macro-redefined",
                 "-fsyntax-only", "-isystem", str(HEADERS), "-I", str(include), str(file)],
                capture_output=True, text=True, timeout=120)

        done = compiles(REPOSITORY / "Sources" / "CLinux" / "clinux.c")
        self.assertEqual(done.returncode, 0, done.stderr)
        for target in ("SelfCheckProgram", "RedTeamProbe", "SyscallProbe"):
            self.assertIn(f"`{target}`", section())
            done = compiles(REPOSITORY / "Sources" / target / "calls.c")
            self.assertNotEqual(done.returncode, 0, target)


if __name__ == "__main__":
    unittest.main()
