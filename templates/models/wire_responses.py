"""OpenAI responses, as the scripted model speaks them."""

from __future__ import annotations

import wire_chat
from wire import Answer, Call, Event, Question, Usage, dumped, fresh_id, mapping, members, now
from wire import pieces, since, text_of


# Both of OpenAI's dialects tell errors alike.
error = wire_chat.error


def items_of(body: dict[str, object]) -> list[dict[str, object]]:
    """The input items; a plain string is one user message."""
    given = body.get("input")
    if isinstance(given, str):
        return [{"type": "message", "role": "user", "content": given}]
    return members(given)


def is_model_turn(item: dict[str, object]) -> bool:
    """Whether the model made the item."""
    return item.get("role") == "assistant" or item.get("type") in (
        "function_call",
        "custom_tool_call",
        "local_shell_call",
    )


def tool_names(tools: object) -> set[str]:
    """The names of the tools offered, those in a namespace or a group as well."""
    found: set[str] = set()
    for tool in members(tools):
        found.add(str(tool.get("name") or tool.get("type")))
        found |= tool_names(tool.get("tools"))
    return found


def question(body: dict[str, object]) -> Question:
    """What a script may ask about a responses request; a run of model items is one turn."""
    items = items_of(body)
    system = [i for i in items if i.get("role") in ("system", "developer")]
    users = [i for i in items if i.get("role") == "user"]
    made = [is_model_turn(item) for item in items if item.get("type") != "reasoning"]
    return Question(
        model=str(body.get("model")),
        system=text_of([body.get("instructions"), *system]),
        first=text_of(users[:1]),
        last=text_of(since(items, is_model_turn)),
        tools=frozenset(tool_names(body.get("tools"))),
        turns=sum(1 for i, mine in enumerate(made) if mine and not (i and made[i - 1])),
        streams=body.get("stream") is True,
    )


def usage_of(usage: Usage) -> dict[str, object]:
    """The usage object of responses."""
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.input + usage.output,
    }


def message_item(text: str) -> dict[str, object]:
    """An assistant message as an output item."""
    part = {"type": "output_text", "annotations": [], "logprobs": [], "text": text}
    item = {"id": fresh_id("msg_"), "type": "message", "status": "completed"}
    return {**item, "content": [part], "role": "assistant"}


def call_item(call: Call) -> dict[str, object]:
    """A tool call as an output item."""
    common = {"status": "completed", "call_id": fresh_id("call_"), "name": call.name}
    if call.custom is not None:
        item = {"id": fresh_id("ctc_"), "type": "custom_tool_call", **common}
        return {**item, "input": call.custom}
    item = {"id": fresh_id("fc_"), "type": "function_call", **common}
    return {**item, "arguments": dumped(call.arguments)}


def output(answer: Answer) -> list[dict[str, object]]:
    """The output items of the answer."""
    said = [message_item(answer.text)] if answer.text or not answer.calls else []
    return [*said, *map(call_item, answer.calls)]


def response(
    asked: Question, usage: Usage | None, items: list[dict[str, object]]
) -> dict[str, object]:
    """A response object: in progress without usage, completed with it."""
    return {
        "id": fresh_id("resp_"),
        "object": "response",
        "created_at": now(),
        "status": "completed" if usage else "in_progress",
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": None,
        "model": asked.model,
        "output": items,
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "store": False,
        "tool_choice": "auto",
        "tools": [],
        "usage": usage_of(usage) if usage else None,
    }


def whole(answer: Answer, asked: Question) -> dict[str, object]:
    """The answer as one response object."""
    return response(asked, answer.usage, output(answer))


def message_events(index: int, item: dict[str, object]) -> list[dict[str, object]]:
    """The events of a message between its being added and its being done."""
    part = mapping(members(item["content"])[0])
    where = {"item_id": item["id"], "output_index": index, "content_index": 0}
    events: list[dict[str, object]] = [
        {"type": "response.content_part.added", **where, "part": {**part, "text": ""}}
    ]
    for piece in pieces(str(part["text"])):
        delta = {"delta": piece, "logprobs": []}
        events.append({"type": "response.output_text.delta", **where, **delta})
    done = {"text": part["text"], "logprobs": []}
    events.append({"type": "response.output_text.done", **where, **done})
    return [*events, {"type": "response.content_part.done", **where, "part": part}]


def call_events(index: int, item: dict[str, object]) -> list[dict[str, object]]:
    """The events of a tool call between its being added and its being done."""
    custom = item["type"] == "custom_tool_call"
    name = "response.custom_tool_call_input" if custom else "response.function_call_arguments"
    member = "input" if custom else "arguments"
    where = {"item_id": item["id"], "output_index": index}
    events = [
        {"type": f"{name}.delta", **where, "delta": piece} for piece in pieces(str(item[member]))
    ]
    return [*events, {"type": f"{name}.done", **where, member: item[member]}]


def item_events(index: int, item: dict[str, object]) -> list[dict[str, object]]:
    """All events of one output item."""
    if item["type"] == "message":
        empty, inner = {**item, "content": []}, message_events(index, item)
    else:
        member = "input" if item["type"] == "custom_tool_call" else "arguments"
        empty, inner = {**item, member: ""}, call_events(index, item)
    added = {"output_index": index, "item": {**empty, "status": "in_progress"}}
    done = {"type": "response.output_item.done", "output_index": index, "item": item}
    return [{"type": "response.output_item.added", **added}, *inner, done]


def stream(answer: Answer, asked: Question) -> list[Event]:
    """The answer as the events of a responses stream."""
    items = output(answer)
    started = response(asked, None, [])
    ended = {**response(asked, answer.usage, items), "id": started["id"]}
    found: list[dict[str, object]] = [
        {"type": "response.created", "response": started},
        {"type": "response.in_progress", "response": started},
    ]
    for index, item in enumerate(items):
        found += item_events(index, item)
    found.append({"type": "response.completed", "response": ended})
    numbered = ({**data, "sequence_number": number} for number, data in enumerate(found))
    return [Event(data, str(data["type"])) for data in numbered]
