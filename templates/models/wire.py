"""What the dialects of the scripted model have in common: a question, an answer, an event."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field

PIECE = 24  # characters of one streamed piece of text or of arguments

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}
"""The error type that goes with a status, in Anthropic's words; OpenAI's differ for a few."""

_numbers = itertools.count(1)


def fresh_id(prefix: str) -> str:
    """An identifier that no other answer of this process has."""
    return f"{prefix}{next(_numbers):024x}"


def now() -> int:
    """The time an answer is stamped with, in seconds."""
    return int(time.time())


def dumped(value: object) -> str:
    """JSON as the providers send it: compact, not escaped."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def pieces(text: str) -> list[str]:
    """The text cut into what is streamed one by one; at least one piece."""
    return [text[at : at + PIECE] for at in range(0, len(text), PIECE)] or [""]


@dataclass(frozen=True)
class Call:
    """One tool call of the model: arguments of a function tool, or a custom tool's free text."""

    name: str
    arguments: dict[str, object] = field(default_factory=dict)
    custom: str | None = None


@dataclass(frozen=True)
class Usage:
    """Tokens that an answer claims to have cost."""

    input: int
    output: int
    cached: int = 0


@dataclass(frozen=True)
class Answer:
    """What the model says in one turn."""

    text: str
    calls: tuple[Call, ...]
    usage: Usage


@dataclass(frozen=True)
class Question:
    """What a script may ask about a request, whatever its dialect."""

    model: str
    system: str
    first: str
    last: str
    tools: frozenset[str]
    turns: int
    streams: bool
    wants_usage: bool = True


@dataclass(frozen=True)
class Event:
    """One server-sent event; without a name only the data line is sent."""

    data: object
    name: str | None = None

    def encoded(self) -> bytes:
        """The event's bytes on the wire."""
        data = self.data if isinstance(self.data, str) else dumped(self.data)
        name = f"event: {self.name}\n" if self.name else ""
        return f"{name}data: {data}\n\n".encode("utf-8")


def members(value: object) -> list[dict[str, object]]:
    """The objects in a list, whatever else is in it."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def mapping(value: object) -> dict[str, object]:
    """The value if it is an object, an empty one otherwise."""
    return value if isinstance(value, dict) else {}


def since(
    items: list[dict[str, object]], made_by_model: Callable[[dict[str, object]], bool]
) -> list[dict[str, object]]:
    """What was added after the model's last turn; all of it if there was none."""
    turns = [number for number, item in enumerate(items) if made_by_model(item)]
    return items[turns[-1] + 1 :] if turns else items


def is_assistant(message: dict[str, object]) -> bool:
    """Whether the model said a message."""
    return message.get("role") == "assistant"


def text_of(content: object) -> str:
    """All text in a message's content, tool results included, in order."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(filter(None, map(text_of, content)))
    if isinstance(content, dict):
        return text_of(content.get("text") or content.get("content") or content.get("output"))
    return ""
