#!/usr/bin/env python3
"""What only a process can show: signals, closed pipes, full disks, shell completion, documents."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

WEIR = pathlib.Path(sys.argv[1]).resolve()
WEIR_DOCS = WEIR.with_name("weir-docs")
ROOT = pathlib.Path(__file__).resolve().parents[2]


# What ends a process unless it is handled, by a terminal, an operator or a limit.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM,
          signal.SIGUSR1)


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

    def test_a_change_tells_its_outcome_where_the_disk_is_full(self):
        with tempfile.TemporaryDirectory() as folder, open("/dev/full", "wb") as full:
            subprocess.run([WEIR, "init", "-t", "pair", "--quiet"], cwd=folder, check=True,
                           stdout=subprocess.DEVNULL)
            subprocess.run([WEIR, "lab", "up", "--quiet"], cwd=folder, check=True,
                           stdout=subprocess.DEVNULL)

            def run(*words, stderr=subprocess.PIPE):
                return subprocess.run([WEIR, *words, "--lab", "lab"], cwd=folder, stdout=full,
                                      stderr=stderr, check=False)

            applied = run("apply")
            self.assertEqual(applied.returncode, 0, applied.stderr)
            self.assertIn(b"could not write to standard output", applied.stderr)
            again = subprocess.run([WEIR, "apply", "--lab", "lab"], cwd=folder, check=True,
                                   capture_output=True)
            self.assertIn(b"othing to do", again.stdout, "the first has changed it")
            rolled_back = run("rollback")
            self.assertEqual(rolled_back.returncode, 0, rolled_back.stderr)
            self.assertIn(b"olled back", rolled_back.stderr)
            self.assertEqual(run("apply", stderr=full).returncode, 70, "told nowhere")

    def test_an_interrupt_exits_130(self):
        # lint waits for a design on standard input that never comes.
        with subprocess.Popen([WEIR, "lint", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as waiting:
            wait_until_blocked(waiting.pid)
            waiting.send_signal(signal.SIGINT)
            out, err = waiting.communicate(timeout=60)
        self.assertEqual(waiting.returncode, 130)
        self.assertEqual((out, err), (b"", b""))

    def test_an_interrupted_preflight_says_how_to_go_on(self):
        with tempfile.TemporaryDirectory() as folder:
            for words in (("init", "-t", "pair", "--quiet"),
                          ("lab", "up", "--factory", "none", "--quiet")):
                subprocess.run([WEIR, *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)
            words = [WEIR, "preflight", "--lab", "lab", "--quick", "--soak", "100s", "--out", "p.json"]
            with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True) as running:
                # Stage 4 is in the file, and the soak takes minutes.
                kept = pathlib.Path(folder, "p.json")
                for _ in range(600):
                    if kept.exists() and json.loads(kept.read_text())["stages"][4]["state"] == "passed":
                        break
                    time.sleep(0.1)
                running.send_signal(signal.SIGINT)
                _, err = running.communicate(timeout=60)
            self.assertEqual(running.returncode, 130, err)
            self.assertIn("to go on: weir preflight --lab lab --quick --soak 100s --out p.json "
                          "--resume p.json", err)
            done = subprocess.run([WEIR, "preflight", "--lab", "lab", "--quick", "--resume", "p.json",
                                   "--until", "pairs"], cwd=folder, check=False, text=True,
                                  capture_output=True)
            self.assertIn("stage 4 pairs        passed before: ", done.stdout)


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


    def test_a_simulation_that_a_signal_ends_removes_what_it_has_not_finished(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([WEIR, "init", "-t", "pod16", "--quiet"], cwd=folder, check=True,
                           stdout=subprocess.DEVNULL)
            for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM),
                                   (signal.SIGHUP, -signal.SIGHUP)):
                run = subprocess.Popen(
                    [WEIR, "sim", "fabric.yaml", "-w", "all-to-all,size=30MB", "--trace", "trace.csv",
                     "--pcap", "packets.pcap", "--at", "gpu01", "--quiet"], cwd=folder,
                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                until(lambda: len(list(pathlib.Path(folder).glob("*.partial.*"))) == 2)
                run.send_signal(number)
                self.assertEqual((run.wait(timeout=60), run.stderr.read()), (status, b""))
                run.stderr.close()
                self.assertEqual(sorted(p.name for p in pathlib.Path(folder).iterdir()),
                                 ["fabric.yaml"])

    def test_an_apply_that_a_signal_ends_leaves_no_host_of_a_lab_changed(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([WEIR, "init", "-t", "pod16", "--quiet"], cwd=folder, check=True,
                           stdout=subprocess.DEVNULL)
            subprocess.run([WEIR, "lab", "up", "fabric.yaml", "--dir", "lab", "--quiet"], cwd=folder,
                           check=True, stdout=subprocess.DEVNULL)

            def plan():
                return subprocess.run([WEIR, "plan", "--lab", "lab"], cwd=folder, check=True,
                                      capture_output=True).stdout
            before = plan()
            journal = pathlib.Path(folder, "lab", "journal")
            for number in ENDING:
                for wanted in (1, 30, 90):  # so many records were written
                    count = len(list(journal.glob("journal-*"))) if journal.exists() else 0
                    run = subprocess.Popen([WEIR, "apply", "--lab", "lab"], cwd=folder,
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                    until(lambda: run.poll() is not None or records_after(journal, count) >= wanted)
                    run.send_signal(number)
                    out, err = run.communicate(timeout=60)
                    if run.returncode == 0:  # it was quicker
                        subprocess.run([WEIR, "rollback", "--lab", "lab", "--yes"], cwd=folder,
                                       check=True, stdout=subprocess.DEVNULL)
                    else:
                        self.assertEqual(run.returncode, 130, (number, wanted, out, err))
                        self.assertIn(b"rolled back", out.partition(b"\n")[0], (number, wanted, err))
                    self.assertEqual(plan(), before)

    def test_a_failure_that_a_signal_ends_is_healed(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([WEIR, "init", "-t", "pod16", "--quiet"], cwd=folder, check=True,
                           stdout=subprocess.DEVNULL)
            subprocess.run([WEIR, "lab", "up", "fabric.yaml", "--dir", "lab", "--factory", "none",
                            "--quiet"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
            journal = pathlib.Path(folder, "lab", "journal")
            for number in ENDING:
                count = len(list(journal.glob("journal-*"))) if journal.exists() else 0
                run = subprocess.Popen([WEIR, "verify", "--lab", "lab", "--under-failure",
                                        "link=leaf1-spine1"], cwd=folder, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
                until(lambda: run.poll() is not None or records_after(journal, count) >= 2)
                run.send_signal(number)
                out, err = run.communicate(timeout=60)
                self.assertIn(run.returncode, (0, 130), (number, out, err))  # 0: it was quicker
                newest = sorted(journal.glob("journal-*"))[-1].read_bytes()
                self.assertIn(b'"healed"', newest, number)
                self.assertIn(b'{"record":"ended","whole":true}', newest.splitlines()[-1], number)
                faults = subprocess.run([WEIR, "lab", "fault", "list", "--dir", "lab"], cwd=folder,
                                        check=True, capture_output=True).stdout
                self.assertIn(b"No faults", faults)

    def test_a_signal_after_the_last_change_does_not_take_the_answer_away(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([WEIR, "init", "-t", "pod16", "--quiet"], cwd=folder, check=True,
                           stdout=subprocess.DEVNULL)
            subprocess.run([WEIR, "lab", "up", "fabric.yaml", "--dir", "lab", "--quiet"], cwd=folder,
                           check=True, stdout=subprocess.DEVNULL)
            journal = pathlib.Path(folder, "lab", "journal")
            for number in ENDING:
                for words, answer in ((["apply"], b"Applied "), (["rollback", "--yes"], b"Rolled ")):
                    reader, writer, filled = full_pipe()  # it cannot say yet what it did
                    run = subprocess.Popen([WEIR, *words, "--lab", "lab"], cwd=folder, stdout=writer,
                                           stderr=subprocess.PIPE)
                    os.close(writer)
                    until(lambda: run.poll() is not None or is_ended(journal, words[0])
                          and sleeps(run.pid))
                    run.send_signal(number)
                    with os.fdopen(reader, "rb") as pipe:
                        out = pipe.read()[filled:]
                    _, err = run.communicate(timeout=60)
                    self.assertEqual((run.returncode, out[:len(answer)], err), (0, answer, b""))


def full_pipe():
    """A pipe that takes nothing more until it is read: its two ends, and what is in it."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    filled = 0
    try:
        while True:
            filled += os.write(writer, bytes(4096))
    except BlockingIOError:
        os.set_blocking(writer, True)
    return reader, writer, filled


