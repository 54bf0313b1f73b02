"""A tier is left out only if nothing that it depends on changed since it was green."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import unittest
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

PROGRAM = Path(__file__).resolve().parent.parent / "inputs"


def loaded() -> ModuleType:
    """The program as a module."""
    sys.dont_write_bytecode = True
    loader = SourceFileLoader("inputs", str(PROGRAM))
    module = module_from_spec(spec_from_loader(loader.name, loader))
    sys.modules[loader.name] = module
    loader.exec_module(module)
    return module


INPUTS = loaded()
FILES = {
    "Package.swift": "", "scripts/fuzz": "", "Tests/ParserFuzzerTests/Corpus/frame/one": "x", "README.md": "",
    "Sources/FuzzDriver/main.swift": "internal import Parser\n", "Sources/Parser/a.swift": "public import CBytes\n",
    "Sources/CBytes/bytes.h": "", "Sources/Other/o.swift": "import Parser\n",
}


class Inputs(unittest.TestCase):
    """The tier `fuzzing` of a small repository."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for name, text in FILES.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)
        self.git("init", "-q")
        self.commit()

    def git(self, *words: str) -> None:
        own = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "-C", str(self.root), *own, *words], check=True, capture_output=True)

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "x")

    def changed(self) -> str | None:
        return INPUTS.changed("fuzzing", self.root)

    def test_modules_are_found_by_what_is_imported(self) -> None:
        self.assertEqual(
            INPUTS.modules(self.root, ["FuzzDriver"]), ["Sources/CBytes", "Sources/FuzzDriver", "Sources/Parser"]
        )

    def test_what_was_never_green_and_what_is_kept_but_not_committed_runs(self) -> None:
        self.assertIn("inputs changed", self.changed() or "")
        INPUTS.keep("fuzzing", self.root)
        self.assertIn("not as it was committed", self.changed() or "")
        self.commit()
        self.assertIsNone(self.changed())

    def test_each_kind_of_change_runs_the_tier_and_no_other_change_does(self) -> None:
        INPUTS.keep("fuzzing", self.root)
        self.commit()
        for name in ("README.md", "Sources/Other/o.swift"):
            (self.root / name).write_text("changed")
        self.assertIsNone(self.changed())

        def expect_change() -> None:
            self.assertIsNotNone(self.changed())
            self.git("checkout", "-q", "--", ".")
            self.git("clean", "-qfd")
            self.assertIsNone(self.changed())

        for name in set(FILES) - {"README.md", "Sources/Other/o.swift"}:
            with self.subTest(name):
                (self.root / name).write_text(FILES[name] + "\n// more\n")
                expect_change()
        (self.root / "Sources/Parser/new.swift").write_text("")
        expect_change()
        (self.root / "Sources/CBytes/bytes.h").unlink()
        expect_change()
        (self.root / "scripts/fuzz").chmod(0o755)
        expect_change()
        (self.root / "scripts/green-inputs").write_text("fuzzing 0\n")
        expect_change()

    def test_without_git_everything_runs(self) -> None:
        INPUTS.keep("fuzzing", self.root)
        subprocess.run(["rm", "-rf", str(self.root / ".git")], check=True)
        self.assertIsNotNone(self.changed())

    def test_every_path_of_the_table_exists(self) -> None:
        root = PROGRAM.parent.parent
        for tier, inputs in INPUTS.TIERS.items():
            for path in inputs.paths:
                self.assertTrue((root / path).exists(), f"{tier}: {path}")
            for name in inputs.roots:
                self.assertIn(name, [Path(found).name for found in INPUTS.modules(root, [name])])


if __name__ == "__main__":
    unittest.main()
