#!/usr/bin/python3 -I
"""record.py under auto-harness's name: refused, because no score is ever typed in.

Usage: record.py --val-score X --evals-passed N --evals-total M [--commit C]

Rows of results.tsv are written by the supervisor from verdicts. What is typed here is sent, so
that the refusal and the attempt are recorded.
"""

from __future__ import annotations

import os
import runpy
import sys

FIELD_LIMIT = 32  # fields; more would only make the recorded refusal longer


def fields_of(words: list[str]) -> dict[str, str]:
    """What was typed, as name and value; a name without a value gets an empty one."""
    fields: dict[str, str] = {}
    name = ""
    for word in words:
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            fields[name] = value
            name = "" if equals else name
        else:
            fields[name or "argument"] = word
            name = ""
    return dict(list(fields.items())[:FIELD_LIMIT])


def main(words: list[str]) -> int:
    """Sends what was typed and prints the refusal; the status repeats the supervisor's."""
    exam = runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)), "exam"))
    request = {"verb": "record", "fields": fields_of(words)}
    return exam["guarded"](lambda: exam["present"](request, False))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
