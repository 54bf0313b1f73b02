"""The catalogue of broken walls fits the source that it breaks."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent


def load() -> object:
    """The script as a module; it has no suffix."""
    loader = importlib.machinery.SourceFileLoader("mutants", str(REPOSITORY / "scripts" / "mutants"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutants", loader))
    sys.modules["mutants"] = module
    loader.exec_module(module)
    return module


class MutantCatalogue(unittest.TestCase):
    """What scripts/mutants needs to hold, without building anything."""

    def setUp(self) -> None:
        self.mutants = load()

    def test_every_edit_applies_and_changes_something(self) -> None:
        """An edit whose text moved away would break nothing, and its test would prove nothing."""
        for mutant in self.mutants.catalogue():
            with self.subTest(mutant.id):
                texts = self.mutants.edited(REPOSITORY, mutant)
                self.assertTrue(texts)
                for path, text in texts.items():
                    self.assertNotEqual(text, path.read_text(encoding="utf-8"))

    def test_every_named_test_exists(self) -> None:
        """A pattern that matches no test would leave a mutant alive unseen."""
        for mutant in self.mutants.catalogue():
            folder = REPOSITORY / "Tests" / mutant.group
            sources = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.swift"))
            for name in mutant.tests.replace("(", " ").replace(")", " ").replace("|", " ").replace("/", " ").split():
                with self.subTest(mutant.id, name=name):
                    self.assertTrue(f"struct {name} " in sources or f"func {name}(" in sources)

    def test_an_edit_that_no_longer_applies_is_named(self) -> None:
        """The instrument: text that is not there is an error with its file."""
        gone = self.mutants.Mutant(id="x", invariant="x", tests="x", edits=(("Package.swift", "not there", ""),))
        with self.assertRaisesRegex(self.mutants.MutantError, "Package.swift"):
            self.mutants.edited(REPOSITORY, gone)


if __name__ == "__main__":
    unittest.main()
