"""A model that plays tau2's user by the agent's own stage directions, for tests.

What the agent says decides: `DO {"name": …, "arguments": …}` makes the user call that tool, `END`
makes it say tau2's word for the end, and anything else is answered with `ok`. The judge is played
too, as one that believes what it reads: it finds every assertion met, unless the conversation holds the
word `UNMET`; that the customer is content, only where the customer says `CONTENT`, which `SAY CONTENT`
makes it do; and where somebody says `LIST NOTHING`, it lists nothing.
"""

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Dict, List


def answer(body: Dict[str, Any]) -> Dict[str, Any]:
    """Answers one request for a completion."""
    messages: List[Dict[str, Any]] = body["messages"]
    if body["model"] == "judge":
        question = json.loads(messages[-1]["content"])
        words = json.dumps(question["conversation"])
        is_content = {"role": "user", "text": "CONTENT"} in question["conversation"]
        results = [
            {
                "number": item["number"],
                "met": is_content if "content" in item["assertion"] else "UNMET" not in words,
                "reason": "scripted",
            }
            for item in question["assertions"]
            if "LIST NOTHING" not in words
        ]
        return {"role": "assistant", "content": json.dumps({"results": results})}
    last = messages[-1]
    text = last.get("content") or ""
    if last["role"] == "user" and text.startswith("DO "):
        call = json.loads(text[3:])
        return {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "user-%d" % len(messages),
                    "type": "function",
                    "function": {
                        "name": call["name"],
                        "arguments": json.dumps(call["arguments"]),
                    },
                }
            ],
        }
    if last["role"] == "user" and text == "SAY CONTENT":
        return {"role": "assistant", "content": "CONTENT"}
    if last["role"] == "user" and text.endswith("END"):
        return {"role": "assistant", "content": "###STOP###"}
    return {"role": "assistant", "content": "ok"}


class Handler(BaseHTTPRequestHandler):
    """One request after the other on a connection."""

    protocol_version = "HTTP/1.1"
    pause = 0.0
    answer = staticmethod(answer)

    def do_POST(self) -> None:
        """Answers a completion."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        time.sleep(self.pause)
        message = self.answer(body)
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        data = json.dumps(
            {
                "id": "scripted",
                "object": "chat.completion",
                "created": 0,
                "model": body["model"],
                "choices": [{"index": 0, "finish_reason": reason, "message": message}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


def serve(port: int = 0, pause: float = 0.0) -> ThreadingHTTPServer:
    """Starts a server on loopback; its port is `server_address[1]`."""
    handler = type("Paused", (Handler,), {"pause": pause})
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


if __name__ == "__main__":
    running = serve(int(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 0.0)
    print(running.server_address[1], flush=True)
    threading.Event().wait()
