"""The examiner of the helpdesk: holds tasks and gold, plays customer and desk, gives verdicts.

One process serves every session of an exam. It reads frames on descriptor 3 in order, answers
each at once on the same descriptor, and writes verdicts to descriptor 4, where nothing is ever
read. There is no thread, no clock and no chance in it: the same frames give the same verdicts.

A frame that the supervisor should never send ends the process with a status other than 0; what
the candidate did wrong is the supervisor's to find, except that a reply without sense costs the
rollout its reward and nothing else.
"""

import sys
from typing import Any, Dict, List, Optional

ROOT = __file__.rpartition("/")[0] or "."
sys.path[:0] = [ROOT, ROOT + "/lib"]

from checks import Event, verdict  # noqa: E402
from customers import Customer  # noqa: E402
from desk import Desk, schemas  # noqa: E402
from invigilator_agent.frames import Channel, parse, text_of  # noqa: E402

Frame = Dict[str, Any]

TURN_LIMIT = 30
CALLS_IN_A_REPLY = 8
CALLS_IN_A_SESSION = 80
TEXT_KEPT = 4096
"""Characters of a message that are looked at: more than may be said, so that nothing is excused."""


def is_call(call: Any) -> bool:
    """Tells a tool call of the expected shape and of a size that can be sent back."""
    return (
        isinstance(call, dict)
        and isinstance(call.get("id"), str)
        and isinstance(call.get("name"), str)
        and isinstance(call.get("arguments"), dict)
        and len(call["id"]) <= 128
        and len(call["name"]) <= 128
    )


class Session:
    """One rollout: a customer, a desk and what happened between them and the agent."""

    def __init__(self, task: Dict[str, Any]) -> None:
        self.task = task
        self.desk = Desk(task["database"])
        self.customer = Customer(task["customer"])
        self.events: List[Event] = []
        self.turns = 0
        self.calls = 0
        self.is_over = False

    def first_turn(self) -> List[Frame]:
        """Returns the messages of the first turn."""
        return [self._customer_says(self.customer.opening())]

    def _customer_says(self, text: str) -> Frame:
        """Records and returns one message of the customer."""
        self.events.append(Event("customer", text=text))
        return {"role": "user", "content": text}

    @property
    def _is_verified(self) -> bool:
        """Whether any account's identity check has passed."""
        return any(c["passed"] for c in self.desk.database["identity_checks"].values())

    def call(self, name: str, arguments: Dict[str, Any]) -> Dict[str, Any]:
        """Performs a tool call; returns content and error flag of its result."""
        self.calls += 1
        if self.calls > CALLS_IN_A_SESSION:
            self.is_over = True
            return {"content": text_of({"error": "too many tool calls"}), "error": True}
        event = Event(
            "call",
            name=name,
            consent=self.customer.consents,
            verified=self._is_verified,
        )
        result, refused = self.desk.call(name, arguments)
        self.events.append(event._replace(refused=refused))
        return {"content": text_of(result), "error": refused}

    def reply(self, frame: Frame) -> Optional[List[Frame]]:
        """Takes the agent's reply; returns the next turn's messages, or None at the end."""
        self.turns += 1
        if isinstance(frame.get("tool_calls"), list):
            messages = self._perform(frame["tool_calls"])
        elif isinstance(frame.get("text"), str):
            messages = self._converse(frame["text"])
        else:
            return None
        if self.turns >= TURN_LIMIT or self.is_over:
            return None
        return messages

    def _perform(self, calls: List[Frame]) -> List[Frame]:
        """Performs the tool calls of one reply."""
        if len(calls) > CALLS_IN_A_REPLY or not all(is_call(call) for call in calls):
            self.is_over = True
            return []
        return [
            dict(
                self.call(call["name"], call["arguments"]),
                role="tool",
                id=call["id"],
                name=call["name"],
            )
            for call in calls
        ]

    def _converse(self, text: str) -> List[Frame]:
        """Lets the customer answer; an empty list when it leaves."""
        text = text[:TEXT_KEPT]
        self.events.append(Event("agent", text=text, verified=self._is_verified))
        answer = self.customer.answer(text)
        if answer is None:
            self.is_over = True
            return []
        return [self._customer_says(answer)]

    def verdict(self) -> Dict[str, Any]:
        """Measures what happened; returns reward and detail."""
        return verdict(self.task, self.events, self.desk.database, self.customer.is_satisfied)


class Examiner:
    """Serves sessions until `finish`."""

    def __init__(self, tasks: List[Frame], policy: str, exam: Channel, out: Channel) -> None:
        self._tasks = {task["id"]: task for task in tasks}
        self._policy = policy
        self._exam = exam
        self._out = out
        self._sessions: Dict[str, Session] = {}

    def serve(self) -> int:
        """Answers frames; returns the process's status."""
        self._exam.write({"type": "hello", "benchmark": "helpdesk", "version": 1})
        while True:
            frame = self._exam.read()
            if frame is None:
                return 1
            if frame["type"] == "finish":
                return 0
            getattr(self, "_on_" + frame["type"])(frame)

    def _on_begin(self, frame: Frame) -> None:
        """Starts a session: `start`, then the first `turn`."""
        name = frame["session"]
        if name in self._sessions:
            raise ValueError("begin: session %s exists" % name)
        session = Session(self._tasks[frame["task"]])
        self._sessions[name] = session
        self._exam.write(
            {
                "type": "start",
                "session": name,
                "kind": "conversation",
                "policy": self._policy,
                "tools": schemas(),
                "limits": {"turns": TURN_LIMIT, "seconds": 20},
                "history": [],
            }
        )
        self._turn(name, session.first_turn())

    def _turn(self, name: str, messages: List[Frame]) -> None:
        """Sends the next turn of a session."""
        self._exam.write({"type": "turn", "session": name, "messages": messages})

    def _on_reply(self, frame: Frame) -> None:
        """Goes on with a conversation, or ends it."""
        messages = self._sessions[frame["session"]].reply(frame)
        if messages is None:
            self._end(frame["session"])
        else:
            self._turn(frame["session"], messages)

    def _on_tool(self, frame: Frame) -> None:
        """Answers a tool call inside a turn."""
        result = {"content": text_of({"error": "not a tool call"}), "error": True}
        if is_call(frame):
            result = self._sessions[frame["session"]].call(frame["name"], frame["arguments"])
        self._exam.write(
            dict(result, type="tool_result", session=frame["session"], id=frame["id"])
        )

    def _on_done(self, frame: Frame) -> None:
        """Ends a conversation that the agent calls finished."""
        self._end(frame["session"])

    def _on_gone(self, frame: Frame) -> None:
        """Forgets a session whose candidate failed; it gets no verdict."""
        self._sessions.pop(frame["session"], None)

    def _end(self, name: str) -> None:
        """Says that the conversation is over and gives the verdict."""
        session = self._sessions.pop(name)
        self._exam.write({"type": "stop", "session": name})
        self._out.write(
            dict(session.verdict(), type="verdict", session=name, task=session.task["id"])
        )


def main(arguments: List[str]) -> int:
    """Loads tasks and policy and serves. `arguments`: optionally the path of tasks.json."""
    path = arguments[0] if arguments else "/vault/tasks.json"
    with open(path, encoding="utf-8") as file:
        tasks = parse(file.read().strip())["tasks"]
    with open(ROOT + "/policy.md", encoding="utf-8") as file:
        policy = file.read()
    return Examiner(tasks, policy, Channel(3), Channel(4)).serve()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
