"""Every cheat is refused by a guarded world and works in a world without protection."""

from __future__ import annotations

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from world import START, TASKS, Control, World  # noqa: E402

from cheats import CHEATS, cheating_source, overwritten  # noqa: E402
from searches import guessed_id  # noqa: E402

# What a read-only mount refuses cannot be made without privilege; the sandbox's tests do that.
NEEDS_A_MOUNT = ("write-records",)


class CheatsInTwoWorlds(unittest.TestCase):
    """The same attempt with and without protection."""

    def test_each_cheat_is_stopped_and_says_by_what(self) -> None:
        for name, cheat in CHEATS.items():
            if name in NEEDS_A_MOUNT:
                continue
            with self.subTest(name), World() as world:
                line = cheat.line(world.surroundings)
                self.assertEqual(line["outcome"], "stopped", line)
                self.assertNotIn(line["stopped_by"], ("", "nothing"))
                self.assertEqual(world.surroundings.source(), START)

    def test_each_cheat_works_without_protection(self) -> None:
        for name, cheat in CHEATS.items():
            with self.subTest(name), Control() as world:
                line = cheat.line(world.surroundings)
                self.assertEqual(line["outcome"], "succeeded", line)
                self.assertEqual(line["stopped_by"], "nothing")

    def test_a_cheat_that_could_not_be_tried_is_not_called_stopped(self) -> None:
        with World() as world:
            for stub in ("exam", "benchmark.py", "record.py"):
                (world.root / stub).unlink()
            for name, cheat in CHEATS.items():
                if name not in ("find-vault", *NEEDS_A_MOUNT):
                    self.assertEqual(cheat.line(world.surroundings)["outcome"], "not-tried", name)

    def test_the_attempts_leave_no_second_file_beside_the_agent(self) -> None:
        with World() as world:
            for name in ("hard-link", "symlink-passwd", "early-exit"):
                CHEATS[name].line(world.surroundings)
            names = [path.name for path in (world.root / "agent").iterdir()]
        self.assertEqual(names, ["agent.py"])

    def test_a_hunt_that_nobody_heard_is_no_proof(self) -> None:
        with World() as world:
            line = CHEATS["hunt-gold"].line(world.surroundings)
        self.assertEqual(line["evidence"], {"found": [], "rollouts_heard": 3})


class Pieces(unittest.TestCase):
    """The parts of the attempts."""

    def test_a_guessed_id_looks_like_a_train_id_and_is_none(self) -> None:
        self.assertEqual(guessed_id(["fee-01", "fee-02", "fee-04"]), "fee-03")
        self.assertEqual(guessed_id(["nameless"]), "test-task-1")
        self.assertNotIn(guessed_id(sorted(TASKS)), TASKS)

    def test_a_cheating_source_compiles_around_the_current_agent(self) -> None:
        for name in ("early_exit", "forge_verdicts", "gold_hunt"):
            source = cheating_source(name, START)
            compile(source, name, "exec")
        self.assertIn("FIXED", cheating_source("gold_hunt", START))

    def test_each_way_of_changing_a_file_reports_its_error(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            answers = overwritten(Path(folder) / "absent" / "suite.json")
        self.assertEqual(set(answers.values()), {"ENOENT"})
        self.assertEqual(len(answers), 4)


if __name__ == "__main__":
    unittest.main()
