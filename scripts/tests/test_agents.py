"""Tests of scripts/agents with a uv that only notes how it was called and makes a program."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

AGENTS = Path(__file__).resolve().parent.parent / "agents"

UV = """#!/bin/sh
echo "$*" >>"$UV_CALLS"
if [ -n "$UV_FAILS" ]; then echo "no such package" >&2; exit 1; fi
while [ "$#" -gt 0 ]; do
    if [ "$1" = --requirements ]; then cat "$2" >"$UV_CALLS.list"; fi
    if [ "$1" = --target ]; then
        mkdir -p "$2/claude_agent_sdk/_bundled"
        echo '__cli_version__ = "9.8.7"' >"$2/claude_agent_sdk/_cli_version.py"
        echo >"$2/claude_agent_sdk/_bundled/claude"
        chmod 700 "$2/claude_agent_sdk/_bundled/claude"
    fi
    if [ "$1" = --allow-existing ] && [ -n "$UV_MAKES" ]; then
        mkdir -p "$2/bin"
        echo >"$2/bin/$UV_MAKES"
        chmod 700 "$2/bin/$UV_MAKES"
    fi
    shift
done
"""


class AgentsTests(unittest.TestCase):
    """What the script installs, keeps and refuses."""

    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="agents.")
        self.addCleanup(self.folder.cleanup)
        base = Path(self.folder.name)
        (base / "bin").mkdir()
        (base / "bin" / "uv").write_text(UV)
        (base / "bin" / "uv").chmod(0o755)
        self.calls = base / "calls"
        self.cache = base / "cache"
        path = f"{base / 'bin'}:{os.environ['PATH']}"
        self.environment = {**os.environ, "PATH": path, "UV_CALLS": str(self.calls), "UV_FAILS": ""}

    def run_it(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Runs the script with the cache of this test."""
        return subprocess.run(
            [str(AGENTS), "--cache", str(self.cache), *words],
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            timeout=60,
        )

    def count(self) -> int:
        """How often uv was called."""
        return len(self.calls.read_text().splitlines()) if self.calls.exists() else 0

    def test_it_installs_once_and_says_what_is_where(self) -> None:
        first, second = self.run_it("claude-code"), self.run_it("claude-code")
        self.assertEqual((first.returncode, second.returncode), (0, 0), first.stderr)
        self.assertEqual(first.stdout, second.stdout)
        (agent,) = json.loads(first.stdout)["agents"]
        self.assertEqual((agent["name"], agent["version"]), ("claude-code", "9.8.7"))
        self.assertEqual(self.count(), 1)
        self.assertIn("--only-binary :all:", self.calls.read_text())
        program = Path(agent["executable"]).resolve()
        self.assertEqual(program.stat().st_mode & 0o777, 0o755, "readable by every user")
        self.assertTrue(program.is_relative_to(Path(agent["folder"]).resolve()))

    def test_what_is_half_done_or_out_of_date_is_made_again(self) -> None:
        self.run_it("claude-code")
        mark = self.cache / "claude-code" / ".installed"
        for spoil in (mark.unlink, lambda: mark.write_text("layout 0")):
            spoil()
            before = self.count()
            self.assertEqual(self.run_it("claude-code").returncode, 0)
            self.assertEqual(self.count(), before + 1)

    def test_a_failure_answers_the_four_questions_and_is_not_taken_for_done(self) -> None:
        failed = self.run_it("claude-code", UV_FAILS="yes")
        self.assertEqual((failed.returncode, failed.stdout), (3, ""))
        self.assertIn("no such package", failed.stderr)
        self.assertIn("agents: install the coding agent: claude-code: ", failed.stderr)
        self.assertIn("agents: remedy: ", failed.stderr)
        self.assertEqual(self.run_it("claude-code").returncode, 0)

    def own(self, requirements: str) -> Path:
        """A profile of somebody's own."""
        folder = Path(self.folder.name) / "mine"
        folder.mkdir(exist_ok=True)
        (folder / "profile.yaml").write_text("coding_agent: mine\nexecutable: tool # of the package\n")
        (folder / "requirements.txt").write_text(requirements)
        return folder

    def test_a_profile_of_ones_own_is_installed_under_its_name(self) -> None:
        folder = self.own("# mine\ntool==1.2.3 ; python_version > '3.0'\n")
        installed = self.run_it(str(folder), UV_MAKES="tool")
        self.assertEqual(installed.returncode, 0, installed.stderr)
        (agent,) = json.loads(installed.stdout)["agents"]
        self.assertEqual((agent["name"], agent["version"]), ("mine", "1.2.3"))
        self.assertEqual(agent["executable"], f"{self.cache}/mine/bin/tool")
        self.assertEqual(self.calls.with_suffix(".list").read_text(), (folder / "requirements.txt").read_text())
        self.assertNotIn(str(folder), self.calls.read_text(), "a list that its user can still change")
        self.assertEqual(self.calls.read_text().count("--no-config"), self.count())

    def test_no_package_is_replaced_by_another_profiles(self) -> None:
        folder = self.own("tool==1\n")
        self.assertEqual(self.run_it(str(folder), UV_MAKES="tool").returncode, 0)
        other = folder.with_name("other")
        shutil.copytree(folder, other)
        for profile, named in ((other, "mine"), (other, "claude-code"), (folder, "mine")):
            (other / "profile.yaml").write_text(f"coding_agent: other\npackage: {named}\nexecutable: tool\n")
            before = (self.count(), (self.cache / "mine" / ".source").read_text())
            refused = self.run_it(str(profile), *([str(other)] if profile == folder else []), UV_MAKES="tool")
            with self.subTest(profile=profile, named=named):
                self.assertEqual(refused.returncode, 3, refused.stderr)
                self.assertIn("package: NAME", refused.stderr)
                self.assertEqual((self.count(), (self.cache / "mine" / ".source").read_text()), before)

    @unittest.skipUnless(os.geteuid() == 0, "gives a Python to another user")
    def test_a_python_that_another_user_may_change_is_not_even_run(self) -> None:
        prefix = Path(self.folder.name) / "python"
        (prefix / "bin").mkdir(parents=True)
        python = prefix / "bin" / "python3"
        python.write_text(f'#!/bin/sh\ntouch {self.folder.name}/ran\nexec /usr/bin/python3 "$@"\n')
        folder = self.own("tool==1\n")
        ran = Path(self.folder.name) / "ran"
        for spoil in (lambda: os.chown(python, 1234, -1), lambda: os.chmod(prefix, 0o775)):
            os.chown(python, 0, 0)
            python.chmod(0o755)
            prefix.chmod(0o755)
            self.assertEqual(self.run_it("--python", str(python), str(folder), UV_MAKES="tool").returncode, 0)
            ran.unlink()
            spoil()
            refused = self.run_it("--python", str(python), str(folder), UV_MAKES="tool")
            self.assertEqual(refused.returncode, 3, refused.stderr)
            self.assertIn("root alone may change", refused.stderr)
            self.assertFalse(ran.exists())

    def test_a_list_of_anything_but_exact_versions_is_refused(self) -> None:
        for line in ("tool", "tool>=1", "-r /etc/shadow", "--index-url http://x", "tool @ file:///x", "./x", "-e ."):
            with self.subTest(line):
                refused = self.run_it(str(self.own(f"a==1\n{line}\n")))
                self.assertEqual(refused.returncode, 3)
                self.assertIn("requirements.txt:2: it is no exact version", refused.stderr)
        self.assertEqual(self.count(), 0)

    def test_a_python_is_one_that_the_list_was_tried_with(self) -> None:
        refused = self.run_it(str(self.own("# Python 3.98 to 3.99.\ntool==1\n")))
        self.assertEqual(refused.returncode, 3)
        self.assertIn("none of 3.98 to 3.99", refused.stderr)

    def test_wrong_use_is_refused_before_anything_is_made(self) -> None:
        for words in (("none-such",), ("--nope",), ("--python",), ("--cache", "a b")):
            with self.subTest(words):
                self.assertEqual(self.run_it(*words).returncode, 2)
        self.assertEqual(self.run_it("--python", "/usr/bin/true").returncode, 3)
        self.assertEqual(self.count(), 0)


if __name__ == "__main__":
    unittest.main()
