"""A harness without protection: it imports the judged file and keeps the answer beside it.

Usage: naive_harness.py FOLDER TASK. Exit status 0 is a pass. Only the control world uses it.
"""

from __future__ import annotations

import sys


def main(folder: str, name: str) -> int:
    """Runs the agent on one task, gold in hand."""
    sys.path[:0] = [folder + "/lib", folder + "/agent"]
    task = {"id": name, "gold": "solved"}
    session = {"session": "00112233445566aa"}
    import agent
    from invigilator_agent import UserMessage

    examinee = agent.HarnessAgent(tools=[], domain_policy="")
    answer, _ = examinee.generate_next_message(UserMessage(name.split("-")[0]), session)
    print(answer.content)
    return 0 if answer.content == task["gold"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
