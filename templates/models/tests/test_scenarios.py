"""Tests that the scripts of the end-to-end tests can be read, one for each packaged agent."""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from model_script import Script

SCENARIOS = REPOSITORY / "Tests" / "EndToEndTests" / "Fixtures" / "agents"


class ScenarioTests(unittest.TestCase):
    """Each coding agent that can be installed has a scenario."""

    def test_each_scenario_is_a_script_with_steps(self) -> None:
        pinned = REPOSITORY.glob("templates/coding-agents/*/requirements.txt")
        names = sorted(file.parent.name for file in pinned)
        self.assertEqual(sorted(file.stem for file in SCENARIOS.glob("*.json")), names)
        for name in names:
            with self.subTest(name):
                self.assertTrue(Script.load(SCENARIOS / f"{name}.json").steps)


if __name__ == "__main__":
    unittest.main()
