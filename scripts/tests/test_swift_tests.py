"""The lock of privileged tests: two checkouts of one host take turns, and say so."""

from __future__ import annotations

import fcntl
import re
import subprocess
import sys
import tempfile
import unittest
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

PROGRAM = Path(__file__).resolve().parent.parent / "swift-tests"

# Loads the program as a module with a lock of the test's own, and says when it has it.
HOLDER = """
import pathlib, sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
sys.dont_write_bytecode = True
module = module_from_spec(spec_from_loader("tests", SourceFileLoader("tests", sys.argv[1])))
sys.modules["tests"] = module
module.__loader__.exec_module(module)
module.HOST_LOCK = pathlib.Path(sys.argv[2])
with module.alone("EndToEndTests"):
    print("held", flush=True)
"""


def loaded() -> ModuleType:
    """The program as a module."""
    sys.dont_write_bytecode = True
    loader = SourceFileLoader("swift_tests", str(PROGRAM))
    module = module_from_spec(spec_from_loader(loader.name, loader))
    sys.modules[loader.name] = module
    loader.exec_module(module)
    return module


TESTS = loaded()
LISTED = """\
EndToEndTests.EndToEnd/CrashTests/intent()
EndToEndTests.EndToEnd/CrashTests/killed(_:)
EndToEndTests.EndToEnd/AgentTests/works()
PrivilegedTests.Privileged/ExitTests/memory()
PrivilegedTests.DelegatedTests/level()
"""
CASE = '<testcase classname="A" name="{name}">{inside}</testcase>'


class Suites(unittest.TestCase):
    """What is run together, in which order, and which tests that takes."""

    def test_a_suite_is_what_stands_in_one_type_and_machines_keep_theirs(self) -> None:
        found = TESTS.suites(LISTED, "EndToEndTests")
        self.assertEqual([(suite.label, len(suite.tests)) for suite in found], [("CrashTests", 2), ("AgentTests", 1)])
        self.assertEqual([suite.label for suite in TESTS.suites(LISTED, "PrivilegedTests")], ["ExitTests"])

    def test_a_pattern_takes_its_own_tests_and_no_others(self) -> None:
        crash, _ = TESTS.suites(LISTED, "EndToEndTests")
        pattern = re.compile(crash.pattern(None)[1])
        taken = [line for line in LISTED.splitlines() if pattern.search(line + "/File.swift:3:4")]
        self.assertEqual(taken, LISTED.splitlines()[:2])
        (some,) = TESTS.suites(LISTED, "EndToEndTests", "killed")
        pattern = re.compile(some.pattern("killed")[1])
        self.assertEqual([line for line in LISTED.splitlines() if pattern.search(line)], LISTED.splitlines()[1:2])

    def test_the_longest_begins_and_what_is_unknown_counts_by_its_tests(self) -> None:
        crash, agent = TESTS.suites(LISTED, "EndToEndTests")
        self.assertEqual(TESTS.ordered([agent, crash], {}), [crash, agent])
        self.assertEqual(TESTS.ordered([crash, agent], {agent.name: 9, crash.name: 3}), [agent, crash])

    def test_every_suite_that_is_treated_otherwise_exists(self) -> None:
        rivals, audit = TESTS.AMONG_PROCESSES_OF_THE_HOST.split()
        others = {"PrivilegedTests": rivals, "EndToEndTests": audit}
        for group, names in [*TESTS.ALONE.items(), *others.items()]:
            sources = "".join(
                file.read_text("utf-8") for file in (PROGRAM.parent.parent / "Tests" / group).glob("*.swift")
            )
            for name in names.split():
                self.assertTrue(f"struct {name} " in sources, name)


class Reports(unittest.TestCase):
    """Nothing that failed, was skipped or did not run may look green."""

    def judged(self, *cases: str, status: int = 0, tests: int = 2) -> tuple[int, int, str]:
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.xml"
            if cases:
                report.write_text(f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>")
            result, fault = TESTS.judged(report, status, tests, skip_is_failure=True)
        return result.passed, result.failed, fault

    def test_reports(self) -> None:
        one, two = (CASE.format(name=name, inside="") for name in "ab")
        red = CASE.format(name="c", inside="<failure/>")
        skipped = CASE.format(name="c", inside="<skipped>no root</skipped>")
        self.assertEqual(self.judged(one, two), (2, 0, ""))
        self.assertEqual(self.judged(one, red, status=1), (1, 1, ""))
        self.assertEqual(self.judged(one, skipped)[:2], (1, 1))
        self.assertEqual(self.judged(one), (1, 1, "1 of 2 tests ran"))
        self.assertEqual(self.judged(one, two, status=1)[:2], (2, 1))
        self.assertEqual(self.judged(status=1)[:2], (0, 1))
        self.assertEqual(self.judged("<broken", status=0)[:2], (0, 1))


class HostLock(unittest.TestCase):
    """What a second run does while a first one holds the lock."""

    def start(self, lock: Path) -> subprocess.Popen[str]:
        """A run that takes the lock."""
        return subprocess.Popen(
            [sys.executable, "-B", "-c", HOLDER, str(PROGRAM), str(lock)],
            stdout=subprocess.PIPE,
            text=True,
        )

    def test_a_second_run_waits_and_says_so(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            lock = Path(folder) / "lock"
            with lock.open("a") as held:
                fcntl.flock(held, fcntl.LOCK_EX)
                second = self.start(lock)
                assert second.stdout is not None
                self.assertIn("waits for another run", second.stdout.readline())
                self.assertIsNone(second.poll())
            self.assertEqual(second.stdout.readline(), "held\n")
            self.assertEqual(second.wait(), 0)
            second.stdout.close()

    def test_a_run_alone_says_nothing(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            alone = self.start(Path(folder) / "lock")
            self.assertEqual(alone.communicate()[0], "held\n")


if __name__ == "__main__":
    unittest.main()
