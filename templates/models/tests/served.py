"""A scripted model in a process of its own, and the requests that the tests send to it."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent.parent / "scripted_model.py"
Body = dict[str, object]


class Served:
    """The program with a script, until the context ends."""

    def __init__(self, script: Body, *arguments: str) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="scripted-model.")
        self.log = Path(self.folder.name) / "log"
        path = Path(self.folder.name) / "script.json"
        path.write_text(json.dumps(script), encoding="utf-8")
        words = [sys.executable, str(PROGRAM), "--script", str(path), "--log", str(self.log)]
        self.process = subprocess.Popen([*words, *arguments], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(20)
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.folder.cleanup()

    def send(self, path: str, body: Body) -> tuple[int, dict[str, str], bytes]:
        """Posts a body; the status, the headers by lower-case name, and the response's bytes."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("POST", path, json.dumps(body))
            response = connection.getresponse()
            headers = {name.lower(): value for name, value in response.getheaders()}
            return response.status, headers, response.read()
        finally:
            connection.close()

    def ask(self, path: str, body: Body) -> Body:
        """Posts a body and returns the JSON object that came."""
        return json.loads(self.send(path, body)[2])

    def logged(self) -> list[Body]:
        """The requests in the log, in order."""
        return [json.loads(file.read_text()) for file in sorted(self.log.iterdir())]


def events_of(stream: bytes) -> list[tuple[str | None, object]]:
    """The events of a stream as name and data; data that is no JSON stays text."""
    found: list[tuple[str | None, object]] = []
    for block in stream.decode("utf-8").split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines())
        if "data" in lines:
            data = lines["data"]
            value = json.loads(data) if data.startswith("{") else data
            found.append((lines.get("event"), value))
    return found


def said(text: str) -> Body:
    """One user message."""
    return {"role": "user", "content": text}


def chat(text: str, **members: object) -> Body:
    """A chat request."""
    return {"model": "gpt-test", "messages": [said(text)], **members}


def messages(text: str, **members: object) -> Body:
    """An Anthropic messages request."""
    return {"model": "claude-test", "max_tokens": 64, "messages": [said(text)], **members}


def gemini(text: str, **members: object) -> Body:
    """A Gemini request; its path names the model."""
    return {"contents": [{"role": "user", "parts": [{"text": text}]}], **members}


def responses(text: str, **members: object) -> Body:
    """A responses request."""
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
    return {"model": "gpt-test", "input": [item], **members}
