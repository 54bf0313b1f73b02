"""Tests of the candidate's side: a real process for each conversation."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict, List, Optional

HERE = Path(__file__).resolve().parent
FRAMES = HERE.parent.parent.parent / "python" / "lib"
sys.path[:0] = [str(FRAMES)]

from invigilator_agent.frames import Channel  # noqa: E402

TOOL = {"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": {}}}
INIT = {
    "type": "init",
    "session": "0",
    "kind": "conversation",
    "policy": "Be brief.",
    "tools": [TOOL],
    "limits": {"turns": 9, "seconds": 9},
    "history": [{"role": "assistant", "content": "Hi!"}],
}

HEAD = """
from tau2.agent.llm_agent import LLMAgent
from tau2.data_model.message import AssistantMessage, ToolCall
class HarnessAgent(LLMAgent):
    def get_init_state(self, message_history=None): return list(message_history)
    def generate_next_message(self, message, state):
"""


class Conversation:
    """One candidate's process with our end of its channel."""

    def __init__(self, agent: str) -> None:
        self.root = Path(tempfile.mkdtemp())
        shutil.copytree(HERE.parent / "lib", self.root / "lib")
        shutil.copytree(FRAMES / "invigilator_agent", self.root / "lib" / "invigilator_agent")
        shutil.copy(HERE.parent / "serve.py", self.root)
        (self.root / "agent").mkdir()
        (self.root / "agent" / "agent.py").write_text(agent)
        ours, theirs = socket.socketpair()
        self.end = ours
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-B", str(self.root / "serve.py")],
            preexec_fn=lambda: os.dup2(theirs.fileno(), 3),
            close_fds=False,
            stderr=subprocess.PIPE,
        )
        theirs.close()
        self.channel = Channel(ours.fileno())

    def __enter__(self) -> "Conversation":
        return self

    def __exit__(self, *_: Any) -> None:
        self.end.close()
        self.process.kill()
        self.process.communicate()
        shutil.rmtree(self.root)

    def ask(self, frame: Dict[str, Any]) -> Optional[Dict[str, Any]]:
        """Sends a frame and takes the answer."""
        self.channel.write(frame)
        return self.channel.read()

    def turn(self, *messages: Dict[str, Any]) -> Optional[Dict[str, Any]]:
        """Sends a turn and takes the answer."""
        return self.ask({"type": "turn", "messages": list(messages)})

    def status(self) -> int:
        """Waits for the end."""
        return self.process.wait(timeout=20)


class ServeTests(unittest.TestCase):
    """The order of a conversation, and what ends it."""

    def begun(self, body: str, head: str = HEAD) -> Conversation:
        """A conversation that said it is ready."""
        conversation = Conversation(head + "\n".join("        " + row for row in body.split("\n")))
        self.addCleanup(conversation.__exit__)
        self.assertEqual((conversation.ask(INIT) or {}).get("type"), "ready")
        return conversation

    def test_messages_and_history_arrive_as_tau2_gives_them(self) -> None:
        talk = self.begun(
            "kind = type(message).__name__\n"
            "return AssistantMessage(content='%s %d %s' % (kind, len(state), self.tools[0].name)), state"
        )
        answer = talk.turn({"role": "user", "content": "hello"})
        self.assertEqual(answer, {"type": "reply", "text": "UserMessage 1 look"})
        tool = {"role": "tool", "id": "call-1", "content": "3", "error": False}
        self.assertEqual((talk.turn(tool, tool) or {})["text"], "MultiToolMessage 1 look")
        talk.channel.write({"type": "stop"})
        self.assertEqual(talk.status(), 0)

    def test_words_beside_calls_stay_here(self) -> None:
        talk = self.begun(
            "call = ToolCall(name='look', arguments={'at': 1}, requestor='user')\n"
            "return AssistantMessage(content='aside', tool_calls=[call]), state"
        )
        call = {"id": "call-1", "name": "look", "arguments": {"at": 1}}
        answer = talk.turn({"role": "user", "content": "hello"})
        self.assertEqual(answer, {"type": "reply", "tool_calls": [call]})

    def test_an_agent_that_raises_ends_the_process(self) -> None:
        talk = self.begun("raise RuntimeError('unsure')")
        self.assertIsNone(talk.turn({"role": "user", "content": "hello"}))
        self.assertNotEqual(talk.status(), 0)

    def test_an_agent_that_says_it_has_stopped_is_not_asked(self) -> None:
        stops = HEAD.replace(
            "    def get_init", "    def is_stop(self, message): raise SystemExit(0)\n    def get_init"
        )
        talk = self.begun("return AssistantMessage(content='over'), state", stops)
        self.assertEqual((talk.turn({"role": "user", "content": "x"}) or {})["text"], "over")

    def test_an_answer_without_anything_is_an_error(self) -> None:
        talk = self.begun("return AssistantMessage(content=' '), state")
        self.assertIsNone(talk.turn({"role": "user", "content": "hello"}))

    def test_the_gold_is_in_no_caller(self) -> None:
        talk = self.begun(
            "import sys\n"
            "frame, names = sys._getframe(), set()\n"
            "while frame:\n"
            "    names |= set(frame.f_locals) | set(frame.f_globals)\n"
            "    frame = frame.f_back\n"
            "found = [n for n in ('task', 'environment', 'orchestrator') if n in names]\n"
            "return AssistantMessage(content=repr(found)), state"
        )
        self.assertEqual((talk.turn({"role": "user", "content": "x"}) or {})["text"], "[]")


if __name__ == "__main__":
    unittest.main()
