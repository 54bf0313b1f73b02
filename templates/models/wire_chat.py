"""OpenAI chat completions, as the scripted model speaks them."""

from __future__ import annotations

from wire import Answer, Call, Event, Question, Usage, dumped, fresh_id, is_assistant, mapping
from wire import members, now, pieces, since, text_of

ERROR_TYPES = {401: "invalid_request_error", 429: "requests", 500: "server_error"}
ERROR_CODES = {401: "invalid_api_key", 429: "rate_limit_exceeded"}


def question(body: dict[str, object]) -> Question:
    """What a script may ask about a chat request."""
    messages = members(body.get("messages"))
    system = [m for m in messages if m.get("role") in ("system", "developer")]
    users = [m for m in messages if m.get("role") == "user"]
    functions = (mapping(tool.get("function")) for tool in members(body.get("tools")))
    return Question(
        model=str(body.get("model")),
        system=text_of(system),
        first=text_of(users[:1]),
        last=text_of(since(messages, is_assistant)),
        tools=frozenset(str(function.get("name")) for function in functions),
        turns=sum(map(is_assistant, messages)),
        streams=body.get("stream") is True,
        wants_usage=mapping(body.get("stream_options")).get("include_usage") is True,
    )


def usage_of(usage: Usage) -> dict[str, object]:
    """The usage object of chat completions."""
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }


def call_of(call: Call) -> dict[str, object]:
    """One tool call of a whole message."""
    if call.custom is not None:
        custom = {"name": call.name, "input": call.custom}
        return {"id": fresh_id("call_"), "type": "custom", "custom": custom}
    function = {"name": call.name, "arguments": dumped(call.arguments)}
    return {"id": fresh_id("call_"), "type": "function", "function": function}


def finish(answer: Answer) -> str:
    """Why the model stopped."""
    return "tool_calls" if answer.calls else "stop"


def whole(answer: Answer, asked: Question) -> dict[str, object]:
    """The answer as one chat.completion object."""
    message: dict[str, object] = {"role": "assistant", "content": answer.text or None}
    message |= {"refusal": None, "annotations": []}
    if answer.calls:
        message["tool_calls"] = [call_of(call) for call in answer.calls]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish(answer)}
    return {
        "id": fresh_id("chatcmpl-"),
        "object": "chat.completion",
        "created": now(),
        "model": asked.model,
        "choices": [choice],
        "usage": usage_of(answer.usage),
        "service_tier": "default",
        "system_fingerprint": "fp_scripted",
    }


def deltas(answer: Answer) -> list[dict[str, object]]:
    """The deltas of a streamed message, in order."""
    found: list[dict[str, object]] = [{"role": "assistant", "content": "", "refusal": None}]
    if answer.text:
        found += [{"content": piece} for piece in pieces(answer.text)]
    for index, call in enumerate(answer.calls):
        entry = call_of(call)
        kind = str(entry["type"])
        member = "input" if kind == "custom" else "arguments"
        inner = mapping(entry[kind])
        head = {"index": index, **entry, kind: {**inner, member: ""}}
        found.append({"tool_calls": [head]})
        for piece in pieces(str(inner[member])):
            found.append({"tool_calls": [{"index": index, kind: {member: piece}}]})
    return found


def stream(answer: Answer, asked: Question) -> list[Event]:
    """The answer as the events of a chat stream, [DONE] included."""
    frame: dict[str, object] = {
        "id": fresh_id("chatcmpl-"),
        "object": "chat.completion.chunk",
        "created": now(),
        "model": asked.model,
        "service_tier": "default",
        "system_fingerprint": "fp_scripted",
    }

    def chunk(delta: dict[str, object], reason: str | None) -> Event:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        usage = {"usage": None} if asked.wants_usage else {}
        return Event({**frame, "choices": [choice], **usage})

    events = [chunk(delta, None) for delta in deltas(answer)]
    events.append(chunk({}, finish(answer)))
    if asked.wants_usage:
        events.append(Event({**frame, "choices": [], "usage": usage_of(answer.usage)}))
    return [*events, Event("[DONE]")]


def error(status: int, message: str, kind: str | None = None) -> dict[str, object]:
    """An error in the words of OpenAI, for chat and for responses; of another kind if given."""
    usual = "server_error" if status >= 500 else "invalid_request_error"
    kind = kind or ERROR_TYPES.get(status, usual)
    code = ERROR_CODES.get(status)
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}
