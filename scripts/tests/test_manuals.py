"""Tests of scripts/manuals: with programs that only say what they are told to, and with the built one."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent
MANUALS = SCRIPTS / "manuals"
BUILT = SCRIPTS.parent / ".build" / "release" / "invigilator"

DIRECTORY = {
    "kind": "positional", "valueName": "directory", "isOptional": True, "isRepeating": False,
    "parsingStrategy": "default", "abstract": "Where.", "defaultValue": "."}
HIDDEN = {
    "kind": "option", "valueName": "secret-name", "isOptional": True, "isRepeating": False,
    "parsingStrategy": "default", "shouldDisplay": False,
    "names": [{"kind": "long", "name": "secret-name"}],
    "preferredName": {"kind": "long", "name": "secret-name"}}
OUTPUT = {
    "kind": "option", "valueName": "file", "isOptional": False, "isRepeating": True,
    "parsingStrategy": "default", "abstract": ".begins with a dot, and has a \\ and 'quotes'",
    "names": [{"kind": "long", "name": "output"}, {"kind": "short", "name": "o"}],
    "preferredName": {"kind": "long", "name": "output"}}
HELP = {"command": {
    "commandName": "invigilator", "abstract": "Does things.", "discussion": "Exit codes: 0 done.",
    "subcommands": [
        {"commandName": "run", "abstract": "Run it.", "discussion": "One.\n\n'Two' \\fBis bold.",
         "arguments": [DIRECTORY, OUTPUT, HIDDEN]},
        {"commandName": "inner-work", "abstract": "Not for people.", "shouldDisplay": False},
        {"commandName": "help", "abstract": "Help."},
    ]}}


def warnings_of(page: Path) -> str:
    """What roff complains about."""
    done = subprocess.run(
        ["groff", "-ww", "-man", "-Tutf8", "-z", str(page)], capture_output=True, text=True)
    return done.stdout + done.stderr


def text_of(page: Path) -> str:
    """A page as it is read, without bold and italics."""
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-P-cbou", str(page)], capture_output=True, text=True,
        check=True)
    return done.stdout


def completions(script: Path, *words: str) -> set[str]:
    """What bash offers for the last of the words, after it has read the script."""
    ask = (
        'source "$1" || exit 9; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
        'COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; '
        '_invigilator "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"; '
        'printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(
        ["bash", "--norc", "--noprofile", "-c", ask, "bash", str(script), *words],
        capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise AssertionError(f"bash ended with {done.returncode}: {done.stderr}")
    return {line.strip() for line in done.stdout.splitlines() if line.strip()}


class ManualsTests(unittest.TestCase):
    """What is written from what a program says."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="manuals.")
        self.addCleanup(folder.cleanup)
        self.base = Path(folder.name)
        self.binary = self.base / "bin" / "invigilator"
        self.binary.parent.mkdir()

    def program(self, help_text: str, launcher: str = "invigilator-launcher: builds it.\n\nusage") -> None:
        """Puts programs there that print these."""
        (self.base / "help.json").write_text(help_text)
        self.binary.write_text(
            f'#!/bin/sh\ncase $1 in\n--version) echo 1.2.3 ;;\n'
            f'--experimental-dump-help) cat "{self.base}/help.json" ;;\n'
            f'--generate-completion-script) echo "# $2" ;;\nesac\n')
        (self.base / "launcher.txt").write_text(launcher)
        other = self.binary.parent / "invigilator-launcher"
        other.write_text(f'#!/bin/sh\ncat "{self.base}/launcher.txt"\n')
        for file in (self.binary, other):
            file.chmod(0o755)

    def write(self, binary: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Runs the script into the folder `out`."""
        return subprocess.run(
            [str(MANUALS), "--binary", str(binary or self.binary), str(self.base / "out")],
            capture_output=True, text=True, timeout=120)

    def test_each_command_has_a_page_and_hidden_ones_have_none(self) -> None:
        self.program(json.dumps(HELP))
        done = self.write()
        self.assertEqual(done.returncode, 0, done.stderr)
        pages = sorted(file.name for file in (self.base / "out" / "man1").iterdir())
        self.assertEqual(pages, ["invigilator-launcher.1", "invigilator-run.1", "invigilator.1"])
        scripts = sorted(file.name for file in (self.base / "out" / "completions").iterdir())
        self.assertEqual(scripts, ["_invigilator", "invigilator.bash", "invigilator.fish"])
        self.assertNotIn("secret", (self.base / "out" / "man1" / "invigilator-run.1").read_text())

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed (package groff-base)")
    def test_no_word_of_the_program_is_an_instruction_to_roff(self) -> None:
        self.program(json.dumps(HELP))
        self.assertEqual(self.write().returncode, 0)
        page = self.base / "out" / "man1" / "invigilator-run.1"
        self.assertEqual(warnings_of(page), "")
        shown = text_of(page)
        for expected in (".begins with a dot, and has a \\ and 'quotes'", "'Two' \\fBis bold.",
                         "-o, --output file", "[directory]", "(default: .)"):
            self.assertIn(expected, shown)

    def test_the_same_program_gives_the_same_bytes(self) -> None:
        self.program(json.dumps(HELP))
        page = self.base / "out" / "man1" / "invigilator-run.1"
        self.write()
        first = page.read_bytes()
        self.write()
        self.assertEqual(first, page.read_bytes())

    def test_what_cannot_be_asked_is_said_with_a_remedy_and_nothing_is_written(self) -> None:
        missing = self.write(self.base / "nothing")
        self.assertEqual(missing.returncode, 3)
        self.assertIn("remedy: run scripts/build", missing.stderr)
        self.program(json.dumps(HELP), launcher="")
        mute = self.write()
        self.assertEqual(mute.returncode, 3)
        self.assertIn("the launcher's help", mute.stderr)
        self.assertFalse((self.base / "out").exists())

    @unittest.skipUnless(BUILT.exists(), "nothing is built; run scripts/build")
    def test_pages_and_completions_of_what_was_built(self) -> None:
        done = self.write(BUILT)
        self.assertEqual(done.returncode, 0, done.stderr)
        script = self.base / "out" / "completions" / "invigilator.bash"
        # The instrument tells apart: not everything is offered for everything.
        self.assertEqual(completions(script, "invigilator", "po"), {"policy"})
        self.assertEqual(completions(script, "invigilator", "policy", "expl"), {"explain"})
        self.assertIn("--junit", completions(script, "invigilator", "redteam", "--ju"))
        self.assertEqual(completions(script, "invigilator", "zz"), set())
        for shell, file in (("zsh", "_invigilator"), ("fish", "invigilator.fish")):
            path = self.base / "out" / "completions" / file
            if shutil.which(shell):
                subprocess.run([shell, "-n", str(path)], check=True)
            self.assertIn("policy", path.read_text())
        if shutil.which("groff"):
            for page in sorted((self.base / "out" / "man1").iterdir()):
                self.assertEqual(warnings_of(page), "", page.name)
            shown = text_of(self.base / "out" / "man1" / "invigilator-launcher.1")
            self.assertIn("sweep", shown)


if __name__ == "__main__":
    unittest.main()
