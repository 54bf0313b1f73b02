"""One rollout: tau2's orchestrator in a process of its own, with an agent whose answers come from outside.

Whatever the candidate sends is data here. Messages are built anew from text and calls; who asks for
a tool, when, at what cost and whether the conversation is over is said by this side alone. An agent
cannot end a conversation: the simulated user does, or the limits of steps and errors.
"""

import json
from typing import Any, Dict, List, Optional

from model_client import ModelRefused, ModelUnavailable

Frame = Dict[str, Any]

STEPS = 200
"""The most steps of a conversation, as auto-harness runs tau2."""

ERRORS = 10
"""The most failed tool calls."""

TEXT_SAID = 32_000
"""The most characters of one message of the agent: more could burst the simulated user's context,
and with it the exam."""

USER = "user-simulator"
"""The name by which the broker knows the simulated user."""


class Over(BaseException):
    """The candidate is gone. Not an `Exception`, so that tau2 does not take it for a tool's error."""


class Forfeit(Exception):
    """The candidate did what costs the rollout its reward; the text is the reason."""


def agent_class(port: Any) -> type:
    """Derives the remote agent from the installed tau2's base class."""

    class RemoteAgent(port.agent_base):  # type: ignore[misc, name-defined]
        """Sends what tau2 gives an agent, and waits for the answer."""

        def __init__(self, tools: List[Any], domain_policy: str, dialogue: "Dialogue") -> None:
            super().__init__(tools=tools, domain_policy=domain_policy)
            self._dialogue = dialogue

        def set_seed(self, seed: int) -> None:
            """Does nothing: chance is the candidate's own affair."""

        def get_init_state(self, message_history: Optional[List[Any]] = None) -> None:
            """Opens the session with what was said before."""
            self._dialogue.open(self.tools, self.domain_policy, message_history or [])

        def generate_next_message(self, message: Any, state: None) -> Any:
            """Asks the candidate."""
            return self._dialogue.ask(message), None

    return RemoteAgent


class Dialogue:
    """The conversation of one session."""

    def __init__(self, session: str, port: Any, channel: Any, limits: Dict[str, int]) -> None:
        """Prepares a session.

        Args:
            session: its name.
            port: the loaded tau2.
            channel: frames to and from whoever relays for the candidate; its end is the candidate's.
            limits: what the candidate is told of its limits.
        """
        self.session = session
        self._port, self._channel, self._limits = port, channel, limits
        self._has_spoken = False

    def run(self, agent: type, task: Any, seed: int) -> Frame:
        """Runs the conversation to its end.

        Args:
            agent: what `agent_class` returned.
            task: tau2's task.
            seed: for the simulated user.

        Returns:
            `verdict` with reward and detail, `broken` with what failed on this side, or `gone`.
        """
        try:
            return dict(self._converse(agent, task, seed), type="verdict")
        except Over:
            return {"type": "gone"}
        except Forfeit as fault:
            return lost("agent-fault", str(fault))
        except ModelRefused as fault:
            # Before it said a word the candidate has no part in it. Afterwards it may have brought the
            # model to it, and must not be able to void an exam that goes badly.
            if self._has_spoken:
                return lost("model-refused", str(fault))
            return {"type": "broken", "text": str(fault)}
        except ModelUnavailable as fault:
            return {"type": "broken", "text": str(fault)}
        except FileNotFoundError as fault:  # tau2 opens nothing that a candidate names
            return {"type": "broken", "text": "tau2: %s" % fault}
        except Exception as fault:  # tau2 stumbled over what it was told: no reward, and no retry
            return lost("stopped", "%s: %s" % (type(fault).__name__, fault))

    def _converse(self, agent: type, task: Any, seed: int) -> Dict[str, Any]:
        """Runs tau2; returns reward and detail."""
        port = self._port
        environment = port.environment()
        orchestrator = port.orchestrator.Orchestrator(
            domain=port.domain,
            agent=agent(environment.get_tools(), environment.get_policy(), self),
            user=port.user_simulator(environment, task, USER),
            environment=environment,
            task=task,
            max_steps=STEPS,
            max_errors=ERRORS,
            seed=seed,
        )
        simulation = orchestrator.run()
        return judged(simulation, port.evaluate(simulation, task, port.needs_judge(task)))

    # What the agent of tau2 calls.

    def open(self, tools: List[Any], policy: str, history: List[Any]) -> None:
        """Tells the candidate what every agent of tau2 is told, and nothing else."""
        self._channel.write(
            {
                "type": "start",
                "session": self.session,
                "kind": "conversation",
                "policy": policy,
                "tools": [tool.openai_schema for tool in tools],
                "limits": self._limits,
                "history": [_told(message) for message in history],
            }
        )

    def ask(self, message: Any) -> Any:
        """Sends a turn and builds tau2's message from the answer.

        Raises:
            Forfeit: the answer costs the rollout its reward.
            Over: the candidate is gone.
        """
        parts = message.tool_messages if hasattr(message, "tool_messages") else [message]
        self._channel.write(
            {"type": "turn", "session": self.session, "messages": [_told(part) for part in parts]}
        )
        while True:
            frame = self._channel.read()
            if frame is None:
                raise Over()
            if frame["type"] != "tool":
                return self._message(frame)
            self._channel.write(
                {
                    "type": "tool_result",
                    "session": self.session,
                    "id": frame["id"],
                    "content": "Error: call tools in a reply",
                    "error": True,
                }
            )

    def _message(self, frame: Frame) -> Any:
        """Builds a message of plain data, so that nothing of the candidate's own is kept."""
        self._has_spoken = True
        if frame["type"] == "done":
            raise Forfeit("the agent ended the conversation, which only the user may")
        messages = self._port.messages
        if isinstance(frame.get("text"), str):
            text = frame["text"]
            if not text.strip():
                raise Forfeit("an empty message")
            if len(text) > TEXT_SAID:
                raise Forfeit("a message of more than %d characters" % TEXT_SAID)
            return messages.AssistantMessage(role="assistant", content=text, cost=0.0)
        calls = [
            messages.ToolCall(
                id=str(call["id"]),
                name=str(call["name"]),
                arguments=dict(call["arguments"]),
                requestor="assistant",
            )
            for call in frame["tool_calls"]
        ]
        if not calls:
            raise Forfeit("an empty list of calls")
        return messages.AssistantMessage(role="assistant", tool_calls=calls, cost=0.0)


