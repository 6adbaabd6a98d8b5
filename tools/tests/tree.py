"""A throw-away source tree for the tests of our tools."""
import pathlib
import tempfile
import unittest


class TreeTest(unittest.TestCase):
    """Each test writes the files it needs below self.root."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, path, text=""):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return target

    def assert_one_problem(self, problems, *fragments):
        self.assertEqual(len(problems), 1, problems)
        for fragment in fragments:
            self.assertIn(fragment, problems[0])
