"""Lets Python's clients reach the model of their sandbox at `http://127.0.0.1:8377`.

A sandbox that knows a sealed task has no internet sockets: the kernel refuses them, and the model
answers at the Unix socket `/dev/model`. Clients know addresses of TCP only, so here a TCP socket on
IPv4 is a Unix socket that leads there. This is for compatibility and no wall: a program that goes
around it meets the kernel's refusal.
"""

import errno
import os
import time

PATH = "/dev/model"
PORT = 8377
HOSTS = ("127.0.0.1", "localhost")
# How often, and how many seconds apart, a full queue is tried: where TCP would send again, a Unix
# socket that does not wait fails at once.
TRIES, PAUSE = 1000, 0.01


def install(path=PATH):
    """Puts the replacements into the module `socket`, where the sandbox has such a model.

    Before anything else is imported that takes `socket.socket` from there.
    """
    if not os.path.exists(path):
        return
    import socket

    plain, look_up = socket.socket, socket.getaddrinfo
    inet, stream, general = socket.AF_INET, socket.SOCK_STREAM, socket.SOL_SOCKET

    class Socket(plain):
        """A socket; one for TCP on IPv4 goes to the model, and says that it is what was asked for."""

        def __init__(self, family=-1, type=-1, proto=-1, fileno=None):
            kind = stream if type == -1 else type
            if fileno is None and family in (-1, inet) and kind & 15 == stream:
                super().__init__(socket.AF_UNIX, kind)
                self._is_ours = True
            else:
                # A descriptor of ours comes back with the family that it was said to be of.
                self._is_ours = fileno is not None and family == inet
                given = (-1, -1, -1) if self._is_ours else (family, type, proto)
                super().__init__(*given, fileno=fileno)

        @property
        def family(self):
            return inet if self._is_ours else super().family

        @property
        def proto(self):
            return socket.IPPROTO_TCP if self._is_ours else super().proto

        def connect(self, address):
            if not self._is_ours:
                return super().connect(address)
            if address[0] in HOSTS and address[1] == PORT:
                for _ in range(TRIES):
                    try:
                        return super().connect(path)
                    except BlockingIOError:
                        time.sleep(PAUSE)
            raise ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))

        def connect_ex(self, address):
            if not self._is_ours:
                return super().connect_ex(address)
            try:
                self.connect(address)
            except OSError as error:
                return error.errno
            return 0

        def bind(self, address):
            # A client's choice of its own address is heard and changes nothing; a server's is refused.
            if not self._is_ours:
                return super().bind(address)
            if address[1] != 0:
                raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

        def getsockname(self):
            return (HOSTS[0], 0) if self._is_ours else super().getsockname()

        def getpeername(self):
            peer = super().getpeername()
            return (HOSTS[0], PORT) if self._is_ours else peer

        def setsockopt(self, level, *option):
            if not self._is_ours:
                return super().setsockopt(level, *option)
            if level == general:
                try:
                    super().setsockopt(level, *option)
                except OSError:
                    pass  # an option of TCP alone

        def getsockopt(self, level, option, size=0):
            if self._is_ours and level != general:
                return bytes(size) if size else 0
            return super().getsockopt(level, option, size)

    def getaddrinfo(host, port, family=0, type=0, proto=0, flags=0):
        name = host.decode() if isinstance(host, bytes) else host
        if name in HOSTS and family in (0, inet):
            host, family, flags = HOSTS[0], inet, flags & ~socket.AI_ADDRCONFIG
        return look_up(host, port, family, type, proto, flags)

    socket.socket, socket.getaddrinfo = Socket, getaddrinfo
