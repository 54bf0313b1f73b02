#!/usr/bin/python3 -I
"""A session of aider: it edits, and this program runs the exams that it may not run itself.

Usage: session.py TASK AIDER [ARGUMENT…]     in /work, with the arguments of each run of aider

One round: aider gets a message and changes agent/agent.py; a train exam examines the change; it is
submitted unless it made the train exam worse; the outcome is the next message. After three answers
without a change a new chat begins. The session ends when no iteration is left, when the supervisor
ends it, or after twenty such chats in a row.

Exit status: 0 the run is over; 1 aider failed, or its model did not answer in three rounds;
3 the host failed twice in a row.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

WORK = Path("/work")
IDLE_ROUNDS = 3  # answers without a change after which a new chat begins
IDLE_CHATS = 20  # such chats after which the session is over: as often as others are started again
SILENT_ROUNDS = 3  # rounds without an answer after which aider has failed
FAILURES = 2  # failures of the host, or of aider, in a row
SHOWN_TRACES, TRACE_LIMIT = 3, 6000  # failing tasks that a message shows, characters of each
HOST_FAILED = 3


class HostBroke(Exception):
    """The supervisor failed more than once in a row."""


class NoAnswer(Exception):
    """The model did not answer in several rounds."""


class Session:
    """What was tried, and how the last train exam and the last verdict came out."""

    def __init__(self, task: str, aider: list[str], work: Path, home: Path) -> None:
        self.task, self.aider, self.work, self.home = task, aider, work, home
        self.agent = work / "agent" / "agent.py"
        self.mean: float | None = None
        self.host_failures = 0
        self.notes: list[str] = []
        self.tried: list[str] = []

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
        if not is_first:
            return "\n\n".join(filter(None, [f"Go on as before. What happened:\n{told}", self.traces()]))
        # A new chat knows nothing of the one before.
        tried = "What was tried before:\n" + "\n".join(self.tried) if self.tried else ""
        return "\n\n".join(filter(None, [self.task, tried, told, self.traces()]))

    @property
    def chat(self) -> Path:
        """Where aider writes down what it and its model say."""
        return self.home / "aider" / "chat.md"

    def begin_anew(self) -> None:
        """Puts the chat aside: what led nowhere three times is not what it goes on with."""
        number = len(list(self.chat.parent.glob("chat-*.md"))) + 1
        self.chat.rename(self.chat.with_name(f"chat-{number}.md"))

    def edit(self, is_first: bool) -> tuple[bool, str | None]:
        """Runs aider once: whether it changed the file, and what its model said first, if anything."""
        before = self.agent.read_bytes()
        message = self.home / "message"
        message.write_text(self.message(is_first), encoding="utf-8")
        words = [*self.aider, "--read=PROGRAM.md", f"--message-file={message}"]
        if not is_first:
            words.append("--restore-chat-history")
        start = self.chat.stat().st_size if self.chat.is_file() else 0
        done = subprocess.run([*words, "agent/agent.py"], cwd=self.work, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise subprocess.CalledProcessError(done.returncode, words[0])
        has_changed = self.agent.read_bytes() != before
        if not has_changed:
            self.notes.append("Your answer changed nothing in agent.py.")
        chat = self.chat.read_bytes()[start:] if self.chat.is_file() else b""
        return has_changed, first_line_of(chat.decode("utf-8", "replace"))

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
        self.tried.append(f"{hypothesis}: {verdict}")
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
        idle, chats, silent, is_first = 0, 0, 0, not self.chat.exists()
        while chats < IDLE_CHATS:
            has_changed, said = self.edit(is_first)
            is_first = False
            if has_changed:
                idle, chats, silent = 0, 0, 0
                self.judge(said or "a change of aider without a reason")
            elif said is None:
                silent += 1
                if silent >= SILENT_ROUNDS:
                    raise NoAnswer
            else:
                idle, silent = idle + 1, 0
                if idle >= IDLE_ROUNDS:
                    idle, chats, is_first = 0, chats + 1, True
                    self.begin_anew()
            if self.is_over():
                return


def first_line_of(chat: str) -> str | None:
    """The first line that the model said in a piece of aider's chat history, if it said anything."""
    for line in chat.splitlines():
        if line.strip() and not line.startswith(("#", ">", "`", "<", "=")):
            return line.strip()[:300]
    return None


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
    except NoAnswer:
        print(
            f"session: ask the model: no answer in {SILENT_ROUNDS} rounds; remedy: aider says why above",
            file=sys.stderr,
        )
        return 1
    except subprocess.CalledProcessError as error:
        print(f"session: run aider: {error.cmd}: exit {error.returncode}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
