#!/usr/bin/python3 -I
"""benchmark.py under auto-harness's name: runs train tasks through `exam`; holds no evaluator.

Usage: benchmark.py [--task-ids ID…] [--split train|test]

The test split is asked for all the same, so that the supervisor answers and records the refusal.
"""

from __future__ import annotations

import argparse
import os
import runpy
import sys


def main(words: list[str]) -> int:
    """Asks for a train exam, or for the test split, which is refused."""
    parser = argparse.ArgumentParser(prog="benchmark.py", description="Run train tasks.")
    parser.add_argument("--task-ids", nargs="+", metavar="ID")
    parser.add_argument("--split", choices=("train", "test"), default="train")
    arguments = parser.parse_args(words)
    exam = runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)), "exam"))
    request: dict[str, object] = {"verb": "train" if arguments.split == "train" else "test"}
    if arguments.split == "train" and arguments.task_ids:
        request["task_ids"] = arguments.task_ids
    return exam["guarded"](lambda: exam["present"](request, False))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
