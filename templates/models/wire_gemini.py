"""Gemini generateContent and countTokens, as the scripted model speaks them (v1beta)."""

from __future__ import annotations

from wire import Answer, Call, Event, Question, Usage, dumped, fresh_id, mapping, members, pieces
from wire import since, text_of

PREFIX = "/v1beta/models/"
ANSWERS = {"generateContent": "", "streamGenerateContent": "alt=sse"}
COUNT = "countTokens"

ERROR_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
"""The status in words that goes with a status in numbers."""


def addressed(target: str) -> tuple[str, str] | None:
    """The model and the action that a request target names, or nothing where it is no route.

    A stream is one of server-sent events only: without `alt=sse` the provider sends a JSON list.
    """
    path, _, query = target.partition("?")
    model, _, action = path.removeprefix(PREFIX).partition(":")
    if not path.startswith(PREFIX) or not model:
        return None
    if action == COUNT and not query:
        return model, action
    return (model, action) if ANSWERS.get(action) == query else None


def is_model(content: dict[str, object]) -> bool:
    """Whether the model said a content."""
    return content.get("role") == "model"


def said(content: dict[str, object]) -> str:
    """All text of a content's parts, the results of functions included."""
    texts = []
    for part in members(content.get("parts")):
        result = mapping(mapping(part.get("functionResponse")).get("response"))
        told = text_of(list(result.values())) or (dumped(result) if result else "")
        texts.append(text_of(part) or told)
    return "\n".join(filter(None, texts))


def tool_names(tools: object) -> set[str]:
    """The names of the functions declared, and of the tools that the provider runs."""
    found: set[str] = set()
    for tool in members(tools):
        declared = members(tool.get("functionDeclarations"))
        found |= {str(function.get("name")) for function in declared}
        found |= set(tool) - {"functionDeclarations"}
    return found


def question(body: dict[str, object]) -> Question:
    """What a script may ask about a request; `model` and `stream` stand for what its path says."""
    contents = members(body.get("contents"))
    users = [content for content in contents if not is_model(content)]
    return Question(
        model=str(body.get("model")),
        system=said(mapping(body.get("systemInstruction"))),
        first="\n".join(map(said, users[:1])),
        last="\n".join(map(said, since(contents, is_model))),
        tools=frozenset(tool_names(body.get("tools"))),
        turns=sum(map(is_model, contents)),
        streams=body.get("stream") is True,
    )


def counted(tokens: int) -> dict[str, object]:
    """The answer to countTokens."""
    return {"totalTokens": tokens}


def usage_of(usage: Usage) -> dict[str, object]:
    """The usage of an answer; what was cached is part of the prompt."""
    return {
        "promptTokenCount": usage.input,
        "cachedContentTokenCount": usage.cached,
        "candidatesTokenCount": usage.output,
        "totalTokenCount": usage.input + usage.output,
    }


def call_of(call: Call) -> dict[str, object]:
    """One function call as a part; free text goes in one argument, for want of such a tool."""
    arguments = call.arguments if call.custom is None else {"input": call.custom}
    return {"functionCall": {"name": call.name, "args": arguments}}


def response(
    asked: Question, parts: list[dict[str, object]], usage: dict[str, object], reason: str | None
) -> dict[str, object]:
    """One response object, whole or a part of a stream."""
    candidate: dict[str, object] = {"content": {"parts": parts, "role": "model"}, "index": 0}
    if reason is not None:
        candidate["finishReason"] = reason
    return {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": asked.model,
        "responseId": fresh_id("gem"),
    }


def whole(answer: Answer, asked: Question) -> dict[str, object]:
    """The answer as one response object."""
    text = [{"text": answer.text}] if answer.text or not answer.calls else []
    parts = [*text, *map(call_of, answer.calls)]
    return response(asked, parts, usage_of(answer.usage), "STOP")


def stream(answer: Answer, asked: Question) -> list[Event]:
    """The answer as response objects; what was put out is told with the last one alone."""
    begun = {"promptTokenCount": answer.usage.input, "totalTokenCount": answer.usage.input}
    parts: list[dict[str, object]] = []
    if answer.text:
        parts += [{"text": piece} for piece in pieces(answer.text)]
    parts += map(call_of, answer.calls)
    events = [Event(response(asked, [part], begun, None)) for part in parts]
    return [*events, Event(response(asked, [{"text": ""}], usage_of(answer.usage), "STOP"))]


def error(status: int, message: str, kind: str | None = None) -> dict[str, object]:
    """An error in Google's words; of another kind if given."""
    usual = "UNAVAILABLE" if status >= 500 else "INVALID_ARGUMENT"
    kind = kind or ERROR_STATUSES.get(status, usual)
    return {"error": {"code": status, "message": message, "status": kind}}