def is_ended(journal, verb):
    """The last record of the newest journal is how that verb ended."""
    files = sorted(journal.glob("journal-*")) if journal.exists() else []
    last = files[-1].read_bytes().splitlines()[-1:] if files else []
    return bool(last) and (b'"kept"' if verb == "apply" else b'"ended"') in last[0]


def sleeps(pid):
    stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    return stat.rsplit(")", 1)[1].split()[0] == "S"


def until(is_so, seconds=60):
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            raise AssertionError("it did not come to that")
        time.sleep(0.002)


def records_after(journal, count):
    """Lines in the journal that comes after so many."""
    files = sorted(journal.glob("journal-*")) if journal.exists() else []
    return files[-1].read_bytes().count(b"\n") if len(files) > count else 0


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
    """Until the process sleeps, as it does where it waits for standard input. Not /proc/PID/syscall:
    a verb that reads files gives up root, and is then another user's process."""
    asleep = 0
    while asleep < 20:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
        asleep = asleep + 1 if stat.rpartition(")")[2].split()[0] == "S" else 0
        os.sched_yield()


class Documents(unittest.TestCase):
    """The pages of the repository are those that weir-docs prints; WEIR_UPDATE_GOLDEN=1 rewrites them."""

    def check(self, name, path):
        text = subprocess.run([WEIR_DOCS, name], capture_output=True, check=True).stdout
        if os.environ.get("WEIR_UPDATE_GOLDEN"):
            path.write_bytes(text)
        self.assertTrue(text == path.read_bytes(),
                        f"{path.name} is old: weir-docs {name} > {path.relative_to(ROOT)}")

    def test_the_pages_are_current(self):
        self.check("commands", ROOT / "docs" / "commands.md")
        self.check("design-file", ROOT / "docs" / "design-file.md")

    def test_another_word_is_a_usage_error(self):
        done = subprocess.run([WEIR_DOCS, "poem"], capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, b""))


