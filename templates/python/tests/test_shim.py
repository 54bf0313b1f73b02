"""Tests of the frames and of the candidate's side of a session.

    python3 -m unittest discover -s templates/python/tests
"""

import http.server
import os
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SHIM = os.path.dirname(HERE)
sys.path[:0] = [SHIM, os.path.join(SHIM, "lib")]

import run  # noqa: E402
from invigilator_agent import AssistantMessage, MultiToolMessage, ToolCall  # noqa: E402
from invigilator_agent.frames import (  # noqa: E402
    MAXIMUM_BYTES,
    MAXIMUM_DEPTH,
    Channel,
    FrameError,
    parse,
    text_of,
)


class Pair:
    """Two ends of a stream: raw bytes in, frames out."""

    def __enter__(self):
        self.ours, self.theirs = socket.socketpair()
        self.channel = Channel(self.theirs.fileno())
        return self

    def __exit__(self, *_):
        self.ours.close()
        self.theirs.close()


def framed(body):
    """Puts the length before a body."""
    return len(body).to_bytes(4, "big") + body


class ParseTests(unittest.TestCase):
    """What is JSON to us."""

    def test_values_come_back_as_they_were(self):
        value = {"type": "a", "x": [1, -2, 2.5, None, True, "é\n\u2028😀"], "y": {}}
        self.assertEqual(parse(text_of(value)), value)

    def test_what_two_parsers_could_read_differently_is_refused(self):
        deep = "[" * (MAXIMUM_DEPTH + 1) + "]" * (MAXIMUM_DEPTH + 1)
        for text in (
            '{"a":1,"a":2}', "NaN", '{"a":-Infinity}', "1e999", '"\\ud800"', '"\\udc00\\ud800"',
            "{} ", " {}", "[1,]", "", '{"a":01}', "{'a':1}", "tru", "-", '"\n"', "[" * 100000,
            "9" * 30, "9223372036854775808", deep, '{"a"', '{"a":', '"\\x"',
        ):  # fmt: skip
            with self.assertRaises(FrameError, msg=text[:20]):
                parse(text)

    def test_the_deepest_allowed_nesting_is_read(self):
        parse("[" * MAXIMUM_DEPTH + "]" * MAXIMUM_DEPTH)

    def test_what_json_cannot_hold_is_not_written(self):
        for value in (float("nan"), float("inf"), "\ud800", b"x", {1, 2}, object()):
            with Pair() as pair, self.assertRaises(FrameError):
                pair.channel.write({"type": "a", "value": value})


class ChannelTests(unittest.TestCase):
    """How frames are cut from a stream."""

    def test_frames_are_found_in_any_portions(self):
        stream = framed(b'{"type":"a"}') + framed(b'{"type":"b","n":1}')
        with Pair() as pair:
            pair.ours.sendall(stream)
            self.assertEqual(pair.channel.read()["type"], "a")
            self.assertEqual(pair.channel.read()["n"], 1)
            pair.ours.close()
            self.assertIsNone(pair.channel.read())

    def test_bad_frames_are_errors(self):
        for stream in (
            (0).to_bytes(4, "big"),
            (MAXIMUM_BYTES + 1).to_bytes(4, "big"),
            b"\x00\x00",
            framed(b"{}")[:-1],
            framed(b"[]"),
            framed(b"{}"),
            framed(b'{"type":1}'),
            framed(b'{"type":"\xff"}'),
        ):
            with Pair() as pair:
                pair.ours.sendall(stream)
                pair.ours.close()
                with self.assertRaises(FrameError, msg=stream[:20]):
                    pair.channel.read()

    def test_a_frame_over_the_limit_is_not_written(self):
        with Pair() as pair, self.assertRaises(FrameError):
            pair.channel.write({"type": "a", "text": "x" * MAXIMUM_BYTES})


class ReplyTests(unittest.TestCase):
    """What an agent's answer becomes."""

    def test_text_and_tool_calls_exclude_each_other(self):
        rollout = run.Rollout(None)
        self.assertEqual(
            rollout.reply_frame(AssistantMessage(content="hi")), {"type": "reply", "text": "hi"}
        )
        for message in (
            AssistantMessage(),
            AssistantMessage(content=""),
            AssistantMessage(content="hi", tool_calls=[ToolCall("t")]),
        ):
            with self.assertRaises(TypeError):
                rollout.reply_frame(message)

    def test_calls_without_an_id_get_different_ones(self):
        frame = run.Rollout(None).reply_frame(
            AssistantMessage(tool_calls=[ToolCall("t", {"a": 1}), ToolCall("t")])
        )
        self.assertEqual(len({call["id"] for call in frame["tool_calls"]}), 2)

    def test_several_results_come_as_one_message(self):
        entry = {"role": "tool", "id": "1", "name": "t", "content": "{}", "error": False}
        message = run.incoming({"messages": [entry, dict(entry, id="2")]})
        self.assertIsInstance(message, MultiToolMessage)
        self.assertEqual([result.id for result in message.tool_messages], ["1", "2"])


