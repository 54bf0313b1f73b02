"""What scripts/channel-search is made of: drawing programs, seeing, and telling chance from a channel."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import os
import random
import subprocess
import sys
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent.parent / "channel-search"
INSIDE = SCRIPT.parent / "channel_search_inside.py"
loader = importlib.machinery.SourceFileLoader("channel_search", str(SCRIPT))
spec = importlib.util.spec_from_loader("channel_search", loader)
channel_search = importlib.util.module_from_spec(spec)
sys.modules["channel_search"] = channel_search
loader.exec_module(channel_search)


class Inside:
    """The program of both ends, in no sandbox."""

    def __enter__(self) -> Inside:
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", INSIDE.read_text()],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        # Processors take numbers of inodes in batches: both ends share one.
        os.sched_setaffinity(self.process.pid, {min(os.sched_getaffinity(0))})
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(timeout=60)

    def ask(self, asked: dict) -> dict:
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


class Drawing(unittest.TestCase):
    def test_sequences_make_calls_that_the_policy_allows(self) -> None:
        numbers = channel_search.call_numbers()
        names = {number: name for name, number in numbers.items()}
        for policy in ("candidate", "candidate-with-model", "examiner", "coding-agent"):
            allowed = channel_search.allowed_calls(policy)
            self.assertIn("execve", allowed)
            self.assertNotIn("mount", allowed)
            pool = channel_search.Pool(policy, numbers)
            chance = random.Random(7)
            sequences = [pool.random_sequence(chance) for _ in range(200)]
            sequences += pool.observations(chance, 300).values()
            called = {names[number] for sequence in sequences for number, _ in sequence["steps"]}
            self.assertTrue({"fstat", "openat", "connect"} <= called)
            self.assertTrue(called <= allowed, called - allowed)

    def test_one_seed_is_one_search(self) -> None:
        pool = channel_search.Pool("candidate", channel_search.call_numbers())
        drawn = [[pool.random_sequence(chance) for _ in range(20)]
                 for chance in (random.Random(3), random.Random(3), random.Random(4))]
        self.assertEqual(drawn[0], drawn[1])
        self.assertNotEqual(drawn[0], drawn[2])


class Seeing(unittest.TestCase):
    PIPE = {"opens": [], "pairs": [0]}

    def test_what_another_process_took_is_seen(self) -> None:
        numbers = channel_search.call_numbers()
        pipe = self.PIPE | {"steps": [[numbers["pipe2"], [{"room": 8}, 0]]], "times": 3000}
        look = self.PIPE | {"steps": [
            [numbers["pipe2"], [{"room": 8}, 0]], [numbers["fstat"], [{"pair": [0, 1]}, {"room": 144}]]]}
        with Inside() as receiver, Inside() as sender:
            # The number of a pipe's inode, of which the whole host has one counter, in batches.
            def number() -> float:
                return receiver.ask({"look": {"pipe": look}})["seen"]["pipe.1 word 0.8"]

            first = number()
            self.assertIn("done", sender.ask({"run": [pipe] * 4}))
            self.assertGreater((number() - first) % 2**32, 12000)

    def test_nothing_stays_open(self) -> None:
        numbers = channel_search.call_numbers()
        pipe = self.PIPE | {"steps": [[numbers["pipe2"], [{"room": 8}, 0]]], "times": 100}
        with Inside() as end:
            end.ask({"run": [pipe]})
            self.assertLess(len(os.listdir(f"/proc/{end.process.pid}/fd")), 8)


class Telling(unittest.TestCase):
    @staticmethod
    def trials(count: int, shift: float) -> object:
        chance = random.Random(9)
        made = channel_search.Trials()
        for _ in range(count):
            for seen, more in ((made.busy, shift), (made.idle, 0)):
                seen.append({f"noise {key}": chance.random() for key in range(400)}
                            | {"counter (change)": more + chance.random()})
        return made

    def test_chance_alone_is_no_channel(self) -> None:
        noise, found = self.trials(12, 0), None
        for count in range(3, 13):
            found = channel_search.Trials(noise.busy[:count], noise.idle[:count]).telling(found)
        self.assertEqual(found, set())
        self.assertTrue(self.trials(3, 0).telling(None), "three trials tell nothing apart by luck")

    def test_a_counter_that_moves_is_one(self) -> None:
        trials = self.trials(12, 2)
        self.assertIn("counter (change)", trials.telling(None))
        self.assertLess(trials.chance(401), channel_search.LUCK)
        self.assertEqual(self.trials(3, 2).chance(401), 1)

    def test_what_was_not_seen_each_time_tells_nothing(self) -> None:
        trials = self.trials(12, 2)
        del trials.idle[0]["counter (change)"]
        self.assertNotIn("counter (change)", trials.telling(None))


if __name__ == "__main__":
    unittest.main()
