"""What the coding agent sees and may call: its folder, the traces, and the `exam` program.

Everything here needs no privilege and uses nothing that another coding agent would not have.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

REFUSED, HOST_FAILED = 1, 3  # exit statuses of the stubs: what was asked, or the host itself
ERROR_TEXT_LIMIT = 400  # characters of a stub's message that are worth repeating


class Answer:
    """What `exam` answered: its exit status, the reply's object, and its message."""

    def __init__(self, status: int, reply: dict[str, object], message: str) -> None:
        self.status = status
        self.reply = reply
        self.message = message

    @property
    def is_done(self) -> bool:
        """Whether the request was carried out, whatever the verdict."""
        return self.reply.get("ok") is True

    @property
    def refusal(self) -> str:
        """Why the request was refused, in the supervisor's words."""
        error = self.reply.get("error")
        if isinstance(error, dict):
            return f"{error.get('code')}: {error.get('reason')}"
        return self.message[:ERROR_TEXT_LIMIT]

    @property
    def rewards(self) -> dict[str, float]:
        """The reward of each train task that was run; one without a reward counts 0."""
        results = self.reply.get("results")
        pairs = results.items() if isinstance(results, dict) else ()
        return {str(task): reward_of(reward) for task, reward in pairs}


def reward_of(value: object) -> float:
    """A reward as a number; what is none counts 0."""
    return float(value) if isinstance(value, (int, float)) else 0.0


class Task:
    """One train task as its latest trace tells it."""

    def __init__(self, name: str, family: str, passed: bool) -> None:
        self.name = name
        self.family = family
        self.passed = passed


class Surroundings:
    """The coding sandbox as its agent may use it; `root` is /work but in tests."""

    def __init__(self, root: Path, search_roots: Iterable[Path] = (Path("/"),)) -> None:
        self.root = root
        self.search_roots = tuple(search_roots)
        self.workspace = root / "workspace"
        self.agent = root / "agent" / "agent.py"
        self.rewards: dict[str, float] = {}

    def run(self, program: str, *words: str, text: str = "") -> subprocess.CompletedProcess[str]:
        """Runs one of the stubs and waits for it, however long the supervisor takes."""
        return subprocess.run(
            [sys.executable, "-I", str(self.root / program), *words],
            cwd=self.root,
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )

    def exam(self, *words: str, text: str = "") -> Answer:
        """Runs `exam` with its reply as JSON."""
        done = self.run("exam", *words, "--json", text=text)
        try:
            value = json.loads(done.stdout)
        except ValueError:
            value = None
        reply = value if isinstance(value, dict) else {}
        return Answer(done.returncode, reply, done.stderr.strip())

    def submit(self, manifest: dict[str, object]) -> Answer:
        """Hands agent/agent.py in."""
        return self.exam("submit", "--manifest", "-", text=json.dumps(manifest))

    def verdict(self, submitted: Answer) -> Answer:
        """Waits for the verdict on what was handed in."""
        return self.exam("result", str(submitted.reply.get("ticket")))

    def source(self) -> str:
        """The text of agent/agent.py."""
        return self.agent.read_text("utf-8")

    def write_source(self, source: str) -> None:
        """Replaces agent/agent.py the way most editors save: a new file, then a rename."""
        beside = self.agent.with_name("agent.py.new")
        beside.write_text(source, "utf-8")
        os.replace(beside, self.agent)

    def train_rewards(self) -> dict[str, float]:
        """The latest reward of each train task, from workspace/train_results.json.

        Remembered between calls: a train exam on a few tasks may leave only those in the file.
        """
        results = read_object(self.workspace / "train_results.json").get("results")
        pairs = results.items() if isinstance(results, dict) else ()
        self.rewards |= {str(task): reward_of(reward) for task, reward in pairs}
        return self.rewards

    def train_tasks(self) -> list[Task]:
        """Each train task with the family its traces name."""
        return [
            Task(name, self.family(name), reward >= 0.5)
            for name, reward in sorted(self.train_rewards().items())
        ]

    def family(self, task: str) -> str:
        """The failure family of a task; a rollout that broke off has none in its latest trace."""
        for stage in ("latest", "baseline"):
            result = read_object(self.workspace / "traces" / stage / task / "result.json")
            detail = result.get("detail")
            if isinstance(detail, dict) and detail.get("family"):
                return str(detail["family"])
        return "unknown"

    def spoken(self, task: str) -> list[str]:
        """What was said in a task's latest conversation, message by message."""
        file = self.workspace / "traces" / "latest" / task / "trace.json"
        try:
            messages = json.loads(file.read_text("utf-8"))
        except (OSError, ValueError):
            return []
        listed = messages if isinstance(messages, list) else []
        return [str(entry.get("content")) for entry in listed if isinstance(entry, dict)]


def read_object(file: Path) -> dict[str, object]:
    """The JSON object in a file; an empty one when the file holds none."""
    try:
        value = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
