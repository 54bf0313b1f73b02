"""Every relay attack works on the naive harness, and a candidate that makes none does not pass."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent
SHIM = FOLDER.parent / "python"
sys.path[:0] = [str(FOLDER), str(SHIM / "lib")]

import agent  # noqa: E402  (the path above makes it importable)


class NaiveHarnessTests(unittest.TestCase):
    """The control of the red team's relay attacks."""

    def answers(self, *words):
        """What the control prints for these attacks, by word."""
        with tempfile.TemporaryDirectory() as place:
            root = Path(place)
            shutil.copytree(SHIM / "lib", root / "lib")
            shutil.copy(SHIM / "run.py", root)
            shutil.copy(FOLDER / "naive_harness.py", root)
            (root / "agent").mkdir()
            shutil.copy(FOLDER / "agent.py", root / "agent")
            done = subprocess.run(
                [sys.executable, "-I", "-S", "-B", str(root / "naive_harness.py"), *words],
                capture_output=True,
                env={"TMPDIR": place},
                text=True,
                check=True,
            )
        lines = [line.split("\t") for line in done.stdout.splitlines()]
        self.assertEqual(lines.pop(), ["end"])
        return {fields[1].removeprefix("relay."): fields[2] for fields in lines}

    def test_every_attack_works(self):
        words = [*agent.ATTACKS, *agent.BEFORE_THE_QUESTION]
        self.assertEqual(self.answers(*words), dict.fromkeys(words, "works"))

    def test_no_attack_does_not_pass(self):
        self.assertEqual(self.answers("honest"), {"honest": "absent"})


if __name__ == "__main__":
    unittest.main()
