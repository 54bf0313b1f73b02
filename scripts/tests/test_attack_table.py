"""The table of attacks in THREAT_MODEL.md: every id once, each with a test of that name or a reason."""

from __future__ import annotations

import re
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
SECTION = "## The attacks on auto-harness\n"
COUNTS = {"A": 15, "B": 28, "C": 22, "D": 6}
IDS = [f"{family}{n:02}" for family, count in COUNTS.items() for n in range(1, count + 1)]
ROW = re.compile(r"^\| ([A-Z]\d\d) \| (.+) \| (.+) \| (.+) \|$", re.MULTILINE)
# A display name that begins with ids; a test's name is a literal, on its line or the next one.
NAMED = re.compile(r'@Test\(\s*"((?:[A-D]\d\d, )*[A-D]\d\d): [^"]+"')


def rows(text: str) -> list[tuple[str, str, str, str]]:
    """Id, attack, wall and files of each row of the section."""
    _, found, rest = text.partition(SECTION)
    return ROW.findall(re.split(r"^## ", rest, maxsplit=1, flags=re.MULTILINE)[0]) if found else []


def ids_of(source: str) -> set[str]:
    """The ids at the beginning of display names."""
    return {name for names in NAMED.findall(source) for name in names.split(", ")}


def faults(text: str, tests: Path) -> list[str]:
    """What is wrong with the table in this text, against the tests below this directory."""
    table = rows(text)
    found = [] if [row[0] for row in table] == IDS else ["the ids are not A01 to D06, each once"]
    for name, _, wall, files in table:
        if wall.startswith("n/a"):
            if not re.match(r"n/a: \S.{20,}", wall):
                found.append(f"{name}: n/a without a reason")
            if files != "-":
                found.append(f"{name}: n/a, and yet a test")
            continue
        for file in files.split(", "):
            path = tests / f"{file}.swift"
            if not re.fullmatch(r"\w+/\w+", file) or not path.is_file():
                found.append(f"{name}: {file} is no file of tests")
            elif name not in ids_of(path.read_text("utf-8")):
                found.append(f"{name}: no test of {file} begins with it")
    return found


class AttackTable(unittest.TestCase):
    """The table as it stands, and that the check sees what is wrong with one."""

    text = (REPOSITORY / "THREAT_MODEL.md").read_text("utf-8")
    tests = REPOSITORY / "Tests"

    def test_every_attack_has_a_test_of_its_name_or_a_reason(self) -> None:
        self.assertEqual(faults(self.text, self.tests), [])

    def test_an_id_in_a_test_is_one_of_the_table(self) -> None:
        for file in sorted(self.tests.rglob("*.swift")):
            self.assertLessEqual(ids_of(file.read_text("utf-8")), set(IDS), file.name)

    def changed(self, old: str, new: str) -> list[str]:
        self.assertIn(old, self.text)
        return faults(self.text.replace(old, new, 1), self.tests)

    def test_a_missing_row_is_seen(self) -> None:
        said = self.changed("| C02 |", "| a row |")
        self.assertEqual(said, ["the ids are not A01 to D06, each once"])

    def test_a_row_that_is_there_twice_is_seen(self) -> None:
        self.assertIn("the ids are not A01 to D06, each once", self.changed("| C02 |", "| C01 |"))

    def test_a_test_that_does_not_have_the_id_is_seen(self) -> None:
        old = "the relay counts them | BenchmarksTests/RelayFaultTests"
        said = self.changed(old, old.replace("RelayFault", "FrameDecoder"))
        self.assertEqual(said, ["B22: no test of BenchmarksTests/FrameDecoderTests begins with it"])

    def test_a_file_that_is_not_there_is_seen(self) -> None:
        old = "the relay counts them | BenchmarksTests/RelayFaultTests"
        said = self.changed(old, old.replace("RelayFault", "Nowhere"))
        self.assertEqual(said, ["B22: BenchmarksTests/NowhereTests is no file of tests"])

    def test_na_without_a_reason_is_seen(self) -> None:
        said = self.changed("n/a: the user simulator of BIRD, and there is no adapter for it", "n/a")
        self.assertEqual(said, ["B27: n/a without a reason"])


if __name__ == "__main__":
    unittest.main()
