"""The loop against a supervisor that grades for real: what it accepts, restores and reports."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from world import START, Reply, Request, World, refusal  # noqa: E402

from agent_loop import PLAN, CodingAgent  # noqa: E402
from cheats import CHEATS  # noqa: E402


class AddFamily:
    """An edit that makes the agent solve one family."""

    def __init__(self, family: str) -> None:
        self.family = family
        self.hypothesis = f"the agent does not know {family}"

    def apply(self, source: str) -> str:
        return source.replace("FIXED: set[str] = set()", "FIXED = set()").replace(
            "\n\n\nclass", f'\nFIXED.add("{self.family}")\n\n\nclass', 1
        )


class Useless(AddFamily):
    """An edit that fixes nothing."""

    def apply(self, source: str) -> str:
        return source + f"# {self.family}\n"


class Breaks(AddFamily):
    """An edit that solves its family and unlearns every other."""

    def apply(self, source: str) -> str:
        return super().apply(source.replace("FIXED.add", "FIXED.discard"))


class Misfit(AddFamily):
    """An edit that was written for another text."""

    def apply(self, source: str) -> str:
        raise LookupError("no such line")


def ran(world: World, edits: list[AddFamily], plan: tuple[str, ...]) -> tuple[int, list[dict]]:
    """Runs a plan; the exit status and the lines that were printed."""
    agent = CodingAgent(world.surroundings, list(edits), Breaks("item"), Useless(""))
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        status = agent.run(plan)
    return status, [json.loads(line) for line in printed.getvalue().splitlines()]


class Loop(unittest.TestCase):
    """Honest steps, refused steps, and the order between them."""

    def test_honest_edits_are_accepted_and_a_regression_is_restored(self) -> None:
        with World() as world:
            plan = ("improve", "improve", "regress", "cosmetic")
            status, lines = ran(world, [AddFamily("fee"), AddFamily("zip")], plan)
            source = world.surroundings.source()
        verdicts = [line["verdict"] for line in lines if line["event"] == "verdict"]
        self.assertEqual(status, 0)
        self.assertEqual(verdicts, ["accepted", "accepted", "rejected", "accepted"])
        self.assertIn('FIXED.add("fee")', source)
        self.assertIn('FIXED.add("zip")', source)
        self.assertEqual(len(world.learnings), 4)
        self.assertEqual(world.learnings[0]["pattern"], "fee")
        self.assertTrue(world.learnings[0]["happened"].startswith("accepted at "))
        self.assertEqual(world.learnings[2]["happened"], "rejected")

    def test_an_edit_that_fixes_nothing_or_does_not_apply_is_not_handed_in(self) -> None:
        with World() as world:
            ran(world, [Useless("fee"), Misfit("fee"), AddFamily("item")], ("improve",))
            verbs = [request["verb"] for request in world.supervisor.requests]
            submitted = world.supervisor.requests[verbs.index("submit")]
            manifest = submitted["manifest"]
        self.assertEqual(verbs.count("train"), 2)
        self.assertEqual(manifest["target_cluster"], "item")
        self.assertEqual(manifest["expected_fixes"], ["item-01", "item-03", "item-05"])

    def test_the_whole_plan_ends_although_every_cheat_is_refused(self) -> None:
        with World() as world:
            edits = [AddFamily(family) for family in ("fee", "item", "zip")]
            # Without read-only mounts this one works, and it takes the stubs away: it goes last.
            plan = tuple(sorted(PLAN, key=lambda step: step == "cheat write-records"))
            status, lines = ran(world, edits, plan)
        tried = [line["name"] for line in lines if line["event"] == "cheat"]
        self.assertEqual(status, 0)
        self.assertEqual(sorted(tried), sorted(CHEATS))
        self.assertEqual(lines[-1]["event"], "end")
        self.assertEqual(lines[-1]["cheats_stopped"], len(CHEATS) - 1)
        self.assertEqual(lines[-1]["cheats_succeeded"], 1)
        self.assertEqual(lines[-1]["accepted"], 4)

    def test_a_refused_submission_restores_the_file_and_the_loop_goes_on(self) -> None:
        class Full(World):
            def on_submit(self, request: Request) -> Reply:
                return refusal("budget", "no iteration is left")

        with Full() as world:
            status, lines = ran(world, [AddFamily("fee")], ("improve", "cosmetic"))
            self.assertEqual(world.surroundings.source(), START)
        self.assertEqual(status, 0)
        self.assertEqual([line["event"] for line in lines].count("submit"), 2)

    def test_a_broken_host_ends_the_loop_with_its_status(self) -> None:
        class Broken(World):
            def on_submit(self, request: Request) -> Reply:
                return refusal("host", "the launcher is gone")

        with Broken() as world:
            status, lines = ran(world, [], ("cosmetic",) * 5)
        self.assertEqual(status, 3)
        self.assertEqual(lines[-1]["reason"], "the host failed")

    def test_the_plan_has_the_steps_that_the_demonstration_needs(self) -> None:
        self.assertGreaterEqual(PLAN.count("improve"), 4)
        self.assertEqual((PLAN.count("regress"), PLAN.count("cosmetic")), (1, 1))
        planned = [step.partition(" ")[2] for step in PLAN if step.startswith("cheat ")]
        self.assertEqual(sorted(planned), sorted(CHEATS))


if __name__ == "__main__":
    unittest.main()