CLIENT = """
import asyncio, socket, sys, urllib.request
sys.path.insert(0, sys.argv[1])
from invigilator_agent import endpoint
endpoint.install(sys.argv[2])

for host in ("127.0.0.1", "localhost"):
    print(urllib.request.urlopen("http://%s:8377/x" % host).read().decode())

async def ask():
    reader, writer = await asyncio.open_connection("localhost", 8377)
    print(writer.get_extra_info("peername"))
    writer.write(b"GET /x HTTP/1.0\\r\\n\\r\\n")
    print((await reader.read())[-5:].decode())
    writer.close()

asyncio.run(ask())
one = socket.socket()
one.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
one.setblocking(False)
print(one.connect_ex(("127.0.0.1", 8377)), one.family == socket.AF_INET, one.dup().getpeername())
print([socket.socket().connect_ex(at) for at in (("127.0.0.1", 80), ("192.0.2.1", 8377))])
first, second = socket.socketpair()
first.send(b"pair")
print(second.recv(4).decode(), first.family == socket.AF_UNIX)
try:
    socket.socket().bind(("127.0.0.1", 8377))
except PermissionError as error:
    print(error)
"""


class Model(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


class EndpointTests(unittest.TestCase):
    """What a client of TCP meets with where the model answers at a Unix socket."""

    def ask(self, place):
        lib = os.path.join(SHIM, "lib")
        done = subprocess.run(
            [sys.executable, "-I", "-B", "-c", CLIENT, lib, place], capture_output=True, text=True
        )
        return done.stdout.splitlines(), done.stderr

    def test_a_socket_of_tcp_leads_to_the_model_and_nowhere_else(self):
        with tempfile.TemporaryDirectory() as folder:
            place = os.path.join(folder, "model")
            with Server(place, Model) as server:
                threading.Thread(target=server.serve_forever, daemon=True).start()
                lines, errors = self.ask(place)
                server.shutdown()
        expected = [
            "hello", "hello", "('127.0.0.1', 8377)", "hello", "0 True ('127.0.0.1', 8377)",
            "[111, 111]", "pair True", "[Errno 1] Operation not permitted",
        ]  # fmt: skip
        self.assertEqual(lines, expected, errors)

    def test_where_there_is_no_such_socket_nothing_is_changed(self):
        lines, errors = self.ask("/absent")
        self.assertEqual(lines, [])
        self.assertIn("Connection refused", errors)


AGENT = """
from invigilator_agent import AssistantMessage, log

class HarnessAgent:
    def __init__(self, tools, domain_policy, llm=None, llm_args=None):
        self.tools = {tool.name: tool for tool in tools}
    def get_init_state(self, message_history=None):
        return 0
    def generate_next_message(self, message, state):
        log("turn %d" % state)
        found = self.tools["look"](where="here")
        return AssistantMessage(content=found.content), state + 1
    def is_stop(self, message):
        return message.content == "end"
"""
TOOL = {"type": "function", "function": {"name": "look", "parameters": {}}}


class SessionTests(unittest.TestCase):
    """A session of run.py as the supervisor sees it."""

    def setUp(self):
        self.root = tempfile.TemporaryDirectory()
        self.addCleanup(self.root.cleanup)
        root = self.root.name
        os.symlink(os.path.join(SHIM, "lib"), os.path.join(root, "lib"))
        os.symlink(os.path.join(SHIM, "run.py"), os.path.join(root, "run.py"))
        os.mkdir(os.path.join(root, "agent"))

    def start(self, source):
        """Starts run.py with an agent; returns process and our channel."""
        with open(os.path.join(self.root.name, "agent", "agent.py"), "w") as file:
            file.write(source)
        ours, theirs = socket.socketpair()
        self.addCleanup(ours.close)
        program = os.path.join(self.root.name, "run.py")
        theirs.set_inheritable(True)  # in case it already is descriptor 3, where dup2 does nothing
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-B", program],
            preexec_fn=lambda: os.dup2(theirs.fileno(), 3),
            close_fds=False,
            stderr=subprocess.DEVNULL,
        )
        theirs.close()
        channel = Channel(ours.fileno())
        channel.write(
            {
                "type": "init",
                "session": "0" * 16,
                "kind": "conversation",
                "policy": "",
                "tools": [TOOL],
                "limits": {"turns": 5, "seconds": 5},
                "history": [],
            }
        )
        return process, channel

    def turn(self, channel, content):
        """Plays one turn up to the answer."""
        channel.write({"type": "turn", "messages": [{"role": "user", "content": content}]})
        self.assertEqual(channel.read()["type"], "log")
        call = channel.read()
        self.assertEqual((call["type"], call["arguments"]), ("tool", {"where": "here"}))
        result = {"type": "tool_result", "id": call["id"], "content": content, "error": False}
        channel.write(result)
        return channel.read()

    def test_a_session_goes_from_init_to_stop(self):
        process, channel = self.start(AGENT)
        self.assertEqual(channel.read(), {"type": "ready"})
        self.assertEqual(self.turn(channel, "hello"), {"type": "reply", "text": "hello"})
        self.assertEqual(self.turn(channel, "end"), {"type": "done"})
        channel.write({"type": "stop"})
        self.assertEqual(process.wait(), 0)

    def test_an_exception_ends_the_process_with_a_status(self):
        process, channel = self.start(AGENT.replace("return 0", "return 1 / 0"))
        self.assertIsNone(channel.read())
        self.assertEqual(process.wait(), 1)


if __name__ == "__main__":
    unittest.main()
