"""Tests that each dialect answers in the shape and the order of events of its provider."""

from __future__ import annotations

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from served import Served, chat, events_of, messages, responses

LONG = "a text that is longer than one piece, with a word in it: straße"
USAGE = {"input": 100, "output": 20, "cached": 40}
SCRIPT = {
    "steps": [
        {
            "text": LONG,
            "calls": [
                {"name": "look", "input": {"path": "/work/agent/agent.py", "lines": [1, 200]}},
                {"name": "note", "input": {}},
            ],
            "usage": USAGE,
        },
        {"text": "done"},
    ]
}
PATCH = "*** Begin Patch\n*** Update File: agent.py\n@@\n-a\n+b\n*** End Patch"
CUSTOM = {"steps": [{"calls": [{"name": "apply_patch", "custom": PATCH}]}]}


class ChatTests(unittest.TestCase):
    """OpenAI chat completions."""

    def test_a_whole_answer_has_text_calls_and_usage(self) -> None:
        with Served(SCRIPT) as model:
            got = model.ask("/v1/chat/completions", chat("go"))
        choice = got["choices"][0]
        self.assertEqual(got["object"], "chat.completion")
        self.assertEqual(choice["finish_reason"], "tool_calls")
        self.assertEqual(choice["message"]["content"], LONG)
        functions = [call["function"] for call in choice["message"]["tool_calls"]]
        self.assertEqual([f["name"] for f in functions], ["look", "note"])
        self.assertEqual(json.loads(functions[0]["arguments"])["lines"], [1, 200])
        self.assertEqual(got["usage"]["prompt_tokens"], 100)
        self.assertEqual(got["usage"]["prompt_tokens_details"]["cached_tokens"], 40)

    def test_a_stream_is_unnamed_chunks_and_ends_with_done(self) -> None:
        with Served(SCRIPT) as model:
            _, headers, data = model.send("/v1/chat/completions", chat("go", stream=True))
        events = events_of(data)
        self.assertTrue(headers["content-type"].startswith("text/event-stream"))
        self.assertEqual({name for name, _ in events}, {None})
        self.assertEqual(events[-1][1], "[DONE]")
        chunks = [chunk for _, chunk in events[:-1]]
        deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
        self.assertEqual(deltas[0]["role"], "assistant")
        self.assertEqual("".join(d.get("content") or "" for d in deltas), LONG)
        self.assertEqual(chunks[-1]["choices"][0]["finish_reason"], "tool_calls")
        self.assertNotIn("usage", chunks[-1])
        calls = [call for delta in deltas for call in delta.get("tool_calls", [])]
        written = "".join(c["function"]["arguments"] for c in calls if c["index"] == 0)
        self.assertEqual(json.loads(written)["path"], "/work/agent/agent.py")
        self.assertEqual([c["id"][:5] for c in calls if "id" in c], ["call_", "call_"])

    def test_a_stream_tells_usage_only_when_asked(self) -> None:
        options = {"include_usage": True}
        with Served(SCRIPT) as model:
            asked = chat("go", stream=True, stream_options=options)
            events = events_of(model.send("/v1/chat/completions", asked)[2])
        last = events[-2][1]
        self.assertEqual(last["choices"], [])
        self.assertEqual(last["usage"]["total_tokens"], 120)
        self.assertIsNone(events[0][1]["usage"])


class ResponsesTests(unittest.TestCase):
    """OpenAI responses."""

    def test_a_whole_answer_is_a_list_of_items(self) -> None:
        with Served(SCRIPT) as model:
            got = model.ask("/v1/responses", responses("go"))
        self.assertEqual(got["status"], "completed")
        kinds = [item["type"] for item in got["output"]]
        self.assertEqual(kinds, ["message", "function_call", "function_call"])
        self.assertEqual(got["output"][0]["content"][0]["text"], LONG)
        self.assertEqual(got["usage"]["input_tokens_details"]["cached_tokens"], 40)

    def test_a_stream_numbers_its_events_and_names_them_by_type(self) -> None:
        with Served(SCRIPT) as model:
            events = events_of(model.send("/v1/responses", responses("go", stream=True))[2])
        names = [name for name, _ in events]
        self.assertEqual(names, [data["type"] for _, data in events])
        numbers = [data["sequence_number"] for _, data in events]
        self.assertEqual(numbers, list(range(len(events))))
        once = [name for i, name in enumerate(names) if i == 0 or names[i - 1] != name]
        call = [
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.output_item.done",
        ]
        message = [
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
        ]
        begin = ["response.created", "response.in_progress"]
        self.assertEqual(once, [*begin, *message, *call, *call, "response.completed"])
        ended = events[-1][1]["response"]
        self.assertEqual(ended["usage"]["output_tokens"], 20)
        self.assertEqual(ended["id"], events[0][1]["response"]["id"])
        texts = [data["delta"] for name, data in events if name == message[2]]
        self.assertEqual("".join(texts), LONG)

    def test_a_custom_tool_gets_its_text_unquoted(self) -> None:
        with Served(CUSTOM) as model:
            events = events_of(model.send("/v1/responses", responses("go", stream=True))[2])
        name = "response.custom_tool_call_input"
        written = [data["delta"] for event, data in events if event == f"{name}.delta"]
        self.assertEqual("".join(written), PATCH)
        item = events[-1][1]["response"]["output"][0]
        self.assertEqual((item["type"], item["input"]), ("custom_tool_call", PATCH))


class MessagesTests(unittest.TestCase):
    """Anthropic messages."""

    def test_a_whole_answer_is_a_message_of_blocks(self) -> None:
        with Served(SCRIPT) as model:
            got = model.ask("/v1/messages?beta=true", messages("go"))
        self.assertEqual((got["type"], got["stop_reason"]), ("message", "tool_use"))
        self.assertEqual([b["type"] for b in got["content"]], ["text", "tool_use", "tool_use"])
        self.assertEqual(got["content"][1]["input"]["lines"], [1, 200])
        self.assertEqual(got["usage"]["input_tokens"], 60)
        self.assertEqual(got["usage"]["cache_read_input_tokens"], 40)

    def test_a_stream_has_the_provider_s_order(self) -> None:
        with Served(SCRIPT) as model:
            events = events_of(model.send("/v1/messages", messages("go", stream=True))[2])
        names = [name for name, _ in events]
        self.assertEqual(names, [data["type"] for _, data in events])
        once = [name for i, name in enumerate(names) if i == 0 or names[i - 1] != name]
        block = ["content_block_start", "content_block_delta", "content_block_stop"]
        first = [block[0], "ping", *block[1:]]
        end = ["message_delta", "message_stop"]
        self.assertEqual(once, ["message_start", *first, *block, *block, *end])
        deltas = [d["delta"] for name, d in events if name == block[1] and d["index"] == 1]
        written = "".join(delta["partial_json"] for delta in deltas)
        self.assertEqual(json.loads(written)["path"], "/work/agent/agent.py")
        self.assertEqual(events[-2][1]["usage"]["output_tokens"], 20)
        self.assertEqual(events[-2][1]["delta"]["stop_reason"], "tool_use")

    def test_count_tokens_counts_and_uses_no_step(self) -> None:
        with Served(SCRIPT) as model:
            got = model.ask("/v1/messages/count_tokens", messages("x" * 400))
            answer = model.ask("/v1/messages", messages("x" * 400))
        self.assertGreater(got["input_tokens"], 100)
        self.assertEqual(answer["content"][0]["text"], LONG)


if __name__ == "__main__":
    unittest.main()
