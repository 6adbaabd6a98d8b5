"""tools/check_readme.py must be able to fail, and must not misfire."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import check_readme  # noqa: E402
from tree import TreeTest  # noqa: E402


class ReadmeTest(TreeTest):
    def setUp(self):
        super().setUp()
        self.weir = self.write("bin/weir", '#!/bin/sh\necho "$@" | tee last\necho done\n')
        self.weir.chmod(0o755)

    def page(self, block, name="README.md"):
        return self.write(name, f"# Page\n\n```console\n{block}```\n")

    def problems(self, page, write=False):
        return check_readme.check(page, self.weir, write)

    def test_the_real_output_passes(self):
        self.assertEqual(self.problems(self.page("$ weir lint\nlint\ndone\n")), [])

    def test_another_output_fails(self):
        self.assert_one_problem(self.problems(self.page("$ weir lint\nlint\n")), "$ weir lint",
                                "+done")

    def test_an_ellipsis_stands_for_any_lines(self):
        self.assertEqual(self.problems(self.page("$ weir lint\nlint\n…\n")), [])
        self.assertEqual(len(self.problems(self.page("$ weir lint\nprove\n…\n"))), 1)

    def test_a_block_sees_the_files_of_the_block_before(self):
        self.assertEqual(
            self.problems(self.page("$ weir a\na\ndone\n```\n\n```console\n$ cat last\na\n")), [])

    def test_write_puts_the_real_output_in_place(self):
        page = self.page("$ weir lint\nold\n")
        self.assertEqual(self.problems(page, write=True), [])
        self.assertIn("$ weir lint\nlint\ndone\n", page.read_text(encoding="utf-8"))

    def test_a_page_without_a_block_fails(self):
        page = self.write("tour.md", "# Tour\n")
        self.assert_one_problem(self.problems(page), "no console block")

    def test_a_long_readme_fails_and_a_long_tour_does_not(self):
        block = "$ weir lint\nlint\ndone\n```\n" + "x" * 9000 + "\n```\n"
        self.assert_one_problem(self.problems(self.page(block)), "limit is 9000")
        self.assertEqual(self.problems(self.page(block, "tour.md")), [])

    def test_other_programs_are_refused(self):
        with self.assertRaises(SystemExit):
            self.problems(self.page("$ rm -r .\n"))


if __name__ == "__main__":
    unittest.main()
