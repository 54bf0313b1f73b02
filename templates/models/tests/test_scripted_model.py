"""Tests of the script and of the server: order, errors, slow and cut streams, many at once, TLS."""

from __future__ import annotations

import asyncio
import http.client
import json
import ssl
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent)]

from model_script import Script, ScriptError
from served import PROGRAM, Served, chat, events_of, messages, responses, said

CHAT, MESSAGES, RESPONSES = "/v1/chat/completions", "/v1/messages", "/v1/responses"


def text_of(body: dict[str, object]) -> str:
    """What a chat answer said."""
    return body["choices"][0]["message"]["content"]


class OrderTests(unittest.TestCase):
    """Which step answers which request."""

    STEPS = [{"text": "one"}, {"text": "two"}]

    def test_each_first_message_has_its_own_place(self) -> None:
        with Served({"steps": self.STEPS}) as model:
            got = [text_of(model.ask(CHAT, chat(name))) for name in ("a", "b", "a", "b")]
        self.assertEqual(got, ["one", "one", "two", "two"])

    def test_one_conversation_is_shared_by_everybody(self) -> None:
        script = {"conversations": "one", "steps": self.STEPS}
        with Served(script) as model:
            got = [text_of(model.ask(CHAT, chat(name))) for name in ("a", "b")]
        self.assertEqual(got, ["one", "two"])

    def test_history_counts_the_model_s_turns_and_keeps_nothing(self) -> None:
        script = {"conversations": "history", "steps": self.STEPS}
        turns = [said("a"), {"role": "assistant", "content": "one"}, said("b")]
        with Served(script) as model:
            first = [text_of(model.ask(CHAT, chat("a"))) for _ in range(3)]
            second = text_of(model.ask(CHAT, {"model": "m", "messages": turns}))
        self.assertEqual(first, ["one", "one", "one"])
        self.assertEqual(second, "two")

    def test_history_counts_a_run_of_items_as_one_turn(self) -> None:
        script = {"conversations": "history", "steps": self.STEPS}
        items = responses("a")["input"]
        items += [{"type": "reasoning"}, {"type": "message", "role": "assistant", "content": "x"}]
        items += [{"type": "custom_tool_call"}, {"type": "custom_tool_call_output", "output": "y"}]
        with Served(script) as model:
            got = model.ask(RESPONSES, {"model": "m", "input": items})
        self.assertEqual(got["output"][0]["content"][0]["text"], "two")

    def test_the_question_of_prepare_uses_no_step_up(self) -> None:
        question = "Answer with the one word: ready"
        with Served({"conversations": "one", "steps": self.STEPS}) as model:
            got = [text_of(model.ask(CHAT, chat(text))) for text in (question, "a", question, "b")]
        self.assertEqual(got, ["ready", "one", "ready", "two"])

    def test_an_aside_answers_without_using_a_step_up(self) -> None:
        aside = {"when": {"model": "small", "lacks": "bash"}, "text": "a title"}
        with Served({"conversations": "one", "steps": self.STEPS, "asides": [aside]}) as model:
            side = text_of(model.ask(CHAT, chat("a", model="small-1")))
            main = text_of(model.ask(CHAT, chat("a")))
        self.assertEqual((side, main), ("a title", "one"))

    def test_an_expectation_that_fails_says_so_and_waits(self) -> None:
        step = {"expect": {"last": "PASS", "offers": "bash"}, "text": "good"}
        tools = [{"type": "function", "function": {"name": "bash"}}]
        with Served({"conversations": "one", "steps": [step]}) as model:
            status, _, body = model.send(CHAT, chat("FAIL", tools=tools))
            no_tool = model.send(CHAT, chat("PASS"))[0]
            good = text_of(model.ask(CHAT, chat("1 PASS", tools=tools)))
        self.assertEqual((status, no_tool, good), (400, 400, "good"))
        self.assertIn("steps[0].expect: last does not contain 'PASS'", body.decode())

    def test_the_last_message_includes_a_tool_s_result(self) -> None:
        shown = [{"type": "text", "text": "7 passed"}]
        result = {"type": "tool_result", "tool_use_id": "t", "content": shown}
        turns = [said("a"), {"role": "user", "content": [result]}]
        turns.append({"role": "system", "content": "a reminder, added by the client"})
        with Served({"steps": [{"expect": {"last": "7 passed"}, "text": "good"}]}) as model:
            status = model.send(MESSAGES, {**messages("a"), "messages": turns})[0]
        self.assertEqual(status, 200)

    def test_a_script_that_is_over_is_an_error_unless_it_says_otherwise(self) -> None:
        with Served({"steps": []}) as model:
            self.assertEqual(model.send(CHAT, chat("a"))[0], 500)
        with Served({"steps": [], "otherwise": {"text": "stop"}}) as model:
            self.assertEqual(text_of(model.ask(CHAT, chat("a"))), "stop")


