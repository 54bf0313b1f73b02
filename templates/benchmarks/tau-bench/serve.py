"""Runs one candidate of tau-bench in its sandbox: frames on descriptor 3 in, `HarnessAgent` out.

Order: read `init`, load agent/agent.py, build the agent, say `ready`, then answer every `turn` until
`stop`. Nothing that the agent raises is caught: the process ends with a traceback on standard error and
a status other than 0, and the rollout has no reward.
"""

import os
import sys
from typing import Any, Dict, List

ROOT = __file__.rpartition("/")[0] or "."
sys.path[:0] = [ROOT + "/lib", ROOT + "/agent"]
# The experiment's packages come last, so that none of them is taken for a module of this program's.
sys.path.append("/environment")

from invigilator_agent import endpoint  # noqa: E402
from invigilator_agent.frames import Channel, FrameError  # noqa: E402
from tau2.data_model.message import (  # noqa: E402
    AssistantMessage,
    MultiToolMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from tau2.environment.tool import Tool  # noqa: E402

Frame = Dict[str, Any]


def load_agent(path: str) -> type:
    """Executes the agent's file as module `agent.agent` and returns its `HarnessAgent`."""
    with open(path, "rb") as file:
        source = file.read()
    package, module = type(sys)("agent"), type(sys)("agent.agent")
    package.__path__ = [ROOT + "/agent"]  # type: ignore[attr-defined]
    package.agent = module  # type: ignore[attr-defined]
    module.__file__ = path
    sys.modules["agent"], sys.modules["agent.agent"] = package, module
    exec(compile(source, path, "exec"), module.__dict__)
    return module.HarnessAgent


def message_of(entry: Frame) -> Any:
    """Builds one message of tau2's kind from one of a frame's."""
    if entry["role"] == "user":
        return UserMessage(content=entry["content"])
    if entry["role"] == "tool":
        return ToolMessage(id=entry["id"], content=entry["content"], error=entry["error"])
    calls = [ToolCall(**call) for call in entry.get("tool_calls", [])]
    return AssistantMessage(content=entry["content"] or None, tool_calls=calls or None, cost=0.0)


def incoming(messages: List[Frame]) -> Any:
    """Builds what `generate_next_message` gets."""
    built = [message_of(entry) for entry in messages]
    return built[0] if len(built) == 1 else MultiToolMessage(tool_messages=built)


class Rollout:
    """The dialogue of one session, in the order that the supervisor enforces."""

    def __init__(self, channel: Channel) -> None:
        """Takes the channel to the supervisor."""
        self._channel = channel
        self._calls = 0

    def run(self, path: str) -> int:
        """Serves the session to its end; returns the process's status."""
        init = self._channel.read()
        if init is None or init["type"] != "init":
            raise FrameError("start session: the first frame is not init")
        agent = load_agent(path)(
            tools=[Tool(schema) for schema in init["tools"]],
            domain_policy=init["policy"],
            llm=os.environ.get("AGENT_MODEL"),
            llm_args={},
        )
        state = agent.get_init_state([message_of(entry) for entry in init["history"]])
        self._channel.write({"type": "ready"})
        while True:
            frame = self._channel.read()
            if frame is None:
                raise FrameError("serve session: the supervisor closed without stop")
            if frame["type"] == "stop":
                return 0
            answer, state = agent.generate_next_message(incoming(frame["messages"]), state)
            self._channel.write(self._reply(answer))

    def _reply(self, answer: Any) -> Frame:
        """Turns an answer into a frame. Words beside calls reach nobody in tau2, and stay here."""
        if not answer.tool_calls:
            if not isinstance(answer.content, str) or not answer.content.strip():
                raise TypeError("an answer needs text or tool calls")
            return {"type": "reply", "text": answer.content}
        calls = []
        for call in answer.tool_calls:
            self._calls += 1
            name = "call-%d" % self._calls
            calls.append({"id": call.id or name, "name": call.name, "arguments": call.arguments})
        return {"type": "reply", "tool_calls": calls}


if __name__ == "__main__":
    endpoint.install()
    sys.exit(Rollout(Channel(3)).run(ROOT + "/agent/agent.py"))
