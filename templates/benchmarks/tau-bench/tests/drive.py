"""Drives the examiner without a sandbox: plays supervisor and candidate, and prints rewards by task.

Usage: drive.py PYTHON TASKS ENDPOINT gold|idle|wrong [CONCURRENCY]
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, Dict, List

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent.parent / "python" / "lib")]

from gold import Step, steps_of  # noqa: E402
from invigilator_agent.frames import Channel  # noqa: E402


class Drive:
    """One examiner and the sessions that are given to it."""

    def __init__(self, python: str, tasks: Path, endpoint: str) -> None:
        """Starts the examiner and takes its hello."""
        ours, theirs = socket.socketpair()
        read_end, write_end = os.pipe()
        folder = Path(tempfile.mkdtemp())
        for file in HERE.parent.glob("*.py"):
            shutil.copy(file, folder)
        frames = HERE.parent.parent.parent / "python" / "lib" / "invigilator_agent"
        shutil.copytree(frames, folder / "lib" / "invigilator_agent")
        self._folder = folder

        def place() -> None:
            os.dup2(theirs.fileno(), 13)
            os.dup2(write_end, 14)
            os.dup2(13, 3)
            os.dup2(14, 4)

        environment = {"PATH": "/usr/bin:/bin", "OPENAI_BASE_URL": endpoint}
        if "TAU2_DATA_DIR" in os.environ:
            environment["TAU2_DATA_DIR"] = os.environ["TAU2_DATA_DIR"]
        self.process = subprocess.Popen(
            [python, "-I", str(folder / "examiner.py"), str(tasks)],
            preexec_fn=place,
            close_fds=False,
            stdin=subprocess.DEVNULL,
            env=environment,
        )
        theirs.close()
        os.close(write_end)
        self._socket, self._read_end = ours, read_end
        self.exam, self.verdicts = Channel(ours.fileno()), Channel(read_end)
        assert (self.exam.read() or {}).get("type") == "hello"

    def run(
        self,
        entries: List[Dict[str, Any]],
        steps: Callable[[Dict[str, Any]], List[Step]],
        concurrency: int = 3,
    ) -> Dict[str, Any]:
        """Runs tasks; returns their verdicts by id."""
        waiting = list(entries)
        scripts: Dict[str, List[Step]] = {}
        verdicts: Dict[str, Any] = {}
        count = 0

        def begin() -> None:
            nonlocal count
            entry = waiting.pop(0)
            count += 1
            session = "%016x" % count
            scripts[session] = steps(entry["task"])
            self.exam.write({"type": "begin", "session": session, "task": entry["id"], "seed": 7})

        for _ in range(min(concurrency, len(waiting))):
            begin()
        while len(verdicts) < len(entries):
            frame = self.exam.read()
            assert frame is not None, "the examiner closed"
            if frame["type"] == "turn":
                script = scripts[frame["session"]]
                step = script.pop(0) if script else {"say": "END"}
                self.exam.write(dict(reply(step, len(script)), session=frame["session"]))
            elif frame["type"] == "stop":
                verdict = self.verdicts.read()
                verdicts[verdict["task"]] = verdict
                if waiting:
                    begin()
        return verdicts

    def finish(self) -> int:
        """Ends the examiner; returns its status."""
        self.exam.write({"type": "finish"})
        status = self.process.wait(timeout=20)
        shutil.rmtree(self._folder)
        return status


def reply(step: Step, number: int) -> Dict[str, Any]:
    """One answer as a frame."""
    if "call" in step:
        call = dict(step["call"], id="call-%d" % number)
        return {"type": "reply", "tool_calls": [call]}
    if "user" in step:
        return {"type": "reply", "text": "DO " + json.dumps(step["user"])}
    return {"type": "reply", "text": step["say"]}


def main() -> None:
    """Prints one JSON object, as `plain.py` does."""
    tasks = Path(sys.argv[2])
    vault = json.loads(tasks.read_text())
    entries, steps = vault["tasks"], steps_of(sys.argv[4], vault["domain"])
    began = time.monotonic()
    drive = Drive(sys.argv[1], tasks, sys.argv[3])
    ready = time.monotonic()
    verdicts = drive.run(entries, steps, int(sys.argv[5]) if len(sys.argv) > 5 else 3)
    ended = time.monotonic()
    assert drive.finish() == 0
    print(
        json.dumps(
            {
                "rewards": {name: verdict["reward"] for name, verdict in verdicts.items()},
                "import_seconds": round(ready - began, 2),
                "task_seconds": round(ended - ready, 2),
            }
        )
    )


if __name__ == "__main__":
    main()
