"""Tests of both clients of a model: the examiner's, and `generate` of the candidate's shim."""

import json
import os
import sys
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Dict, List
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "lib")]

import model_client  # noqa: E402
from model_client import ModelClient, ModelRefused, ModelUnavailable  # noqa: E402
from tau2.data_model import message as shim  # noqa: E402
from tau2.environment.tool import Tool  # noqa: E402
from tau2.utils import llm_utils  # noqa: E402

SCHEMA = {"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": {}}}


def said(content: Any = None, calls: Any = None) -> Dict[str, Any]:
    """An answer of a provider."""
    message: Dict[str, Any] = {"role": "assistant", "content": content}
    if calls is not None:
        message["tool_calls"] = [
            {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}
            for name, arguments in calls
        ]
    return {"choices": [{"index": 0, "message": message}], "usage": {"completion_tokens": 3}}


class Provider:
    """A provider that gives scripted answers: pairs of a status and a body, or `cut`."""

    def __init__(self, *script: Any) -> None:
        provider = self
        self.script, self.requests = list(script), []  # type: List[Any], List[Any]

        class Handler(BaseHTTPRequestHandler):
            """Answers by the script."""

            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                """Answers one request."""
                length = int(self.headers["Content-Length"])
                provider.requests.append((self.path, json.loads(self.rfile.read(length))))
                step = provider.script.pop(0)
                if step == "cut":
                    self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
                    self.close_connection = True
                    return
                status, body, *more = step
                data = json.dumps(body).encode()
                self.send_response(status)
                if "chunked" in more:
                    self.send_header("Transfer-Encoding", "chunked")
                    self.end_headers()
                    for byte in (data[:5], data[5:]):
                        self.wfile.write(b"%x\r\n%s\r\n" % (len(byte), byte))
                    self.wfile.write(b"0\r\n\r\n")
                    return
                if "close" in more:
                    self.close_connection = True  # without a word of it
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                """Says nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.base = "http://127.0.0.1:%d/v1" % self.server.server_address[1]

    def __enter__(self) -> "Provider":
        serve = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        serve.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.server.shutdown()
        self.server.server_close()


class ExaminersClientTests(unittest.TestCase):
    """`ModelClient`, with the shim's classes in the place of tau2's."""

    def ask(self, provider: Provider, **arguments: Any) -> Any:
        """Asks once, without waiting between attempts."""
        client = ModelClient(shim, provider.base)
        with mock.patch.object(model_client, "PAUSES", (0.0, 0.0)):
            return client.generate("user-simulator", [shim.UserMessage(content="hi")], **arguments)

    def test_text_and_calls_come_back_as_messages(self) -> None:
        with Provider((200, said("yes")), (200, said(None, [("look", '{"at": 1}')]))) as provider:
            self.assertEqual(self.ask(provider, temperature=0.0, seed=5).content, "yes")
            call = self.ask(provider, tools=[Tool(SCHEMA)]).tool_calls[0]
        self.assertEqual((call.name, call.arguments), ("look", {"at": 1}))
        path, body = provider.requests[0]
        self.assertEqual(path, "/v1/chat/completions")
        self.assertEqual((body["model"], body["seed"]), ("user-simulator", 5))
        self.assertEqual(provider.requests[1][1]["tool_choice"], "auto")

    def test_what_passes_is_asked_again(self) -> None:
        with Provider((503, {}), "cut", (200, said("yes"))) as provider:
            self.assertEqual(self.ask(provider).content, "yes")
        self.assertEqual(len(provider.requests), 3)

    def test_a_provider_that_stays_away_is_no_fault_of_the_candidate(self) -> None:
        with Provider(*[(500, {})] * 3) as provider:
            with self.assertRaises(ModelUnavailable):
                self.ask(provider)

    def test_a_request_that_is_refused_is_not_sent_again(self) -> None:
        with Provider((400, {"error": "too long"})) as provider:
            with self.assertRaises(ModelRefused):
                self.ask(provider)
        self.assertEqual(len(provider.requests), 1)

    def test_nonsense_is_asked_for_anew_and_then_given_up(self) -> None:
        strange = [said(""), said(None, [("look", "{no")]), said(None, [("look", "[]")]), {}]
        with Provider(*[(200, answer) for answer in strange]) as provider:
            with self.assertRaises(ModelRefused):
                self.ask(provider)
        self.assertEqual(len(provider.requests), 4)

    def test_too_many_calls_too_much_text_and_half_letters_are_nonsense(self) -> None:
        strange = [said(None, [("look", "{}")] * 65), said("x" * 100_001), said("\ud800"), said(7)]
        with Provider(*[(200, answer) for answer in strange]) as provider:
            with self.assertRaises(ModelRefused):
                self.ask(provider)
        self.assertEqual(len(provider.requests), 4)

    def test_a_wrong_key_is_no_fault_of_the_candidate(self) -> None:
        for status in (401, 404):
            with Provider((status, {})) as provider:
                with self.assertRaisesRegex(ModelUnavailable, "status %d" % status):
                    self.ask(provider)


class GenerateTests(unittest.TestCase):
    """`generate` of the shim."""

    def setUp(self) -> None:
        llm_utils._drop()

    def ask(self, provider: Provider, **arguments: Any) -> Any:
        """Asks once."""
        with mock.patch.dict(os.environ, {"OPENAI_BASE_URL": provider.base}):
            with mock.patch.object(llm_utils.time, "sleep", lambda _: None):
                return llm_utils.generate(
                    model="openai/gpt", messages=[shim.SystemMessage(content="be kind")], **arguments
                )

    def test_an_answer_in_chunks_and_one_in_a_piece(self) -> None:
        with Provider((200, said("one"), "chunked"), (200, said("two"))) as provider:
            self.assertEqual(self.ask(provider).content, "one")
            self.assertEqual(self.ask(provider, num_retries=0, temperature=0.5).content, "two")
        self.assertEqual(provider.requests[0][1]["model"], "gpt")
        self.assertEqual(provider.requests[1][1]["temperature"], 0.5)
        self.assertNotIn("num_retries", provider.requests[1][1])

    def test_a_connection_that_was_closed_meanwhile_is_opened_anew(self) -> None:
        with Provider((200, said("one"), "close"), (200, said("two"))) as provider:
            self.assertEqual(self.ask(provider).content, "one")
            self.assertEqual(self.ask(provider, num_retries=0).content, "two")

    def test_a_busy_provider_is_asked_again_and_a_refusal_is_not(self) -> None:
        with Provider((429, {}), (200, said("yes")), (400, {"error": "no"})) as provider:
            self.assertEqual(self.ask(provider).content, "yes")
            with self.assertRaises(llm_utils.ModelError) as caught:
                self.ask(provider)
        self.assertEqual(caught.exception.status, 400)
        self.assertEqual(len(provider.requests), 3)

    def test_an_answer_that_is_cut_is_an_error(self) -> None:
        with Provider("cut") as provider:
            with self.assertRaises(llm_utils.ModelError):
                self.ask(provider, num_retries=0)

    def test_messages_of_every_kind_are_sent(self) -> None:
        call = shim.ToolCall(id="c", name="look", arguments={"at": 2})
        results = [shim.ToolMessage(id="c", content="3"), shim.ToolMessage(id="d", content="4")]
        wire = llm_utils.to_litellm_messages(
            [
                shim.UserMessage(content="u"),
                shim.AssistantMessage(tool_calls=[call]),
                shim.MultiToolMessage(tool_messages=results),
            ]
        )
        self.assertEqual([m["role"] for m in wire], ["user", "assistant", "tool", "tool"])
        self.assertEqual(json.loads(wire[1]["tool_calls"][0]["function"]["arguments"]), {"at": 2})


class ShimMessageTests(unittest.TestCase):
    """What agents do with tau2's messages."""

    def test_fields_have_tau2s_defaults_and_unknown_ones_are_errors(self) -> None:
        message = shim.AssistantMessage(role="assistant", content="x", cost=0.1)
        self.assertTrue(message.has_text_content() and not message.is_tool_call())
        self.assertEqual(message.model_dump(exclude_none=True)["cost"], 0.1)
        self.assertEqual(message.model_copy(update={"content": "y"}).content, "y")
        self.assertEqual(shim.ToolCall(name="a").arguments, {})
        self.assertIsNot(shim.ToolCall(name="a").arguments, shim.ToolCall(name="b").arguments)
        with self.assertRaises(TypeError):
            shim.UserMessage(content="x", gold="y")
        with self.assertRaises(ValueError):
            shim.AssistantMessage(content=" ").validate()

    def test_a_tool_is_a_schema_and_cannot_be_called(self) -> None:
        with self.assertRaises(RuntimeError):
            Tool(SCHEMA)(at=1)
        self.assertEqual(Tool(SCHEMA).name, "look")


if __name__ == "__main__":
    unittest.main()
