"""Model calls of the examiner: OpenAI chat completions at the sandbox's endpoint.

The broker behind it pins the model and keeps the key; a request names a role (`user-simulator`,
`judge`) where it would name a model. Source of the format:
https://platform.openai.com/docs/api-reference/chat.
"""

import http.client
import json
import os
import threading
import time
from typing import Any, Dict, List, Optional
from urllib.parse import urlsplit

ENDPOINT = "http://127.0.0.1:8377"
"""Where the sandbox's endpoint is."""

SECONDS = 240
"""The longest that one answer may take; the supervisor waits ten minutes for a turn of the examiner."""

PAUSES = (1.0, 2.0, 4.0, 8.0)
"""Seconds to wait before each further attempt, where the provider is at fault."""

EMPTY_ANSWERS = 3
"""How often an answer without text and calls, or with calls that do not parse, is asked for anew."""


MOST_CALLS = 64
"""Calls of one answer; more are nonsense, and would keep tau2 busy for as long as they last."""

MOST_TEXT = 100_000
"""Characters of one answer; more would not fit the frame that tells the candidate."""


class ModelUnavailable(Exception):
    """The model cannot be had, through no fault of anything that was said to it."""


class ModelRefused(Exception):
    """The model refuses this very request, or keeps answering nonsense to it."""


class ModelClient:
    """Asks for completions; one connection for each thread."""

    def __init__(self, messages: Any, endpoint: Optional[str] = None) -> None:
        """Begins a client.

        Args:
            messages: tau2's module of message classes.
            endpoint: the base address; the sandbox's own unless a test names another.
        """
        self._messages = messages
        self._address = urlsplit(endpoint or os.environ.get("OPENAI_BASE_URL") or ENDPOINT)
        self._local = threading.local()

    def generate(
        self,
        model: str,
        messages: List[Any],
        tools: Optional[List[Any]] = None,
        tool_choice: Optional[str] = None,
        **arguments: Any,
    ) -> Any:
        """Stands for `tau2.utils.llm_utils.generate`.

        Args:
            model: the role that asks.
            messages: tau2's messages.
            tools: tau2's tools, if any.
            tool_choice: `auto` where tools are given and nothing is said.
            **arguments: of these, `temperature` and `seed` are passed on.

        Returns:
            tau2's `AssistantMessage`.

        Raises:
            ModelUnavailable: after all attempts.
            ModelRefused: the request itself is refused.
        """
        body: Dict[str, Any] = {"model": model, "messages": [_wire(m) for m in messages]}
        for name in ("temperature", "seed"):
            if arguments.get(name) is not None:
                body[name] = arguments[name]
        if tools:
            body["tools"] = [tool.openai_schema for tool in tools]
            body["tool_choice"] = tool_choice or "auto"
        for _ in range(EMPTY_ANSWERS + 1):
            message = self._message(self._ask(body))
            if message is not None:
                return message
        raise ModelRefused("ask %s: it answered %d times without sense" % (model, EMPTY_ANSWERS + 1))

    def _message(self, answer: Any) -> Any:
        """Builds tau2's message of an answer; nothing where it makes no sense."""
        try:
            said = answer["choices"][0]["message"]
            calls = [
                self._messages.ToolCall(
                    id=str(call["id"]),
                    name=str(call["function"]["name"]),
                    arguments=_arguments(call["function"]["arguments"]),
                )
                for call in said.get("tool_calls") or []
            ]
            text = said.get("content")
        except (KeyError, IndexError, TypeError, ValueError, AttributeError):
            return None
        if not calls and not (isinstance(text, str) and text.strip()):
            return None
        if len(calls) > MOST_CALLS or not _is_sane(text):
            return None
        return self._messages.AssistantMessage(
            role="assistant", content=text, tool_calls=calls or None, cost=0.0
        )

    def _ask(self, body: Dict[str, Any]) -> Any:
        """Sends a request until it is answered."""
        data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        for pause in PAUSES + (None,):
            status, answer, after = self._exchange(data)
            if status == 200:
                return answer
            if status in (401, 404):  # a key or a name that is wrong, whatever was said
                raise ModelUnavailable("ask %s: status %d" % (body["model"], status))
            if status is not None and status not in (408, 409, 429) and status < 500:
                raise ModelRefused("ask %s: status %d" % (body["model"], status))
            if pause is None:
                break
            time.sleep(max(pause, min(after, 30.0)))
        raise ModelUnavailable("ask %s: no answer after %d attempts" % (body["model"], len(PAUSES) + 1))

    def _exchange(self, data: bytes) -> Any:
        """One request; returns status, parsed answer and the seconds to wait that it names."""
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = http.client.HTTPConnection(
                self._address.hostname or "127.0.0.1", self._address.port or 80, timeout=SECONDS
            )
            self._local.connection = connection
        path = self._address.path.rstrip("/")
        if not path.endswith("/v1"):
            path += "/v1"
        try:
            connection.request(
                "POST",
                path + "/chat/completions",
                body=data,
                headers={"Content-Type": "application/json", "Authorization": "Bearer none"},
            )
            response = connection.getresponse()
            raw = response.read()
            after = _seconds(response.getheader("Retry-After"))
            return response.status, json.loads(raw) if response.status == 200 else None, after
        except (OSError, http.client.HTTPException, ValueError):
            connection.close()
            self._local.connection = None
            return None, None, 0.0


def _seconds(text: Optional[str]) -> float:
    """Reads a `Retry-After`; 0 where it is a date or nonsense."""
    try:
        return max(0.0, float(text or 0))
    except ValueError:
        return 0.0


def _is_sane(text: Any) -> bool:
    """Whether a text can be passed on: absent, or of a length and of characters that a frame holds."""
    if text is None:
        return True
    if not isinstance(text, str) or len(text) > MOST_TEXT:
        return False
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _arguments(text: Any) -> Dict[str, Any]:
    """Reads the arguments of a call.

    Raises:
        ValueError: they are no JSON object.
    """
    value = json.loads(text) if isinstance(text, str) else text
    if not isinstance(value, dict):
        raise ValueError("arguments are no object")
    return value


def _wire(message: Any) -> Dict[str, Any]:
    """One of tau2's messages as the provider reads it."""
    if message.role == "tool":
        return {"role": "tool", "content": message.content, "tool_call_id": message.id}
    wire: Dict[str, Any] = {"role": message.role, "content": message.content}
    if message.role == "assistant" and message.tool_calls:
        wire["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for call in message.tool_calls
        ]
    return wire
