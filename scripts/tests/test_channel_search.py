"""What scripts/channel-search is made of: drawing programs, seeing, and telling chance from a channel."""

from __future__ import annotations

import errno
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

    def say(self, asked: dict) -> None:
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()

    def ask(self, asked: dict) -> dict:
        self.say(asked)
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

    def pipes(self, times: int) -> dict:
        return self.PIPE | {"steps": [[channel_search.call_numbers()["pipe2"], [{"room": 8}, 0]]], "times": times}

    def test_what_another_process_took_is_seen(self) -> None:
        numbers = channel_search.call_numbers()
        look = self.PIPE | {"steps": [
            [numbers["pipe2"], [{"room": 8}, 0]], [numbers["fstat"], [{"pair": [0, 1]}, {"room": 144}]]]}
        with Inside() as receiver, Inside() as sender:
            receiver.say({"observe": {"pipe": look}})

            # The number of a pipe's inode, of which the whole host has one counter, in batches.
            def number() -> float:
                return receiver.ask({"look": True})["seen"]["pipe.1 word 0.8"]

            first = number()
            self.assertIn("done", sender.ask({"run": [self.pipes(3000)] * 4}))
            self.assertGreater((number() - first) % 2**32, 12000)

    def test_later_looks_say_what_differs_from_the_first(self) -> None:
        with Inside() as end:
            end.say({"observe": {"id": {"steps": [[channel_search.call_numbers()["getppid"], []]]}}})
            first, second = (end.ask({"look": True})["seen"] for _ in range(2))
            self.assertEqual(first["id.0 result"], end.process.pid)
            self.assertNotIn("id.0 result", second)
            self.assertTrue(second)

    def test_nothing_stays_open(self) -> None:
        with Inside() as end:
            end.ask({"run": [self.pipes(100)]})
            self.assertLess(len(os.listdir(f"/proc/{end.process.pid}/fd")), 8)

    def test_what_waits_is_interrupted(self) -> None:
        numbers = channel_search.call_numbers()
        waiting = self.PIPE | {"steps": [
            [numbers["pipe2"], [{"room": 8}, 0]], [numbers["read"], [{"pair": [0, 0]}, {"room": 8}, 8]]]}
        with Inside() as end:
            end.say({"observe": {"waiting": waiting}})
            self.assertEqual(end.ask({"look": True})["seen"]["waiting.1 result"], -errno.EINTR)
            for alone in (False, True):
                self.assertIn("done", end.ask({"run": [waiting | {"times": 1, "alone": alone}]}))

    def test_a_sequence_ends_with_its_time_and_says_how_often_it_was(self) -> None:
        with Inside() as end:
            times = end.ask({"run": [self.pipes(10**9), self.pipes(3)], "within": 0.05})["times"]
            self.assertTrue(3 < times[0] < 10**9)
            self.assertEqual(times[1], 3)

    def test_each_time_alone_is_in_a_child(self) -> None:
        # setsid(2) is refused to who leads a session, and every child can make one.
        numbers = channel_search.call_numbers()
        with Inside() as end:
            before = os.getsid(end.process.pid)
            end.ask({"run": [{"steps": [[numbers["setsid"], []]], "times": 3, "alone": True}]})
            self.assertEqual(os.getsid(end.process.pid), before)


class Telling(unittest.TestCase):
    @staticmethod
    def trials(count: int, shift: float, lost: int = 0) -> object:
        """Trials with noise, and a counter of which the last few of the idle ones are as those of the busy."""
        chance = random.Random(9)
        made = channel_search.Trials({"still": 7})
        for at in range(count):
            for seen, more in ((made.busy, shift), (made.idle, shift if at >= count - lost else 0)):
                seen.append({f"noise {key} (change)": chance.random() for key in range(400)}
                            | {"counter (change)": more + chance.random()})
        return made

    def test_luck_is_that_of_a_choice_of_trials(self) -> None:
        self.assertAlmostEqual(channel_search.luck(5, 5, 5, 5), 2 / 252)
        self.assertAlmostEqual(channel_search.luck(4, 5, 5, 5), (2 + 2 * 25) / 252)
        self.assertEqual(channel_search.luck(5, 10, 10, 10), 1)

    def test_chance_alone_is_no_channel(self) -> None:
        for count in range(5, 20):
            chances = self.trials(count, 0).chances(None)
            self.assertGreater(min(chances.values()), channel_search.LUCK / 401)

    def test_a_counter_that_moves_is_one_also_where_some_trials_are_lost(self) -> None:
        for lost, count in ((0, 14), (1, 18), (2, 22)):
            chances = self.trials(count, 2, lost).chances(None)
            self.assertLess(chances["counter (change)"], channel_search.LUCK / 401, lost)

    def test_what_stays_as_it_was_is_compared_with_the_first_look(self) -> None:
        trials = self.trials(14, 0)
        for seen in trials.busy:
            seen["still (value)"] = 8
        self.assertLess(trials.chances({"still (value)"})["still (value)"], 1e-6)


class Way:
    """Trials without sandboxes: each of some sequences moves a counter of its own, which wraps."""

    def __init__(self, *moving: dict) -> None:
        self.moving, self.chance = moving, random.Random(5)
        self.counts = {f"counter {place}": 0 for place in range(len(moving))}
        self.base = {**self.counts, "clock": 0}

    def begin(self, program: object) -> None:
        """Each trial takes no time."""

    def trial(self, program: object) -> tuple[dict, dict]:
        before = {**self.counts, "clock": self.chance.random()}
        for place, sequence in enumerate(self.moving):
            if program and sequence in program.sequences:
                self.counts[f"counter {place}"] = (self.counts[f"counter {place}"] + 8000) % 28232
        return before, {**self.counts, "clock": self.chance.random()}


class Searching(unittest.TestCase):
    def search(self) -> object:
        search = object.__new__(channel_search.Search)
        search.chance, search.trials = random.Random(3), 0
        return search

    def test_a_program_is_made_smaller_until_what_shows_is_left(self) -> None:
        search, sequences = self.search(), [{"steps": [[number, []]]} for number in range(16)]
        way, program = Way(sequences[11]), channel_search.Program(sequences)
        found = search.differing(way, program)
        self.assertIn("counter 0 (size of change)", found)
        self.assertFalse(any(key.startswith("clock") for key in found))
        self.assertEqual(search.minimised(way, program, "counter 0 (size of change)").sequences, [sequences[11]])
        self.assertEqual(search.differing(way, program, known={"counter 0"}), {})

    def test_each_channel_of_a_program_is_told_with_what_moves_it(self) -> None:
        search, sequences = self.search(), [{"steps": [[number, []]]} for number in range(16)]
        way, program = Way(sequences[3], sequences[12]), channel_search.Program(sequences)
        told = list(search.channels(way, program, search.differing(way, program)))
        moves = {tuple({channel_search.origin(key) for key in moved}): small.sequences for small, moved in told}
        self.assertEqual(moves, {("counter 0",): [sequences[3]], ("counter 1",): [sequences[12]]})

    def test_a_program_that_moves_nothing_is_given_up(self) -> None:
        search = self.search()
        self.assertEqual(search.differing(Way({}), channel_search.Program([{"steps": []}])), {})
        self.assertLess(search.trials, 2 * channel_search.MOST_PAIRS)


if __name__ == "__main__":
    unittest.main()
