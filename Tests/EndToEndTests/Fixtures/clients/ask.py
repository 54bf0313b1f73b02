"""Asks a model at a Unix socket with real clients, in a process that can make no internet socket.

Usage: ask.py LIBRARY SOCKET CLIENT…      LIBRARY is that of the shim; prints a line for each client

The model answers whatever it is asked. The filter is the refusal of the policies for candidates: without
the shim no client gets anywhere, which is looked at first.
"""

import asyncio
import ctypes
import http.server
import json
import os
import socket
import socketserver
import struct
import sys
import threading

BASES = ("http://127.0.0.1:8377", "http://localhost:8377")
MESSAGES = [{"role": "user", "content": "what now?"}]
CHAT = {
    "id": "1", "object": "chat.completion", "created": 1, "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "go on"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}  # fmt: skip
MESSAGE = {
    "id": "1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
    "stop_sequence": None, "content": [{"type": "text", "text": "go on"}],
    "usage": {"input_tokens": 1, "output_tokens": 1},
}  # fmt: skip


class Model(http.server.BaseHTTPRequestHandler):
    """Answers in the form of the path that is asked."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        body = json.dumps(MESSAGE if self.path.endswith("/messages") else CHAT).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


def refuse_internet():
    """Has socket(2) answer EPERM for IPv4 and IPv6 from now on (seccomp(2), linux/bpf_common.h)."""
    code = [
        (0x20, 0, 0, 0), (0x15, 0, 4, 41), (0x20, 0, 0, 16), (0x15, 1, 0, socket.AF_INET),
        (0x15, 0, 1, socket.AF_INET6), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000),
    ]  # fmt: skip
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in code))
    filter = struct.pack("HxxxxxxP", len(code), ctypes.addressof(program))
    libc = ctypes.CDLL(None)
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, filter, 0, 0) != 0:
        sys.exit("no filter can be loaded")


def with_urllib(base):
    import urllib.request

    request = urllib.request.Request(base + "/v1/chat/completions", b"{}", method="POST")
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]


def with_requests(base):
    import requests

    return requests.post(base + "/v1/chat/completions", json={}).json()["choices"][0]["message"]["content"]


def with_httpx(base):
    import httpx

    return httpx.post(base + "/v1/chat/completions", json={}).json()["choices"][0]["message"]["content"]


def with_httpx_async(base):
    import httpx

    async def ask():
        async with httpx.AsyncClient() as client:
            return (await client.post(base + "/v1/chat/completions", json={})).json()

    return asyncio.run(ask())["choices"][0]["message"]["content"]


def with_aiohttp(base):
    import aiohttp

    async def ask():
        async with aiohttp.ClientSession() as client:
            async with client.post(base + "/v1/chat/completions", json={}) as answer:
                return await answer.json()

    return asyncio.run(ask())["choices"][0]["message"]["content"]


def with_openai(base):
    import openai

    client = openai.OpenAI(base_url=base + "/v1", api_key="none")
    return client.chat.completions.create(model="m", messages=MESSAGES).choices[0].message.content


def with_openai_async(base):
    import openai

    client = openai.AsyncOpenAI(base_url=base + "/v1", api_key="none")
    answer = asyncio.run(client.chat.completions.create(model="m", messages=MESSAGES))
    return answer.choices[0].message.content


def with_anthropic(base):
    import anthropic

    client = anthropic.Anthropic(base_url=base, api_key="none")
    return client.messages.create(model="m", max_tokens=5, messages=MESSAGES).content[0].text


def with_anthropic_async(base):
    import anthropic

    client = anthropic.AsyncAnthropic(base_url=base, api_key="none")
    answer = asyncio.run(client.messages.create(model="m", max_tokens=5, messages=MESSAGES))
    return answer.content[0].text


def with_litellm(base):
    import litellm

    asked = {"model": "openai/m", "messages": MESSAGES, "api_base": base + "/v1", "api_key": "none"}
    return litellm.completion(**asked).choices[0].message.content


def with_litellm_async(base):
    import litellm

    asked = {"model": "openai/m", "messages": MESSAGES, "api_base": base + "/v1", "api_key": "none"}
    return asyncio.run(litellm.acompletion(**asked)).choices[0].message.content


def main(library, place, *clients):
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    threading.Thread(target=Server(place, Model).serve_forever, daemon=True).start()
    refuse_internet()
    try:
        with_urllib(BASES[0])
        sys.exit("an internet socket was made: nothing is shown here")
    except OSError as error:
        print("without", error, flush=True)
    sys.path.insert(0, library)
    from invigilator_agent import endpoint

    endpoint.install(place)
    for name in clients:
        print(name, [globals()["with_" + name](base) for base in BASES], flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
