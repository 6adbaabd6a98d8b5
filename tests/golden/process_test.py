#!/usr/bin/env python3
"""What only a process can show: signals, closed pipes, full disks, shell completion."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

WEIR = pathlib.Path(sys.argv[1]).resolve()


class Ends(unittest.TestCase):
    def test_a_closed_pipe_ends_quietly(self):
        read_end, write_end = os.pipe()
        os.close(read_end)
        # Python ignores SIGPIPE and children inherit that, as under some service managers.
        done = subprocess.run([WEIR, "tos", "--table"], stdout=write_end, stderr=subprocess.PIPE,
                              restore_signals=False, check=False)
        os.close(write_end)
        self.assertEqual(done.stderr, b"")
        self.assertEqual(done.returncode, -signal.SIGPIPE)

    def test_a_full_disk_is_not_success(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([WEIR, "tos", "26"], stdout=full, stderr=subprocess.PIPE,
                                  check=False)
        self.assertEqual(done.returncode, 70)
        self.assertIn(b"could not write", done.stderr)

    def test_an_interrupt_exits_130(self):
        # lint waits for a design on standard input that never comes.
        with subprocess.Popen([WEIR, "lint", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as waiting:
            wait_until_blocked(waiting.pid)
            waiting.send_signal(signal.SIGINT)
            out, err = waiting.communicate(timeout=60)
        self.assertEqual(waiting.returncode, 130)
        self.assertEqual((out, err), (b"", b""))


def wait_until_blocked(pid):
    """Until the process reads standard input; the kernel tells, so no time is guessed."""
    reads = ("0 0x0 ", "63 0x0 ")  # read(0, …) on x86-64 and on arm64
    while not pathlib.Path(f"/proc/{pid}/syscall").read_text(encoding="ascii").startswith(reads):
        os.sched_yield()


class Completion(unittest.TestCase):
    def complete(self, *words):
        """What bash offers for the last of `words`."""
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "fabric.yaml").touch()
            quoted = " ".join(f"'{word}'" for word in words)
            script = (f'source <("{WEIR}" docs completion bash)\n'
                      f'COMP_WORDS=("{WEIR}" {quoted}); COMP_CWORD={len(words)}\n'
                      '_weir; printf "%s\\n" "${COMPREPLY[@]}"')
            done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True,
                                  text=True, check=False)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_verbs(self):
        self.assertIn("tos", self.complete(""))
        self.assertEqual(self.complete("ex"), ["explain"])
        self.assertEqual(self.complete("calc", ""), ["headroom", "buffers", "wred"])
        self.assertNotIn("docs", self.complete(""))

    def test_options_and_choices(self):
        self.assertIn("--ecn", self.complete("tos", "26", "--"))
        self.assertEqual(self.complete("tos", "--ecn", "ect"), ["ect0", "ect1"])
        self.assertEqual(self.complete("tos", "--ecn", "=", "c"), ["ce"])
        self.assertIn("--fail-on", self.complete("lint", "--f"))
        self.assertIn("spectrum4", self.complete("calc", "headroom", "--model", "spec"))

    def test_topics_of_explain_come_from_the_binary(self):
        self.assertEqual(self.complete("explain", "dscp.tos"), ["dscp.tos_confusion"])
        self.assertEqual(self.complete("explain", "rpg_ai"), ["rpg_ai_rate"])

    def test_files(self):
        self.assertEqual(self.complete("lint", "fab"), ["fabric.yaml"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
