#!/usr/bin/env python3
"""The release binary as the loader and an attacker see it: reads the ELF, runs nothing.

    elf_test.py build/weir SOURCE_FOLDER
"""
import pathlib
import re
import subprocess
import sys
import unittest

WEIR = pathlib.Path(sys.argv[1]).resolve()
SOURCES = pathlib.Path(sys.argv[2]).resolve()


def readelf(*options):
    return subprocess.run(["readelf", "-W", *options, WEIR], capture_output=True, text=True,
                          check=True).stdout


class Elf(unittest.TestCase):
    def test_it_is_position_independent(self):
        self.assertRegex(readelf("-h"), r"Type:\s+DYN")
        self.assertRegex(readelf("-d"), r"FLAGS_1.*PIE")

    def test_relocations_are_read_only_before_main(self):
        self.assertIn("GNU_RELRO", readelf("-l"))
        self.assertRegex(readelf("-d"), r"BIND_NOW|FLAGS.*NOW")

    def test_neither_stack_nor_data_can_be_executed(self):
        segments = readelf("-l")
        self.assertRegex(segments, r"GNU_STACK.* RW ")
        self.assertNotRegex(segments, r"LOAD.* RWE ")

    def test_canaries_and_checked_functions_are_in_use(self):
        symbols = readelf("--dyn-syms")
        self.assertIn("__stack_chk_fail", symbols)
        self.assertRegex(symbols, r"__(memcpy|snprintf|read|memset|vsnprintf|realpath)_chk")

    @unittest.skipUnless("x86-64" in readelf("-h"), "x86 alone")
    def test_indirect_branches_land_on_marks(self):
        code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "-j", ".text", WEIR],
                              capture_output=True, text=True, check=True).stdout
        self.assertGreater(code.count("endbr64"), 1000)

    def test_it_names_no_folder_of_the_machine_that_built_it(self):
        data = WEIR.read_bytes()
        self.assertNotIn(str(SOURCES).encode() + b"/", data)
        foreign = re.findall(rb"(?<![.\w])/(?:home|root|work|builds?)/[\w./-]{4,}", data)
        self.assertEqual(foreign, [])
        dynamic = readelf("-d")
        self.assertNotIn("RPATH", dynamic)
        self.assertNotIn("RUNPATH", dynamic)

    def test_it_has_an_id_that_finds_its_debug_symbols(self):
        self.assertRegex(readelf("-n"), r"Build ID: [0-9a-f]{40}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
