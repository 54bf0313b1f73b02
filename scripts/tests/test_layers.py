"""Every rule of scripts/layers: a package that breaks it is named, a sound one is not."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LAYERS = Path(__file__).resolve().parent.parent / "layers"

SOUND: dict[str, tuple[list[str], list[str], str]] = {
    "CLinux": ([], [], ""),
    "LinuxKernel": (["CLinux"], [], "internal import CLinux\nlet x = unsafe y\n"),
    "SandboxPlan": ([], [], "/// It was unsafe before; await nothing.\nlet s = \"import Gate\"\n"),
    "SandboxPolicy": (["SandboxPlan"], ["Yams"], "public import SandboxPlan\nimport Yams\n"),
    "Gate": (["ExamResults"], [], "@preconcurrency import struct ExamResults.Score\n"),
    "ExamResults": ([], [], "public struct Score {}\n"),
    "Invigilator": (["Gate", "SandboxPolicy"], [], "import Gate\nimport Foundation\n"),
}  # name -> declared targets, products, source


def verdict(changes: dict[str, tuple[list[str], list[str], str]]) -> tuple[int, str]:
    """Runs scripts/layers on the sound package with some targets changed."""
    package = {**SOUND, **changes}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        entries = []
        for name, (targets, products, source) in package.items():
            (root / "Sources" / name).mkdir(parents=True)
            (root / "Sources" / name / "File.swift").write_text(source, "utf-8")
            entry = {"name": name, "type": "library", "path": f"Sources/{name}"}
            entries.append(
                {**entry, "target_dependencies": targets, "product_dependencies": products}
            )
        description = root / "description.json"
        description.write_text(json.dumps({"targets": entries}))
        done = subprocess.run(
            [sys.executable, "-B", str(LAYERS), "--describe", str(description), "--root", folder],
            capture_output=True,
            text=True,
            check=False,
        )
    return done.returncode, done.stdout + done.stderr


class Layers(unittest.TestCase):
    """What is refused, and that nothing else is."""

    def assert_named(self, changes: dict, *words: str) -> None:
        status, text = verdict(changes)
        self.assertEqual(status, 1, text)
        for word in words:
            self.assertIn(word, text)

    def test_a_sound_package_has_no_fault(self) -> None:
        status, text = verdict({})
        self.assertEqual(status, 0, text)

    def test_a_dependency_that_points_up_is_named(self) -> None:
        self.assert_named(
            {"SandboxPlan": (["SandboxPolicy"], [], "")}, "SandboxPlan (floor 2) depends on"
        )

    def test_a_circle_on_one_floor_is_named(self) -> None:
        self.assert_named({"ExamResults": (["Gate"], [], "")}, "circle", "Gate -> ExamResults")

    def test_an_import_that_is_not_declared_is_named_with_its_line(self) -> None:
        self.assert_named(
            {"ExamResults": ([], [], "\n\ninternal import Gate\n")},
            "Sources/ExamResults/File.swift:3: imports Gate",
        )

    def test_a_target_without_a_floor_is_named(self) -> None:
        self.assert_named({"Utilities": ([], [], "")}, "Utilities: has no floor")

    def test_foundation_and_packages_below_the_control_floor_are_named(self) -> None:
        self.assert_named(
            {"LinuxKernel": (["CLinux"], ["Logging"], "import FoundationEssentials\n")},
            "imports FoundationEssentials on floor 1",
            "uses Logging",
        )

    def test_a_clock_in_a_pure_target_is_named(self) -> None:
        self.assert_named({"ExamResults": ([], [], "import Glibc\n")}, "which is pure")

    def test_unsafe_code_outside_the_kernel_layer_is_named(self) -> None:
        for code in (
            "let x = unsafe y\n",
            "final class A: @unchecked Sendable {}\n",
            "nonisolated(unsafe) var x = 1\n",
        ):
            self.assert_named({"ExamResults": ([], [], code)}, "outside LinuxKernel and")

    def test_async_below_the_control_floor_is_named(self) -> None:
        self.assert_named({"SandboxPlan": ([], [], "func f() async {}\n")}, "one thread")

    def test_words_in_comments_and_strings_are_not_code(self) -> None:
        source = '/* unsafe */ let a = "unsafe \\" unsafe" // unsafe\nlet b = """\nunsafe "x"\n"""\n'
        status, text = verdict({"ExamResults": ([], [], source + 'let c = #"unsafe " "#\n')})
        self.assertEqual(status, 0, text)

    def test_an_empty_package_is_no_proof(self) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write('{"targets": []}')
            file.flush()
            words = [sys.executable, "-B", str(LAYERS), "--describe", file.name]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()
