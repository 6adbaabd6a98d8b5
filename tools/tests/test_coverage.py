"""tools/coverage.py must be able to fail."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import coverage  # noqa: E402
from tree import TreeTest  # noqa: E402

HEADING = "id\tsection\twhat\tstatus\n"
UNIT_TEST = """TEST(Tos, HasNoRow) {
  EXPECT_TRUE(true);
}
TEST(Tos, EveryDscpSurvives) {
  COVERS("A3", "F2");
}
"""


class CoverageTest(TreeTest):
    def setUp(self):
        super().setUp()
        self.write(coverage.ROWS_FILE, HEADING + "A3\tPlan\ttos\tdone\n"
                   "F2\tSwitch\theadroom\tpartial\tmixed speeds\nK1\tWatching\texporter\tplanned\n")
        self.write("src/units/tos_test.cc", UNIT_TEST)
        self.write_page()

    def write_page(self):
        self.write(coverage.PAGE, coverage.page(coverage.gather(self.root)[0]))

    def names_for(self, row):
        return [name for name, _ in coverage.gather(self.root)[0][row].tests]

    def test_a_partial_row_that_does_not_say_what_is_missing_is_a_problem(self):
        rows = self.root / coverage.ROWS_FILE
        rows.write_text(rows.read_text().replace("\tmixed speeds", ""))
        self.assertTrue(any("say what is missing" in problem
                            for problem in coverage.check(self.root)))

    def test_a_tree_whose_claims_have_tests_passes(self):
        self.assertEqual(coverage.check(self.root), [])

    def test_a_stale_page_fails(self):
        self.write("src/units/tos_test.cc", UNIT_TEST.replace("EveryDscpSurvives", "Renamed"))
        self.assert_one_problem(coverage.check(self.root), "stale")

    def test_a_row_claimed_without_a_test_fails(self):
        self.write("src/units/tos_test.cc", UNIT_TEST.replace('"A3", ', ""))
        self.write_page()
        self.assert_one_problem(coverage.check(self.root), "A3 is claimed done")
        self.write("src/units/tos_test.cc", UNIT_TEST.replace(', "F2"', ""))
        self.write_page()
        self.assert_one_problem(coverage.check(self.root), "F2 is claimed partial")

    def test_a_row_that_does_not_exist_fails(self):
        self.write("src/units/tos_test.cc", UNIT_TEST + 'TEST(A, B) {\n  COVERS("Z9");\n}\n')
        self.assert_one_problem(coverage.check(self.root), "Z9", "A.B")

    def test_a_row_listed_twice_or_with_a_strange_status_fails(self):
        rows = HEADING + "A3\tPlan\ttos\tdone\nA3\tPlan\ttos\tdone\nF2\tSwitch\theadroom\tperhaps\n"
        self.write(coverage.ROWS_FILE, rows)
        self.write("src/units/tos_test.cc", UNIT_TEST.replace(', "F2"', ""))
        problems = coverage.gather(self.root)[1]
        self.assertEqual(len(problems), 2, problems)

    def test_the_id_goes_to_the_test_above_it(self):
        self.assertEqual(self.names_for("A3"), ["Tos.EveryDscpSurvives"])
        self.assertIn("| A3 | tos | done | 1 | [tos_test.cc](../src/units/tos_test.cc): "
                      "Tos.EveryDscpSurvives |", (self.root / coverage.PAGE).read_text())

    def test_golden_cases_and_scripts_count(self):
        self.write("tests/golden/tos_26/rows", "A3\nK1\n")
        self.write("tests/vm/boot.py", "# rows: K1\nimport os\n")
        self.write("tests/vm/more.py", "import os\n\n# rows: K1\ndef test_it_boots():\n    pass\n")
        self.assertEqual(self.names_for("A3"), ["Tos.EveryDscpSurvives", "golden tos_26"])
        self.assertEqual(self.names_for("K1"), ["golden tos_26", "boot.py", "test_it_boots"])


if __name__ == "__main__":
    unittest.main()
