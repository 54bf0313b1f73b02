"""The golden page of metrics against the text exposition format 0.0.4, and against the parser of Prometheus' own
Python client where that is installed."""

from __future__ import annotations

import re
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
PAGE = REPOSITORY / "Tests" / "InvigilatorTests" / "Goldens" / "status.prom"
NAME = re.compile(r"invigilator(_[a-z]+)+")
SAMPLE = re.compile(
    r'(?P<name>[a-z_]+)\{(?P<labels>[a-z_]+="(?:[^"\\\n]|\\\\|\\"|\\n)*"(?:,[a-z_]+="(?:[^"\\\n]|\\\\|\\"|\\n)*")*)\}'
    r" (?P<value>-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
)
# Base units, as the naming rules of Prometheus have them.
UNITS = {"ms", "milliseconds", "minutes", "hours", "days", "kib", "mib", "percent", "microdollars"}


def faults(page: str) -> list[str]:
    """What is wrong with a page, line by line."""
    found: list[str] = [] if page.endswith("\n") else ["the last line is not ended"]
    kinds: dict[str, str] = {}
    samples: set[str] = set()
    lines = page.split("\n")[:-1]
    current = ""
    for number, line in enumerate(lines, 1):
        if line.startswith("# HELP "):
            current = line.split(" ")[2]
            if current in kinds:
                found.append(f"{number}: {current} is there twice")
            if not NAME.fullmatch(current) or UNITS & set(current.split("_")):
                found.append(f"{number}: {current} is no name, or has another unit than the base one")
            if number >= len(lines) or not re.fullmatch(
                rf"# TYPE {current} (counter|gauge)", lines[number]
            ):
                found.append(f"{number}: no type follows")
        elif line.startswith("# TYPE "):
            kinds[line.split(" ")[2]] = line.split(" ")[3]
        else:
            match = SAMPLE.fullmatch(line)
            if not match or match["name"] != current:
                found.append(f"{number}: no sample of {current}: {line}")
                continue
            series = line.rsplit(" ", 1)[0]
            if series in samples:
                found.append(f"{number}: the same series twice")
            samples.add(series)
    for name, kind in kinds.items():
        if (kind == "counter") != name.endswith("_total"):
            found.append(f"{name}: only counters end in _total, and all of them")
    return found


class Metrics(unittest.TestCase):
    """The page as it stands, and that the check sees what is wrong with one."""

    page = PAGE.read_text("utf-8")

    def test_the_page_keeps_the_format(self) -> None:
        self.assertEqual(faults(self.page), [])

    def test_the_check_sees_faults(self) -> None:
        for damaged in (
            self.page[:-1],
            self.page.replace("# TYPE", "# KIND", 1),
            self.page.replace("_total", "", 2),
            self.page + self.page,
            self.page.replace('"} ', '} ', 1),
            self.page.replace("run_seconds_total", "run_hours_total"),
        ):
            self.assertNotEqual(faults(damaged), [])

    def test_the_client_of_prometheus_reads_the_page(self) -> None:
        try:
            from prometheus_client.parser import text_string_to_metric_families
        except ImportError:
            self.skipTest("prometheus_client is not installed; the strict check above ran")
        families = list(text_string_to_metric_families(self.page))
        self.assertGreater(len(families), 15)
        for family in families:
            self.assertIn(family.type, ("counter", "gauge"))
            self.assertTrue(family.documentation)
            for sample in family.samples:
                self.assertIn("experiment", sample.labels)


if __name__ == "__main__":
    unittest.main()
