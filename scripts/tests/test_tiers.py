"""How tiers are counted: nothing that failed, hung or stayed behind may look green."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

LIBRARY = Path(__file__).resolve().parent.parent / "lib.bash"


def tally(*tiers: str, folder: str | None = None, script: str = "") -> tuple[int, list[str]]:
    """Runs tiers, each "NAME BUDGET COMMAND…", or a script; returns the status and the printed lines."""
    body = script
    script = f"set -euo pipefail; source {LIBRARY}; begin_tally\n{body}\n"
    script += "".join(f"tier {tier} || true\n" for tier in tiers) + "end_tally\n"
    environment = {k: v for k, v in os.environ.items() if k != "INVIGILATOR_TALLY"}
    if folder:
        environment["TMPDIR"] = folder
    done = subprocess.run(
        ["bash", "-c", script], env=environment, capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stdout.splitlines()


class Tiers(unittest.TestCase):
    """The tally's last line and the exit status."""

    def test_a_command_that_counts_is_believed_and_any_other_counts_as_one(self) -> None:
        status, lines = tally("a 5 echo 'tests: 4 passed, 0 failed'", "b 5 true")
        self.assertEqual((status, lines[-1]), (0, "5 passed, 0 failed"))

    def test_a_failure_without_a_count_is_one_failure(self) -> None:
        status, lines = tally("a 5 true", "b 5 false")
        self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed"))

    def test_a_status_that_contradicts_the_count_is_a_failure(self) -> None:
        command = "bash -c 'echo \"tests: 4 passed, 0 failed\"; exit 3'"
        status, lines = tally(f"a 5 {command}")
        self.assertEqual((status, lines[-1]), (1, "4 passed, 1 failed"))

    def test_a_count_that_contradicts_the_status_is_a_failure(self) -> None:
        status, lines = tally("a 5 echo 'tests: 4 passed, 2 failed'")
        self.assertEqual((status, lines[-1]), (1, "4 passed, 2 failed"))

    def test_a_hang_ends_at_three_times_its_budget_and_is_a_failure(self) -> None:
        status, lines = tally("a 1 sleep 60")
        self.assertEqual((status, lines[-1]), (1, "0 passed, 1 failed"))
        self.assertTrue(any("three times its budget" in line for line in lines))

    def test_what_runs_beside_is_counted_and_its_words_come_when_it_is_joined(self) -> None:
        script = "beside x tier x 5 echo beside; tier y 5 echo first; joined x; joined nobody"
        status, lines = tally(script=script)
        self.assertEqual((status, lines[-1]), (0, "2 passed, 0 failed"))
        self.assertLess(lines.index("first"), lines.index("beside"))
        status, lines = tally(script="beside x tier x 5 false; joined x || echo failed")
        self.assertEqual((status, lines[-1]), (1, "0 passed, 1 failed"))
        self.assertIn("failed", lines)

    def test_a_signal_ends_every_tier_at_once(self) -> None:
        script = "beside x tier x 50 sleep 40; (sleep 1; kill -TERM $$) & tier y 50 sleep 40"
        started = time.monotonic()
        self.assertEqual(tally(script=script)[0], 130)
        self.assertLess(time.monotonic() - started, 20)

    def test_nothing_run_is_a_failure(self) -> None:
        self.assertEqual(tally()[0], 1)

    def test_no_temporary_file_stays_behind(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            tally("a 5 true", "b 5 false", folder=folder)
            self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    unittest.main()
