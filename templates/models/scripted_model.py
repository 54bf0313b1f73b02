#!/usr/bin/env python3
"""A model server that follows a script: for tests, demonstrations and dry runs without a provider.

Usage: scripted_model.py --script FILE [--port N] [--address A] [--log DIR]
                         [--certificate FILE --key FILE]

It speaks OpenAI chat completions and responses, Anthropic messages with count_tokens, and Gemini
generateContent with countTokens, streamed and whole. model_script.py says what a script is. The
first line of output is the port. With --log, each request is written to DIR/NNNN.json with its
headers, its body and what answered it. With --certificate it speaks TLS.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import ssl
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

sys.path.insert(0, str(Path(__file__).resolve().parent))

import wire_anthropic
import wire_chat
import wire_gemini
import wire_responses
from model_script import Script, ScriptError, Step
from wire import Event, Question, fresh_id, mapping, now

HEAD_LIMIT = 64 * 1024
BODY_LIMIT = 64 * 1024 * 1024
BACKLOG = 1024

DIALECTS = {
    "/v1/chat/completions": wire_chat,
    "/v1/responses": wire_responses,
    "/v1/messages": wire_anthropic,
}
REASONS = {200: "OK", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}


@dataclass
class Request:
    """One HTTP request, read whole."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    def header(self, name: str) -> str:
        """The first value of a header, or nothing."""
        return next((v for n, v in self.headers if n.lower() == name), "")


@dataclass(frozen=True)
class Route:
    """What a target asks for: an answer or a count of a dialect, and what no body says."""

    dialect: ModuleType
    counts: bool = False
    members: dict[str, object] = field(default_factory=dict)

    @classmethod
    def of(cls, request: Request) -> Route | None:
        """The route of a request, or nothing where there is none."""
        if request.method != "POST":
            return None
        if request.path == "/v1/messages/count_tokens":
            return cls(wire_anthropic, counts=True)
        if found := wire_gemini.addressed(request.target):
            model, action = found
            streams = action == "streamGenerateContent"
            members = {"model": model, "stream": streams}
            return cls(wire_gemini, action == wire_gemini.COUNT, members)
        dialect = DIALECTS.get(request.path)
        return None if dialect is None else cls(dialect)


class BadRequest(Exception):
    """A request that is not HTTP as this server reads it."""


async def read_chunks(reader: asyncio.StreamReader) -> bytes:
    """A chunked body."""
    parts: list[bytes] = []
    while size := int((await reader.readline()).split(b";")[0], 16):
        if size + sum(map(len, parts)) > BODY_LIMIT:
            raise BadRequest("the body is too long")
        parts.append(await reader.readexactly(size))
        await reader.readline()
    while (await reader.readline()).strip():
        pass
    return b"".join(parts)


async def read_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Request:
    """The next request of a connection; raises IncompleteReadError at its end."""
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").strip().split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = [(n, v.strip()) for n, _, v in (line.partition(":") for line in lines)]
    request = Request(method, target, headers, b"")
    if request.header("expect").lower() == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    if "chunked" in request.header("transfer-encoding").lower():
        request.body = await read_chunks(reader)
    elif length := int(request.header("content-length") or 0):
        if length > BODY_LIMIT:
            raise BadRequest("the body is too long")
        request.body = await reader.readexactly(length)
    return request


