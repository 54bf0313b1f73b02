"""The examiner of tau-bench: tau2 imported once for a whole exam, a forked process for each session.

Tasks come from `/vault/tasks.json`, which holds one split; the files in which tau2 keeps all of them
are taken out of the environment when it is built. Frames are read on descriptor 3 and answered there,
in any interleaving; verdicts go to descriptor 4.

A session's process shares the imported modules and the parsed databases with this one until it
changes them, so that a session costs no import and no parsing, sessions run side by side on all
processors, and one that crashes over what it was told is a session without reward and no more.

A model that cannot be had ends the exam with status 75 and a line on standard error: what breaks on
this side voids an exam, and is never a candidate's score.
"""

import gc
import os
import resource
import selectors
import signal
import socket
import sys
from typing import Any, Dict, List

ROOT = __file__.rpartition("/")[0] or "."
sys.path[:0] = [ROOT, ROOT + "/lib"]
sys.path.append("/environment")

from invigilator_agent import endpoint  # noqa: E402

endpoint.install()  # before tau2 and its clients are imported

from dialogue import Dialogue, Frame, agent_class, lost  # noqa: E402
from invigilator_agent.frames import Channel, FrameError, parse, text_of  # noqa: E402
from judge import Judge  # noqa: E402
from model_client import ModelClient  # noqa: E402
from tau2_port import Port, PortError  # noqa: E402

UNAVAILABLE = 75
"""Exit status when a model cannot be had; EX_TEMPFAIL of sysexits(3)."""

UNUSABLE = 70
"""Exit status when tau2 cannot be used; EX_SOFTWARE of sysexits(3)."""

LIMITS = {"turns": 200, "seconds": 900}
"""What a candidate is told; `benchmark.yaml` says the same."""

SESSION_SECONDS = 60
"""The most processor time of a session, in seconds; one takes about two. tau2 computes what a candidate
asks its calculator for, and `9**9**9**9` would keep the whole exam waiting until it is void."""

DETAIL_BYTES = 240_000
"""The most bytes of a verdict's detail; a verdict may have 256 KiB."""


class Session:
    """One forked process, and the socket that leads to it."""

    def __init__(self, name: str, entry: Frame, end: socket.socket) -> None:
        """Remembers a process that was just started."""
        self.name, self.entry, self.end = name, entry, end
        self.channel = Channel(end.fileno())


