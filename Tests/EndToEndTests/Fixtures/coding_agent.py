"""What the scripted coding agents of these tests share; a test appends what its agent does.

It travels as PROGRAM.md, which the command of the configuration executes. Every printed line is
one JSON object, so that a test can read the log.
"""

import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time

AGENT = "/work/agent/agent.py"


def say(event, **members):
    """Prints one line for the test."""
    print(json.dumps({"event": event, **members}), flush=True)


def ask(verb, **members):
    """Sends one request to the supervisor and returns its answer; None when it hangs up."""
    body = json.dumps({"verb": verb, **members}).encode()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect("/work/.exam/exam.sock")
        connection.sendall(struct.pack(">I", len(body)) + body)
        received = b""
        while len(received) < 4 or len(received) < 4 + struct.unpack(">I", received[:4])[0]:
            part = connection.recv(65536)
            if not part:
                return None
            received += part
    return json.loads(received[4:])


def code(answer):
    """The code of a refusal; "ok" for an answer."""
    if answer is None:
        return "hung up"
    return "ok" if answer.get("ok") else answer["error"]["code"]


def source():
    """The text of the judged file."""
    with open(AGENT, encoding="utf-8") as file:
        return file.read()


def clear():
    """Removes whatever has the judged file's name."""
    if os.path.isdir(AGENT) and not os.path.islink(AGENT):
        os.rmdir(AGENT)
    elif os.path.lexists(AGENT):
        os.unlink(AGENT)


def write(text):
    """Replaces the judged file, whatever stands there."""
    clear()
    with open(AGENT, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())


def knowing(*verbs, note=""):
    """The template's text with other known verbs."""
    text = source()
    line = next(line for line in text.splitlines() if line.startswith("KNOWN = "))
    known = ", ".join('"%s"' % verb for verb in verbs)
    return text.replace(line, "KNOWN = {%s}" % known) + note


def submit(hypothesis="it may help"):
    """Hands the file in and returns the answer, which may be a refusal."""
    return ask("submit", manifest={"hypothesis": hypothesis})


def judged(hypothesis="it may help"):
    """Hands the file in and waits for the verdict; says both."""
    answer = submit(hypothesis)
    if code(answer) == "ok":
        answer = ask("result", ticket=answer["ticket"])
    verdict = answer.get("verdict") if answer else None
    say(
        "judged",
        code=code(answer),
        verdict=verdict,
        step=answer and answer.get("step"),
        released=answer and answer.get("released_score"),
        hypothesis=hypothesis,
    )
    return answer
