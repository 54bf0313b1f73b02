"""`generate`: one chat completion at the sandbox's endpoint.

The client is a few lines over a socket, because importing `http.client` takes longer than a rollout's
own start. What it sends is OpenAI's format, https://platform.openai.com/docs/api-reference/chat; which
model answers, and with which settings, the broker decides.
"""

import json
import os
import socket
import time
from typing import Any, Dict, List, Optional, Tuple

from tau2.data_model.message import (
    AssistantMessage,
    MultiToolMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)

SECONDS = 600.0
"""The longest that one answer may take."""

PASSED_ON = (
    "temperature",
    "top_p",
    "seed",
    "stop",
    "max_tokens",
    "max_completion_tokens",
    "reasoning_effort",
    "response_format",
    "parallel_tool_calls",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
)
"""Arguments that go into the request; those that only tell litellm what to do are dropped."""


class ModelError(Exception):
    """The endpoint did not give an answer; `status` is that of HTTP, or None."""

    def __init__(self, text: str, status: Optional[int] = None) -> None:
        super().__init__(text)
        self.status = status


def generate(
    model: Optional[str],
    messages: List[Any],
    tools: Optional[List[Any]] = None,
    tool_choice: Any = None,
    **arguments: Any,
) -> AssistantMessage:
    """Asks the model for the next message.

    Args:
        model: its name; the experiment's own where it is empty.
        messages: what was said, system messages first.
        tools: what it may call.
        tool_choice: `auto` where tools are given and nothing is said.
        **arguments: those of `PASSED_ON`, and `num_retries` (3).

    Returns:
        Its answer, with the tokens used.

    Raises:
        ModelError: no answer, or none that makes sense.
    """
    body: Dict[str, Any] = {
        "model": (model or os.environ.get("AGENT_MODEL") or "default").rpartition("/")[2],
        "messages": to_litellm_messages(messages),
    }
    for name in PASSED_ON:
        if arguments.get(name) is not None:
            body[name] = arguments[name]
    if tools:
        body["tools"] = [getattr(tool, "openai_schema", tool) for tool in tools]
        body["tool_choice"] = tool_choice or "auto"
    retries = int(arguments.get("num_retries", 3))
    for attempt in range(retries + 1):
        answer = _answer(_ask(body, retries))
        if answer is not None or attempt == retries:
            break
    if answer is None:
        raise ModelError("ask %s: %d answers without text or call" % (body["model"], retries + 1))
    return answer


def to_litellm_messages(messages: List[Any]) -> List[Dict[str, Any]]:
    """Messages as the provider reads them."""
    wire: List[Dict[str, Any]] = []
    for message in messages:
        if isinstance(message, MultiToolMessage):
            wire.extend(to_litellm_messages(message.tool_messages))
        elif isinstance(message, ToolMessage):
            wire.append({"role": "tool", "content": message.content, "tool_call_id": message.id})
        elif isinstance(message, (SystemMessage, UserMessage)):
            wire.append({"role": message.role, "content": message.content})
        else:
            entry: Dict[str, Any] = {"role": "assistant", "content": message.content}
            if message.tool_calls:
                entry["tool_calls"] = [
                    {
                        "id": call.id,
                        "type": "function",
                        "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
                    }
                    for call in message.tool_calls
                ]
            wire.append(entry)
    return wire


def _answer(reply: Any) -> Optional[AssistantMessage]:
    """Builds the message of a reply; nothing where it holds neither text nor a call."""
    try:
        choice = reply["choices"][0]
        said = choice["message"]
        calls = [
            ToolCall(
                id=call["id"],
                name=call["function"]["name"],
                arguments=json.loads(call["function"]["arguments"] or "{}"),
            )
            for call in said.get("tool_calls") or []
        ]
        usage = reply.get("usage") or {}
    except (KeyError, IndexError, TypeError, ValueError):
        return None
    content = said.get("content")
    if not calls and not (content or "").strip():
        return None
    return AssistantMessage(
        content=content,
        tool_calls=calls or None,
        cost=0.0,
        usage={name: usage.get(name, 0) for name in ("completion_tokens", "prompt_tokens")},
        raw_data=choice,
    )


