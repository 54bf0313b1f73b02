"""Runs an agent over the tasks without a sandbox: development and tests only.

    python3 tests/drive.py [agent.py] [--tasks tasks.json] [--beside FILE] [--verbose]

It plays the supervisor between one examiner process and one candidate process a rollout. Nothing
here is a boundary: run only agents that you wrote.
"""

import argparse
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from typing import Any, Dict, List, Optional

HERE = os.path.dirname(os.path.abspath(__file__))
BENCHMARK = os.path.dirname(HERE)
SHIM = os.path.join(BENCHMARK, "..", "..", "python")
sys.path[:0] = [BENCHMARK, SHIM, os.path.join(SHIM, "lib")]

from examiner import Session  # noqa: E402
from invigilator_agent.frames import Channel, FrameError, parse  # noqa: E402
from run import Rollout, incoming  # noqa: E402

FLAGS = ["-I", "-S", "-B", "-X", "frozen_modules"]
TO_CANDIDATE = {"start": "init"}


def start(command: List[str], sockets: Dict[int, socket.socket], **options: Any) -> Any:
    """Starts a Python program with sockets on fixed descriptors."""
    plan = {number: end.fileno() for number, end in sockets.items()}

    def place() -> None:
        high = {number: os.dup2(fd, 50 + number) for number, fd in plan.items()}
        for number, fd in high.items():
            os.dup2(fd, number)

    return subprocess.Popen(
        [options.pop("python", sys.executable)] + FLAGS + command,
        preexec_fn=place,
        close_fds=False,
        stdin=subprocess.DEVNULL,
        **options
    )


class Exam:
    """One examiner process and the rollouts it serves."""

    def __init__(self, tasks: str, python: str = sys.executable, program: str = "") -> None:
        self.python = python
        self._directory = tempfile.mkdtemp(prefix="helpdesk-")
        self._examiner_root = os.path.join(self._directory, "examiner")
        shutil.copytree(BENCHMARK, self._examiner_root, ignore=shutil.ignore_patterns("tests"))
        shutil.copytree(os.path.join(SHIM, "lib"), os.path.join(self._examiner_root, "lib"))
        frames, theirs = socket.socketpair()
        verdicts, their_verdicts = socket.socketpair()
        command = ["-c", program]
        if not program:
            command = [os.path.join(self._examiner_root, "examiner.py"), os.path.abspath(tasks)]
        self._process = start(command, {3: theirs, 4: their_verdicts}, python=python)
        theirs.close()
        their_verdicts.close()
        self._sockets = [frames, verdicts]
        self.frames, self.verdicts = Channel(frames.fileno()), Channel(verdicts.fileno())
        hello = self.frames.read()
        if hello is None or hello["type"] != "hello":
            raise FrameError("start examiner: no hello")
        self._sessions = 0

    def close(self) -> int:
        """Ends the examiner; returns its status."""
        self.frames.write({"type": "finish"})
        status = self._process.wait()
        for end in self._sockets:
            end.close()
        shutil.rmtree(self._directory)
        return status

    def install(self, agent: str, beside: Optional[List[str]] = None) -> str:
        """Lays a candidate's directory out; returns its path."""
        root = tempfile.mkdtemp(prefix="candidate-", dir=self._directory)
        shutil.copy(os.path.join(SHIM, "run.py"), root)
        shutil.copytree(os.path.join(SHIM, "lib"), os.path.join(root, "lib"))
        os.mkdir(os.path.join(root, "agent"))
        shutil.copy(agent, os.path.join(root, "agent", "agent.py"))
        for path in beside or []:
            shutil.copy(path, os.path.join(root, "agent"))
        return root

    def rollout(self, root: str, task: str, errors: Any = None) -> Dict[str, Any]:
        """Runs one task; returns {reward, detail, trace, seconds}."""
        self._sessions += 1
        session = "%016x" % self._sessions
        began = time.monotonic()
        ours, theirs = socket.socketpair()
        command = [os.path.join(root, "run.py")]
        process = start(command, {3: theirs}, stderr=errors, python=self.python)
        theirs.close()
        candidate = Channel(ours.fileno())
        trace: List[Dict[str, Any]] = []
        try:
            result = self._relay(session, task, candidate, trace)
        except (FrameError, OSError) as fault:
            self.frames.write({"type": "gone", "session": session, "reason": "fault"})
            result = {"reward": 0.0, "detail": {"fault": str(fault)}}
        ours.close()
        status = process.wait()
        seconds = time.monotonic() - began
        return dict(result, trace=trace, status=status, seconds=seconds)

    def _relay(
        self, session: str, task: str, candidate: Channel, trace: List[Dict[str, Any]]
    ) -> Dict[str, Any]:
        """Carries frames between examiner and candidate until the verdict."""
        self.frames.write({"type": "begin", "session": session, "task": task, "seed": 0})
        while True:
            frame = self.frames.read()
            if frame is None:
                raise FrameError("the examiner is gone")
            if frame["session"] != session:
                continue  # sent before the examiner heard that the session is gone
            kind = TO_CANDIDATE.get(frame["type"], frame["type"])
            if kind == "turn":
                trace += frame["messages"]
            passed = {key: value for key, value in frame.items() if key != "session"}
            if kind == "init":
                passed["session"] = session
            candidate.write(dict(passed, type=kind))
            if kind == "stop":
                return self._verdict(session, task)
            answer = self._answer(candidate, trace)
            if kind == "init":
                if answer["type"] != "ready":
                    raise FrameError("candidate did not say ready")
                continue
            self.frames.write(dict(answer, session=session))

    def _answer(self, candidate: Channel, trace: List[Dict[str, Any]]) -> Dict[str, Any]:
        """Reads the candidate's answer, past its log lines."""
        while True:
            answer = candidate.read()
            if answer is None:
                raise FrameError("the candidate ended before the session did")
            if answer["type"] == "reply":
                content = {key: value for key, value in answer.items() if key != "type"}
                trace.append(dict(content, role="assistant"))
            if answer["type"] != "log":
                return answer

    def _verdict(self, session: str, task: str) -> Dict[str, Any]:
        """Reads the verdict of a session that has just stopped."""
        frame = self.verdicts.read()
        if frame is None or (frame["session"], frame["task"]) != (session, task):
            raise FrameError("no verdict for %s" % task)
        return {"reward": frame["reward"], "detail": frame["detail"]}


