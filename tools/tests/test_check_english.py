"""tools/check_english.py must be able to fail, and must not misfire."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import check_english  # noqa: E402
from tree import TreeTest  # noqa: E402


class EnglishTest(TreeTest):
    def problems(self, text, path="src/base/text.h"):
        self.write(path, text)
        return check_english.check(self.root, [path])

    def test_plain_english_passes(self):
        self.assertEqual(self.problems("// One row per rail, 20 ps per byte.\nint rails;\n"), [])

    def test_a_noun_a_noun_fails(self):
        for words in ("one row a rail", "12,000 packets a second", "instructions a hop",
                      "a file an interface", "one host a leaf", "RDMA NICs a host", "5 ns a metre"):
            self.assert_one_problem(self.problems(f"// So {words}.\n"), "text.h:1", 'write "per"')

    def test_a_rate_is_found_across_lines(self):
        self.assert_one_problem(self.problems("// One row\n// a rail.\n"), "text.h:2", "row a rail")
        self.assert_one_problem(self.problems('auto s = "one row "\n    "a rail";\n'), "text.h:2")

    def test_a_relative_clause_is_no_rate(self):
        for words in ("the frames a port received", "a packet a second time", "one of a pair",
                      "the links a load took", "a flow at a port", "Marks a packet"):
            self.assertEqual(self.problems(f"// So {words}.\n"), [], words)

    def test_a_word_of_the_table_fails_and_names_another(self):
        self.assert_one_problem(self.problems("// A restart mends it.\n"), "mends", "fix")
        self.assert_one_problem(self.problems("# Lucky\n", "docs/a.md"), "docs/a.md:1", "replica")
        self.assertEqual(self.problems("// Amended, and recommended.\n"), [])

    def test_every_word_of_the_table_has_a_replacement(self):
        self.assertTrue(all(instead for _, instead in check_english.WORDS))

    def test_a_variable_without_a_meaning_fails(self):
        self.assert_one_problem(self.problems("int f(const Port& one);\n"), "`one`")
        self.assert_one_problem(self.problems("int f(Port of);\n"), "`of`")
        self.assertEqual(self.problems("auto d = Dscp::of(26);\n"), [])
        self.assertEqual(self.problems('int f();  // one of them\nauto s = "one of";\n'), [])

    def test_recordings_are_not_reworded(self):
        self.assertEqual(self.problems("one row a rail\n", "tests/data/log.txt"), [])


if __name__ == "__main__":
    unittest.main()
