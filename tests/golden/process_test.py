#!/usr/bin/env python3
"""What only a process can show: signals, closed pipes, full disks, shell completion."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
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


class Killed(unittest.TestCase):
    FILES = ("flows.csv", "counters.csv", "ports.csv", "rates.csv", "sim.json")

    def start(self, folder):
        return subprocess.Popen([WEIR, "sim", "fabric.yaml", "-w", "all-to-all,size=300KB",
                                 "--out", "results", "--trace", "trace.csv", "--quiet"],
                                cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def test_a_killed_simulation_leaves_whole_files_or_none(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([WEIR, "init", "-t", "pod16", "--quiet"], cwd=folder, check=True,
                           stdout=subprocess.DEVNULL)
            begin = time.monotonic()
            self.assertEqual(self.start(folder).wait(), 0)
            whole_run = time.monotonic() - begin
            paths = [pathlib.Path(folder, "results", name) for name in self.FILES[:-1]]
            paths.append(pathlib.Path(folder, "trace.csv"))
            whole = {path: path.read_bytes() for path in paths}
            summary = pathlib.Path(folder, "results", "sim.json")
            digest = json.loads(summary.read_text(encoding="utf-8"))["digest"]
            for step in range(1, 13):
                for path in [*paths, summary]:
                    path.unlink(missing_ok=True)
                run = self.start(folder)
                try:
                    run.wait(timeout=whole_run * step / 12)
                except subprocess.TimeoutExpired:
                    run.kill()
                    run.wait()
                for path in paths:
                    if path.exists():
                        self.assertEqual(path.read_bytes(), whole[path], path.name)
                if summary.exists():
                    found = json.loads(summary.read_text(encoding="utf-8"))
                    self.assertEqual(found["digest"], digest)


class Peer(unittest.TestCase):
    """`weir sim --hpcc` writes the files that the HPCC simulator wrote, byte for byte."""
    RUNS = pathlib.Path(__file__).resolve().parents[1] / "data" / "sim" / "hpcc"

    def test_result_files_are_those_of_the_peer(self):
        for run in ("single_100G_1000000", "single_400G_1000000", "incast16_1MB_pfconly_buf2",
                    "incast16_1MB_pfconly_buf2_50ns", "incast16_10MB_dcqcn", "ls64_perm_1MB_dcqcn"):
            with tempfile.TemporaryDirectory() as folder, self.subTest(run=run):
                subprocess.run([WEIR, "sim", "--hpcc", self.RUNS / run / "config.txt", "--out",
                                folder, "--quiet"], check=True, stdout=subprocess.DEVNULL)
                for peer in sorted((self.RUNS / run).glob("*.txt")):
                    if peer.name == "config.txt":
                        continue
                    self.assertEqual(pathlib.Path(folder, peer.name).read_bytes(),
                                     peer.read_bytes(), peer.name)


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
        self.assertEqual(self.complete("exp"), ["explain"])
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
