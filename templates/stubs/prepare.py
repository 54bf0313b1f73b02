#!/usr/bin/python3 -I
"""prepare.py under auto-harness's name: preparation is the supervisor's and is already done."""

import sys

print(
    "prepare.py: prepare the experiment: the split, the baseline and the first scores were fixed "
    "by the supervisor before you started; remedy: none is needed, run `exam status`",
    file=sys.stderr,
)
sys.exit(1)
