"""Nothing leaves the trusted base unseen: each file of a judging target is counted, or named here."""

from __future__ import annotations

import unittest
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

REPOSITORY = Path(__file__).resolve().parent.parent.parent

# Files of counted targets on which no verdict depends, and why. A new file of one of these targets
# is in the list of scripts/tcb-lines or here, or this test fails.
TARGETS = ("ExamResults", "Gate", "Ledger", "SandboxPolicy")
LEFT_OUT = {
    "ExamResults/ExamError.swift": "why something was refused, in words",
    "ExamResults/TrialFigures.swift": "figures for readers; no decision rests on them",
    "Gate/GateReasonText.swift": "reasons in words; the gate has decided before",
    "Ledger/ExportWriter.swift": "its footer is signed over the stored rows, and readers verify",
    "Ledger/KeyRotation.swift": "writes one row more, which readers verify like every other",
    "Ledger/LedgerCreation.swift": "makes an empty record; whoever opens it looks at all of it again",
    "Ledger/LedgerError.swift": "why something failed, in words",
    "Ledger/LedgerStatements.swift": "signs what is said of rows, and refuses what rows are signed over",
    "Ledger/LedgerTrials.swift": "rows that no ledger holds, a disk that tests fill",
    "Ledger/StorageText.swift": "what SQLite answered, in words",
    "Ledger/VerificationText.swift": "what a verification found, in words",
    "SandboxPolicy/HostChannel.swift": "names what is left open, for rows; allows and refuses nothing",
    "SandboxPolicy/DangerousAllowances.swift": "names what the launcher would enforce as it is written",
    "SandboxPolicy/Justifications.swift": "asks its author why; what is allowed is decided without it",
    "SandboxPolicy/PolicyFault.swift": "what is wrong with a line of it, in words",
    "SandboxPolicy/PolicyLint.swift": "what PlanInvariants refuses again, told with its line",
    "SandboxPolicy/PolicyRefusal.swift": "what is wrong with policies, in words",
    "SandboxPolicy/PolicyVariants.swift": "policies that nobody wrote, to be looked at",
    "SandboxPolicy/SiteCheck.swift": "an administrator's bounds; they refuse more, and allow nothing",
    "SandboxPolicy/SitePolicy.swift": "the values of those bounds, and where they are read from",
    "SandboxPolicy/SiteReading.swift": "the documents of those bounds",
}


def program() -> ModuleType:
    """scripts/tcb-lines as a module."""
    loader = SourceFileLoader("tcb_lines", str(REPOSITORY / "scripts" / "tcb-lines"))
    module = module_from_spec(spec_from_loader("tcb_lines", loader))
    loader.exec_module(module)
    return module


class TrustedBase(unittest.TestCase):
    """The list of counted files against the folders."""

    def test_each_file_of_a_judging_target_is_counted_or_left_out_with_a_reason(self) -> None:
        counted = {name for ring in program().RINGS if ring[0] == "verdict" for name in ring[4]}
        for target in TARGETS:
            folder = REPOSITORY / "Sources" / target
            for file in folder.rglob("*.swift"):
                name = str(file.relative_to(folder.parent))
                self.assertNotEqual(name in counted, name in LEFT_OUT, name)

    def test_only_blocks_of_the_test_only_build_are_left_out(self) -> None:
        text = "a\n#if LayerSwitches\nb\n#else\nc\n#endif\n#if !LayerSwitches\nd\n#else\ne\n#endif\nf"
        self.assertEqual(program().shipped(text), ["a", "c", "d", "f"])
        for odd in ("#if DEBUG\n#endif", "#if LayerSwitches\n#if LayerSwitches\n#endif\n#endif"):
            with self.assertRaises(ValueError):
                program().shipped(odd)

    def test_what_is_left_out_exists(self) -> None:
        for name in LEFT_OUT:
            self.assertTrue((REPOSITORY / "Sources" / name).is_file(), name)


if __name__ == "__main__":
    unittest.main()
