#!/usr/bin/env python3
"""The release binaries as the loader and an attacker see them: reads the ELF, runs nothing.

    elf_test.py build/weir SOURCE_FOLDER      also build/weir-mpi, where it is built
"""
import json
import pathlib
import re
import subprocess
import sys
import unittest

WEIR = pathlib.Path(sys.argv[1]).resolve()
SOURCES = pathlib.Path(sys.argv[2]).resolve()


def output_of(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def marks_both_ways(file):
    """How many of the objects of a file say that branches and returns may be checked (CET)."""
    return len(re.findall(r"x86 feature:.*\bIBT\b.*\bSHSTK\b",
                          output_of("readelf", "-nW", str(file))))


class Checks:
    """Of one binary."""
    BINARY = WEIR

    def readelf(self, *options):
        return output_of("readelf", "-W", *options, str(self.BINARY))

    def test_it_is_position_independent(self):
        self.assertRegex(self.readelf("-h"), r"Type:\s+DYN")
        self.assertRegex(self.readelf("-d"), r"FLAGS_1.*PIE")

    def test_relocations_are_read_only_before_main(self):
        self.assertIn("GNU_RELRO", self.readelf("-l"))
        self.assertRegex(self.readelf("-d"), r"BIND_NOW|FLAGS.*NOW")

    def test_neither_stack_nor_data_can_be_executed(self):
        segments = self.readelf("-l")
        self.assertRegex(segments, r"GNU_STACK.* RW ")
        self.assertNotRegex(segments, r"LOAD.* RWE ")

    def test_canaries_and_checked_functions_are_in_use(self):
        symbols = self.readelf("--dyn-syms")
        self.assertIn("__stack_chk_fail", symbols)
        self.assertRegex(symbols, r"__(memcpy|snprintf|read|memset|vsnprintf|realpath)_chk")

    def test_indirect_branches_land_on_marks(self):
        if "X86-64" not in self.readelf("-h").upper():
            self.skipTest("x86 alone")
        code = output_of("objdump", "-d", "--no-show-raw-insn", "-j", ".text", str(self.BINARY))
        self.assertGreater(code.count("endbr64"), 1000)

    def test_the_note_of_these_marks_is_there_where_the_c_library_has_it(self):
        """The linker keeps it where all that is linked has it. Debian 12's glibc was built without:
        its start files drop it, and nothing of ours does."""
        if "X86-64" not in self.readelf("-h").upper():
            self.skipTest("x86 alone")
        archives = sorted(WEIR.parent.glob("libweir_*.a"))
        for archive in archives:
            objects = output_of("ar", "t", str(archive)).split()
            self.assertEqual(marks_both_ways(archive), len(objects), archive)
        starts = [output_of("gcc", f"-print-file-name={name}").strip()
                  for name in ("Scrt1.o", "crti.o", "crtbeginS.o", "crtendS.o", "crtn.o")]
        without = [pathlib.Path(start).name for start in starts if marks_both_ways(start) == 0]
        if without:
            self.skipTest(f"dropped by {', '.join(without)} of the C library; "
                          f"all objects of {len(archives)} libraries of ours have it")
        self.assertEqual(marks_both_ways(self.BINARY), 1)

    def test_it_names_no_folder_of_the_machine_that_built_it(self):
        data = self.BINARY.read_bytes()
        self.assertNotIn(str(SOURCES).encode() + b"/", data)
        foreign = re.findall(rb"(?<![.\w])/(?:home|root|work|builds?)/[\w./-]{4,}", data)
        self.assertEqual(foreign, [])
        dynamic = self.readelf("-d")
        self.assertNotIn("RPATH", dynamic)
        self.assertNotIn("RUNPATH", dynamic)

    def test_it_has_an_id_that_finds_its_debug_symbols(self):
        self.assertRegex(self.readelf("-n"), r"Build ID: [0-9a-f]{40}")


class Elf(Checks, unittest.TestCase):
    """weir"""

    def test_what_reads_the_files_of_a_simulation_has_canaries(self):
        """Its engine has none (CMakeLists.txt)."""
        commands = WEIR.parent / "compile_commands.json"
        if not commands.exists():
            self.skipTest("no list of compiler calls beside the binary")
        readers = [entry["command"] for entry in json.loads(commands.read_text(encoding="utf-8"))
                   if "weir_sim_readers.dir" in entry["command"]]
        self.assertNotEqual(readers, [])
        for command in readers:
            self.assertIn("-fstack-protector-strong", command)
            self.assertNotIn("-fno-stack-protector", command)


@unittest.skipUnless((WEIR.parent / "weir-mpi").exists(), "weir-mpi is not built")
class MpiElf(Checks, unittest.TestCase):
    """weir-mpi"""
    BINARY = WEIR.parent / "weir-mpi"


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
