"""Asks for one number and compares it with the gold."""

import sys

sys.path[:0] = ["/examiner/lib"]
from invigilator_agent.frames import Channel, parse  # noqa: E402


def main():
    """Serves one exam; 0 when the supervisor says that it is finished."""
    exam, verdicts, sessions = Channel(3), Channel(4), {}
    with open("/vault/tasks.json", encoding="utf-8") as file:
        tasks = {task["id"]: task for task in parse(file.read().strip())["tasks"]}
    exam.write({"type": "hello", "benchmark": "sums", "version": 1})
    while True:
        frame = exam.read()
        if frame is None or frame["type"] == "finish":
            return frame is None
        name = frame["session"]
        if frame["type"] == "begin":
            sessions[name] = tasks[frame["task"]]
            begin(exam, name, sessions[name]["question"])
        elif frame["type"] == "gone":
            sessions.pop(name, None)
        elif name in sessions:
            judge(exam, verdicts, name, sessions.pop(name), frame.get("text"))


def begin(exam, name, question):
    """Opens a session with its one question."""
    limits = {"turns": 2, "seconds": 10}
    start = {"kind": "conversation", "policy": "Add.", "tools": [], "limits": limits, "history": []}
    exam.write({"type": "start", "session": name, **start})
    messages = [{"role": "user", "content": question}]
    exam.write({"type": "turn", "session": name, "messages": messages})


def judge(exam, verdicts, name, task, text):
    """Whatever came first is the answer."""
    exam.write({"type": "stop", "session": name})
    reward = float(text == task["gold"])
    detail = {"family": task["family"]}
    head = {"type": "verdict", "session": name, "task": task["id"]}
    verdicts.write({**head, "reward": reward, "detail": detail})


sys.exit(main())