class RenderedThresholds(unittest.TestCase):
    """What `weir render --to prometheus` alerts from is the threshold that the user set."""

    def test_a_threshold_moves_the_alerts_that_go_by_it(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([WEIR, "init", "-t", "pair", "-o", "pair.yaml", "--quiet"], cwd=folder,
                           check=True, stdout=subprocess.DEVNULL)
            usual, moved = (subprocess.run(
                [WEIR, "render", "pair.yaml", "--to", "prometheus", "--quiet", *words], cwd=folder,
                check=True, capture_output=True, text=True).stdout.splitlines()
                            for words in ([], ["--threshold", "pause_warning=3%"]))
        self.assertEqual(len(usual), len(moved))
        changed = [(old, new) for old, new in zip(usual, moved) if old != new]
        self.assertEqual([old.replace("> 0.01", "> 0.03") for old, _ in changed],
                         [new for _, new in changed])
        self.assertEqual(len(changed), 3)  # WeirPaused, WeirSlowReceiver, WeirPauseEverywhere


class BashCompletion(unittest.TestCase):
    def complete(self, *words):
        """What bash offers for the last of `words`."""
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "fabric.yaml").touch()
            quoted = " ".join(f"'{word}'" for word in words)
            script = (f'source <("{WEIR_DOCS}" bash)\n'
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


@unittest.skipUnless(shutil.which("zsh"), "no zsh here")
class ZshCompletion(unittest.TestCase):
    """In a zsh on a pseudo-terminal, as a person would: type, press Tab, read the line."""

    def complete(self, typed):
        script = """
            zmodload zsh/zpty
            zpty shell zsh -f -i
            zpty -w shell "PS1=; fpath=($1 \\$fpath); path=($2 \\$path)"
            zpty -w shell "autoload -Uz compinit; compinit -u -d $1/dump; print READY"
            zpty -r shell line '*READY*'
            zpty -r shell line '*READY*'
            zpty -w -n shell "$3"$'\t'
            sleep 2
            zpty -w -n shell $'\C-a: \C-e\n'
            zpty -w shell "print -r -- END"
            while zpty -r shell line; do print -rn -- $line; [[ $line == *END* ]] && break; done
        """
        with tempfile.TemporaryDirectory() as folder:
            text = subprocess.run([WEIR_DOCS, "zsh"], capture_output=True, check=True).stdout
            pathlib.Path(folder, "_weir").write_bytes(text)
            pathlib.Path(folder, "fabric.yaml").touch()
            done = subprocess.run(["zsh", "-f", "-c", script, "zsh", folder, str(WEIR.parent), typed],
                                  cwd=folder, capture_output=True, text=True, timeout=60,
                                  env={**os.environ, "TERM": "dumb"}, check=False)
        return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", done.stdout)

    def test_a_verb_an_option_and_a_choice_are_completed(self):
        self.assertIn("weir explain ", self.complete("weir expl"))
        self.assertIn("weir calc headroom ", self.complete("weir calc hea"))
        self.assertIn("--table  -- ", self.complete("weir tos --tab"))
        self.assertIn("weir lint --fail-on=warning", self.complete("weir lint --fail-on=war"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
