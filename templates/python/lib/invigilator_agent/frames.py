"""Length-prefixed JSON frames: the only way in and out of a sandboxed program.

A frame is four bytes, the big-endian length of the body, then the body: one JSON object in
UTF-8 with a string member "type". Reading is strict, because the other end may be hostile and
because two parsers that disagree about a frame are a hole: a repeated key, NaN, an infinite
number, a lone surrogate, trailing bytes, a depth or a length over the limit are errors.

The module uses the C core of the standard `json` package directly: importing `json` itself pulls
in `re`, `enum` and `functools`, which costs more than the rest of a rollout's start.
"""

from os import read, write

try:
    from _json import encode_basestring, make_encoder, make_scanner
except ImportError:  # another Python implementation: slower to start, same rules
    from json.encoder import py_encode_basestring as encode_basestring
    from json.scanner import py_make_scanner as make_scanner

    make_encoder = None

MAXIMUM_BYTES = 1 << 20
"""Largest body in bytes, in both directions. The supervisor enforces the same number."""

MAXIMUM_DEPTH = 16
"""Deepest nesting of arrays and objects, the outermost object counted."""


class FrameError(Exception):
    """A frame that cannot be read or written; the text says what and why."""


def _object(pairs):
    """Builds an object and refuses a repeated key."""
    result = dict(pairs)
    if len(result) != len(pairs):
        raise FrameError("read frame: an object repeats a key")
    return result


def _integer(text):
    """Reads an integer that fits in 64 bits."""
    if len(text) <= 20:
        value = int(text)
        if -(1 << 63) <= value < 1 << 63:
            return value
    raise FrameError("read frame: an integer does not fit in 64 bits")


def _number(text):
    """Reads a finite number."""
    value = float(text)
    if value - value != 0.0:
        raise FrameError("read frame: a number is not finite")
    return value


def _constant(text):
    """Refuses NaN, Infinity and -Infinity, which are not JSON."""
    raise FrameError("read frame: %s is not JSON" % text)


class _Rules:
    """What the scanner asks for; attribute names are those of `json.JSONDecoder`."""

    strict = True
    object_hook = None
    memo = {}

    def __init__(self):
        self.object_pairs_hook = _object
        self.parse_int = _integer
        self.parse_float = _number
        self.parse_constant = _constant
        self.parse_string = None
        if make_encoder is None:
            from json.decoder import JSONArray, JSONObject, scanstring

            self.parse_object, self.parse_array = JSONObject, JSONArray
            self.parse_string = scanstring


_scan = make_scanner(_Rules())


def _check(value, depth):
    """Walks a parsed value: bounded depth, no lone surrogate."""
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise FrameError("read frame: a string holds a lone surrogate") from None
        return
    if not isinstance(value, (dict, list)):
        return
    if depth >= MAXIMUM_DEPTH:
        raise FrameError("read frame: nested deeper than %d" % MAXIMUM_DEPTH)
    if isinstance(value, dict):
        for key, item in value.items():
            _check(key, depth)
            _check(item, depth + 1)
    else:
        for item in value:
            _check(item, depth + 1)


def parse(text):
    """Reads one JSON value under the rules of a frame.

    Raises `FrameError` for everything that RFC 8259 or the limits above do not allow.
    """
    try:
        value, end = _scan(text, 0)
    except FrameError:
        raise
    # SystemError: Python 3.10 and 3.11 look for json.decoder's error class among the loaded
    # modules and report a bad document this way when that module was never imported.
    except (StopIteration, ValueError, RecursionError, SystemError) as error:
        raise FrameError("read frame: not JSON (%s)" % type(error).__name__) from None
    if end != len(text):
        raise FrameError("read frame: bytes after the value")
    _check(value, 0)
    return value


def _refuse(value):
    """Names a value that JSON cannot hold."""
    raise FrameError("write frame: %s is not JSON" % type(value).__name__)


def text_of(value):
    """Writes one value as JSON text without white space."""
    if make_encoder is None:
        from json import dumps

        return dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    encoder = make_encoder({}, _refuse, encode_basestring, None, ":", ",", False, False, False)
    return "".join(encoder(value, 0))


def body_of(frame):
    """Encodes a frame's body. Raises `FrameError` if it cannot be sent as it is."""
    try:
        body = text_of(frame).encode("utf-8")
    except (ValueError, TypeError, RecursionError) as error:
        raise FrameError("write frame: %s" % error) from None
    if len(body) > MAXIMUM_BYTES:
        raise FrameError("write frame: %d bytes, limit %d" % (len(body), MAXIMUM_BYTES))
    return body


class Channel:
    """Frames on one descriptor, both ways.

    The channel does not own the descriptor: the program that started us made it, and it lives as
    long as the process.
    """

    def __init__(self, descriptor):
        self.descriptor = descriptor
        self._buffer = b""

    def _fill(self, count):
        """Reads until `count` bytes are buffered; False at the end of the stream."""
        while len(self._buffer) < count:
            chunk = read(self.descriptor, 65536)
            if not chunk:
                return False
            self._buffer += chunk
        return True

    def read(self):
        """Returns the next frame, or None when the other end closed between two frames."""
        if not self._fill(4):
            if self._buffer:
                raise FrameError("read frame: the stream ends inside a length")
            return None
        length = int.from_bytes(self._buffer[:4], "big")
        if not 2 <= length <= MAXIMUM_BYTES:
            raise FrameError("read frame: %d bytes, limit %d" % (length, MAXIMUM_BYTES))
        if not self._fill(4 + length):
            raise FrameError("read frame: the stream ends inside a frame")
        body = self._buffer[4 : 4 + length]
        self._buffer = self._buffer[4 + length :]
        try:
            frame = parse(body.decode("utf-8"))
        except UnicodeDecodeError:
            raise FrameError("read frame: not UTF-8") from None
        if not isinstance(frame, dict) or not isinstance(frame.get("type"), str):
            raise FrameError('read frame: not an object with a string "type"')
        return frame

    def holds_frame(self):
        """Tells whether a whole frame was read ahead, so that `read` would not wait."""
        held = self._buffer
        return len(held) >= 4 and len(held) >= 4 + int.from_bytes(held[:4], "big")

    def write(self, frame):
        """Sends one frame; blocks until all of it is handed over."""
        body = body_of(frame)
        rest = memoryview(len(body).to_bytes(4, "big") + body)
        while rest:
            rest = rest[write(self.descriptor, rest) :]
