"""tools/check_layers.py must be able to fail."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import check_layers  # noqa: E402
from tree import TreeTest  # noqa: E402

CMAKE = """weir_layer(base     LIBRARIES fmt::fmt)
weir_layer(units    USES base)
weir_layer(vocab    USES units)
weir_layer(finding  USES vocab)
weir_layer(model    USES finding)
weir_layer(counters USES finding)
weir_layer(design   USES model counters LIBRARIES PkgConfig::YAML)
"""


class LayersTest(TreeTest):
    def setUp(self):
        super().setUp()
        self.write("CMakeLists.txt", CMAKE)
        self.write("src/base/text.h", "#include <string>\n")
        self.write("src/units/format.h", '#include "base/text.h"\n')
        self.write("src/model/headroom.h", '#include "units/format.h"\n')
        self.write("src/counters/catalog.h", '#include "base/text.h"\n')
        self.write("src/design/file/load.cc", '#include <yaml.h>\n#include "model/headroom.h"\n')

    def problems(self):
        return check_layers.check(self.root)

    def test_a_clean_tree_passes(self):
        self.assertEqual(self.problems(), [])

    def test_an_include_to_the_right_fails_with_its_line(self):
        self.write("src/base/text.h", '#include <string>\n#include "units/format.h"\n')
        self.assertIn('src/base/text.h:2: base/ may not include "units/format.h": '
                      "units/ is right of base/", self.problems())

    def test_siblings_never_include_each_other(self):
        self.write("src/model/headroom.h", '#include "counters/catalog.h"\n')
        self.assertTrue(any("sibling" in problem for problem in self.problems()))

    def test_operations_know_nothing_of_the_command_line(self):
        self.write("src/cli/frame/context.h", "#pragma once\n")
        self.write("src/ops/plan.h", '#include "cli/frame/context.h"\n')
        self.assertTrue(any('ops/ may not include "cli/frame/context.h"' in problem
                            for problem in self.problems()))

    def test_an_include_without_its_folder_fails(self):
        self.write("src/units/format.h", '#include "text.h"\n')
        self.assert_one_problem(self.problems(), "src/units/format.h:1", "by path")

    def test_a_header_that_is_not_there_fails(self):
        self.write("src/units/format.h", '#include "base/gone.h"\n')
        self.assert_one_problem(self.problems(), '"base/gone.h" does not exist')

    def test_a_header_that_cmake_generates_passes(self):
        self.write("src/units/format.h", '#include "base/table_data.h"\n')
        self.write("cmake/Table.cmake", "set(out ${DIR}/generated/base/table_data.h)\n")
        self.assertEqual(self.problems(), [])

    def test_an_unknown_folder_fails(self):
        self.write("src/helpers/misc.h", "#pragma once\n")
        self.assert_one_problem(self.problems(), "src/helpers/misc.h", "not in a layer")

    def test_a_library_outside_its_home_fails(self):
        self.write("src/model/headroom.h", "#include <nlohmann/json.hpp>\n")
        self.assert_one_problem(self.problems(), "base/ only")

    def test_cmake_may_not_use_a_layer_to_the_right(self):
        self.write("CMakeLists.txt", CMAKE.replace("units    USES base", "units USES base design"))
        self.assert_one_problem(self.problems(), "weir_layer(units) may not use design")

    def test_cmake_must_link_what_the_sources_include(self):
        self.write("CMakeLists.txt", CMAKE.replace("USES model counters", "USES counters"))
        self.assert_one_problem(self.problems(), "src/design includes model/")

    def test_cmake_lines_stand_in_layer_order(self):
        lines = CMAKE.splitlines(keepends=True)
        self.write("CMakeLists.txt", "".join([lines[5]] + lines[:5]))
        self.assertTrue(any("too far down" in problem for problem in self.problems()))

    def test_a_folder_without_a_cmake_line_fails(self):
        self.write("CMakeLists.txt", CMAKE.replace("weir_layer(counters USES finding)\n", "")
                   .replace("USES model counters", "USES model"))
        self.assert_one_problem(self.problems(), "src/counters has no weir_layer() line")


if __name__ == "__main__":
    unittest.main()
