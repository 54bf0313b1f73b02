"""Messages, with the fields and methods of tau2's, as plain classes.

tau2's are models of pydantic, whose import alone takes longer than a rollout may take to be ready.
"""

from typing import Any, Dict, List, Optional, Union


class _Record:
    """Fields by name, with what agents use of pydantic's models."""

    _fields: Dict[str, Any] = {}

    def __init__(self, **values: Any) -> None:
        for name, default in self._fields.items():
            setattr(self, name, values.pop(name, default() if callable(default) else default))
        if values:
            raise TypeError("%s has no field %s" % (type(self).__name__, ", ".join(sorted(values))))

    def __repr__(self) -> str:
        shown = ", ".join("%s=%r" % (name, getattr(self, name)) for name in self._fields)
        return "%s(%s)" % (type(self).__name__, shown)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self._fields)

    __hash__ = None  # type: ignore[assignment]

    def model_dump(self, exclude_none: bool = False, **_: Any) -> Dict[str, Any]:
        """Returns the fields as plain data."""
        dumped = {name: _plain(getattr(self, name)) for name in self._fields}
        return {k: v for k, v in dumped.items() if v is not None} if exclude_none else dumped

    def model_copy(self, update: Optional[Dict[str, Any]] = None, deep: bool = False) -> Any:
        """Returns a copy, with some fields changed."""
        values = {name: getattr(self, name) for name in self._fields}
        if deep:
            from copy import deepcopy

            values = deepcopy(values)
        values.update(update or {})
        return type(self)(**values)


def _plain(value: Any) -> Any:
    """A field's value as plain data."""
    if isinstance(value, _Record):
        return value.model_dump()
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


class SystemMessage(_Record):
    """What the model is told before everything else."""

    _fields = {"role": "system", "content": None, "turn_idx": None, "timestamp": None}


class ToolCall(_Record):
    """One call of a tool. The examiner sets the requestor, whatever stands here."""

    _fields = {"id": "", "name": "", "arguments": dict, "requestor": "assistant"}


class _Participant(_Record):
    """A message of the agent or of the user: text or calls."""

    _fields = {
        "role": "",
        "content": None,
        "tool_calls": None,
        "turn_idx": None,
        "timestamp": None,
        "cost": None,
        "usage": None,
        "raw_data": None,
    }

    def validate(self) -> None:
        """Raises ValueError where there is neither text nor a call."""
        if not (self.has_text_content() or self.is_tool_call()):
            raise ValueError("a message needs text or tool calls: %r" % self)

    def has_text_content(self) -> bool:
        """Whether there is text."""
        return bool(self.content is not None and self.content.strip())

    def is_tool_call(self) -> bool:
        """Whether it calls tools."""
        return self.tool_calls is not None


class AssistantMessage(_Participant):
    """A message of the agent."""

    _fields = dict(_Participant._fields, role="assistant")


class UserMessage(_Participant):
    """A message of the user."""

    _fields = dict(_Participant._fields, role="user")


class ToolMessage(_Record):
    """The result of one call."""

    _fields = {
        "id": "",
        "role": "tool",
        "content": None,
        "requestor": "assistant",
        "error": False,
        "turn_idx": None,
        "timestamp": None,
    }


class MultiToolMessage(_Record):
    """The results of several calls of one message, in their order."""

    _fields = {"role": "tool", "tool_messages": list}


APICompatibleMessage = Union[SystemMessage, AssistantMessage, UserMessage, ToolMessage]
Message = Union[SystemMessage, AssistantMessage, UserMessage, ToolMessage, MultiToolMessage]
EnvironmentMessage = Union[ToolMessage, MultiToolMessage]
Messages = List[Message]
