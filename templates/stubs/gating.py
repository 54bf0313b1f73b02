#!/usr/bin/python3 -I
"""gating.py under auto-harness's name: hands agent/agent.py in and waits for the verdict.

Usage: gating.py

The verdict is the supervisor's; this exit status (0 accepted, 1 not) only repeats it. Use
`exam submit --manifest` to say what the change is for.
"""

from __future__ import annotations

import os
import runpy
import sys


def main() -> int:
    """Submits with the smallest manifest and prints the verdict."""
    exam = runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)), "exam"))

    def gate() -> int:
        manifest = {"hypothesis": "submitted through gating.py, which takes no hypothesis"}
        reply = exam["ask"]({"verb": "submit", "manifest": manifest})
        if reply.get("ok") is not True:
            exam["print_error"](reply)
            return exam["status_of"](reply)
        return exam["present"]({"verb": "result", "ticket": reply.get("ticket")}, False)

    return exam["guarded"](gate)


if __name__ == "__main__":
    sys.exit(main())
