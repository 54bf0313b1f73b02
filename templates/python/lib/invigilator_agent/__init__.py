"""What an `agent.py` imports: messages, tool calls, and two small conveniences.

The names and fields are those that agents written for tau-bench's half-duplex interface expect:

    class HarnessAgent:
        def __init__(self, tools, domain_policy, llm=None, llm_args=None): ...
        def get_init_state(self, message_history=None): ...
        def generate_next_message(self, message, state): ...   # -> (AssistantMessage, state)

`message` is a `UserMessage`, a `ToolMessage` or a `MultiToolMessage`. The answer holds either
text or tool calls, never both. Plain classes instead of dataclasses: the import of `dataclasses`
alone takes longer than everything else a rollout does before its first turn.
"""

from .frames import parse as read_json

__all__ = [
    "AssistantMessage",
    "MultiToolMessage",
    "Tool",
    "ToolCall",
    "ToolMessage",
    "UserMessage",
    "log",
    "read_json",
]

_channel = None


def log(text):
    """Sends a line to the trace of a train rollout; dropped in a sealed exam."""
    if _channel is not None:
        _channel.write({"type": "log", "text": str(text)})


class _Record:
    """Fields by name, shown and compared as a whole."""

    __slots__ = ()

    def __repr__(self):
        fields = ", ".join("%s=%r" % (name, getattr(self, name)) for name in self.__slots__)
        return "%s(%s)" % (type(self).__name__, fields)

    def __eq__(self, other):
        if type(self) is not type(other):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None


class UserMessage(_Record):
    """What the customer said."""

    __slots__ = ("role", "content")

    def __init__(self, content, role="user"):
        self.role, self.content = role, content


class ToolCall(_Record):
    """One tool and its arguments. An empty `id` is filled in when the call is sent."""

    __slots__ = ("id", "name", "arguments")

    def __init__(self, name, arguments=None, id=""):
        self.id, self.name = id, name
        self.arguments = {} if arguments is None else arguments


class ToolMessage(_Record):
    """The result of one tool call; `content` is JSON text, `error` tells a refusal."""

    __slots__ = ("role", "id", "name", "content", "error")

    def __init__(self, id, content, name="", error=False, role="tool"):
        self.role, self.id, self.name = role, id, name
        self.content, self.error = content, error


class MultiToolMessage(_Record):
    """The results of several tool calls of one answer, in the order of the calls."""

    __slots__ = ("role", "tool_messages")

    def __init__(self, tool_messages, role="tool"):
        self.role, self.tool_messages = role, list(tool_messages)


class AssistantMessage(_Record):
    """The agent's answer: text or tool calls."""

    __slots__ = ("role", "content", "tool_calls")

    def __init__(self, content=None, tool_calls=None, role="assistant"):
        self.role, self.content, self.tool_calls = role, content, tool_calls


class Tool:
    """One tool of the desk: its schema, and a direct call.

    An answer with tool calls is the usual way. Calling the object asks the examiner at once and
    returns its `ToolMessage` within the same turn.
    """

    __slots__ = ("openai_schema", "name", "_send")

    def __init__(self, schema, send):
        self.openai_schema = schema
        self.name = schema["function"]["name"]
        self._send = send

    def __call__(self, **arguments):
        return self._send(self.name, arguments)
