"""Anthropic messages and count_tokens, as the scripted model speaks them."""

from __future__ import annotations

from wire import ERROR_TYPES, Answer, Event, Question, Usage, dumped, fresh_id, is_assistant
from wire import mapping, members, pieces, since, text_of


def question(body: dict[str, object]) -> Question:
    """What a script may ask about a messages request."""
    messages = members(body.get("messages"))
    users = [m for m in messages if m.get("role") == "user"]
    return Question(
        model=str(body.get("model")),
        system=text_of(body.get("system")),
        first=text_of(users[:1]),
        last=text_of(since(messages, is_assistant)),
        tools=frozenset(str(tool.get("name")) for tool in members(body.get("tools"))),
        turns=sum(map(is_assistant, messages)),
        streams=body.get("stream") is True,
    )


def counted(tokens: int) -> dict[str, object]:
    """The answer to count_tokens."""
    return {"input_tokens": tokens}


def usage_of(usage: Usage, output: int) -> dict[str, object]:
    """The usage object of messages, with what was put out so far."""
    return {
        "input_tokens": usage.input - usage.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": output,
        "service_tier": "standard",
    }


def blocks(answer: Answer) -> list[dict[str, object]]:
    """The content blocks of the answer."""
    found: list[dict[str, object]] = []
    if answer.text or not answer.calls:
        found.append({"type": "text", "text": answer.text})
    for call in answer.calls:
        block = {"id": fresh_id("toolu_"), "name": call.name, "input": call.arguments}
        found.append({"type": "tool_use", **block})
    return found


def stop(answer: Answer) -> str:
    """Why the model stopped."""
    return "tool_use" if answer.calls else "end_turn"


def message(asked: Question, usage: dict[str, object]) -> dict[str, object]:
    """A message with nothing in it yet."""
    return {
        "id": fresh_id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }


def whole(answer: Answer, asked: Question) -> dict[str, object]:
    """The answer as one message object."""
    empty = message(asked, usage_of(answer.usage, answer.usage.output))
    return {**empty, "content": blocks(answer), "stop_reason": stop(answer)}


def named(data: dict[str, object]) -> Event:
    """An event whose name is its type, as all of Anthropic's are."""
    return Event(data, str(data["type"]))


def block_events(index: int, block: dict[str, object]) -> list[Event]:
    """The events of one content block."""
    if block["type"] == "text":
        empty = {**block, "text": ""}
        parts = [{"type": "text_delta", "text": piece} for piece in pieces(str(block["text"]))]
    else:
        empty = {**block, "input": {}}
        written = ["", *pieces(dumped(mapping(block["input"])))]
        parts = [{"type": "input_json_delta", "partial_json": piece} for piece in written]
    events = [named({"type": "content_block_start", "index": index, "content_block": empty})]
    if index == 0:
        events.append(named({"type": "ping"}))
    for part in parts:
        events.append(named({"type": "content_block_delta", "index": index, "delta": part}))
    return [*events, named({"type": "content_block_stop", "index": index})]


def stream(answer: Answer, asked: Question) -> list[Event]:
    """The answer as the events of a messages stream."""
    empty = message(asked, usage_of(answer.usage, 1))
    events = [named({"type": "message_start", "message": empty})]
    for index, block in enumerate(blocks(answer)):
        events += block_events(index, block)
    delta = {"stop_reason": stop(answer), "stop_sequence": None}
    usage = usage_of(answer.usage, answer.usage.output)
    events.append(named({"type": "message_delta", "delta": delta, "usage": usage}))
    return [*events, named({"type": "message_stop"})]


def error(status: int, text: str, kind: str | None = None) -> dict[str, object]:
    """An error in Anthropic's words; of another kind if given."""
    usual = "api_error" if status >= 500 else "invalid_request_error"
    kind = kind or ERROR_TYPES.get(status, usual)
    inner = {"type": kind, "message": text}
    return {"type": "error", "error": inner, "request_id": fresh_id("req_")}
