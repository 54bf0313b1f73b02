"""What a machine says is believed only if it is whole, and only if it covers what was asked."""

from __future__ import annotations

import sys
import unittest
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

SCRIPTS = Path(__file__).resolve().parent.parent


def loaded(name: str) -> ModuleType:
    """A script of the folder above, as a module."""
    sys.dont_write_bytecode = True
    loader = SourceFileLoader(name.replace("-", "_"), str(SCRIPTS / name))
    module = module_from_spec(spec_from_loader(loader.name, loader))
    sys.modules[loader.name] = module
    loader.exec_module(module)
    return module


VM = loaded("vm-tests")
COUNTED = loaded("swift-tests").counted
HEAD = "kernel 6.12\nstatus {status}\nbefore {before}\nafter 0 groups, 0 processes, 9 mounts\n"
CASE = '<testcase classname="PrivilegedTests.Privileged.{suite}" name="{name}()">{inside}</testcase>'


def verdict(
    *cases: tuple[str, str, str],
    status: str = "0",
    before: str = "0 groups, 0 processes, 9 mounts",
    end: str = "end of verdict\n",
) -> str:
    """A machine's word, of cases as suite, name and what the report says of them."""
    lines = "".join(CASE.format(suite=s, name=n, inside=i) for s, n, i in cases)
    report = f'<?xml version="1.0"?>\n<testsuites><testsuite>{lines}</testsuite></testsuites>\n\n'
    return (HEAD.format(status=status, before=before) + report + end).replace("\n", "\r\n")


BOTH = (("ExitTests", "memory", ""), ("GroupTests", "limits", ""))


class Verdicts(unittest.TestCase):
    """How one verdict is judged."""

    def judged(self, text: str, *suites: str) -> tuple[int, int, list[str]]:
        return VM.judged(text, suites or ("ExitTests", "GroupTests"), COUNTED)

    def test_a_whole_verdict_over_every_suite_is_believed(self) -> None:
        self.assertEqual(self.judged(verdict(*BOTH)), (2, 0, []))

    def test_two_reports_are_added_up_and_both_are_asked_for(self) -> None:
        first, second = verdict(*BOTH), verdict(("DelegatedTests", "level", ""))
        both = first.partition("end of verdict")[0] + second[second.index("<?xml"):]
        suites = ("ExitTests", "GroupTests", "DelegatedTests")
        self.assertEqual(self.judged(both, *suites), (3, 0, []))
        self.assertEqual(self.judged(first, *suites)[2], ["nothing of DelegatedTests ran"])

    def test_a_failure_and_a_skip_are_failures(self) -> None:
        for word in ("failure", "skipped"):
            cases = (*BOTH, ("ExitTests", "bad", f"<{word}/>"))
            self.assertEqual(self.judged(verdict(*cases, status="1"))[:2], (2, 1), word)

    def test_a_verdict_that_is_cut_off_anywhere_is_a_failure(self) -> None:
        whole = verdict(*BOTH)
        for length in range(len(whole) - len("end of verdict\r\n")):
            passed, _, faults = self.judged(whole[:length])
            self.assertEqual((passed, len(faults)), (0, 1), whole[:length])

    def test_a_suite_of_which_nothing_ran_is_a_failure(self) -> None:
        faults = self.judged(verdict(BOTH[0]))[2]
        self.assertEqual(faults, ["nothing of GroupTests ran"])

    def test_a_run_without_a_test_is_a_failure(self) -> None:
        self.assertIn("no test ran", VM.judged(verdict(), (), COUNTED)[2])

    def test_a_status_that_contradicts_the_report_is_a_failure(self) -> None:
        faults = self.judged(verdict(*BOTH, status="139"))[2]
        self.assertEqual(faults, ["the tests or the sweep ended with status 139"])

    def test_what_is_left_behind_is_a_failure(self) -> None:
        faults = self.judged(verdict(*BOTH, before="0 groups, 0 processes, 8 mounts"))[2]
        self.assertEqual(len(faults), 1)
        self.assertIn("something is left", faults[0])


class Machines(unittest.TestCase):
    """What a machine is made of."""

    def test_the_newest_cloud_kernel_of_the_series_is_taken(self) -> None:
        names = [
            "linux-image-6.12.99+deb12-cloud-amd64", "linux-image-6.12.117+deb12-cloud-amd64",
            "linux-image-6.12.118+deb12-cloud-amd64-dbg", "linux-image-6.12.119+deb12-amd64",
            "linux-image-6.1.0-9-cloud-amd64", "linux-image-6.1.0-56-cloud-amd64",
            "linux-image-6.12-cloud-amd64",
        ]
        self.assertEqual(VM.newest(names, "6.12"), names[1])
        self.assertEqual(VM.newest(names, "6.1"), names[5])
        self.assertIsNone(VM.newest(names, "6.6"))

    def test_every_suite_that_is_asked_for_exists(self) -> None:
        texts = "".join(
            file.read_text("utf-8")
            for file in (SCRIPTS.parent / "Tests/PrivilegedTests").glob("*.swift")
        )
        for kernel in VM.KERNELS.values():
            for suite, tests in kernel.suites.items():
                self.assertIn(f"struct {suite} ", texts)
                for name in filter(None, tests.split("|")):
                    self.assertIn(f"func {name}(", texts, suite)

    def test_no_place_of_the_machine_script_is_left_open(self) -> None:
        for series, kernel in VM.KERNELS.items():
            for groups in VM.GROUPS:
                script = VM.machine_script(kernel, groups, kernel.pattern())
                self.assertNotRegex(script, "@[A-Z]+@", series)
                delegated = groups == "v2" and series == "6.12"
                self.assertEqual("setpriv --reuid" in script, delegated, (series, groups))


if __name__ == "__main__":
    unittest.main()
