"""Tests of the workflow files: their form, and what they must not do."""

from __future__ import annotations

import re
import subprocess
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent
WORKFLOWS = sorted(FOLDER.glob("*.yml"))
# Installed by scripts/bootstrap --tests.
CHECKER = Path("/var/cache/invigilator/verifiers/bin/check-jsonschema")


def lines(text: str) -> list[str]:
    """What is not a comment."""
    return [line for line in text.split("\n") if not line.lstrip().startswith("#")]


class WorkflowTests(unittest.TestCase):
    """Each shipped workflow."""

    def test_there_is_one_for_a_hosted_and_one_for_a_self_hosted_runner(self) -> None:
        self.assertEqual([file.name for file in WORKFLOWS], ["hosted.yml", "self-hosted.yml"])

    @unittest.skipUnless(CHECKER.exists(), "check-jsonschema is missing: scripts/bootstrap --tests")
    def test_the_forge_takes_them(self) -> None:
        def check(file: Path) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [str(CHECKER), "--builtin-schema", "vendor.github-workflows", str(file)],
                capture_output=True, text=True, timeout=60)

        for file in WORKFLOWS:
            done = check(file)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        # The instrument: this test's own source is no workflow.
        self.assertNotEqual(check(Path(__file__)).returncode, 0)

    def test_they_use_no_action_of_others_and_no_secret(self) -> None:
        for file in WORKFLOWS:
            said = "\n".join(lines(file.read_text()))
            for word in ("uses:", "secrets.", "pull_request_target", "write-all", ": write"):
                self.assertNotIn(word, said, file.name)
            self.assertIn("\npermissions:", said)

    def test_nothing_of_an_event_is_put_into_a_command(self) -> None:
        for file in WORKFLOWS:
            for line in lines(file.read_text()):
                for expression in re.findall(r"\$\{\{(.*?)\}\}", line):
                    self.assertIn(
                        expression.strip(), {"github.token", "github.ref", "!cancelled()"}, file.name)

    def test_a_runner_of_ones_own_takes_no_pull_request(self) -> None:
        said = "\n".join(lines((FOLDER / "self-hosted.yml").read_text()))
        self.assertNotIn("pull_request", said)

    def test_what_the_steps_call_is_allowed_by_the_line_for_sudoers(self) -> None:
        text = (FOLDER / "self-hosted.yml").read_text()
        allowed = re.findall(r"^# +(?:runner .*NOPASSWD: )?(/usr/local/bin/invigilator [^,\\\n]+)", text, re.M)
        called = re.findall(r"--non-interactive (/usr/local/bin/invigilator [^|\n]+?)(?: \|.*)?$", text, re.M)
        self.assertGreaterEqual(len(called), 5)
        for command in called:
            plain = command.replace('"$NIGHT"', "/srv/invigilator/night").strip()
            self.assertIn(plain, [line.strip() for line in allowed])

    def test_shells_find_no_mistake_in_the_commands(self) -> None:
        for file in WORKFLOWS:
            for script in re.findall(r"^( +)run: \|\n((?:\1  .*\n|\n)+)", file.read_text(), re.M):
                done = subprocess.run(
                    ["bash", "-n"], input=script[1], capture_output=True, text=True, timeout=30)
                self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
