"""tools/ensure_packages.sh and with_tool.sh, on a machine made of a few fake programs."""
import os
import pathlib
import shutil
import subprocess
import unittest

from tree import TreeTest

TOOLS = pathlib.Path(__file__).resolve().parent.parent
NEEDED = ("bash", "cat", "cut", "dirname", "env", "grep", "mktemp", "rm", "sort", "tail", "xargs")

# Knows the packages listed in the file `installed`.
DPKG_QUERY = """#!/usr/bin/env bash
grep -qx "${@: -1}" "$(dirname "$0")/../installed" && printf installed
"""
# Writes down how it was called.
APT_GET = """#!/usr/bin/env bash
echo "$*" >>"$(dirname "$0")/../apt.log"
"""
ONE = "clang-format"  # alone in its set


class PackagesTest(TreeTest):
    def setUp(self):
        super().setUp()
        self.bin = self.root / "bin"
        self.bin.mkdir()
        for name in NEEDED:
            (self.bin / name).symlink_to(shutil.which(name))
        self.program("dpkg-query", DPKG_QUERY)
        self.program("id", "#!/usr/bin/env bash\necho 0\n")
        self.write("installed")

    def program(self, name, text):
        path = self.bin / name
        path.unlink(missing_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def run_tool(self, tool, *arguments, **environment):
        return subprocess.run([shutil.which("bash"), TOOLS / tool, *arguments],
                              env={"PATH": str(self.bin), **environment},
                              capture_output=True, text=True, check=False)

    def apt_calls(self):
        log = self.root / "apt.log"
        return log.read_text(encoding="utf-8") if log.exists() else ""

    def test_touches_no_apt_where_nothing_is_missing(self):
        self.write("installed", ONE + "\n")
        done = self.run_tool("ensure_packages.sh", "format")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_installs_only_what_is_missing_and_says_why(self):
        self.program("apt-get", APT_GET)
        self.write("installed", "dpkg-dev\n")
        done = self.run_tool("ensure_packages.sh", "deb")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("file                 finds the binaries", done.stdout)
        self.assertNotIn("dpkg-dev", done.stdout + self.apt_calls())
        self.assertIn("install -y -q --no-install-recommends file", self.apt_calls())

    def test_names_the_packages_where_it_cannot_install_them(self):
        self.assertIn(ONE, self.run_tool("ensure_packages.sh", "format").stderr)
        self.program("apt-get", APT_GET)
        self.program("id", "#!/usr/bin/env bash\necho 1000\n")
        done = self.run_tool("ensure_packages.sh", "format")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"as root: apt-get install {ONE}", done.stderr)
        os.unlink(self.bin / "dpkg-query")
        done = self.run_tool("ensure_packages.sh", "format")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"WEIR_SKIP_PACKAGES=1: {ONE}", done.stderr)
        done = self.run_tool("ensure_packages.sh", "format", WEIR_SKIP_PACKAGES="1")
        self.assertEqual(done.returncode, 0)

    def test_a_failed_installation_fails(self):
        self.program("apt-get", "#!/usr/bin/env bash\necho no network\nexit 100\n")
        done = self.run_tool("ensure_packages.sh", "format")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no network", done.stderr)

    def test_required_tools_are_installed_for_the_tests(self):
        self.program("apt-get", APT_GET)
        self.run_tool("ensure_packages.sh", "test", WEIR_REQUIRE="shellcheck,codespell")
        self.assertIn("python3 shellcheck codespell", self.apt_calls())
        self.run_tool("ensure_packages.sh", "test", WEIR_REQUIRE="vm")
        self.assertIn("python3 qemu-system-x86", self.apt_calls())

    def test_an_optional_tool_skips_its_test_unless_it_is_required(self):
        self.assertEqual(self.run_tool("with_tool.sh", "cut", "cat", "/dev/null").returncode, 0)
        skipped = self.run_tool("with_tool.sh", "no-such-tool", "cat", "/dev/null")
        self.assertEqual(skipped.returncode, 77)
        self.assertIn("skipped", skipped.stdout)
        required = self.run_tool("with_tool.sh", "no-such-tool", "cat",
                                 WEIR_REQUIRE="a,no-such-tool")
        self.assertEqual(required.returncode, 1)


if __name__ == "__main__":
    unittest.main()
