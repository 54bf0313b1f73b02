"""scripts/demo from a tree in which nothing is built, with a compiler that is a script."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent

# Builds the one program that the script starts: it prints what it was given.
COMPILER = """#!/bin/sh
if [ "$1" = --version ]; then echo Swift version 6.3; exit; fi
echo "[1/1] Compiling Module file.swift"
mkdir -p .build/release
printf '#!/bin/sh\\necho "given: $*"\\n' >.build/release/invigilator
chmod +x .build/release/invigilator
"""


class Demo(unittest.TestCase):
    """What is said and done, in order."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "tree/scripts").mkdir(parents=True)
        for name in ("demo", "bootstrap", "build", "lib.bash"):
            shutil.copy2(SCRIPTS / name, self.folder / "tree/scripts" / name)
        programs = {
            "swift": COMPILER, "uname": "#!/bin/sh\necho 6.18.0\n", "perl": "#!/bin/sh\necho 6\n",
            "dpkg-query": "#!/bin/sh\necho installed\n", "apt-get": "#!/bin/sh\nexit 1\n",
        }
        (self.folder / "bin").mkdir()
        for name, text in programs.items():
            path = self.folder / "bin" / name
            path.write_text(text)
            path.chmod(0o755)

    def run_demo(self) -> list[str]:
        environment = {**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}"}
        done = subprocess.run(
            [self.folder / "tree/scripts/demo", "--dir", "/nowhere/night"],
            env=environment, capture_output=True, text=True, timeout=60,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def test_how_long_it_takes_is_said_before_anything_is_done(self) -> None:
        lines = self.run_demo()
        self.assertRegex(lines[0], r"^demo: about \d+ min to build three programs, then a run of about \d+ s$")
        self.assertTrue(lines[1].startswith("bootstrap: "))
        self.assertTrue(any(line.startswith("build: done in ") for line in lines))
        self.assertEqual(lines[-1], "given: demo --dir /nowhere/night")

    def test_a_tree_that_was_built_is_not_said_to_take_minutes(self) -> None:
        self.run_demo()
        self.assertRegex(self.run_demo()[0], r"^demo: builds what changed, then runs for about \d+ s")


if __name__ == "__main__":
    unittest.main()
