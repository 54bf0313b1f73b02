"""The examiner of the test benchmark: one question, one answer, reward 1 if the answer is gold.

The question holds the task's marker, so that a candidate that remembers it can be found out.
"""

import sys

sys.path[:0] = ["/examiner/lib"]
from invigilator_agent.frames import Channel, parse  # noqa: E402

exam, verdicts, sessions = Channel(3), Channel(4), {}
with open("/vault/tasks.json", encoding="utf-8") as file:
    tasks = {task["id"]: task for task in parse(file.read().strip())["tasks"]}
exam.write({"type": "hello", "benchmark": "sums", "version": 1})


def begin(session, task):
    """Starts a session with its one question."""
    sessions[session] = task
    exam.write(
        {
            "type": "start",
            "session": session,
            "kind": "conversation",
            "policy": "Answer with the result alone.",
            "tools": [],
            "limits": {"turns": 4, "seconds": 20},
            "history": [],
        }
    )
    asked = "%s [%s]" % (task["question"], task["marker"])
    message = {"role": "user", "content": asked}
    exam.write({"type": "turn", "session": session, "messages": [message]})


def end(session, text):
    """Ends a session with its verdict."""
    task = sessions.pop(session)
    exam.write({"type": "stop", "session": session})
    reward = 1.0 if text == task["gold"] else 0.0
    detail = {"family": task["family"], "reason": "right" if reward else "wrong"}
    verdicts.write(
        {
            "type": "verdict",
            "session": session,
            "task": task["id"],
            "reward": reward,
            "detail": detail,
        }
    )


while True:
    frame = exam.read()
    if frame is None or frame["type"] == "finish":
        sys.exit(frame is None)
    if frame["type"] == "begin":
        begin(frame["session"], tasks[frame["task"]])
    elif frame["type"] == "gone":
        sessions.pop(frame["session"], None)
    elif frame["session"] in sessions:
        end(frame["session"], frame.get("text"))
