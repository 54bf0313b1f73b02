"""Runs one candidate in its sandbox: frames on descriptor 3 in, `HarnessAgent` calls out.

Order: read `init`, load agent/agent.py, build the agent, say `ready`, then answer every `turn`
until `stop`. Nothing that the agent raises is caught: the process ends with a traceback on
standard error and a status other than 0, and the supervisor scores the rollout as failed. A
benchmark must never have to guess whether an agent meant to crash.
"""

import sys

ROOT = __file__.rpartition("/")[0] or "."
sys.path[:0] = [ROOT + "/lib", ROOT + "/agent"]
# The experiment's packages come last, so that none of them is taken for a module of this program's.
sys.path.append("/environment")

import invigilator_agent as shim  # noqa: E402  (the path above makes it importable)
from invigilator_agent import endpoint  # noqa: E402
from invigilator_agent.frames import Channel, FrameError  # noqa: E402


def load_agent(path):
    """Executes the agent file as module `agent` and returns its `HarnessAgent`."""
    with open(path, "rb") as file:
        source = file.read()
    module = type(sys)("agent")
    module.__file__ = path
    sys.modules["agent"] = module
    exec(compile(source, path, "exec"), module.__dict__)
    return module.HarnessAgent


class Rollout:
    """The dialogue of one session, in the order the supervisor enforces."""

    def __init__(self, channel):
        self.channel = channel
        self.calls = 0

    def next_id(self):
        """Returns a tool call id that this session has not used yet."""
        self.calls += 1
        return "call-%d" % self.calls

    def ask_tool(self, name, arguments):
        """Calls a tool inside a turn and waits for its result."""
        call = self.next_id()
        self.channel.write({"type": "tool", "id": call, "name": name, "arguments": arguments})
        frame = self.channel.read()
        if frame is None or frame["type"] != "tool_result" or frame["id"] != call:
            raise FrameError("call tool %s: no result came back" % name)
        return shim.ToolMessage(call, frame["content"], name, frame.get("error", False))

    def reply_frame(self, message):
        """Turns the agent's answer into a frame; text and tool calls exclude each other."""
        calls = message.tool_calls
        if not calls:
            if not isinstance(message.content, str) or not message.content:
                raise TypeError("an answer needs text or tool calls")
            return {"type": "reply", "text": message.content}
        if message.content:
            raise TypeError("an answer holds text or tool calls, not both")
        listed = [
            {"id": call.id or self.next_id(), "name": call.name, "arguments": call.arguments}
            for call in calls
        ]
        return {"type": "reply", "tool_calls": listed}

    def run(self, path):
        """Serves the session to its end; returns the process's status."""
        init = self.channel.read()
        if init is None or init["type"] != "init":
            raise FrameError("start session: the first frame is not init")
        tools = [shim.Tool(schema, self.ask_tool) for schema in init["tools"]]
        agent = load_agent(path)(tools=tools, domain_policy=init["policy"], llm=None, llm_args=None)
        history = [message_of(entry) for entry in init["history"]]
        state = agent.get_init_state(history or None)
        is_stop = getattr(agent, "is_stop", None)
        self.channel.write({"type": "ready"})
        while True:
            frame = self.channel.read()
            if frame is None:
                raise FrameError("serve session: the supervisor closed without stop")
            if frame["type"] == "stop":
                return 0
            message, state = agent.generate_next_message(incoming(frame), state)
            if is_stop is not None and is_stop(message):
                self.channel.write({"type": "done"})
            else:
                self.channel.write(self.reply_frame(message))


def message_of(entry):
    """Builds one message object from one entry of a turn."""
    if entry["role"] == "user":
        return shim.UserMessage(entry["content"])
    if entry["role"] == "assistant":
        return shim.AssistantMessage(entry["content"])
    return shim.ToolMessage(
        entry["id"], entry["content"], entry.get("name", ""), entry.get("error", False)
    )


def incoming(frame):
    """Builds what `generate_next_message` gets from a turn."""
    messages = [message_of(entry) for entry in frame["messages"]]
    if len(messages) == 1:
        return messages[0]
    return shim.MultiToolMessage(messages)


if __name__ == "__main__":
    endpoint.install()
    channel = Channel(3)
    shim._channel = channel
    sys.exit(Rollout(channel).run(ROOT + "/agent/agent.py"))
