"""tools/check_tidy.py must be able to fail, and must not misfire."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import check_tidy  # noqa: E402
import cpp_text  # noqa: E402
from tree import TreeTest  # noqa: E402

HEADER = "#pragma once\n"


class TidyTest(TreeTest):
    def setUp(self):
        super().setUp()
        self.write("CMakeLists.txt", "weir_layer(base)\nweir_layer(sim USES base)\n")
        self.write("src/base/text.h", HEADER + "// Reads a text; returns its words.\n")
        self.write("src/base/text.cc", '#include "base/text.h"\n\nint words() { return 1; }\n')

    def problems(self):
        return check_tidy.check(self.root)

    def body(self, code, path="src/base/text.cc"):
        self.write(path, f'#include "base/text.h"\n{code}\n')
        return self.problems()

    def test_a_clean_tree_passes(self):
        self.assertEqual(self.problems(), [])

    def test_markers_fail(self):
        for word in ("TO" + "DO", "FIX" + "ME", "XX" + "X"):
            self.assert_one_problem(self.body(f"// {word}: later"), "text.cc:2", word)

    def test_a_long_line_fails(self):
        self.assertEqual(self.body("// " + "é" * 97), [])
        self.assert_one_problem(self.body("// " + "é" * 98), "101 columns")

    def test_a_nolint_mark_does_not_count_as_columns(self):
        self.assertEqual(self.body("int x;  // " + "NOLINT(" + "a" * 100 + ")"), [])

    def test_blanks_tabs_and_a_missing_newline_fail(self):
        self.assert_one_problem(self.body("int x; "), "blanks at the end")
        self.assert_one_problem(self.body("\tint x;"), "a tab")
        self.write("src/base/text.cc", '#include "base/text.h"')
        self.assert_one_problem(self.problems(), "no newline")

    def test_a_path_of_one_machine_fails_wherever_it_stands(self):
        self.assert_one_problem(self.body('auto p = "/ho' 'me/me/x";'), "a path of one machine")
        self.write("src/base/text.cc", '#include "base/text.h"\n')
        self.write("tests/data/log.txt", "cd /r" + "oot/x\n")
        self.assert_one_problem(self.problems(), "tests/data/log.txt:1")

    def test_a_path_that_only_ends_alike_passes(self):
        self.assertEqual(self.body('auto p = "/sys/ho' 'me/x ../wo' 'rk/x";'), [])

    def test_a_header_without_pragma_once_fails(self):
        self.write("src/base/text.h", "int words();\n")
        self.assert_one_problem(self.problems(), "#pragma once")

    def test_the_large_json_header_in_a_header_fails(self):
        self.write("src/base/json.h", HEADER)
        self.write("src/base/text.h", HEADER + '#include "base/json.h"\n')
        self.assert_one_problem(self.problems(), "json_fwd.h")

    def test_a_header_that_nobody_includes_fails(self):
        self.write("src/base/lonely.h", HEADER)
        self.assert_one_problem(self.problems(), "src/base/lonely.h", "nobody includes")

    def test_a_source_without_a_layer_fails(self):
        self.write("src/misc/a.cc", "int a;\n")
        self.assert_one_problem(self.problems(), "src/misc/a.cc", "weir_layer")

    def test_a_tool_that_nothing_runs_fails(self):
        self.write("tools/old.sh", "echo\n")
        self.assert_one_problem(self.problems(), "tools/old.sh", "nothing runs")
        self.write("Makefile", "all:\n\ttools/old.sh\n")
        self.assertEqual(self.problems(), [])

    def test_banned_calls_fail_and_name_the_replacement(self):
        for code, instead in (("int x = rand();", "RandomStream"),
                              ("std::random_device d;", "RandomStream"),
                              ("auto t = std::chrono::system_clock::now();", "time of day"),
                              ("void f() { assert(true); }", "WEIR_CHECK"),
                              ('void f() { std::printf("x"); }', "the command prints"),
                              ("void f() { std::cout << 1; }", "the command prints"),
                              ("void f() { throw 1; }", "return an Error"),
                              ("using namespace std;", "name what you use")):
            self.assert_one_problem(self.body(code), "text.cc:2", instead)

    def test_words_that_only_contain_a_banned_one_pass(self):
        self.assertEqual(self.body("int operand(int);\nint a = operand(1);\nstatic_assert(true);\n"
                                   "int n = std::snprintf(b, 1, x);  // rand() is banned\n"
                                   'auto s = "throw assert(1) printf(";'), [])

    def test_commands_may_print(self):
        self.write("CMakeLists.txt", "weir_layer(base)\nweir_layer(cli USES base)\n")
        self.assertEqual(self.body("void f() { std::cout << 1; }", "src/cli/main.cc"), [])

    def test_a_sleeping_test_fails(self):
        problems = self.body("void f() { sleep(1); }", "src/base/text_test.cc")
        self.assert_one_problem(problems, "sleeps")

    def test_floating_point_in_simulator_state_fails_unless_it_is_for_the_report(self):
        self.write("src/sim/run.cc", '#include "sim/state.h"\n')
        self.write("src/sim/state.h", HEADER + "double mean;  // report only\n")
        self.assertEqual(self.problems(), [])
        self.write("src/sim/state.h", HEADER + "double rate;\n")
        self.assert_one_problem(self.problems(), "src/sim/state.h:2", "floating point")

    def test_a_long_function_fails_and_a_long_table_does_not(self):
        lines = "  step();\n" * 70
        self.assert_one_problem(self.body("void f() {\n" + lines + "}"), "f: 71 lines")
        self.assertEqual(self.body("const int kTable[] = {\n" + "  1,\n" * 90 + "};"), [])

    def test_a_cited_decision_must_exist_and_be_listed(self):
        cited = "docs/deci" "sions/0042"
        self.assert_one_problem(self.body(f"// see {cited}"), "0042 does not exist")
        self.write(f"{cited}-why.md", "# Why\n")
        self.assert_one_problem(self.problems(), "README.md: does not list")
        self.write("docs/decisions/README.md", "[why](0042-why.md)\n")
        self.assertEqual(self.problems(), [])

    def test_a_link_that_leads_nowhere_fails(self):
        self.write("docs/a.md", "[x](b.md) [y](https://example.org/)\n")
        self.assert_one_problem(self.problems(), "docs/a.md:1", "b.md leads nowhere")

    def test_a_cited_file_that_is_not_there_fails(self):
        self.write("docs/base.md", "# Base\n")
        for there, gone in (("docs/base.md", "docs/gone.md"), ("base.md §2", "gone.md §2"),
                            ("src/base/text.h", "src/base/gone.h"), ("base/text.h", "base/gone.h"),
                            ("src/base/*.cc", "src/base/*_test.cc")):
            self.assertEqual(self.body(f"// See {there}"), [], there)
            self.assert_one_problem(self.body(f"// See {gone}"), "text.cc:2", "does not exist")

    def test_a_document_names_sources_without_their_ending(self):
        self.write("docs/a.md", "`base/text` reads; `np/rp`, `weir/1` and `a/b.h` are no files\n")
        self.assertEqual(self.problems(), [])
        self.write("docs/a.md", "`base/gone` reads\n")
        self.assert_one_problem(self.problems(), "docs/a.md:1", "src/base/gone")

    def test_another_project_s_file_is_not_ours(self):
        self.assertEqual(self.body("// github.com/x/y/blob/main/docs/gone.md, https://x/y.h"), [])


class CommentedOutCodeTest(unittest.TestCase):
    def test_code_is_recognised(self):
        for line in ("// return x;", "//return x + 1;", "  // foo(bar);", "// if (x) {", "// }",
                     "// x = y + 1;", "// int count = 0;", '// #include "a/b.h"',
                     "// queue_.pop();", "// std::vector<int> v;", "// void f(int x) {",
                     "// break;", "// } else {"):
            self.assertTrue(cpp_text.is_commented_out_code(line), line)

    def test_prose_is_not(self):
        for line in ("// A write is atomic: the old file or the new one, never a half.",
                     "// the caller frees it;", "// returns the error; the caller prints it;",
                     "// a (small) table;", "// if the file is missing (or empty), nothing happens",
                     "//   WEIR_TRY(text, read_file(path));", "/// foo(bar);",
                     "// x = 3 in the paper", "// see RFC 3168 (section 5);",
                     "}  // namespace weir", "// for each port:",
                     "// while paused (XOFF) no frame leaves", "int x;  // f(x);"):
            self.assertFalse(cpp_text.is_commented_out_code(line), line)


class FunctionsTest(unittest.TestCase):
    def names(self, text):
        return [name for _, _, name in cpp_text.functions(text)]

    def test_finds_functions_of_every_shape(self):
        self.assertEqual(self.names("""
namespace weir {
#define MACRO(x) do { if (x) { f(); } \\
  } while (false)
enum class Kind : int { kA, kB };
const std::map<int, int> kTable = {{1, 2}, {3, 4}};
struct S { int a = 0; friend auto operator<=>(S, S) = default; int g() const { return a; } };
template <class T> class Q { Q(T v) : v_(v), w_{v} {} T v_; };
int f(int a = 1'000, char c = '{') { if (a) { return 1; } return [] { return 2; }(); }
bool operator==(S a, S b) { return true; }
[[nodiscard]] auto h() -> int { return 1; }
TEST(Suite, IsASentence) { EXPECT_EQ(1, 1); }
}
"""), ["g", "Q", "f", "operator", "h", "TEST"])

    def test_braces_in_strings_and_comments_do_not_count(self):
        self.assertEqual(cpp_text.functions('int f() {\n  g("}");  // }\n  h(R"({{{)");\n}\n'),
                         [(1, 4, "f")])


if __name__ == "__main__":
    unittest.main()
