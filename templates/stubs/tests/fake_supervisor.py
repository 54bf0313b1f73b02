"""A supervisor for tests: a real Unix socket that speaks request and reply frames.

It answers from a function and keeps every request, so that a test sees what a stub sent.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import tempfile
import threading
from collections.abc import Callable

Request = dict[str, object]
Reply = dict[str, object]


def refusal(code: str, reason: str) -> Reply:
    """A reply that refuses, in the shape of the protocol."""
    error = {"code": code, "operation": "test", "reason": reason, "remedy": "none, it is a test"}
    return {"ok": False, "error": error}


class FakeSupervisor:
    """Serves one request per connection until it is closed; use it as a context."""

    def __init__(self, answer: Callable[[Request], Reply | bytes]) -> None:
        self.answer = answer
        self.requests: list[Request] = []
        self.folder = tempfile.TemporaryDirectory(prefix="fake-supervisor.")
        self.path = os.path.join(self.folder.name, "exam.sock")
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(self.path)
        self.listener.listen(8)
        self.thread = threading.Thread(target=self.serve, daemon=True)

    def __enter__(self) -> FakeSupervisor:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)  # wakes the accept
        self.thread.join()
        self.listener.close()
        self.folder.cleanup()

    @property
    def environment(self) -> dict[str, str]:
        """The environment in which a stub finds this supervisor."""
        return {**os.environ, "EXAM_SOCKET": self.path}

    def serve(self) -> None:
        """Accepts until the listener is shut down."""
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                self.one(connection)

    def one(self, connection: socket.socket) -> None:
        """Reads one request and sends its answer; bytes are sent as they are."""
        (length,) = struct.unpack(">I", connection.recv(4, socket.MSG_WAITALL))
        request = json.loads(connection.recv(length, socket.MSG_WAITALL))
        self.requests.append(request)
        reply = self.answer(request)
        if isinstance(reply, bytes):
            connection.sendall(reply)
            return
        body = json.dumps(reply).encode()
        connection.sendall(struct.pack(">I", len(body)) + body)