def lost(reason: str, text: str) -> Dict[str, Any]:
    """A verdict of 0 with its reason."""
    return {"type": "verdict", "reward": 0.0, "detail": {"reason": reason, "note": text[:500]}}


def judged(simulation: Any, info: Any) -> Dict[str, Any]:
    """tau2's reward with what whoever studies a failure wants to know."""
    reward = float(info.reward)
    termination = getattr(simulation.termination_reason, "value", simulation.termination_reason)
    shown = info.model_dump(
        mode="json",
        include={
            "db_check",
            "env_assertions",
            "action_checks",
            "nl_assertions",
            "communicate_checks",
            "reward_basis",
            "reward_breakdown",
        },
        exclude_none=True,
    )
    reason = "solved" if reward >= 1.0 else "unsolved"
    if termination not in ("user_stop", "agent_stop"):
        reason = "stopped"
    messages = [_kept(message) for message in simulation.messages]
    detail = dict(shown, reason=reason, termination=str(termination), messages=messages)
    return {"reward": min(1.0, max(0.0, reward)), "detail": detail}


def _told(message: Any) -> Frame:
    """One of tau2's messages as a frame's message."""
    if message.role == "tool":
        return {
            "role": "tool",
            "id": message.id,
            "content": message.content or "",
            "error": bool(message.error),
        }
    told: Frame = {"role": message.role, "content": message.content or ""}
    if message.role == "assistant" and message.tool_calls:
        told["tool_calls"] = [
            {"id": call.id, "name": call.name, "arguments": call.arguments}
            for call in message.tool_calls
        ]
    return told


def _kept(message: Any) -> Dict[str, Any]:
    """One of tau2's messages as the trace of a train rollout keeps it."""
    kept: Dict[str, Any] = {"role": message.role, "content": (message.content or "")[:4000]}
    if message.role == "tool":
        kept["requestor"], kept["error"] = message.requestor, message.error
    for call in getattr(message, "tool_calls", None) or []:
        kept.setdefault("tool_calls", []).append(
            {"name": call.name, "arguments": _text(call.arguments), "requestor": call.requestor}
        )
    return kept


def _text(arguments: Dict[str, Any]) -> str:
    """Arguments as text: nested as deeply as a candidate may nest them, they would make a verdict
    deeper than a frame may be, and such a verdict voids the exam."""
    return json.dumps(arguments, ensure_ascii=False)[:2000]