class Examiner:
    """Serves sessions until `finish`."""

    def __init__(self, entries: List[Frame], port: Port, exam: Channel, verdicts: Channel) -> None:
        """Takes the tasks of one split."""
        self._port = port
        self._tasks = {entry["id"]: entry for entry in entries}
        self._exam, self._verdicts = exam, verdicts
        self._sessions: Dict[str, Session] = {}
        self._agent = agent_class(port)
        self._ready = selectors.DefaultSelector()

    def serve(self) -> int:
        """Relays frames; returns the process's status."""
        self._exam.write({"type": "hello", "benchmark": "tau-bench", "version": 1})
        self._ready.register(self._exam.descriptor, selectors.EVENT_READ)
        while True:
            for key, _ in self._ready.select():
                if key.data is not None:
                    self._hear(key.data)
                    continue
                while True:
                    frame = self._exam.read()
                    if frame is None:
                        return 1
                    if frame["type"] == "finish":
                        return 0
                    self._take(frame)
                    if not self._exam.holds_frame():
                        break

    def _take(self, frame: Frame) -> None:
        """Takes one frame of the supervisor."""
        if frame["type"] == "begin":
            return self._begin(frame)
        session = self._sessions.get(frame["session"])
        if session is None:
            return  # it ended while this frame was on its way
        if frame["type"] == "gone":
            return self._forget(session)
        # It waits for this very frame: a candidate speaks only when it was asked.
        try:
            session.channel.write(frame)
        except OSError:
            self._crashed(session)

    def _begin(self, frame: Frame) -> None:
        """Begins a session in a process of its own."""
        entry = self._tasks[frame["task"]]
        ours, theirs = socket.socketpair()
        if os.fork() == 0:
            ours.close()
            self._converse(frame, entry, Channel(theirs.fileno()))
        theirs.close()
        session = Session(frame["session"], entry, ours)
        self._sessions[session.name] = session
        self._ready.register(ours, selectors.EVENT_READ, session)

    def _converse(self, frame: Frame, entry: Frame, channel: Channel) -> None:
        """Runs a session and ends the process, without returning."""
        try:
            limit_processor(SESSION_SECONDS)
            for session in self._sessions.values():
                session.end.close()
            task = self._port.tasks.Task.model_validate(entry["task"])
            dialogue = Dialogue(frame["session"], self._port, channel, LIMITS)
            answer = dialogue.run(self._agent, task, seed_of(frame["seed"]))
            if answer["type"] == "verdict":
                answer["detail"] = bounded(dict(answer["detail"], family=entry["family"]))
            channel.write(answer)
        finally:
            os._exit(0)

    def _hear(self, session: Session) -> None:
        """Takes what a session's process has said."""
        self._pass(session)
        while session.name in self._sessions and session.channel.holds_frame():
            self._pass(session)

    def _pass(self, session: Session) -> None:
        """Takes one frame of a session's process."""
        try:
            frame = session.channel.read()
        except (OSError, FrameError):
            frame = None
        if frame is None or frame["type"] == "gone":
            return self._crashed(session)
        if frame["type"] == "broken":
            sys.stderr.write("examine: %s\n" % frame["text"])
            sys.stderr.flush()
            os._exit(UNAVAILABLE)
        if frame["type"] == "verdict":
            return self._tell(session, frame)
        self._exam.write(frame)

    def _crashed(self, session: Session) -> None:
        """Judges a session whose process ended without a verdict."""
        if session.name in self._sessions:
            verdict = lost("crashed", "the process of this session ended without a verdict")
            verdict["detail"]["family"] = session.entry["family"]
            self._tell(session, verdict)

    def _tell(self, session: Session, verdict: Frame) -> None:
        """Ends a session with its verdict."""
        self._forget(session)
        self._exam.write({"type": "stop", "session": session.name})
        self._verdicts.write(
            {
                "type": "verdict",
                "session": session.name,
                "task": session.entry["id"],
                "reward": verdict["reward"],
                "detail": verdict["detail"],
            }
        )

    def _forget(self, session: Session) -> None:
        """Lets go of a session; its process ends by itself when it reads the end."""
        del self._sessions[session.name]
        self._ready.unregister(session.end)
        session.end.close()


def limit_processor(seconds: int) -> None:
    """Has the kernel end this process when it has used so much processor time (setrlimit(2))."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def seed_of(seed: Any) -> int:
    """The exam's seed within the range that providers take."""
    return int(seed) % (1 << 31)


def bounded(detail: Dict[str, Any]) -> Dict[str, Any]:
    """Shortens a detail until it fits, its messages first; the order of events is kept."""
    for limit in (4000, 1000, 250, 60):
        if len(text_of(detail).encode("utf-8", "replace")) <= DETAIL_BYTES:
            return detail
        messages = [shortened(message, limit) for message in detail.get("messages", [])]
        detail = dict(detail, messages=messages)
    return {name: detail[name] for name in ("family", "reason", "termination") if name in detail}


def shortened(message: Dict[str, Any], limit: int) -> Dict[str, Any]:
    """A message with its text and its arguments cut."""
    kept = dict(message, content=message["content"][:limit])
    if "tool_calls" in kept:
        kept["tool_calls"] = [
            dict(call, arguments=call["arguments"][:limit]) for call in kept["tool_calls"]
        ]
    return kept


def main() -> int:
    """Loads tau2, makes a task's environments ready and serves. The one argument is the file of
    tasks."""
    with open(sys.argv[1], encoding="utf-8") as file:
        vault = parse(file.read())
    client: List[ModelClient] = []

    def generate(*arguments: Any, **named: Any) -> Any:
        """Asks a model; tau2 wants this function before there can be a client."""
        return client[0].generate(*arguments, **named)

    try:
        port = Port(vault["domain"], generate)
        port.prepare()
    except PortError as fault:
        sys.stderr.write("%s\n" % fault)
        return UNUSABLE
    client.append(ModelClient(port.messages))
    Judge(port, generate)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # a session's process is not waited for
    gc.collect()
    gc.freeze()
    status = Examiner(vault["tasks"], port, Channel(3), Channel(4)).serve()
    sys.stderr.flush()
    os._exit(status)  # whoever still waits for a model is not waited for


if __name__ == "__main__":
    sys.exit(main())