def rehearse(source: str, tasks: List[Dict[str, Any]]) -> Dict[str, float]:
    """Runs an agent's text over tasks inside this process; returns reward by task id.

    Some twenty times as fast as `examine`, and as right as long as the agent does nothing but
    answer: no frame, no process and no limit on time is involved.
    """
    module: Dict[str, Any] = {"__name__": "agent", "__file__": "agent.py"}
    exec(compile(source, "agent.py", "exec"), module)
    rewards = {}
    for task in tasks:
        session = Session(task)
        rollout = Rollout(None)
        agent = module["HarnessAgent"](tools=[], domain_policy="")
        state = agent.get_init_state(None)
        messages: Optional[List[Dict[str, Any]]] = session.first_turn()
        while messages is not None:
            answer, state = agent.generate_next_message(incoming({"messages": messages}), state)
            messages = session.reply(rollout.reply_frame(answer))
        rewards[task["id"]] = session.verdict()["reward"]
    return rewards


def load_tasks(path: str) -> List[Dict[str, Any]]:
    """Reads a tasks file."""
    with open(path, encoding="utf-8") as file:
        return parse(file.read().strip())["tasks"]


def examine(
    agent: str,
    tasks: str = os.path.join(BENCHMARK, "tasks.json"),
    beside: Optional[List[str]] = None,
    errors: Any = None,
    python: str = sys.executable,
) -> Dict[str, Dict[str, Any]]:
    """Runs an agent over every task; returns result by task id."""
    exam = Exam(tasks, python)
    root = exam.install(agent, beside)
    results = {task["id"]: exam.rollout(root, task["id"], errors) for task in load_tasks(tasks)}
    if exam.close() != 0:
        raise RuntimeError("the examiner ended with an error")
    return results


def mean(results: Dict[str, Dict[str, Any]]) -> float:
    """Returns the mean reward."""
    return sum(result["reward"] for result in results.values()) / len(results)


def main() -> None:
    """Prints score, failures by family and time."""
    parser = argparse.ArgumentParser(description="Score an agent without a sandbox.")
    parser.add_argument("agent", nargs="?", default=os.path.join(BENCHMARK, "agent.py"))
    parser.add_argument("--tasks", default=os.path.join(BENCHMARK, "tasks.json"))
    parser.add_argument("--beside", action="append", help="file to put beside agent.py")
    parser.add_argument("--verbose", action="store_true", help="print reasons and traces")
    arguments = parser.parse_args()
    results = examine(arguments.agent, arguments.tasks, arguments.beside)
    families: Dict[str, List[float]] = {}
    for task in load_tasks(arguments.tasks):
        result = results[task["id"]]
        families.setdefault(task["family"], []).append(result["reward"])
        if arguments.verbose and not result["reward"]:
            print(task["id"], task["family"], result["detail"].get("reason", result["detail"]))
            for entry in result["trace"]:
                print("   ", entry["role"], entry.get("content") or entry.get("text") or entry)
    for family, rewards in sorted(families.items()):
        print("%-32s %d of %d" % (family, sum(rewards), len(rewards)))
    times = sorted(result["seconds"] for result in results.values())
    print("mean %.4f, median rollout %.1f ms" % (mean(results), 1000 * times[len(times) // 2]))


if __name__ == "__main__":
    main()
