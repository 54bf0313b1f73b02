"""scripts/build: which programs it builds, how it shows progress, and what it shows of a failure."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

BUILD = Path(__file__).resolve().parent.parent / "build"

# Stands for the compiler: writes its arguments down and says what SwiftPM says.
COMPILER = """#!/bin/sh
echo "$*" >>"$CALLS"
echo "Building for production..."
n=0
while [ $n -lt 200 ]; do n=$((n + 1)); echo "[$n/200] Compiling Module$n file.swift"; done
if [ -n "$BREAKS" ]; then
    n=0
    while [ $n -lt 100 ]; do n=$((n + 1)); echo "file.swift:$n: error: broken"; done
    echo "said last" >&2
    exit 1
fi
"""


class Build(unittest.TestCase):
    """The script with a compiler that only says what the real one would."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        compiler = self.folder / "swift"
        compiler.write_text(COMPILER)
        compiler.chmod(0o755)
        self.environment = {
            **os.environ, "PATH": f"{folder.name}:{os.environ['PATH']}", "BREAKS": "", "TMPDIR": folder.name,
            "CALLS": str(self.folder / "calls"),
        }

    def run_build(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [BUILD, *words], env=self.environment, capture_output=True, text=True, timeout=60
        )

    def calls(self) -> list[str]:
        return (self.folder / "calls").read_text().splitlines()

    def test_every_program_is_built_optimised_and_no_test(self) -> None:
        self.assertEqual(self.run_build().returncode, 0)
        self.assertTrue(all(call.startswith("build -c release --product ") for call in self.calls()))
        built = {call.split()[-1].removeprefix("invigilator").lstrip("-") for call in self.calls()}
        self.assertEqual(built, {"", "broker", "launcher", "probe", "selfcheck"})

    def test_the_demonstration_needs_three_of_them(self) -> None:
        self.assertEqual(self.run_build("--demo", "--quiet").returncode, 0)
        built = {call.split()[-1].removeprefix("invigilator").lstrip("-") for call in self.calls()}
        self.assertEqual(built, {"", "launcher", "selfcheck"})

    def test_the_tests_are_one_debug_build_with_switches_in_a_folder_for_itself(self) -> None:
        self.assertEqual(self.run_build("--tests", "--quiet").returncode, 0)
        (call,) = self.calls()
        self.assertTrue(call.startswith("build -c debug "))
        for words in ("--traits LayerSwitches", "--scratch-path .build/layer-switches", "--build-tests"):
            self.assertIn(words, call)

    def test_without_a_terminal_progress_is_a_line_for_each_tenth(self) -> None:
        lines = self.run_build("--demo").stdout.splitlines()
        progress = [line for line in lines if re.search(r"^build: invigilator \(.*: \d+ of 200, \d+ s, compiling Module\d+$", line)]
        self.assertIn(len(progress), range(9, 13))
        self.assertFalse([line for line in lines if "Compiling" in line])
        self.assertIn("Building for production...", lines)

    def test_on_a_terminal_progress_is_one_line_that_is_written_anew(self) -> None:
        main, side = pty.openpty()
        self.addCleanup(os.close, main)
        with subprocess.Popen([BUILD, "--demo"], env=self.environment, stdout=side, stderr=side) as building:
            os.close(side)
            shown = b""
            try:
                while piece := os.read(main, 65536):
                    shown += piece
            except OSError:  # so ends a terminal whose last program has gone
                pass
        self.assertEqual(building.returncode, 0)
        lines = shown.decode().split("\r\n")
        self.assertTrue(any("200 of 200, " in line and line.count("\r") > 100 for line in lines))
        kept = [line.rsplit("\033[K", 1)[-1] for line in lines]
        self.assertFalse([line for line in kept if " of 200" in line], "nothing of it stays")

    def test_all_that_the_compiler_said_is_shown_when_it_refuses(self) -> None:
        self.environment["BREAKS"] = "yes"
        for words in ([], ["--quiet"], ["--tests"]):
            done = self.run_build(*words)
            self.assertEqual(done.returncode, 3, words)
            lines = done.stdout.splitlines()
            self.assertEqual(sum(": error: broken" in line for line in lines), 100, words)
            self.assertIn("said last", lines)
            self.assertRegex(done.stderr, r"^build: build (invigilator|tests).*the compiler refused.*remedy: ")
        self.assertEqual([file.name for file in self.folder.iterdir() if "build" in file.name], [])

    def test_a_word_too_many_is_refused_and_nothing_is_built(self) -> None:
        for words in (["--test"], ["--demo", "--tests"], [""]):
            self.assertEqual(self.run_build(*words).returncode, 2, words)
        self.assertFalse((self.folder / "calls").exists())


if __name__ == "__main__":
    unittest.main()
