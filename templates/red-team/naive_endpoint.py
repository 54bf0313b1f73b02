"""A model that tells what reached it, and a proxy of the usual kind, which passes things on to it.

Usage: naive_endpoint.py model USER       prints two ports, and serves until standard input ends
       naive_endpoint.py control NAME…    prints for each attack whether it works on this proxy

Started by root the model becomes the user with this number once it listens.

The proxy is the control of the endpoint's attacks. It has the key in its environment and adds it
where a request has none; it reads as much of a request as it needs to find its end, goes where the
request's target or its Host says, and follows where an answer sends it. Both servers read loosely:
of two fields the last counts, and chunks before a length.
"""

import base64
import itertools
import json
import os
import re
import socket
import sys
import threading

KEY = "OPENAI_API_KEY"
ITS_KEY = "sk-of-the-operator"
PATIENCE = 10
numbers = itertools.count(1)


class Request:
    """One request as it came, and what a loose reader makes of it."""

    def __init__(self, head, reader, first_wins):
        first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
        self.method, self.target, _version = first.split(" ", 2)
        self.lines = lines
        pairs = [(n.lower(), v.strip()) for n, _, v in (line.partition(":") for line in lines)]
        self.fields = dict(reversed(pairs) if first_wins else pairs)
        if not first_wins and "chunked" in self.fields.get("transfer-encoding", ""):
            self.body = self.chunks(reader)
        else:
            self.body = reader.read(int(self.fields.get("content-length", 0)))

    @staticmethod
    def chunks(reader):
        """A chunked body, without trailers."""
        body = b""
        while size := int(reader.readline(), 16):
            body += reader.read(size)
            reader.readline()
        reader.readline()
        return body


def next_request(reader, first_wins=False):
    """The next request of a connection; None at its end."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        line = reader.readline()
        if not line:
            return None
        head += line
    return Request(head, reader, first_wins)


def serve(answer):
    """Listens and answers each connection in a thread of its own; returns the port."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)

    def connected(link):
        with link:
            link.settimeout(60)
            try:
                answer(link, link.makefile("rb"))
            except (OSError, ValueError):
                pass  # whoever asked has gone, or sent what even a loose reader cannot read

    def accept():
        while True:
            link, _address = listener.accept()
            threading.Thread(target=connected, args=(link,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]


# ---- the model


def told(server, request):
    """What reached the model, as a text that survives in an answer."""
    try:
        body = json.loads(request.body)
    except ValueError:
        body = request.body.decode("latin-1")
    arrival = {"server": server, "method": request.method, "target": request.target}
    arrival |= {"fields": request.fields, "body": body}
    return "arrived:" + base64.b64encode(json.dumps(arrival).encode()).decode()


def whole(text, request):
    """An answer in the dialect of the request's path, or one that both can be read as."""
    number = next(numbers)
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    message = {"role": "assistant", "content": text}
    if "/responses" in request.target:
        part = {"type": "output_text", "text": text, "annotations": []}
        item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
        used = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        return {
            "id": f"resp-number-{number}",
            "object": "response",
            "created_at": 1,
            "status": "completed",
            "model": "pinned-model",
            "output": [{**item, "content": [part]}],
            "usage": used,
        }
    return {
        "id": f"chatcmpl-number-{number}",
        "object": "chat.completion",
        "created": 1,
        "model": "pinned-model",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": usage,
    }


def model(server):
    """What a server of this name does with a connection: it answers until the other side ends."""

    def answer(link, reader):
        while (request := next_request(reader)) is not None:
            if b"quote the key" in request.body:
                text = "Incorrect API key provided: " + request.fields.get("authorization", "")
                data = json.dumps({"error": {"message": text, "code": "invalid_api_key"}}).encode()
                link.sendall(b"HTTP/1.1 401 No\r\nContent-Length: %d\r\n\r\n" % len(data) + data)
                continue
            away = re.search(rb"redirect to (\d+)", request.body)
            if away and server == "model":
                place = b"Location: http://127.0.0.1:%s/v1/chat/completions\r\n" % away[1]
                link.sendall(b"HTTP/1.1 307 Away\r\n" + place + b"Content-Length: 0\r\n\r\n")
                continue
            data = json.dumps(whole(told(server, request), request)).encode()
            head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nDate: now\r\n"
            head += f"x-ratelimit-remaining-requests: {next(numbers)}\r\nset-cookie: a=b\r\n"
            head += f"x-request-id: {next(numbers)}\r\nContent-Length: {len(data)}\r\n\r\n"
            link.sendall(head.encode() + data)

    return answer


# ---- the proxy


def fetched(port, data):
    """Everything that a server answers to these bytes."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as link:
        link.sendall(data)
        link.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := link.recv(1 << 16):
            answer += piece
    return answer


def passed_on(link, port):
    """A tunnel: bytes of both sides, as they come."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as other:
        link.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
        other.sendall(link.recv(1 << 16))
        other.shutdown(socket.SHUT_WR)
        while piece := other.recv(1 << 16):
            link.sendall(piece)


def port_of(place, default):
    """The port at the end of an authority or an address."""
    found = re.search(r":(\d+)(?:/|$)", place)
    return int(found[1]) if found else default


def proxy(usual):
    """What the proxy does with a connection; it is asked under a port that it learns at once."""

    def answer(link, reader):
        request = next_request(reader, first_wins=True)
        if request is None:
            return
        own = link.getsockname()[1]
        if request.method == "CONNECT":
            return passed_on(link, port_of(request.target, usual))
        place, target = request.fields.get("host", ""), request.target
        if target.startswith("http://"):
            place, _, rest = target.removeprefix("http://").partition("/")
            target = "/" + rest
        port = port_of(place, usual)
        lines = list(request.lines)
        if "authorization" not in request.fields:
            lines.append("Authorization: Bearer " + os.environ[KEY])
        head = "\r\n".join([f"{request.method} {target} HTTP/1.1", *lines]) + "\r\n\r\n"
        data = head.encode() + request.body
        reply = fetched(usual if port == own else port, data)
        if away := re.search(rb"\r\nLocation: (\S+)\r\n", reply):
            reply = fetched(port_of(away[1].decode(), usual), data)
        link.sendall(reply)

    return answer


def main(words):
    """The model by itself, or the control."""
    here, other = serve(model("model")), serve(model("other"))
    if words[0] == "model":
        if os.geteuid() == 0:
            os.setgroups([])
            os.setresgid(*[int(words[1])] * 3)
            os.setresuid(*[int(words[1])] * 3)
        print(f"{here} {other}", flush=True)
        sys.stdin.read()
        return
    sys.path[:0] = [__file__.rpartition("/")[0] or "."]
    import endpoint_attacks

    os.environ[KEY] = ITS_KEY
    endpoint_attacks.main([str(serve(proxy(here))), str(other), *words[1:]])


if __name__ == "__main__":
    main(sys.argv[1:])
