#!/usr/bin/python3 -I
"""A session of aider: it edits, and this program runs the exams that it may not run itself.

Usage: session.py TASK AIDER [ARGUMENT…]     in /work, with the arguments of each run of aider

One round: aider gets a message and changes agent/agent.py; a train exam examines the change; it is
submitted unless it made the train exam worse; the outcome is the next message. The session ends
when no iteration is left, when the supervisor ends it, or after three rounds without a change.

Exit status: 0 the run is over; 1 aider failed; 3 the host failed twice in a row.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

WORK = Path("/work")
IDLE_ROUNDS = 3  # rounds without a change after which the session is over
FAILURES = 2  # failures of the host, or of aider, in a row
SHOWN_TRACES, TRACE_LIMIT = 3, 6000  # failing tasks that a message shows, characters of each
HOST_FAILED = 3


class HostBroke(Exception):
    """The supervisor failed more than once in a row."""


class Session:
    """What was tried, and how the last train exam and the last verdict came out."""

    def __init__(self, task: str, aider: list[str], work: Path, home: Path) -> None:
        self.task, self.aider, self.work, self.home = task, aider, work, home
        self.agent = work / "agent" / "agent.py"
        self.mean: float | None = None
        self.host_failures = 0
        self.notes: list[str] = []

    def exam(self, *words: str, text: str | None = None) -> tuple[int, dict[str, object], str]:
        """Runs exam; its status, its reply and its message."""
        done = subprocess.run(
            [sys.executable, "-I", "-B", str(self.work / "exam"), *words],
            cwd=self.work,
            input=text,
            capture_output=True,
            text=True,
        )
        self.host_failures = self.host_failures + 1 if done.returncode == HOST_FAILED else 0
        if self.host_failures >= FAILURES:
            raise HostBroke(done.stderr.strip())
        print(f"session: exam {' '.join(words)}: {done.returncode}", flush=True)
        try:
            reply = json.loads(done.stdout)
        except ValueError:
            reply = {}
        return done.returncode, reply if isinstance(reply, dict) else {}, done.stderr.strip()

    def is_over(self) -> bool:
        """Whether the supervisor says that no iteration is left, or refuses to say anything."""
        status, reply, _ = self.exam("status", "--json")
        budget = reply.get("budget")
        left = budget.get("iterations") if isinstance(budget, dict) else None
        return status == 1 or left == 0

    def train(self) -> float | None:
        """Examines the current file on the train tasks and notes the result; the mean."""
        status, reply, message = self.exam("train", "--json")
        if status != 0:
            self.notes.append(f"The train exam was refused: {message}")
            return None
        mean = reply.get("mean")
        self.notes.append(f"Train exam: {reply.get('passed')} of {reply.get('total')} passed.")
        return float(mean) if isinstance(mean, (int, float)) else None

    def failing(self) -> list[str]:
        """The failing tasks of the latest train exam, as its folder of traces tells them."""
        found = []
        for file in sorted((self.work / "workspace" / "traces" / "latest").glob("*/result.json")):
            try:
                result = json.loads(file.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                continue  # a trace that is being replaced is read in the next round
            if isinstance(result, dict) and result.get("passed") is not True:
                found.append(file.parent.name)
        return found

    def traces(self) -> str:
        """Some failing tasks: what the examiner saw, and the conversation."""
        shown = []
        for task in self.failing()[:SHOWN_TRACES]:
            folder = self.work / "workspace" / "traces" / "latest" / task
            files = [folder / "result.json", folder / "trace.json"]
            parts = [file.read_text(encoding="utf-8") for file in files if file.is_file()]
            shown.append(f"Failing task {task}:\n{''.join(parts)[:TRACE_LIMIT]}")
        return "\n\n".join(shown)

    def message(self, is_first: bool) -> str:
        """What aider is told in this round."""
        told = "\n".join(self.notes)
        self.notes = []
        begin = self.task if is_first else f"Go on as before. What happened:\n{told}"
        return "\n\n".join(filter(None, [begin, told if is_first else "", self.traces()]))

    def edit(self, is_first: bool) -> str | None:
        """Runs aider once; the hypothesis of its change, or nothing if it changed nothing."""
        before = self.agent.read_bytes()
        message = self.home / "message"
        message.write_text(self.message(is_first), encoding="utf-8")
        words = [*self.aider, "--read=PROGRAM.md", f"--message-file={message}"]
        if not is_first:
            words.append("--restore-chat-history")
        chat = self.home / "aider" / "chat.md"
        start = chat.stat().st_size if chat.is_file() else 0
        done = subprocess.run([*words, "agent/agent.py"], cwd=self.work, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise subprocess.CalledProcessError(done.returncode, words[0])
        if self.agent.read_bytes() == before:
            self.notes.append("Your answer changed nothing in agent.py.")
            return None
        return hypothesis_of(chat.read_bytes()[start:].decode("utf-8", "replace"))

    def judge(self, hypothesis: str) -> None:
        """Examines a change, hands it in unless it is worse, and notes what came of it."""
        mean = self.train()
        if mean is not None and self.mean is not None and mean < self.mean:
            self.notes.append("That is worse, so the change was taken back and not submitted.")
            self.exam("revert")
            return
        manifest = json.dumps({"hypothesis": hypothesis})
        status, reply, message = self.exam("submit", "--manifest", "-", "--json", text=manifest)
        if status == 0:
            status, reply, message = self.exam("result", str(reply.get("ticket")), "--json")
        verdict = str(reply.get("verdict", message))
        self.notes.append(f"Submitted: {verdict}. {json.dumps(reply.get('reasons', []))}")
        self.exam("learn", "-", text=f"{hypothesis}: {verdict}\n")
        if verdict == "accepted":
            self.mean = mean
        else:
            self.exam("revert")

    def run(self) -> None:
        """Rounds until the run is over."""
        if self.is_over():
            return
        self.mean = self.train()
        idle, is_first = 0, not (self.home / "aider" / "chat.md").exists()
        while idle < IDLE_ROUNDS:
            hypothesis = self.edit(is_first)
            is_first = False
            idle = idle + 1 if hypothesis is None else 0
            if hypothesis is not None:
                self.judge(hypothesis)
            if self.is_over():
                return


def hypothesis_of(chat: str) -> str:
    """The first line that the model said in a piece of aider's chat history."""
    for line in chat.splitlines():
        if line.strip() and not line.startswith(("#", ">", "`", "<", "=")):
            return line.strip()[:300]
    return "a change of aider without a reason"


def main(words: list[str]) -> int:
    """The program."""
    if len(words) < 2:
        print("session: usage: session.py TASK AIDER [ARGUMENT…]", file=sys.stderr)
        return 2
    home = Path(os.environ.get("HOME", "/home/agent"))
    try:
        Session(words[0], words[1:], WORK, home).run()
    except HostBroke as error:
        print(f"session: ask the supervisor: exam: {error}; remedy: look there", file=sys.stderr)
        return HOST_FAILED
    except subprocess.CalledProcessError as error:
        print(f"session: run aider: {error.cmd}: exit {error.returncode}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
