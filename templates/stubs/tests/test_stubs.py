"""The stubs against a supervisor on a real socket: what they send, print and end with."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from fake_supervisor import FakeSupervisor, Reply, Request, refusal  # noqa: E402

STUBS = Path(__file__).resolve().parent.parent


def run(
    fake: FakeSupervisor, stub: str, *words: str, text: str = ""
) -> subprocess.CompletedProcess[str]:
    """Runs one stub as the coding agent would."""
    return subprocess.run(
        [sys.executable, "-I", str(STUBS / stub), *words],
        env=fake.environment,
        input=text,
        capture_output=True,
        text=True,
        timeout=20,
    )


def answering(**replies: Reply):
    """An answer function that looks the reply up by verb."""
    return lambda request: replies[str(request["verb"])]


ACCEPTED: Reply = {
    "ok": True,
    "ticket": "T1",
    "verdict": "accepted",
    "step": 2,
    "reasons": ["the sealed mean is at least the best"],
    "suite": {"a-1": 1, "a-2": 0.0},
    "released_score": 0.75,
    "promoted": ["a-1"],
    "iteration": 1,
}


class ExamVerbs(unittest.TestCase):
    """Each verb sends its request and prints its reply."""

    def test_train_names_the_tasks_and_prints_each_reward(self) -> None:
        reply: Reply = {
            "ok": True, "results": {"b-2": 0.0, "a-1": 1}, "mean": 0.5, "passed": 1, "total": 2,
            "traces": "workspace/traces/latest",
        }  # fmt: skip
        with FakeSupervisor(answering(train=reply)) as fake:
            done = run(fake, "exam", "train", "--task-ids", "a-1", "b-2")
        self.assertEqual(fake.requests, [{"verb": "train", "task_ids": ["a-1", "b-2"]}])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines()[:2], ["PASS 1.00 a-1", "FAIL 0.00 b-2"])
        self.assertIn("train: 1 of 2 passed, mean 0.5000", done.stdout)

    def test_train_without_ids_sends_none(self) -> None:
        with FakeSupervisor(answering(train={"ok": True, "results": {}})) as fake:
            run(fake, "exam", "train")
        self.assertEqual(fake.requests, [{"verb": "train"}])

    def test_submit_sends_the_manifest_and_prints_the_ticket(self) -> None:
        manifest = {"hypothesis": "ask for the order id first", "expected_fixes": ["a-1"]}
        with FakeSupervisor(answering(submit={"ok": True, "ticket": "T3"})) as fake:
            done = run(fake, "exam", "submit", "--manifest", "-", text=json.dumps(manifest))
        self.assertEqual(fake.requests, [{"verb": "submit", "manifest": manifest}])
        self.assertEqual((done.returncode, done.stdout), (0, "T3\n"))

    def test_submit_without_a_manifest_is_the_supervisors_to_refuse_or_to_warn_of(self) -> None:
        reply = {"ok": True, "ticket": "T4", "warning": "no manifest"}
        with FakeSupervisor(answering(submit=reply)) as fake:
            done = run(fake, "exam", "submit")
        self.assertEqual(fake.requests, [{"verb": "submit"}])
        self.assertEqual((done.returncode, done.stdout), (0, "T4\n"))
        self.assertIn("no manifest", done.stderr)

    def test_a_scored_manifest_is_printed_with_the_verdict(self) -> None:
        score = {"fixed": ["a-1"], "not_fixed": [], "surprises": ["b-2"], "examined": 2}
        with FakeSupervisor(answering(result={**ACCEPTED, "manifest": score})) as fake:
            done = run(fake, "exam", "result")
        self.assertIn("fixed as expected: a-1\nfixed unexpectedly: b-2\n", done.stdout)
        self.assertNotIn("expected and not fixed", done.stdout)

    def test_a_manifest_that_is_no_object_is_wrong_use_and_is_not_sent(self) -> None:
        with FakeSupervisor(answering()) as fake, tempfile.TemporaryDirectory() as folder:
            for text in ("[1]", "{", "\udcff"):
                file = os.path.join(folder, "m.json")
                Path(file).write_bytes(text.encode("utf-8", "surrogateescape"))
                done = run(fake, "exam", "submit", "--manifest", file)
                self.assertEqual(done.returncode, 2, text)
            self.assertEqual(run(fake, "exam", "submit", "--manifest", folder).returncode, 2)
        self.assertEqual(fake.requests, [])

    def test_result_repeats_the_verdict_in_its_exit_status(self) -> None:
        for verdict, status in (("accepted", 0), ("rejected", 1), ("void", 3), ("unheard-of", 3)):
            with FakeSupervisor(answering(result={**ACCEPTED, "verdict": verdict})) as fake:
                done = run(fake, "exam", "result", "T1")
            self.assertEqual(fake.requests, [{"verb": "result", "ticket": "T1"}])
            self.assertEqual(done.returncode, status)
            self.assertIn(f"T1: {verdict} at step 2", done.stdout)
            self.assertIn("suite: 1 of 2 passed", done.stdout)

    def test_learn_takes_words_or_standard_input(self) -> None:
        with FakeSupervisor(answering(learn={"ok": True})) as fake:
            run(fake, "exam", "learn", "fees", "first")
            run(fake, "exam", "learn", "-", text="two\nlines\n")
            run(fake, "exam", "learn", text="no argument")
        texts = [request["text"] for request in fake.requests]
        self.assertEqual(texts, ["fees first", "two\nlines\n", "no argument"])

    def test_a_typed_note_sends_its_parts_and_reads_standard_input_only_for_a_dash(self) -> None:
        with FakeSupervisor(answering(learn={"ok": True})) as fake:
            run(fake, "exam", "learn", "--tried", "ask first", "--needs", "a price list", text="x")
            run(fake, "exam", "learn", "--pattern", "haste", "and", "more")
            run(fake, "exam", "learn", "--happened", "worse", "-", text="why\n")
        parts = [{k: v for k, v in asked.items() if k != "verb"} for asked in fake.requests]
        self.assertEqual(parts[0], {"tried": "ask first", "needs": "a price list"})
        self.assertEqual(parts[1], {"pattern": "haste", "text": "and more"})
        self.assertEqual(parts[2], {"happened": "worse", "text": "why\n"})

    def test_json_prints_the_reply_itself(self) -> None:
        with FakeSupervisor(answering(status={"ok": True, "iteration": 4})) as fake:
            done = run(fake, "exam", "status", "--json")
        self.assertEqual(json.loads(done.stdout), {"ok": True, "iteration": 4})

    def test_status_revert_and_diff_print_text(self) -> None:
        replies = answering(
            status={"ok": True, "iteration": 4, "budget": {"train_runs_left": 9}},
            revert={"ok": True},
            diff={"ok": True, "diff": "-old\n+new\n"},
        )
        with FakeSupervisor(replies) as fake:
            self.assertIn("train runs left 9", run(fake, "exam", "status").stdout)
            self.assertIn("accepted version", run(fake, "exam", "revert").stdout)
            self.assertEqual(run(fake, "exam", "diff").stdout, "-old\n+new\n")

    def test_an_unknown_verb_or_option_is_wrong_use(self) -> None:
        with FakeSupervisor(answering()) as fake:
            for words in ([], ["pass-me"], ["train", "--split", "test"], ["submit", "now"]):
                self.assertEqual(run(fake, "exam", *words).returncode, 2, words)
        self.assertEqual(fake.requests, [])


class Refusals(unittest.TestCase):
    """What goes wrong is printed with its reason and ends with the right status."""

    def test_a_refusal_prints_reason_and_remedy_and_ends_with_1(self) -> None:
        with FakeSupervisor(answering(train=refusal("not-train", "x-9 is no train task"))) as fake:
            done = run(fake, "exam", "train", "--task-ids", "x-9")
        self.assertEqual(done.returncode, 1)
        self.assertIn("x-9 is no train task [not-train]; remedy:", done.stderr)

    def test_codes_for_wrong_use_and_host_failure_have_their_own_status(self) -> None:
        for code, status in (("usage", 2), ("host", 3), ("busy", 1)):
            with FakeSupervisor(answering(diff=refusal(code, "because"))) as fake:
                self.assertEqual(run(fake, "exam", "diff").returncode, status)

    def test_no_supervisor_is_a_host_failure(self) -> None:
        with FakeSupervisor(answering()) as fake:
            pass
        done = run(fake, "exam", "status")
        self.assertEqual(done.returncode, 3)
        self.assertIn("remedy:", done.stderr)

    def test_a_reply_that_is_cut_too_long_or_no_object_is_a_host_failure(self) -> None:
        frames = (
            b"",
            struct.pack(">I", 10) + b"{}",
            struct.pack(">I", (1 << 20) + 1),
            struct.pack(">I", 2) + b"[]",
            struct.pack(">I", 1) + b"\xff",
        )
        for frame in frames:
            with FakeSupervisor(lambda _, frame=frame: frame) as fake:
                done = run(fake, "exam", "status")
            self.assertEqual(done.returncode, 3, frame)
            self.assertNotIn("Traceback", done.stderr)


class OtherNames(unittest.TestCase):
    """The names that existing programs call ask the same supervisor."""

    def test_benchmark_runs_train_tasks(self) -> None:
        with FakeSupervisor(answering(train={"ok": True, "results": {}})) as fake:
            self.assertEqual(run(fake, "benchmark.py", "--task-ids", "a-1").returncode, 0)
        self.assertEqual(fake.requests, [{"verb": "train", "task_ids": ["a-1"]}])

    def test_benchmark_asks_for_the_test_split_and_is_refused(self) -> None:
        with FakeSupervisor(answering(test=refusal("sealed", "the test split is sealed"))) as fake:
            done = run(fake, "benchmark.py", "--split", "test", "--task-ids", "a-1")
        self.assertEqual(fake.requests, [{"verb": "test"}])
        self.assertEqual(done.returncode, 1)
        self.assertIn("sealed", done.stderr)

    def test_gating_submits_and_waits_for_the_verdict(self) -> None:
        for verdict, status in (("accepted", 0), ("rejected", 1)):
            replies = answering(
                submit={"ok": True, "ticket": "T7"}, result={**ACCEPTED, "verdict": verdict}
            )
            with FakeSupervisor(replies) as fake:
                self.assertEqual(run(fake, "gating.py").returncode, status)
            self.assertEqual([request["verb"] for request in fake.requests], ["submit", "result"])
            self.assertEqual(fake.requests[1]["ticket"], "T7")

    def test_gating_does_not_wait_after_a_refused_submission(self) -> None:
        with FakeSupervisor(answering(submit=refusal("symlink", "a symbolic link"))) as fake:
            self.assertEqual(run(fake, "gating.py").returncode, 1)
        self.assertEqual(len(fake.requests), 1)

    def test_record_sends_what_was_typed_and_repeats_the_refusal(self) -> None:
        refused = refusal("typed-score", "scores are measured")
        with FakeSupervisor(answering(record=refused)) as fake:
            done = run(fake, "record.py", "--val-score", "0.99", "--commit=abc", "loose")
        fields: Request = {"val-score": "0.99", "commit": "abc", "argument": "loose"}
        self.assertEqual(fake.requests, [{"verb": "record", "fields": fields}])
        self.assertEqual(done.returncode, 1)

    def test_prepare_says_whose_it_is(self) -> None:
        with FakeSupervisor(answering()) as fake:
            done = run(fake, "prepare.py")
        self.assertEqual((done.returncode, fake.requests), (1, []))
        self.assertIn("remedy:", done.stderr)


if __name__ == "__main__":
    unittest.main()
