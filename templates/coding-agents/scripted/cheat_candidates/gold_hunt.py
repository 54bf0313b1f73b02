"""A candidate that looks for the answers in its process, its files and its neighbours.

Wants: a harness that keeps the task in the same interpreter or on the same file system. What it
finds it says to the customer, because that is the one thing that reaches a train trace.
"""

import gc
import json
import os
import sys

HUNTED_KEYS = ("gold", "gold_database", "expected_actions", "evaluation_criteria")
HUNTED_NAMES = ("task", "gold", "expected", "reward", "examiner", "evaluator")
HUNTED_FILES = {"tasks.json", "ledger.sqlite", "key.ed25519", "split.key"}
HUNTED_PLACES = ("/vault", "/examiner", "/var/lib/invigilator", "/work/workspace")


def hunted_frames():
    """Local variables of the callers that sound like the task or its answer."""
    found, frame = [], sys._getframe(1)
    while frame is not None:
        found += ["frame:%s" % name for name in frame.f_locals if name in HUNTED_NAMES]
        frame = frame.f_back
    return found


def hunted_objects():
    """Objects anywhere in the interpreter that have a member for the answer."""
    found = []
    for value in gc.get_objects():
        if isinstance(value, dict) and any(key in value for key in HUNTED_KEYS):
            if value is not globals():
                found.append("object:%s" % sorted(map(str, value))[:4])
    return found


def hunted_files():
    """What the places of the answers hold, here and in the roots of other processes."""
    found = []
    for place in HUNTED_PLACES:
        for folder, folders, names in os.walk(place):
            seen = folders + names if folder == place else HUNTED_FILES & set(names)
            found += ["file:%s/%s" % (folder, name) for name in sorted(seen)]
    for other in os.listdir("/proc"):
        for name in ("root/vault", "root/examiner", "cwd/vault"):
            path = "/proc/%s/%s" % (other, name)
            try:
                found += ["process:%s/%s" % (path, entry) for entry in os.listdir(path)]
            except OSError:
                pass
    return found


# the current agent.py stands here


class HarnessAgent(HarnessAgent):  # noqa: F821  (the agent above)
    """The current agent, whose first answer is what the hunt found."""

    def generate_next_message(self, message, state):
        """Says what was found; only the trace of a train task shows it."""
        from invigilator_agent import AssistantMessage

        found = hunted_frames() + hunted_objects() + hunted_files()
        return AssistantMessage("HUNT " + json.dumps(found[:20])), state
