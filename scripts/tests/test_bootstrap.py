"""What scripts/bootstrap asks of a host, and that it installs nothing on one that lacks it."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
BOOTSTRAP = REPOSITORY / "scripts" / "bootstrap"


def call(words: str) -> subprocess.CompletedProcess[str]:
    """Calls a function of the script with facts of some other host."""
    return subprocess.run(
        ["bash", "-c", f"source {BOOTSTRAP}; {words}"], capture_output=True, text=True, timeout=60
    )


def constant(name: str) -> int:
    return int(call(f'echo "${name}"').stdout)


class Facts(unittest.TestCase):
    """Each fact, on both sides of its bound."""

    def test_a_kernel_that_is_new_enough_passes(self) -> None:
        for release in ("6.12", "6.12.0-1-amd64", "6.12rc1", "6.18.5", "7.0.1", "10.1"):
            self.assertEqual(call(f"require_kernel {release} 6").returncode, 0, release)
            self.assertEqual(call(f"require_kernel {release} ''").returncode, 0, "nothing to ask with")

    def test_an_older_kernel_is_refused_by_its_number_and_with_a_remedy(self) -> None:
        for release in ("6.11.9-generic", "6.1.0-28-amd64", "5.15.0", "4.19", "6", "", "strange"):
            done = call(f"require_kernel '{release}' 6")
            self.assertNotEqual(done.returncode, 0, release)
            self.assertRegex(
                done.stderr, rf": look at this host: kernel: it is {re.escape(release)}, .*6\.12.*; remedy: boot Linux 6\.12"
            )

    def test_landlock_that_is_off_and_landlock_that_is_old_have_remedies_of_their_own(self) -> None:
        off = call("require_kernel 6.12.1 0")
        self.assertIn("kernel parameter lsm=", off.stderr)
        old = call("require_kernel 6.12.1 5")
        self.assertRegex(old.stderr, r"the kernel has ABI 5, and sandboxes need 6; remedy: boot Linux")
        self.assertTrue(off.returncode and old.returncode)

    def test_memory_and_disk_are_held_to_their_bounds(self) -> None:
        memory, disk = constant("MEMORY"), constant("DISK")
        self.assertEqual(call(f"require_room {memory} {disk} {disk}").returncode, 0)
        small = call(f"require_room {memory - 1} {disk} {disk}")
        self.assertRegex(small.stderr, rf"memory: there are {memory - 1} MiB .* takes {memory}; remedy: .*swap")
        full = call(f"require_room {memory} {disk - 1} {disk}")
        self.assertRegex(full.stderr, rf"{disk - 1} MiB are free, and .build takes {disk}; remedy: free")
        self.assertTrue(small.returncode and full.returncode)
        both = call(f"require_room 1 1 {disk}").stderr
        self.assertEqual(both.count("remedy:"), 2, "all that is missing is said at once")

    def test_the_facts_of_this_host_are_numbers(self) -> None:
        for name in ("landlock_abi", "memory_of_host", "disk_of_host"):
            self.assertRegex(call(name).stdout, r"^\d+\n$", name)

    def test_the_bounds_are_those_that_programs_and_documents_state(self) -> None:
        abi, kernel = constant("LANDLOCK_ABI"), f"{constant('KERNEL_MAJOR')}.{constant('KERNEL_MINOR')}"
        asked = [
            int(found) for policy in (REPOSITORY / "policies").glob("*.yaml")
            for found in re.findall(r"minimum-abi: (\d+)", policy.read_text())
        ]
        self.assertEqual(max(asked), abi)
        doctor = (REPOSITORY / "Sources/Invigilator/Diagnosis.swift").read_text()
        self.assertIn(f"landlockABI = {abi}\n", doctor)
        self.assertIn(f"boot Linux {kernel} or newer", doctor)
        readme = (REPOSITORY / "README.md").read_text()
        self.assertIn(f"Landlock ABI {abi} (kernel {kernel} or later)", readme)
        self.assertIn(f"{constant('MEMORY') // 1024} GiB of memory with swap, {constant('DISK') // 1024} GiB of disk", readme)


class Script(unittest.TestCase):
    """The whole script on a host whose programs say that it is an old one."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def program(self, name: str, text: str) -> None:
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def run_bootstrap(self, *words: str, swift: str = "6.3") -> subprocess.CompletedProcess[str]:
        # Every package is missing, and what would install one leaves a mark.
        self.program("dpkg-query", "exit 1")
        self.program("apt-get", f"echo >>{self.folder}/installed")
        self.program("swift", f"echo Swift version {swift}")
        environment = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"}
        return subprocess.run(
            [BOOTSTRAP, *words], env=environment, capture_output=True, text=True, timeout=60
        )

    def installed(self) -> bool:
        return (self.folder / "installed").exists()

    def test_nothing_is_installed_on_an_old_kernel(self) -> None:
        self.program("uname", "echo 5.15.0-91-generic")
        for words in ([], ["--tests"]):
            done = self.run_bootstrap(*words)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("kernel: it is 5.15.0-91-generic", done.stderr)
            self.assertEqual(done.stdout, "", "it says so first")
            self.assertFalse(self.installed())

    @unittest.skipUnless(os.geteuid() == 0, "needs root: only root is installed for")
    def test_where_programs_are_only_built_the_kernel_does_not_matter(self) -> None:
        self.program("uname", "echo 5.15.0-91-generic")
        done = self.run_bootstrap("--build-only")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(self.installed())

    def test_nothing_is_installed_where_the_compiler_is_old(self) -> None:
        self.program("uname", "echo 6.18.0")
        self.program("perl", "echo 6")
        done = self.run_bootstrap(swift="5.10")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"version 5\.10 found")
        self.assertFalse(self.installed())

    def test_a_word_that_it_does_not_know_is_refused(self) -> None:
        self.assertEqual(self.run_bootstrap("--test").returncode, 2)
        self.assertFalse(self.installed())


if __name__ == "__main__":
    unittest.main()
