"""What is written about the container and the unit in several places is the same in all of them."""

from __future__ import annotations

import re
import sys
import unittest
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
CONTAINER = REPOSITORY / "container"


def loaded(name: str):
    """A script of the folder above, as a module."""
    sys.dont_write_bytecode = True
    loader = SourceFileLoader(name.replace("-", "_"), str(REPOSITORY / "scripts" / name))
    module = module_from_spec(spec_from_loader(loader.name, loader))
    sys.modules[loader.name] = module
    loader.exec_module(module)
    return module


TESTS = loaded("container-tests")
COMPOSE = (CONTAINER / "compose.yaml").read_text("utf-8")
README = (CONTAINER / "README.md").read_text("utf-8")
UNIT = (CONTAINER / "invigilator-night@.service").read_text("utf-8")
CHECKED = (REPOSITORY / "Sources/HostProbe/ContainedRoot.swift").read_text("utf-8")


class ContainerFiles(unittest.TestCase):
    """The lists that an administrator copies."""

    def test_capabilities_of_compose_and_readme(self) -> None:
        """The guide's command and the compose file add the same capabilities."""
        told = re.search(r"--cap-drop all --cap-add (\S+)", README)
        self.assertIsNotNone(told)
        self.assertEqual(told[1].split(","), TESTS.listed_capabilities(COMPOSE))

    def test_unit_has_what_doctor_looks_for(self) -> None:
        """The unit leaves root exactly those capabilities whose absence doctor names."""
        left = re.search(r"^CapabilityBoundingSet=(.*)$", UNIT, re.MULTILINE)
        self.assertEqual(sorted(left[1].split()), sorted(re.findall(r'"(CAP_\w+)"', CHECKED)))

    def test_container_has_what_the_unit_has(self) -> None:
        """Each capability of the unit is one of the container's."""
        left = re.search(r"^CapabilityBoundingSet=(.*)$", UNIT, re.MULTILINE)
        added = {f"CAP_{name}" for name in TESTS.listed_capabilities(COMPOSE)}
        self.assertLessEqual(set(left[1].split()), added)

    def test_nothing_is_privileged(self) -> None:
        """No file here asks for every right."""
        self.assertNotIn("privileged: true", COMPOSE)
        for line in ("read_only: true", "cap_drop: [ALL]", "no-new-privileges", "unmask=ALL", "cgroup: private"):
            self.assertIn(line, COMPOSE)
        self.assertIn("\nNoNewPrivileges=yes\n", UNIT)

    def test_a_compose_file_without_a_list(self) -> None:
        """What lists nothing adds nothing."""
        self.assertEqual(TESTS.listed_capabilities("services: {}\n"), [])


if __name__ == "__main__":
    unittest.main()
