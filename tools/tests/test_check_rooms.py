"""tools/check_rooms.py must be able to fail."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import check_rooms  # noqa: E402
from tree import TreeTest  # noqa: E402

# The second function of the namespace, so that one has to look past the first.
PRIVATE = """namespace weir {
namespace {

struct Port {};

int %s(int value) {
  return value;
}

}  // namespace
}
"""


class RoomsTest(TreeTest):
    def setUp(self):
        super().setUp()
        self.write("src/host/linux/nic.cc", PRIVATE % "speed_of")
        self.write("src/host/linux/dcb.cc", PRIVATE % "priority_of")
        self.write("src/host/linux/nic.h", "namespace weir {\nint read_nic(int device);\n}\n")

    def problems(self):
        return check_rooms.check(self.root)

    def test_a_clean_tree_passes(self):
        self.assertEqual(self.problems(), [])

    def test_a_name_defined_twice_in_a_room_fails(self):
        self.write("src/host/linux/dcb.cc", PRIVATE % "speed_of")
        self.assert_one_problem(self.problems(), "src/host/linux", "speed_of()", "dcb.cc, nic.cc")

    def test_another_room_may_use_the_name(self):
        self.write("src/host/kernel/live.cc", PRIVATE % "speed_of")
        self.assertEqual(self.problems(), [])

    def test_rooms_of_one_unit_share_their_names(self):
        self.write("src/host/kernel/live.cc", PRIVATE % "speed_of")
        self.write("cmake/units.txt", "# joined\nhost/kernel host/linux\n")
        self.assert_one_problem(self.problems(), "src/host/kernel", "speed_of()", "live.cc, nic.cc")

    def test_a_unit_of_a_room_that_is_not_there_fails(self):
        self.write("cmake/units.txt", "host/linux host/gone\n")
        self.assert_one_problem(self.problems(), "cmake/units.txt:1", "src/host/gone")

    def test_a_unit_of_two_layers_fails(self):
        self.write("src/sim/port.cc", PRIVATE % "port_of")
        self.write("cmake/units.txt", "host/linux sim\n")
        self.assert_one_problem(self.problems(), "cmake/units.txt:1", "two layers")

    def test_the_name_of_a_public_function_fails(self):
        self.write("src/host/linux/dcb.cc", PRIVATE % "read_nic")
        self.assert_one_problem(self.problems(), "dcb.cc", "read_nic()", "nic.h")

    def test_a_folder_of_too_many_files_fails(self):
        for number in range(check_rooms.MOST_FILES):
            self.write(f"src/host/linux/part{number}.h")
        self.assert_one_problem(self.problems(), "src/host/linux", "43 files")


if __name__ == "__main__":
    unittest.main()
