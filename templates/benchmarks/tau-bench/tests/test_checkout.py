"""Tests of the wheel that is made of a checkout."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path[:0] = [str(Path(__file__).resolve().parent.parent)]

import from_checkout  # noqa: E402


class CheckoutTests(unittest.TestCase):
    """A checkout of a few bytes, which is another than the pinned one."""

    def checkout(self, folder: str) -> Path:
        """Makes one."""
        root = Path(folder, "checkout")
        names = ["domains/%s/%s" % (d, n) for d, names in from_checkout.DATA.items() for n in names]
        for name in ["src/tau2/__init__.py"] + ["data/tau2/" + name for name in names]:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(name)
        return root

    def test_the_same_checkout_makes_the_same_wheel(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            held = from_checkout.contents(self.checkout(folder))
            wheels = [Path(folder, name) for name in ("a.whl", "b.whl")]
            for wheel in wheels:
                from_checkout.make_wheel(held, wheel)
            self.assertEqual(wheels[0].read_bytes(), wheels[1].read_bytes())
            self.assertIn("tau2/data/tau2/domains/retail/db.json", held)

    def test_another_one_is_refused_and_leaves_nothing(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            made = Path(folder, "made")
            words = ["from_checkout.py", str(self.checkout(folder)), str(made)]
            said = io.StringIO()
            with mock.patch.object(sys, "argv", words), contextlib.redirect_stderr(said):
                self.assertEqual(from_checkout.main(), 2)
            self.assertIn("check out " + from_checkout.REVISION, said.getvalue())
            self.assertFalse(made.exists())

    def test_missing_data_are_named(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            checkout = self.checkout(folder)
            (checkout / "data/tau2/domains/airline/db.json").unlink()
            words = ["from_checkout.py", str(checkout), str(Path(folder, "made"))]
            said = io.StringIO()
            with mock.patch.object(sys, "argv", words), contextlib.redirect_stderr(said):
                self.assertEqual(from_checkout.main(), 2)
            self.assertIn("airline/db.json", said.getvalue())


if __name__ == "__main__":
    unittest.main()
