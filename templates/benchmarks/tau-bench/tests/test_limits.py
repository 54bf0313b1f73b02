"""Tests of what bounds a session's process."""

import importlib
import os
import signal
import sys
import time
import types
import unittest
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent.parent / "python" / "lib")]


class ProcessorTests(unittest.TestCase):
    """The limit of processor time, against what tau2's calculator would compute."""

    def test_a_computation_without_end_ends_its_process_alone(self) -> None:
        examiner = importlib.import_module("examiner")
        began = time.monotonic()
        child = os.fork()
        if child == 0:
            examiner.limit_processor(1)
            eval("9**9**9**9")
            os._exit(0)
        _, status = os.waitpid(child, 0)
        self.assertTrue(os.WIFSIGNALED(status))
        self.assertIn(os.WTERMSIG(status), (signal.SIGXCPU, signal.SIGKILL))
        self.assertLess(time.monotonic() - began, 30)

    def test_a_session_that_crashed_has_a_verdict_of_nothing(self) -> None:
        examiner = importlib.import_module("examiner")
        told = []
        channel = types.SimpleNamespace(write=told.append, descriptor=0)
        with mock.patch.object(examiner, "agent_class", lambda _: object):
            served = examiner.Examiner([], types.SimpleNamespace(), channel, channel)
        end = types.SimpleNamespace(fileno=lambda: 0, close=lambda: None)
        session = examiner.Session("s", {"id": "t", "family": "f"}, end)
        served._sessions["s"] = session
        served._ready = types.SimpleNamespace(unregister=lambda _: None)
        served._crashed(session)
        self.assertEqual([frame["type"] for frame in told], ["stop", "verdict"])
        self.assertEqual(told[1]["reward"], 0.0)
        self.assertEqual(told[1]["detail"]["reason"], "crashed")


if __name__ == "__main__":
    unittest.main()