def head_of(status: int, headers: dict[str, str]) -> bytes:
    """The head of a response, with such headers as the providers send beside the body's own."""
    common = {
        "server": "scripted",
        "x-request-id": fresh_id("req_"),
        "x-ratelimit-remaining-requests": "9999",
        "set-cookie": f"__scripted={now()}; path=/",
    }
    lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Scripted')}"]
    lines += [f"{name}: {value}" for name, value in {**common, **headers}.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


class Log:
    """The folder that requests are written to, numbered in order of arrival; or none."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.count = 0
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)

    def write(self, request: Request, status: int, step: str) -> None:
        """Writes one request and what answered it."""
        if self.folder is None:
            return
        self.count += 1
        try:
            body: object = json.loads(request.body) if request.body else None
        except ValueError:
            body = request.body.decode("utf-8", "backslashreplace")
        line = {"method": request.method, "target": request.target, "headers": request.headers}
        line |= {"body": body, "answered": {"status": status, "step": step}}
        text = json.dumps(line, ensure_ascii=False, indent=1) + "\n"
        (self.folder / f"{self.count:04}.json").write_text(text, encoding="utf-8")


class Connection:
    """One client's connection: its requests one after the other, each answered by the script."""

    def __init__(
        self, script: Script, log: Log, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.script, self.log = script, log
        self.reader, self.writer = reader, writer

    async def serve(self) -> None:
        """Answers until the client closes, or a step cuts the connection."""
        goes_on = True
        while goes_on:
            request = await read_request(self.reader, self.writer)
            goes_on = await self.answer(request)
            goes_on = goes_on and request.header("connection").lower() != "close"

    async def answer(self, request: Request) -> bool:
        """Answers one request; whether the connection goes on."""
        if request.method in ("GET", "HEAD"):
            return await self.answer_get(request)
        route = Route.of(request)
        if route is None:
            return await self.send(request, 404, wire_chat.error(404, "no such route"), "route")
        dialect = route.dialect
        try:
            body = {**mapping(json.loads(request.body)), **route.members}
        except ValueError as error:
            return await self.send(request, 400, dialect.error(400, str(error)), "body")
        if route.counts:
            tokens = dialect.counted(len(request.body) // 4 + 1)
            return await self.send(request, 200, tokens, "count_tokens")
        asked = dialect.question(body)
        name, step = self.script.next(asked, dialect.__name__)
        return await self.play(request, dialect, asked, name, step)

    async def play(
        self, request: Request, dialect: ModuleType, asked: Question, name: str, step: Step
    ) -> bool:
        """Answers as a step says."""
        await asyncio.sleep(step.delay)
        if step.status != 200:
            after = step.retry_after
            extra = {} if after is None else {"retry-after": f"{after:g}"}
            body = dialect.error(step.status, step.message, step.kind)
            return await self.send(request, step.status, body, name, extra)
        answer = step.answer(len(request.body))
        if not asked.streams:
            whole, is_cut = dialect.whole(answer, asked), step.cut_after is not None
            return await self.send(request, 200, whole, name, is_cut=is_cut)
        self.log.write(request, 200, name)
        return await self.stream(dialect.stream(answer, asked), step)

    async def answer_get(self, request: Request) -> bool:
        """The list of models, or an empty page: some clients look whether the host is there."""
        if request.path == "/v1/models":
            model = {"id": "scripted", "object": "model", "created": now(), "owned_by": "scripted"}
            return await self.send(request, 200, {"object": "list", "data": [model]}, "models")
        return await self.send(request, 404, wire_chat.error(404, "no such route"), "route")

    async def send(
        self,
        request: Request,
        status: int,
        body: dict[str, object],
        step: str,
        extra: dict[str, str] | None = None,
        is_cut: bool = False,
    ) -> bool:
        """Sends a whole JSON response, or half of it."""
        self.log.write(request, status, step)
        data = json.dumps(body, ensure_ascii=False).encode("utf-8")
        headers = {"content-type": "application/json", "content-length": str(len(data))}
        self.writer.write(head_of(status, {**headers, **(extra or {})}))
        if request.method != "HEAD":
            self.writer.write(data[: len(data) // 2] if is_cut else data)
        await self.writer.drain()
        if is_cut:
            self.writer.transport.abort()
        return not is_cut

    async def stream(self, events: list[Event], step: Step) -> bool:
        """Sends a chunked event stream at the step's pace; cuts it where the step says."""
        headers = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
        self.writer.write(head_of(200, {**headers, "transfer-encoding": "chunked"}))
        for number, event in enumerate(events):
            if number == step.cut_after:
                self.writer.transport.abort()
                return False
            if step.pace:
                await self.writer.drain()
                await asyncio.sleep(step.pace)
            data = event.encoded()
            self.writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.writer.write(b"0\r\n\r\n")
        await self.writer.drain()
        return True


async def serve(script: Script, log: Log, options: argparse.Namespace) -> None:
    """Serves until it is ended; prints the port first."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await Connection(script, log, reader, writer).serve()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client closed the connection, which is how each one ends
        except (BadRequest, asyncio.LimitOverrunError, ValueError) as error:
            print(f"read a request: connection: {error}", file=sys.stderr, flush=True)
        finally:
            writer.close()

    context = None
    if options.certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.certificate, options.key)
    server = await asyncio.start_server(
        connected, options.address, options.port, limit=HEAD_LIMIT, backlog=BACKLOG, ssl=context
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


def main(words: list[str]) -> int:
    """The program; ends on a signal, or with 2 when the script is wrong."""
    parser = argparse.ArgumentParser(description="A model server that follows a script.")
    parser.add_argument("--script", type=Path, required=True, metavar="FILE")
    parser.add_argument("--port", type=int, default=0, metavar="N", help="0: any free one")
    parser.add_argument("--address", default="127.0.0.1", metavar="A")
    parser.add_argument("--log", type=Path, metavar="DIR", help="write each request here")
    parser.add_argument("--certificate", metavar="FILE", help="speak TLS with this certificate")
    parser.add_argument("--key", metavar="FILE", help="the certificate's key")
    options = parser.parse_args(words)
    try:
        asyncio.run(serve(Script.load(options.script), Log(options.log), options))
    except ScriptError as error:
        print(f"scripted_model: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        where = f"{options.address}:{options.port}"
        text = f"scripted_model: listen: {where}: {error.strerror}; remedy: use --port 0"
        print(text, file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
