"""Tests of examiner and candidates as processes: side by side, faulty, and as documented.

    python3 -m unittest discover -s templates/benchmarks/helpdesk/tests
"""

import json
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import drive  # noqa: E402

BENCHMARK = drive.BENCHMARK
TASKS_FILE = os.path.join(BENCHMARK, "tasks.json")
AGENT = os.path.join(BENCHMARK, "agent.py")
TASKS = drive.load_tasks(TASKS_FILE)


def read(path: str) -> str:
    """Returns a text file's content."""
    with open(path, encoding="utf-8") as file:
        return file.read()


class InterleavingTests(unittest.TestCase):
    """Many sessions in one examiner."""

    def test_sessions_of_one_task_side_by_side_do_not_touch_each_other(self) -> None:
        exam = drive.Exam(TASKS_FILE)
        task, names = TASKS[0]["id"], ["a" * 16, "b" * 16]
        for name in names:
            exam.frames.write({"type": "begin", "session": name, "task": task, "seed": 0})
        frames = [exam.frames.read() for _ in range(4)]
        self.assertEqual([frame["session"] for frame in frames], [n for n in names for _ in "ab"])
        self.assertEqual(frames[1]["messages"], frames[3]["messages"])
        exam.frames.write({"type": "reply", "session": names[0], "text": "Resolved: nothing"})
        self.assertEqual(exam.frames.read(), {"type": "stop", "session": names[0]})
        self.assertEqual(exam.verdicts.read()["session"], names[0])
        # A candidate may be reported gone after its verdict, and twice.
        for name in (names[0], names[0]):
            exam.frames.write({"type": "gone", "session": name, "reason": "fault"})
        exam.frames.write({"type": "reply", "session": names[1], "text": "May I have your email?"})
        self.assertEqual(exam.frames.read()["type"], "turn")
        exam.frames.write({"type": "done", "session": names[1]})
        self.assertEqual(exam.frames.read()["type"], "stop")
        self.assertEqual(exam.verdicts.read()["reward"], 0.0)
        self.assertEqual(exam.close(), 0)


class ReadmeTests(unittest.TestCase):
    """The examiner that the document shows."""

    def test_the_smallest_examiner_of_the_document_works(self) -> None:
        document = read(os.path.join(BENCHMARK, "..", "README.md"))
        program = document.split("## 7.")[1].split("```python\n")[1].split("```")[0]
        with tempfile.TemporaryDirectory() as directory:
            tasks = os.path.join(directory, "tasks.json")
            with open(tasks, "w", encoding="utf-8") as file:
                task = {"id": "s-1", "family": "sum", "sum": "1+1", "gold": "2"}
                json.dump({"tasks": [task]}, file)
            program = program.replace("/vault/tasks.json", tasks)
            program = program.replace("/examiner/lib", os.path.join(drive.SHIM, "lib"))
            agent = os.path.join(directory, "agent.py")
            with open(agent, "w", encoding="utf-8") as file:
                file.write(SUMS_AGENT)
            exam = drive.Exam(tasks, program=program)
            self.assertEqual(exam.rollout(exam.install(agent), "s-1")["reward"], 1.0)
            self.assertEqual(exam.close(), 0)


SUMS_AGENT = """
from invigilator_agent import AssistantMessage

class HarnessAgent:
    def __init__(self, tools, domain_policy, llm=None, llm_args=None):
        pass
    def get_init_state(self, message_history=None):
        return None
    def generate_next_message(self, message, state):
        left, right = message.content.split("+")
        return AssistantMessage(content=str(int(left) + int(right))), state
"""


class FaultTests(unittest.TestCase):
    """What happens when the agent fails: a status other than 0, reward 0, the exam goes on."""

    def test_faulty_agents_end_with_a_status_and_without_reward(self) -> None:
        template = read(AGENT)
        broken = {
            "raises": template.replace("case.heard += text.lower()", "raise ValueError; x ="),
            "syntax": "def",
            "no class": "x = 1",
            "both": template.replace("content=apology", "tool_calls=[1], content=apology"),
            "early exit": "import os; os._exit(0)",
        }
        task = TASKS[0]["id"]
        exam = drive.Exam(TASKS_FILE)
        with tempfile.TemporaryDirectory() as directory, open(os.devnull, "w") as sink:
            for name, source in broken.items():
                path = os.path.join(directory, "agent.py")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(source)
                result = exam.rollout(exam.install(path), task, sink)
                self.assertEqual(result["reward"], 0.0, name)
                self.assertEqual(result["status"] == 0, name == "early exit", name)
        self.assertEqual(exam.rollout(exam.install(AGENT), task)["status"], 0)
        self.assertEqual(exam.close(), 0)


if __name__ == "__main__":
    unittest.main()
