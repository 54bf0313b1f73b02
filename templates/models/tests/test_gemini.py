"""Tests that Gemini's dialect answers in the shape, the order and the errors of its provider."""

from __future__ import annotations

import http.client
import json
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from served import Served, events_of, gemini

MODELS = "/v1beta/models/gemini-test"
WHOLE, STREAM = f"{MODELS}:generateContent", f"{MODELS}:streamGenerateContent?alt=sse"
LONG = "a text that is longer than one piece, with a word in it: straße"
SCRIPT = {
    "steps": [
        {
            "text": LONG,
            "calls": [
                {"name": "look", "input": {"path": "/work/agent/agent.py", "lines": [1, 200]}},
                {"name": "note", "custom": "free text"},
            ],
            "usage": {"input": 100, "output": 20, "cached": 40},
        },
        {"text": "done"},
    ]
}


def parts_of(response: dict[str, object]) -> list[dict[str, object]]:
    """The parts of a response's only candidate."""
    return response["candidates"][0]["content"]["parts"]


class AnswerTests(unittest.TestCase):
    """What an answer looks like."""

    def test_a_whole_answer_has_parts_and_usage(self) -> None:
        with Served(SCRIPT) as model:
            got = model.ask(WHOLE, gemini("go"))
        self.assertEqual(got["candidates"][0]["finishReason"], "STOP")
        self.assertEqual(got["candidates"][0]["content"]["role"], "model")
        calls = [part["functionCall"] for part in parts_of(got)[1:]]
        self.assertEqual(parts_of(got)[0], {"text": LONG})
        self.assertEqual(calls[0]["args"]["lines"], [1, 200])
        self.assertEqual(calls[1], {"name": "note", "args": {"input": "free text"}})
        usage = {"promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120}
        self.assertEqual(got["usageMetadata"], {**usage, "cachedContentTokenCount": 40})
        self.assertEqual(got["modelVersion"], "gemini-test")

    def test_a_stream_is_unnamed_responses_and_the_last_one_says_why_it_stops(self) -> None:
        with Served(SCRIPT) as model:
            _, headers, data = model.send(STREAM, gemini("go"))
        events = events_of(data)
        self.assertTrue(headers["content-type"].startswith("text/event-stream"))
        self.assertEqual({name for name, _ in events}, {None})
        chunks = [chunk for _, chunk in events]
        parts = [part for chunk in chunks for part in parts_of(chunk)]
        self.assertEqual("".join(part.get("text", "") for part in parts), LONG)
        names = [part["functionCall"]["name"] for part in parts if "functionCall" in part]
        self.assertEqual(names, ["look", "note"])
        reasons = [chunk["candidates"][0].get("finishReason") for chunk in chunks]
        self.assertEqual(reasons, [None] * (len(chunks) - 1) + ["STOP"])
        self.assertNotIn("candidatesTokenCount", chunks[0]["usageMetadata"])
        self.assertEqual(chunks[-1]["usageMetadata"]["candidatesTokenCount"], 20)

    def test_count_tokens_counts_and_uses_no_step(self) -> None:
        with Served(SCRIPT) as model:
            got = model.ask(f"{MODELS}:countTokens", gemini("x" * 400))
            answer = model.ask(WHOLE, gemini("x" * 400))
        self.assertGreater(got["totalTokens"], 100)
        self.assertEqual(parts_of(answer)[0]["text"], LONG)


class QuestionTests(unittest.TestCase):
    """What a script sees of a request."""

    def test_a_script_sees_model_system_tools_and_what_came_last(self) -> None:
        system = {"parts": [{"text": "be brief"}]}
        tools = [{"functionDeclarations": [{"name": "look"}]}, {"googleSearch": {}}]
        expect = {"model": "gemini-test", "system": "brief", "first": "go", "last": "7 passed"}
        result = {"name": "look", "response": {"output": "7 passed"}}
        turns = [
            *gemini("go")["contents"],
            {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": result}]},
        ]
        body = {"contents": turns, "systemInstruction": system, "tools": tools}
        steps = [{"text": "early"}, {"expect": {**expect, "offers": "look"}, "text": "good"}]
        with Served({"conversations": "history", "steps": steps}) as model:
            self.assertEqual(parts_of(model.ask(WHOLE, body))[0]["text"], "good")
            status, _, refused = model.send(WHOLE, {**body, "tools": tools[1:]})
        self.assertEqual(status, 400)
        self.assertIn("only ['googleSearch']", json.loads(refused)["error"]["message"])


class FaultTests(unittest.TestCase):
    """Errors, and streams that are slow or break off."""

    def test_errors_have_the_provider_s_words(self) -> None:
        statuses = [400, 401, 429, 500, 503, 529]
        steps = [{"status": status, "retry_after": 7} for status in statuses]
        steps.append({"status": 429, "kind": "OWN"})
        with Served({"conversations": "one", "steps": steps}) as model:
            got = [model.send(STREAM, gemini("a")) for _ in steps]
        found = [json.loads(body)["error"] for _, _, body in got]
        self.assertEqual([error["code"] for error in found], [*statuses, 429])
        words = ["INVALID_ARGUMENT", "UNAUTHENTICATED", "RESOURCE_EXHAUSTED", "INTERNAL"]
        words += ["UNAVAILABLE", "UNAVAILABLE", "OWN"]
        self.assertEqual([error["status"] for error in found], words)
        self.assertEqual(got[0][1]["retry-after"], "7")

    def test_a_slow_stream_takes_its_time(self) -> None:
        with Served({"steps": [{"text": "x" * 72, "delay": 0.2, "pace": 0.05}]}) as model:
            started = time.monotonic()
            events = events_of(model.send(STREAM, gemini("a"))[2])
            took = time.monotonic() - started
        self.assertGreaterEqual(took, 0.2 + 0.05 * len(events))

    def test_a_cut_stream_and_a_cut_answer_end_early(self) -> None:
        step = {"text": "x" * 200, "cut_after": 3, "pace": 0.05}
        with Served({"conversations": "one", "steps": [step, step]}) as model:
            for path in (STREAM, WHOLE):
                with self.assertRaises((http.client.IncompleteRead, ConnectionError)):
                    model.send(path, gemini("a"))

    def test_what_is_no_route_is_refused(self) -> None:
        paths = [
            f"{MODELS}:streamGenerateContent",
            f"{MODELS}:generateContent?alt=sse",
            f"{MODELS}:batchGenerateContent",
            "/v1beta/models/:generateContent",
            "/v1/models/gemini-test:generateContent",
        ]
        with Served({"steps": []}) as model:
            for path in paths:
                with self.subTest(path):
                    self.assertEqual(model.send(path, gemini("a"))[0], 404)


if __name__ == "__main__":
    unittest.main()
