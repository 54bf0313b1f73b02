"""The script of a scripted model: what it answers, in which order, to whom.

A script is a JSON object:

    {"conversations": "first-message" | "one" | "history",
     "steps":  [STEP, …],      answered one after the other in each conversation
     "asides": [STEP, …],      answered whenever their `when` holds, before any step is used up
     "otherwise": STEP}        answered when the steps are used up; an error 500 if left out

"first-message" keeps one place in the steps for each first user message, "one" keeps a single
place for everybody, and "history" counts the model's turns in each request and keeps nothing, so
that any number of equal conversations may run at once.

STEP: {"text": TEXT, "calls": [{"name": NAME, "input": OBJECT} or {"name": NAME, "custom": TEXT}],
       "usage": {"input": N, "output": N, "cached": N},
       "status": 429, "message": TEXT, "retry_after": SECONDS,     an error instead of an answer
       "kind": TEXT of the error's type, unless it is the provider's usual one for the status,
       "delay": SECONDS before the answer, "pace": SECONDS between two events of a stream,
       "cut_after": N events, after which the connection is cut; in a whole answer, at half of it,
       "times": N answers before the step is used up (1),
       "expect": PREDICATE of a step, "when": PREDICATE of an aside}

PREDICATE: {"model": TEXT, "system": TEXT, "first": TEXT, "last": TEXT,   contained in these
            "offers": TOOL, "lacks": TOOL}
"first" is the first user message, "last" all that came after the model's last turn.

The question that `prepare` asks each model first is answered with "ready" and uses up no step,
unless an aside answers it.

A step whose `expect` does not hold is answered with an error 400 that says so, and is not used
up: a test sees that the client did something else than what the script was written for.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, fields
from pathlib import Path

from wire import Answer, Call, Question, Usage

CONVERSATIONS = ("first-message", "one", "history")


class ScriptError(Exception):
    """A script that cannot be used; the text says where, why and what to do."""

    def __init__(self, location: str, reason: str, remedy: str) -> None:
        super().__init__(f"read the script: {location}: {reason}; remedy: {remedy}")


@dataclass(frozen=True)
class Predicate:
    """A condition on a request; a member that is left out always holds."""

    model: str = ""
    system: str = ""
    first: str = ""
    last: str = ""
    offers: str | None = None
    lacks: str | None = None

    def failing(self, asked: Question) -> str | None:
        """The first member that does not hold, in words; nothing when all hold."""
        for name in ("model", "system", "first", "last"):
            if getattr(self, name) not in getattr(asked, name):
                return f"{name} does not contain {getattr(self, name)!r}"
        if self.offers is not None and self.offers not in asked.tools:
            return f"no tool {self.offers!r} is offered, only {sorted(asked.tools)}"
        if self.lacks is not None and self.lacks in asked.tools:
            return f"the tool {self.lacks!r} is offered"
        return None


@dataclass(frozen=True)
class Step:
    """One answer, or one error, and how it is sent."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    usage: Usage | None = None
    status: int = 200
    message: str = "scripted error"
    kind: str | None = None
    retry_after: float | None = None
    delay: float = 0
    pace: float = 0
    cut_after: int | None = None
    times: int = 1
    expect: Predicate = field(default_factory=Predicate)
    when: Predicate = field(default_factory=Predicate)

    def answer(self, request_bytes: int) -> Answer:
        """The answer; without a usage of its own it costs a token for four characters."""
        said = len(self.text) + sum(len(str(c.custom or c.arguments)) for c in self.calls)
        usage = self.usage or Usage(input=request_bytes // 4 + 1, output=said // 4 + 1)
        return Answer(self.text, self.calls, usage)


def read_members(value: object, kind: type, location: str) -> dict[str, object]:
    """The members of an object that is to become a `kind`; refuses any that it does not have."""
    if not isinstance(value, dict):
        raise ScriptError(location, "it is no object", "write an object")
    known = {item.name for item in fields(kind)}
    for name in value:
        if name not in known:
            raise ScriptError(f"{location}.{name}", "unknown", f"use {', '.join(sorted(known))}")
    return value


def read_call(value: object, location: str) -> Call:
    """One tool call of a step."""
    given = dict(value) if isinstance(value, dict) else {}
    if not given.get("name") or ("input" in given) == ("custom" in given):
        raise ScriptError(location, "no tool call", "give a name, and input or custom")
    return Call(str(given["name"]), given.get("input") or {}, given.get("custom"))


def read_step(value: object, location: str) -> Step:
    """One step of the script."""
    given = dict(read_members(value, Step, location))
    for name in ("expect", "when"):
        if name in given:
            where = f"{location}.{name}"
            given[name] = Predicate(**read_members(given[name], Predicate, where))
    if "usage" in given:
        given["usage"] = Usage(**read_members(given["usage"], Usage, f"{location}.usage"))
    calls = given.get("calls", [])
    if not isinstance(calls, list):
        raise ScriptError(f"{location}.calls", "it is no list", "write a list of calls")
    given["calls"] = tuple(
        read_call(call, f"{location}.calls[{index}]") for index, call in enumerate(calls)
    )
    return Step(**given)


def key_of(asked: Question, dialect: str) -> str:
    """What names the conversation of a request."""
    return hashlib.sha256(f"{dialect}\0{asked.first}".encode("utf-8")).hexdigest()


PREFLIGHT = "Answer with the one word: ready"
OVER = Step(status=500, message="the script has no step left for this conversation")


class Script:
    """A script and how far each conversation has come in it."""

    def __init__(self, value: object, location: str = "script") -> None:
        if not isinstance(value, dict):
            raise ScriptError(location, "it is no object", "write an object with steps")
        for name in value:
            if name not in ("conversations", "steps", "asides", "otherwise"):
                raise ScriptError(f"{location}.{name}", "unknown", "remove it")
        self.conversations = value.get("conversations", "first-message")
        if self.conversations not in CONVERSATIONS:
            remedy = f"write one of {', '.join(CONVERSATIONS)}"
            raise ScriptError(f"{location}.conversations", "unknown", remedy)
        self.steps = self._read_list(value, "steps", location)
        self.asides = self._read_list(value, "asides", location)
        last = value.get("otherwise")
        self.otherwise = OVER if last is None else read_step(last, f"{location}.otherwise")
        self._used: dict[str, int] = {}

    @staticmethod
    def _read_list(value: dict[str, object], name: str, location: str) -> list[Step]:
        given = value.get(name, [])
        if not isinstance(given, list):
            raise ScriptError(f"{location}.{name}", "it is no list", "write a list of steps")
        return [read_step(step, f"{location}.{name}[{i}]") for i, step in enumerate(given)]

    @classmethod
    def load(cls, path: Path) -> Script:
        """Reads a script file."""
        try:
            return cls(json.loads(path.read_text(encoding="utf-8")), str(path))
        except (OSError, ValueError) as error:
            raise ScriptError(str(path), str(error), "name a file with a JSON script") from None

    def next(self, asked: Question, dialect: str) -> tuple[str, Step]:
        """The step that answers a request, and its name for the log; advances the conversation."""
        for index, step in enumerate(self.asides):
            if step.when.failing(asked) is None:
                return f"asides[{index}]", step
        if asked.last == PREFLIGHT:
            return "preflight", Step(text="ready")
        if self.conversations == "history":
            index = self._index_after(asked.turns)
            key = None
        else:
            key = "" if self.conversations == "one" else key_of(asked, dialect)
            index = self._index_after(self._used.get(key, 0))
        if index is None:
            return "otherwise", self.otherwise
        step = self.steps[index]
        wrong = step.expect.failing(asked)
        if wrong is not None:
            return f"steps[{index}]", Step(status=400, message=f"steps[{index}].expect: {wrong}")
        if key is not None:
            self._used[key] = self._used.get(key, 0) + 1
        return f"steps[{index}]", step

    def _index_after(self, answers: int) -> int | None:
        """The step that is due after that many answers."""
        for index, step in enumerate(self.steps):
            answers -= step.times
            if answers < 0:
                return index
        return None