class ScriptTests(unittest.TestCase):
    """What makes a script unusable."""

    def test_a_wrong_script_is_refused_with_its_place(self) -> None:
        call = {"name": "x", "input": {}, "custom": ""}
        wrong = {
            "script.stepz": {"stepz": []},
            "script.steps[0].txt": {"steps": [{"txt": "a"}]},
            "script.steps[0].expect.lst": {"steps": [{"expect": {"lst": "a"}}]},
            "script.steps[1].calls[0]": {"steps": [{}, {"calls": [call]}]},
            "script.conversations": {"conversations": "two"},
            "script.asides": {"asides": {}},
        }
        for place, script in wrong.items():
            with self.subTest(place), self.assertRaisesRegex(ScriptError, "remedy: ") as caught:
                Script(script)
            self.assertIn(f"{place}: ", str(caught.exception))

    def test_the_program_ends_with_two_for_a_wrong_script(self) -> None:
        words = [sys.executable, str(PROGRAM), "--script", "/nonexistent"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("read the script: /nonexistent: ", done.stderr)


class FaultTests(unittest.TestCase):
    """Errors, and streams that are slow or break off."""

    def test_errors_have_the_provider_s_words(self) -> None:
        script = {
            "conversations": "one",
            "steps": [
                {"status": 401},
                {"status": 429, "retry_after": 7},
                {"status": 500},
                {"status": 529},
                {"status": 529, "kind": "own_error"},
            ],
        }
        kinds = ["authentication_error", "rate_limit_error", "api_error"]
        with Served(script) as model:
            got = [model.send(MESSAGES, messages("a", stream=True)) for _ in range(5)]
        self.assertEqual([status for status, _, _ in got], [401, 429, 500, 529, 529])
        found = [json.loads(body)["error"]["type"] for _, _, body in got]
        self.assertEqual(found, [*kinds, "overloaded_error", "own_error"])
        self.assertEqual([headers.get("retry-after") for _, headers, _ in got[:2]], [None, "7"])
        with Served(script) as model:
            got = [model.send(CHAT, chat("a")) for _ in range(2)]
            got += [model.send(RESPONSES, responses("a", stream=True)) for _ in range(2)]
        self.assertEqual([status for status, _, _ in got], [401, 429, 500, 529])
        codes = [json.loads(body)["error"]["code"] for _, _, body in got[:2]]
        self.assertEqual(codes, ["invalid_api_key", "rate_limit_exceeded"])

    def test_delay_and_pace_take_their_time(self) -> None:
        step = {"text": "x" * 72, "delay": 0.2, "pace": 0.05}
        with Served({"steps": [step]}) as model:
            started = time.monotonic()
            events = events_of(model.send(CHAT, chat("a", stream=True))[2])
            took = time.monotonic() - started
        self.assertGreaterEqual(took, 0.2 + 0.05 * len(events))

    def test_a_cut_stream_ends_early_without_its_last_chunk(self) -> None:
        with Served({"steps": [{"text": "x" * 200, "cut_after": 3, "pace": 0.05}]}) as model:
            with self.assertRaises((http.client.IncompleteRead, ConnectionError)):
                model.send(CHAT, chat("a", stream=True))

    def test_a_cut_answer_ends_at_half(self) -> None:
        with Served({"steps": [{"text": "x" * 200, "cut_after": 3}, {"text": "y"}]}) as model:
            with self.assertRaises((http.client.IncompleteRead, ConnectionError)):
                model.send(CHAT, chat("a"))
            self.assertEqual(model.send(CHAT, chat("a"))[0], 200)

    def test_what_is_not_the_protocol_is_refused(self) -> None:
        with Served({"steps": []}) as model:
            self.assertEqual(model.send("/v1/embeddings", {})[0], 404)
            connection = http.client.HTTPConnection("127.0.0.1", model.port, timeout=60)
            connection.request("POST", CHAT, "no json")
            self.assertEqual(connection.getresponse().status, 400)
            connection.close()


class ServerTests(unittest.TestCase):
    """The server as a client on the wire sees it."""

    def test_the_log_has_headers_body_and_answer(self) -> None:
        with Served({"steps": [{"text": "one"}]}) as model:
            model.ask(MESSAGES, messages("straße"))
            logged = model.logged()
        self.assertEqual(len(logged), 1)
        self.assertEqual(logged[0]["body"]["messages"], [said("straße")])
        self.assertIn("content-length", [name.lower() for name, _ in logged[0]["headers"]])
        self.assertEqual(logged[0]["answered"], {"status": 200, "step": "steps[0]"})

    def test_a_connection_carries_many_requests_and_chunked_bodies(self) -> None:
        with Served({"conversations": "history", "steps": [{"text": "one"}]}) as model:
            connection = http.client.HTTPConnection("127.0.0.1", model.port, timeout=60)
            data = json.dumps(chat("a", stream=True)).encode()
            for body in (data, iter([data[:9], data[9:]])):
                connection.request("POST", CHAT, body)
                self.assertEqual(events_of(connection.getresponse().read())[-1][1], "[DONE]")
            connection.close()

    def test_it_streams_to_256_clients_at_once(self) -> None:
        step = {"text": "x" * 240, "pace": 0.05}
        with Served({"conversations": "history", "steps": [step]}) as model:
            counts = asyncio.run(many_streams(model.port, 256))
        self.assertEqual(counts, [13] * 256)

    def test_it_speaks_tls(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            key, certificate = f"{folder}/key.pem", f"{folder}/certificate.pem"
            words = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
            words += f" -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout {key}"
            subprocess.run([*words.split(), "-out", certificate], check=True, capture_output=True)
            options = ("--certificate", certificate, "--key", key)
            context = ssl.create_default_context(cafile=certificate)
            with Served({"steps": [{"text": "one"}]}, *options) as model:
                connection = http.client.HTTPSConnection(
                    "localhost", model.port, context=context, timeout=60
                )
                connection.request("POST", CHAT, json.dumps(chat("a")))
                self.assertEqual(text_of(json.load(connection.getresponse())), "one")
                connection.close()


async def many_streams(port: int, count: int) -> list[int]:
    """Opens that many streams before it reads any; how many events each one brought."""
    body = json.dumps(chat("a", stream=True)).encode()
    head = f"POST {CHAT} HTTP/1.1\r\nconnection: close\r\ncontent-length: {len(body)}\r\n\r\n"
    opened = []
    for _ in range(count):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head.encode() + body)
        opened.append((reader, writer))
    counts = []
    for reader, writer in opened:
        counts.append((await reader.read()).count(b"data: "))
        writer.close()
    return counts


if __name__ == "__main__":
    unittest.main()
