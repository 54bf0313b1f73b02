"""scripts/test: which tiers run when, and which are written down as green. Each tier is a stub that passes."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent
STUBS = "bootstrap build check swift-tests python-tests vm-tests fuzz container-tests inputs"
STUB = """#!/bin/sh
echo "${0##*/} $*" >>"$CALLS"
case " $FAILS " in *" ${0##*/} "*) exit 1 ;; esac
"""
ALWAYS = {
    "build ", "build --tests", "check --static", "python-tests ", "swift-tests unit", "swift-tests PrivilegedTests",
    "swift-tests RedTeamTests", "swift-tests EndToEndTests",
}
SOMETIMES = {"fuzz 5", "vm-tests ", "container-tests "}


class Run(unittest.TestCase):
    """One run of the script."""

    def run_test(self, *words: str, fails: str = "") -> tuple[int, list[str], str]:
        """The status, what was called in which order, and the last line."""
        with tempfile.TemporaryDirectory() as folder:
            scripts = Path(folder) / "scripts"
            scripts.mkdir()
            for name in ("test", "lib.bash"):
                shutil.copy(SCRIPTS / name, scripts)
            for name in STUBS.split():
                (scripts / name).write_text(STUB)
                (scripts / name).chmod(0o755)
            calls = Path(folder) / "calls"
            calls.touch()
            environment = {k: v for k, v in os.environ.items() if k != "INVIGILATOR_TALLY"}
            environment |= {"CALLS": str(calls), "FAILS": fails, "TMPDIR": folder}
            done = subprocess.run([scripts / "test", *words], env=environment, capture_output=True, text=True,
                                  timeout=60)
            return done.returncode, calls.read_text().splitlines(), (done.stdout.splitlines() or [""])[-1]

    def test_what_did_not_change_is_left_out(self) -> None:
        status, calls, last = self.run_test()
        self.assertEqual((status, last), (0, "8 passed, 0 failed"))
        self.assertEqual({call for call in calls if "inputs" not in call}, ALWAYS | {"bootstrap --tests"})

    def test_what_changed_or_cannot_be_told_runs_and_is_not_written_down(self) -> None:
        status, calls, _ = self.run_test(fails="inputs")
        self.assertEqual(status, 0)
        self.assertLessEqual(ALWAYS | SOMETIMES, set(calls))
        self.assertFalse([call for call in calls if "keep" in call])

    def test_all_runs_everything_and_writes_down_what_is_green(self) -> None:
        status, calls, last = self.run_test("--all", fails="fuzz")
        self.assertEqual((status, last), (1, "10 passed, 1 failed"))
        self.assertLessEqual(ALWAYS | SOMETIMES, set(calls))
        self.assertEqual(
            {call for call in calls if call.startswith("inputs")}, {"inputs keep machine", "inputs keep containers"}
        )

    def test_one_tier_can_be_run_and_written_down_alone(self) -> None:
        status, calls, _ = self.run_test("--all", "fuzzing")
        self.assertEqual((status, calls), (0, ["bootstrap --tests", "fuzz 5", "inputs keep fuzzing"]))

    def test_nothing_runs_after_a_build_that_failed(self) -> None:
        status, calls, _ = self.run_test(fails="build")
        self.assertEqual(status, 1)
        self.assertFalse([call for call in calls if "tests" in call and not call.startswith(("b", "c"))])

    def test_a_word_too_many_is_refused(self) -> None:
        for words in (["--al"], ["fuzzing"], ["--all", "units"]):
            self.assertEqual(self.run_test(*words)[:2], (2, []))


if __name__ == "__main__":
    unittest.main()
