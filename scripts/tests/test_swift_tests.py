"""The lock of privileged tests: two checkouts of one host take turns, and say so."""

from __future__ import annotations

import fcntl
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent.parent / "swift-tests"

# Loads the program as a module with a lock of the test's own, and says when it has it.
HOLDER = """
import pathlib, sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
sys.dont_write_bytecode = True
module = module_from_spec(spec_from_loader("tests", SourceFileLoader("tests", sys.argv[1])))
module.__loader__.exec_module(module)
module.HOST_LOCK = pathlib.Path(sys.argv[2])
with module.alone("EndToEndTests"):
    print("held", flush=True)
"""


class HostLock(unittest.TestCase):
    """What a second run does while a first one holds the lock."""

    def start(self, lock: Path) -> subprocess.Popen[str]:
        """A run that takes the lock."""
        return subprocess.Popen(
            [sys.executable, "-B", "-c", HOLDER, str(PROGRAM), str(lock)],
            stdout=subprocess.PIPE,
            text=True,
        )

    def test_a_second_run_waits_and_says_so(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            lock = Path(folder) / "lock"
            with lock.open("a") as held:
                fcntl.flock(held, fcntl.LOCK_EX)
                second = self.start(lock)
                assert second.stdout is not None
                self.assertIn("waits for another run", second.stdout.readline())
                self.assertIsNone(second.poll())
            self.assertEqual(second.stdout.readline(), "held\n")
            self.assertEqual(second.wait(), 0)
            second.stdout.close()

    def test_a_run_alone_says_nothing(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            alone = self.start(Path(folder) / "lock")
            self.assertEqual(alone.communicate()[0], "held\n")


if __name__ == "__main__":
    unittest.main()