def _ask(body: Dict[str, Any], retries: int) -> Any:
    """Sends a request until it is answered."""
    data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
    pause = 0.5
    for attempt in range(retries + 1):
        status, headers, raw = None, {}, b""
        try:
            status, headers, raw = _exchange(data)
            if status == 200:
                return json.loads(raw)
            text = raw[:300].decode("utf-8", "replace")
        except (OSError, ValueError) as error:
            text = str(error)
        is_passing = status is None or status in (408, 409, 429) or status >= 500
        if not is_passing or attempt == retries:
            raise ModelError("ask %s: %s %s" % (body["model"], status, text), status)
        after = headers.get("retry-after", "")
        time.sleep(min(30.0, float(after)) if after.isdigit() else pause)
        pause *= 2


_connection: Optional[Tuple[socket.socket, Any]] = None


def _exchange(data: bytes) -> Tuple[int, Dict[str, str], bytes]:
    """One request over a connection that is kept; a kept one that was closed is opened anew."""
    global _connection
    kept = _connection
    if kept is not None:
        try:
            return _send(kept, data)
        except EOFError:  # closed while nothing was asked: the request was not read
            _drop()
        except BaseException:
            _drop()
            raise
    host, port, _ = _address()
    line = socket.create_connection((host, port), timeout=SECONDS)
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    _connection = (line, line.makefile("rb"))
    try:
        return _send(_connection, data)
    except EOFError as error:
        _drop()
        raise OSError("the endpoint closed the connection") from error
    except BaseException:
        _drop()
        raise


def _drop() -> None:
    """Closes the kept connection."""
    global _connection
    if _connection is not None:
        _connection[1].close()
        _connection[0].close()
    _connection = None


def _address() -> Tuple[str, int, str]:
    """Host, port and path of the endpoint."""
    base = os.environ.get("OPENAI_BASE_URL") or "http://127.0.0.1:8377/v1"
    rest = base.partition("://")[2]
    place, _, path = rest.partition("/")
    host, _, port = place.partition(":")
    return host, int(port or 80), "/" + path.rstrip("/")


def _send(connection: Tuple[socket.socket, Any], data: bytes) -> Tuple[int, Dict[str, str], bytes]:
    """Sends a request and reads the answer."""
    line, reader = connection
    host, port, path = _address()
    head = (
        "POST %s/chat/completions HTTP/1.1\r\nHost: %s:%d\r\nContent-Type: application/json\r\n"
        "Authorization: Bearer none\r\nContent-Length: %d\r\n\r\n" % (path, host, port, len(data))
    )
    try:
        line.sendall(head.encode("ascii") + data)
        first = reader.readline(65537)
    except (BrokenPipeError, ConnectionResetError) as error:
        raise EOFError from error
    if not first:
        raise EOFError
    status = int(first.split(b" ", 2)[1])
    headers: Dict[str, str] = {}
    while True:
        row = reader.readline(65537).decode("latin-1").strip()
        if not row:
            break
        name, _, value = row.partition(":")
        headers[name.lower()] = value.strip()
    if headers.get("transfer-encoding", "").lower() == "chunked":
        raw = _chunks(reader)
    else:
        length = int(headers.get("content-length", "0"))
        raw = reader.read(length)
        if len(raw) != length:
            raise OSError("the answer was cut short")
    if headers.get("connection", "").lower() == "close":
        _drop()
    return status, headers, raw


def _chunks(reader: Any) -> bytes:
    """Reads a body in chunks."""
    parts: List[bytes] = []
    while True:
        size = int(reader.readline(65537).split(b";")[0], 16)
        part = reader.read(size)
        if len(part) != size or reader.read(2) != b"\r\n":
            raise OSError("the answer was cut short")
        if size == 0:
            return b"".join(parts)
        parts.append(part)
