"""Every attack on the endpoint works on the naive proxy, and an honest question is answered by it."""

import subprocess
import sys
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(FOLDER)]

import endpoint_attacks  # noqa: E402  (the path above makes it importable)

VARIANTS = {
    "provider-tool": endpoint_attacks.TOOLS,
    "kept-state": endpoint_attacks.STATES,
    "other-place": endpoint_attacks.PLACES,
    "label": endpoint_attacks.LABELS,
}


class NaiveEndpointTests(unittest.TestCase):
    """The control of the red team's attacks on the endpoint."""

    def run_program(self, *words):
        """What the program prints, line by line."""
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-B", str(FOLDER / "naive_endpoint.py"), *words],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            text=True,
            check=True,
        )
        return done.stdout.splitlines()

    def test_every_attack_works(self):
        names = endpoint_attacks.ATTACKS
        words = [name for name in names if name not in VARIANTS]
        words += [f"{name}/{variant}" for name in VARIANTS for variant in VARIANTS[name]]
        lines = [line.split("\t") for line in self.run_program("control", *words)]
        self.assertEqual(lines.pop(), ["end"])
        found = {fields[1].removeprefix("endpoint."): fields[2] for fields in lines}
        self.assertEqual(found, dict.fromkeys(words, "works"))

    def test_the_model_says_where_it_is(self):
        (line,) = self.run_program("model", "65534")
        self.assertEqual(len([int(port) for port in line.split()]), 2)


if __name__ == "__main__":
    unittest.main()
