"""A model that plays all parts of tau2 from the tasks' own gold, for tests: user, judge and agent.

The user's first words are a mark of its task, by which the agent's part finds the gold actions and does
them one after the other; then it says what must be told, and the word that makes the user end. The
agent's part does so only for a request that offers tools, so that an agent which offers none fails; and
where the agent's instructions say `BE WRONG`, what it does is wrong (`gold.py`).

A user knows its task by its scenario. All scenarios of a telecom read the same, so `tasks_file` makes a
file of tasks in whose scenarios the marks stand, and which differ in nothing else from tau2's own.

Usage: cast.py PORT PACKAGES DOMAIN [PAUSE]    PACKAGES: of the examiner, or such a file of tasks
       cast.py --tasks PACKAGES DOMAIN TRAIN TEST    prints such a file with so many tasks of each split
"""

import hashlib
import json
import sys
import threading
from pathlib import Path
from typing import Any, Dict, List

sys.path[:0] = [str(Path(__file__).resolve().parent)]

import scripted_user  # noqa: E402
from gold import steps_of  # noqa: E402

Task = Dict[str, Any]

# What `prepare` asks each model first.
PREFLIGHT = "Answer with the one word: ready"
PATIENCE = 20
"""How often a user answers, unless the agent says `ENDLESS`."""

GARBAGE = {
    "text": [{"name": "calculate", "arguments": "not JSON"}],
    "list": [{"name": "calculate", "arguments": "[1]"}],
    "unknown": [{"name": "no_such_tool", "arguments": "{}"}],
    "many": [{"name": "calculate", "arguments": "{}"}] * 10_000,
    "strange": [{"name": "calc\0ulate", "arguments": "{}"}],
}
"""Calls that make no sense, by a word in the instructions of the agent that is given them."""


def mark_of(task: Task) -> str:
    """What the user of a task says first."""
    return "case-" + hashlib.sha256(str(task["id"]).encode()).hexdigest()[:16]


class Cast:
    """All parts, by the tasks of a domain."""

    def __init__(self, packages: Path, domain: str) -> None:
        """Reads the tasks."""
        if packages.is_file():
            self._tasks = [entry["task"] for entry in json.loads(packages.read_text())["tasks"]]
        else:
            self._tasks = tasks_of(packages, domain)["base"]
        self._by_mark = {mark_of(task): task for task in self._tasks}
        self._domain = domain

    def answer(self, body: Dict[str, Any]) -> Dict[str, Any]:
        """Answers one request."""
        messages = body["messages"]
        if messages[-1].get("content") == PREFLIGHT:
            return {"role": "assistant", "content": "ready"}
        if body["model"] in ("judge-model", "judge"):
            return scripted_user.answer(dict(body, model="judge"))
        if body["model"] in ("user-model", "user-simulator"):
            return self._user(messages)
        return self._agent(messages, bool(body.get("tools")))

    def _user(self, messages: List[Dict[str, Any]]) -> Dict[str, Any]:
        """Plays the user: its mark first, then the agent's stage directions, and not for ever."""
        own = sum(message["role"] == "assistant" for message in messages)
        is_endless = messages[-1].get("content") == "ENDLESS"
        if own > PATIENCE and messages[-1]["role"] == "user" and not is_endless:
            return {"role": "assistant", "content": "###STOP###"}
        if own:
            return scripted_user.answer({"model": "user", "messages": messages})
        scenario = plain(messages[0]["content"])
        for mark in self._by_mark:
            if mark in scenario:
                return {"role": "assistant", "content": mark}
        found = [task for task in self._tasks if part_of(task) in scenario]
        best = max(found, key=lambda task: len(part_of(task)), default=None)
        return {"role": "assistant", "content": mark_of(best) if best else "hello"}

    def _agent(self, messages: List[Dict[str, Any]], has_tools: bool) -> Dict[str, Any]:
        """Plays the agent: the next gold action."""
        told = str(messages[0]["content"])
        if told.startswith("GARBAGE "):
            calls = [
                {"id": "same", "type": "function", "function": call} for call in GARBAGE[told[8:]]
            ]
            return {"role": "assistant", "content": None, "tool_calls": calls}
        said = [message for message in messages if message["role"] in ("user", "assistant", "tool")]
        first = next(i for i, message in enumerate(said) if message["role"] == "user")
        task = self._by_mark.get(said[first]["content"])
        if task is None or not has_tools:
            return {"role": "assistant", "content": "I cannot help you. END"}
        done = sum(message["role"] == "assistant" for message in said[first:])
        is_wrong = any("BE WRONG" in str(m["content"]) for m in messages if m["role"] == "system")
        steps = steps_of("wrong" if is_wrong else "gold", self._domain)(task)
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


def tasks_of(packages: Path, domain: str) -> Dict[str, List[Task]]:
    """tau2's tasks by the name of a split; `base` is all that are examined."""
    folder = packages / "tau2" / "data" / "tau2" / "domains" / domain
    tasks = {str(task["id"]): task for task in json.loads((folder / "tasks.json").read_text())}
    splits = {"base": list(tasks)}
    splits.update(json.loads((folder / "split_tasks.json").read_text()))
    return {name: [tasks[key] for key in ids if key in tasks] for name, ids in splits.items()}


def tasks_file(packages: Path, domain: str, counts: Dict[str, int]) -> Dict[str, Any]:
    """A file of tasks as a benchmark's directory may hold one, with so many of each split.

    Its scenarios hold the marks: a customer is told to name one if asked, and scores depend on no scenario.
    """
    entries = []
    splits = tasks_of(packages, domain)
    for split, count in counts.items():
        for number, task in enumerate(splits[split][:count]):
            task = json.loads(json.dumps(task))
            scenario, mark = task["user_scenario"], " Your reference is %s." % mark_of(task)
            if isinstance(scenario["instructions"], str):
                scenario["instructions"] += mark
            else:
                scenario["instructions"]["task_instructions"] += mark
            name = "%s-%02d" % (split, number)
            entries.append({"id": name, "family": domain, "split": split, "task": task})
    return {"domain": domain, "tasks": entries}


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
    if sys.argv[1] == "--tasks":
        sizes = {"train": int(sys.argv[4]), "test": int(sys.argv[5])}
        print(json.dumps(tasks_file(Path(sys.argv[2]), sys.argv[3], sizes)), end="")
        sys.exit()
    running = serve(
        int(sys.argv[1]),
        Path(sys.argv[2]),
        sys.argv[3],
        float(sys.argv[4]) if len(sys.argv) > 4 else 0.0,
    )
    print(running.server_address[1], flush=True)
    threading.Event().wait()
