#!/usr/bin/env python3
"""`weir top` in a terminal of 80 columns, by tmux.  COVERS K1

    top_test.py WEIR

Skipped without tmux, unless WEIR_REQUIRE names it.
"""
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

WEIR = ""


def run(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          check=True).stdout


class Top(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.scratch = pathlib.Path(folder.name)
        self.addCleanup(lambda: subprocess.run(
            ["tmux", "-S", str(self.scratch / "socket"), "kill-server"], check=False,
            capture_output=True))

    def open_top(self, *words):
        self.tmux("-f", "/dev/null", "new-session", "-d", "-s", "top", "-x", "80", "-y", "24",
                  f"{shlex.join([WEIR, 'top', *map(str, words)])}; echo left $?; sleep 60")

    def open_lab(self):
        self.lab = self.scratch / "lab"
        design = self.scratch / "fabric.yaml"
        run(WEIR, "init", "--template", "pod16", "--output", design)
        run(WEIR, "lab", "up", design, "--dir", self.lab)
        run(WEIR, "apply", "--lab", self.lab, "--yes")
        self.open_top("--lab", self.lab, "--interval", "200ms")

    def tmux(self, *words):
        return run("tmux", "-S", self.scratch / "socket", *words)

    def wait_for(self, text):
        end = time.monotonic() + 30
        while time.monotonic() < end:
            screen = self.tmux("capture-pane", "-p", "-t", "top")
            if text in screen:
                return screen
            time.sleep(0.1)
        self.fail(f"{text!r} did not appear:\n{screen}")
        return ""

    def test_a_fleet_does_not_wait_for_its_slowest_host(self):
        data = pathlib.Path(__file__).parents[1] / "data" / "host" / "hgx01"
        run(WEIR, "bundle", "--root", data, "--keep-names", "-o", self.scratch / "host.bundle")
        stub = self.scratch / "stub.sh"
        stub.write_text(f"#!/bin/sh\n[ $1 != n2 ] || exec sleep 600\n"
                        f"exec cat {self.scratch}/host.bundle\n")
        stub.chmod(0o755)
        self.open_top("--hosts", "n[1-2]", "--via", "exec", "--exec", f"{stub} %h",
                      "--host-timeout", "60s")
        screen = self.wait_for("n1")
        self.assertNotIn("n2", screen)

    def test_rows_keys_and_the_way_out(self):
        self.open_lab()
        screen = self.wait_for("16 of 16 rails (simulated), by paused")
        self.assertTrue(all(len(line) <= 80 for line in screen.splitlines()), screen)
        self.wait_for("findings: ")
        subprocess.run([WEIR, "verify", "--lab", self.lab, "--", "incast", "size=2MB"], check=False,
                       capture_output=True)
        self.tmux("send-keys", "-t", "top", "s")
        self.wait_for("by pausing")
        self.tmux("send-keys", "-t", "top", "/", "gpu03", "Enter")
        self.wait_for("1 of 16 rails")
        self.tmux("send-keys", "-t", "top", "p")
        self.wait_for("held")
        self.tmux("send-keys", "-t", "top", "q")
        self.wait_for("left 0")
        self.assertNotIn("1 of 16 rails", self.tmux("capture-pane", "-p", "-t", "top"),
                         "the screen of before is back")


if __name__ == "__main__":
    WEIR = os.path.abspath(sys.argv[1])
    if shutil.which("tmux") is None:
        if "tmux" in os.environ.get("WEIR_REQUIRE", "").split(","):
            sys.exit("FAILED: tmux is not installed and WEIR_REQUIRE names it")
        print("skipped: tmux is not installed (apt-get install tmux)")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
