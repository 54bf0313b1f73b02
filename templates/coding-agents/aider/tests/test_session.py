"""Tests of aider's session with a stand-in for aider and one for exam."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import session

# Answers each verb with the next line that the test prepared for it, the last one for ever.
EXAM = """
import json, sys
verb, state = sys.argv[1], json.load(open("replies.json"))
text = "" if sys.stdin.isatty() else sys.stdin.read()
open("asked", "a").write(json.dumps([*sys.argv[1:], text]) + "\\n")
replies = state[verb]
reply = replies.pop(0) if len(replies) > 1 else replies[0]
json.dump(state, open("replies.json", "w"))
print(json.dumps(reply["says"]))
sys.exit(reply.get("status", 0))
"""

# Notes its message, says something and changes the file, or not, round by round as EDITS says; the last
# word of it for ever: yes, no (an answer without a change), silent (no answer of its model).
AIDER = """
import os, sys
words = dict(word.split("=", 1) for word in sys.argv[1:] if "=" in word)
message = open(words["--message-file"]).read()
open("messages", "a").write(message + "\\n====\\n")
folder = os.path.join(os.environ["HOME"], "aider")
os.makedirs(folder, exist_ok=True)
rounds, edits = open("messages").read().count("====\\n"), os.environ["EDITS"].split()
now = edits[min(rounds, len(edits)) - 1]
restored = "--restore-chat-history" in sys.argv
open("restored", "a").write("yes " if restored else "no ")
said = "" if now == "silent" else "Because of this.\\n"
open(os.path.join(folder, "chat.md"), "a").write("#### told\\n> noise\\n\\n" + said)
if now == "yes":
    open(sys.argv[-1], "a").write("# changed\\n")
sys.exit(int(os.environ.get("AIDER_ENDS", "0")))
"""


def says(status: int = 0, **members: object) -> dict[str, object]:
    """One prepared reply of exam."""
    return {"status": status, "says": members}


class SessionTests(unittest.TestCase):
    """What a session asks for, tells aider, and ends with."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="session.")
        self.addCleanup(folder.cleanup)
        self.work = Path(folder.name)
        (self.work / "agent").mkdir()
        (self.work / "agent" / "agent.py").write_text("# first\n")
        (self.work / "exam").write_text(EXAM)
        (self.work / "aider.py").write_text(AIDER)
        task = self.work / "workspace" / "traces" / "latest" / "task-7"
        task.mkdir(parents=True)
        (task / "result.json").write_text('{"passed": false, "detail": "late"}')
        (task / "trace.json").write_text("[]")

    def run_it(self, replies: dict[str, object], **environment: str) -> int:
        """Runs a session; its exit status."""
        defaults = {"learn": [says()], "revert": [says()], "train": [says(mean=0.5)]}
        (self.work / "replies.json").write_text(json.dumps({**defaults, **replies}))
        words = ["the task", sys.executable, str(self.work / "aider.py")]
        given = {"HOME": str(self.work), "EDITS": "yes", **environment}
        with mock.patch.dict(os.environ, given), mock.patch.object(session, "WORK", self.work):
            return session.main(words)

    def asked(self) -> list[list[str]]:
        """What exam was asked, in order."""
        return [json.loads(line) for line in (self.work / "asked").read_text().splitlines()]

    def verbs(self) -> list[str]:
        """The verbs that exam was asked."""
        return [words[0] for words in self.asked()]

    def messages(self) -> list[str]:
        """What aider was told, round by round."""
        return (self.work / "messages").read_text().split("\n====\n")[:-1]

    def test_a_change_is_examined_submitted_and_its_verdict_told(self) -> None:
        left = [says(budget={"iterations": n}) for n in (2, 1, 0)]
        verdicts = [says(verdict="accepted"), says(1, verdict="rejected", reasons=["worse"])]
        replies = {"status": left, "submit": [says(ticket="t-1")], "result": verdicts}
        self.assertEqual(self.run_it(replies), 0)
        one = ["train", "submit", "result", "learn"]
        self.assertEqual(
            self.verbs(), ["status", "train", *one, "status", *one, "revert", "status"]
        )
        submit = next(words for words in self.asked() if words[0] == "submit")
        self.assertEqual(json.loads(submit[-1]), {"hypothesis": "Because of this."})
        first, second = self.messages()
        self.assertTrue(first.startswith("the task"))
        self.assertIn("Failing task task-7:\n{\"passed\": false", first)
        self.assertIn("Submitted: accepted.", second)

    def test_a_change_that_makes_train_worse_is_taken_back(self) -> None:
        left = [says(budget={"iterations": n}) for n in (1, 0)]
        replies = {"status": left, "train": [says(mean=0.5), says(mean=0.25)]}
        self.assertEqual(self.run_it(replies), 0)
        self.assertEqual(self.verbs(), ["status", "train", "train", "revert", "status"])

    def test_three_answers_without_a_change_begin_a_new_chat_and_end_nothing(self) -> None:
        left = [says(budget={"iterations": n}) for n in (1, 1, 1, 1, 1, 0)]
        replies = {"status": left, "submit": [says(ticket="t-1")], "result": [says(verdict="accepted")]}
        self.assertEqual(self.run_it(replies, EDITS="yes no no no yes"), 0)
        self.assertEqual(len(self.messages()), 5)
        self.assertIn("changed nothing", self.messages()[2])
        self.assertEqual(self.verbs().count("submit"), 2)
        self.assertEqual((self.work / "restored").read_text().split(), ["no", *["yes"] * 3, "no"])
        self.assertTrue(self.messages()[4].startswith("the task"))
        self.assertIn("What was tried before:\nBecause of this.: accepted", self.messages()[4])
        # What was said before is kept for the transcript.
        self.assertTrue((self.work / "aider" / "chat-1.md").is_file())

    def test_it_ends_when_so_many_chats_in_a_row_changed_nothing(self) -> None:
        replies = {"status": [says(budget={"iterations": 9})]}
        with mock.patch.object(session, "IDLE_CHATS", 2):
            self.assertEqual(self.run_it(replies, EDITS="no"), 0)
        self.assertEqual(len(self.messages()), 6)

    def test_a_model_that_does_not_answer_in_three_rounds_is_a_failure(self) -> None:
        replies = {"status": [says(budget={"iterations": 9})]}
        self.assertEqual(self.run_it(replies, EDITS="no silent silent silent"), 1)
        self.assertEqual(len(self.messages()), 4)

    def test_a_run_that_has_ended_starts_no_aider(self) -> None:
        self.assertEqual(self.run_it({"status": [says(1)]}), 0)
        self.assertFalse((self.work / "messages").exists())

    def test_a_host_that_fails_twice_or_an_aider_that_fails_ends_it(self) -> None:
        self.assertEqual(self.run_it({"status": [says(3)], "train": [says(3)]}), 3)
        replies = {"status": [says(budget={"iterations": 9})]}
        self.assertEqual(self.run_it(replies, AIDER_ENDS="4"), 1)

    def test_wrong_use_is_refused(self) -> None:
        done = subprocess.run([sys.executable, session.__file__], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main()
