"""A model that plays all parts of tau2 from the tasks' own gold, for tests: user, judge and agent.

The user's first words are a mark of its task, by which the agent's part finds the gold actions and does
them one after the other; then it says what must be told, and the word that makes the user end. The
agent's part does so only for a request that offers tools, so that an agent which offers none fails.

Usage: cast.py PORT PACKAGES DOMAIN [PAUSE]
"""

import hashlib
import json
import sys
import threading
from pathlib import Path
from typing import Any, Dict, List

sys.path[:0] = [str(Path(__file__).resolve().parent)]

import scripted_user  # noqa: E402
from gold import gold_steps  # noqa: E402

Task = Dict[str, Any]

PATIENCE = 20
"""How often a user answers."""


def mark_of(task: Task) -> str:
    """What the user of a task says first."""
    return "case-" + hashlib.sha256(str(task["id"]).encode()).hexdigest()[:16]


class Cast:
    """All parts, by the tasks of a domain."""

    def __init__(self, packages: Path, domain: str) -> None:
        """Reads the tasks."""
        folder = packages / "tau2" / "data" / "tau2" / "domains" / domain
        tasks: List[Task] = json.loads((folder / "tasks.json").read_text())
        splits = json.loads((folder / "split_tasks.json").read_text())
        base = set(splits.get("base", [task["id"] for task in tasks]))
        self._tasks = [task for task in tasks if task["id"] in base]
        self._by_mark = {mark_of(task): task for task in self._tasks}

    def answer(self, body: Dict[str, Any]) -> Dict[str, Any]:
        """Answers one request."""
        messages = body["messages"]
        if body["model"] in ("judge-model", "judge"):
            return scripted_user.answer(dict(body, model="judge"))
        if body["model"] in ("user-model", "user-simulator"):
            return self._user(messages)
        return self._agent(messages, bool(body.get("tools")))

    def _user(self, messages: List[Dict[str, Any]]) -> Dict[str, Any]:
        """Plays the user: its mark first, then the agent's stage directions, and not for ever."""
        own = sum(message["role"] == "assistant" for message in messages)
        if own > PATIENCE and messages[-1]["role"] == "user":
            return {"role": "assistant", "content": "###STOP###"}
        if own:
            return scripted_user.answer({"model": "user", "messages": messages})
        scenario = plain(messages[0]["content"])
        found = [task for task in self._tasks if part_of(task) in scenario]
        best = max(found, key=lambda task: len(part_of(task)), default=None)
        return {"role": "assistant", "content": mark_of(best) if best else "hello"}

    def _agent(self, messages: List[Dict[str, Any]], has_tools: bool) -> Dict[str, Any]:
        """Plays the agent: the next gold action."""
        said = [message for message in messages if message["role"] in ("user", "assistant", "tool")]
        first = next(i for i, message in enumerate(said) if message["role"] == "user")
        task = self._by_mark.get(said[first]["content"])
        if task is None or not has_tools:
            return {"role": "assistant", "content": "I cannot help you. END"}
        done = sum(message["role"] == "assistant" for message in said[first:])
        steps = gold_steps(task)
        step = steps[min(done, len(steps) - 1)]
        if "say" in step:
            return {"role": "assistant", "content": step["say"]}
        if "user" in step:
            return {"role": "assistant", "content": "DO " + json.dumps(step["user"])}
        function = {
            "name": step["call"]["name"],
            "arguments": json.dumps(step["call"]["arguments"]),
        }
        call = {"id": "gold-%d" % done, "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}


def part_of(task: Task) -> str:
    """A piece of the scenario that the user's instructions hold, without white space."""
    told = task["user_scenario"]["instructions"]
    if isinstance(told, str):
        return plain(told)
    return max((plain(str(value)) for value in told.values() if value), key=len)


def plain(text: str) -> str:
    """A text without white space: tau2 indents what it shows."""
    return "".join(text.split())


def serve(port: int, packages: Path, domain: str, pause: float = 0.0) -> Any:
    """Starts the cast on loopback."""
    cast = Cast(packages, domain)
    scripted = scripted_user.serve(port, pause)
    scripted.RequestHandlerClass.answer = staticmethod(cast.answer)
    return scripted


if __name__ == "__main__":
    running = serve(
        int(sys.argv[1]),
        Path(sys.argv[2]),
        sys.argv[3],
        float(sys.argv[4]) if len(sys.argv) > 4 else 0.0,
    )
    print(running.server_address[1], flush=True)
    threading.Event().wait()
