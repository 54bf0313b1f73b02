"""Knows of verbs what the experiment's package says, unless anything could be added from inside."""

import socket
import sys

import demo_words
from invigilator_agent import AssistantMessage

PLACES = ["/environment", "/environment/demo_words", "/candidate/lib", "/usr/lib", "/"]


def doors():
    """What could be added to, or where more could come from."""
    found = []
    for place in PLACES:
        try:
            with open(place + "/added.py", "w"):
                found.append(place)
        except OSError:
            pass
    for name in ("pip", "ensurepip", "setuptools"):
        try:
            __import__(name)
            found.append(name)
        except ImportError:
            pass
    try:
        socket.create_connection(("192.0.2.1", 443), timeout=2).close()
        found.append("network")
    except OSError:
        pass
    return found


class HarnessAgent:
    def __init__(self, tools, domain_policy, llm=None, llm_args=None):
        self.doors = doors()

    def get_init_state(self, message_history=None):
        return None

    def generate_next_message(self, message, state):
        verb, left, right = message.content.split()[:3]
        left, right = int(left), int(right)
        if self.doors or sys.path[-1] != "/environment" or "/environment" in sys.path[:-1]:
            return AssistantMessage("open: %s, path %s" % (self.doors, sys.path)), state
        results = {"add": left + right, "subtract": left - right, "multiply": left * right}
        return AssistantMessage(str(results[verb] if verb in demo_words.KNOWN else "?")), state
