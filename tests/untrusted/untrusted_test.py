#!/usr/bin/env python3
"""Words of others: designs, bundles, evidence and texts that want to be more than that.

What they try is tried for real: the rendered script is run, the terminal's bytes are looked at, the
process has few descriptors and little memory.
"""
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

WEIR = str(pathlib.Path(sys.argv[1]).resolve())
DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
TREE = DATA / "host" / "mlx5-ofed"

DESIGN = """weir: 1
name: pair
hosts:
  gpu:
    names: gpu[1-2]
    nic: connectx6dx
    stack: ofed
switches:
  leaf:
    names: leaf1
    system: cumulus
    asic: spectrum3
links:
  - { from: gpu, to: leaf, speed: 100G, cable: dac, length: 3m }
"""


def controls_in(data):
    """Characters that a terminal obeys, in what was printed."""
    text = data.decode("utf-8")  # raises where it is not UTF-8
    hidden = {0x061C, 0x200E, 0x200F, 0xFEFF, *range(0x2028, 0x202F), *range(0x2066, 0x206A)}
    return [hex(ord(c)) for c in text
            if (ord(c) < 0x20 and c not in "\n\t") or 0x7F <= ord(c) < 0xA0 or ord(c) in hidden]


class Untrusted(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.outside = pathlib.Path(self.temporary.name)
        self.folder = self.outside / "a" / "b" / "c"
        self.folder.mkdir(parents=True)

    def tearDown(self):
        self.temporary.cleanup()

    def weir(self, *words, **options):
        options.setdefault("timeout", 120)
        return subprocess.run([WEIR, *map(str, words)], cwd=self.folder, capture_output=True,
                              check=False, **options)

    def write(self, name, text):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def design_with(self, line, text):
        """The design with one more or another line in it; its number."""
        lines = DESIGN.splitlines()
        at = next(i for i, each in enumerate(lines) if each.strip() == line)
        lines[at] = text
        self.write("fabric.yaml", "\n".join(lines) + "\n")
        return at + text.count("\n") + 1


class Names(Untrusted):
    """One policy of names, with the place."""

    HOSTILE = ("e'; id > F; '", "$(id > F)", "`id > F`", "a b", "../x", "-x", ".x", "a\\nid", "é")

    def refused(self, line, text):
        number = self.design_with(line, text)
        for verb in (["lint"], ["render", "--to", "host-script", "--node", "gpu1"],
                     ["render", "--to", "ansible", "--all", "--out", "out"], ["sim", "-w", "pair"]):
            done = self.weir(*verb[:1], "fabric.yaml", *verb[1:])
            self.assertEqual(done.returncode, 3, (text, verb, done.stdout, done.stderr))
            self.assertIn(f"fabric.yaml:{number}:".encode(), done.stderr)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["fabric.yaml"])

    def test_a_design_with_a_command_in_a_name_is_refused_with_its_line(self):
        for word in self.HOSTILE:
            self.refused("stack: ofed", f'    stack: ofed\n    netdev: "{word}{{rail}}"')
            self.refused("stack: ofed", f'    stack: ofed\n    device: "{word}"')
            self.refused("names: gpu[1-2]", f'    names: "{word}"')
            self.refused("names: leaf1", f'    names: "{word}"')
        for word in self.HOSTILE[:3] + self.HOSTILE[4:]:
            self.refused("name: pair", f'name: "{word}"')

    def test_names_that_are_in_use_are_taken(self):
        self.design_with("stack: ofed", '    stack: ofed\n    netdev: "enp{rail}s0f0np0"\n'
                         '    device: "mlx5_[0,3-9]"')
        self.assertEqual(self.weir("lint", "fabric.yaml").returncode, 0)
        self.design_with("names: gpu[1-2]", "    names: GPU_[01-02].rack-3.example.com")
        done = self.weir("lint", "fabric.yaml")
        self.assertEqual(done.returncode, 0, done.stderr)

    def bundle(self, host):
        done = self.weir("bundle", "--root", TREE, "--keep-names", "-o", "-")
        lines = done.stdout.decode().splitlines()
        prefix = "file\t/proc/sys/kernel/hostname\t"
        lines = [prefix + host + "\\n" if line.startswith(prefix) else line for line in lines]
        if not any(line.startswith(prefix) for line in lines):
            at = next(i for i, line in enumerate(lines)
                      if line.startswith("no-file\t/proc/sys/kernel/hostname"))
            lines[at] = prefix + host + "\\n"
        return self.write("evil.bundle", "\n".join(lines) + "\n")

    def test_a_bundle_does_not_choose_where_files_are_written(self):
        for host in ("../../../PWN", "/PWN", "-PWN", "x\\x1b]0;PWN\\x07"):
            evil = self.bundle(host)
            self.design_with("name: pair", "name: pair")
            before = sorted(str(p) for p in self.outside.rglob("*"))
            for words in (["show", "--root", evil], ["bundle", "--root", evil, "--keep-names"],
                          ["snapshot", "--root", evil, "--out", "s.json"],
                          ["init", "--from-bundles", self.folder, "-o", "d.yaml"],
                          ["validate", "fabric.yaml", "--root", evil], ["diagnose", evil]):
                done = self.weir(*words)
                self.assertIn(done.returncode, (3, 4), (words, done.stdout, done.stderr))
                if words[0] != "bundle":  # which records machines and directories alone
                    self.assertIn(b"expected the name of a host", done.stderr, words)
                self.assertEqual(controls_in(done.stdout + done.stderr), [])
            self.assertEqual(sorted(str(p) for p in self.outside.rglob("*")), before)

    def test_evidence_with_a_command_in_a_name_is_refused_with_its_place(self):
        evidence = {"schema": "weir/evidence/1", "provenance": {"host": "gpu1"}, "nics": [
            {"device": "mlx5_0", "port": 1, "netdev": {"value": "e;id"}}]}
        file = self.write("e.json", json.dumps(evidence))
        done = self.weir("diagnose", file)
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"e.json: /nics/0/netdev: expected the name of a network interface",
                      done.stderr)


class Controls(Untrusted):
    """Nothing of others moves the cursor."""

    EVIL = "\x1b[2J\x1b]0;owned\x07\r\x9b31m‮evil\x7f"

    def clean(self, *words):
        done = self.weir(*words)
        self.assertEqual(controls_in(done.stdout), [], words)
        self.assertEqual(controls_in(done.stderr), [], words)
        return done

    def test_no_control_character_of_a_file_reaches_the_terminal(self):
        paste = self.write("paste.txt", f"gpu01 kernel: mlx5_core 0000:18:00.0 eth2: Link down"
                           f"{self.EVIL}\nNCCL WARN {self.EVIL} Got completion with error 12\n")
        for extra in ([], ["--json"], ["--quiet"], ["--color=always", "--no-color"]):
            self.clean("diagnose", paste, *extra)
        raw = self.write("raw.txt", b"mlx5_0 Link down \xff\xfe\x9b31m \xc2\x9b31m\n")
        self.clean("diagnose", raw)
        self.write("d.yaml", f"weir: 1\nname: pair\nx{self.EVIL[:3]}: 1\n")
        self.clean("lint", "d.yaml")
        self.clean("lint", "d.yaml", "--json")
        self.write("bad.json", '{"schema": "' + self.EVIL + '"')
        self.clean("report", "bad.json")
        self.clean("lint", f"no{self.EVIL}file")
        self.clean("explain", self.EVIL)
        self.clean(self.EVIL)

    def test_nor_does_a_line_break_make_a_line_of_its_own(self):
        fake = "\\nweir: all is well"  # as YAML and JSON write it
        self.design_with("stack: ofed", f'    stack: "ofed{fake}"')
        self.write("sonic.json", '{"PORT": {"Ethernet0' + fake + '": {"lanes": "1' + fake + '"}},'
                   '"BUFFER_PG": {"Ethernet0|x' + fake + '": {"profile": "p"}}}')
        self.write("e.json", json.dumps({"schema": "weir/evidence/1",
                                         "provenance": {"host": "h\nweir: all is well"}}))
        self.write("l.yaml", DESIGN.replace("names: gpu[1-2]", f'names: "gpu{fake}"'))
        self.write("ok.yaml", DESIGN.replace("cumulus", "sonic"))
        tree = self.folder / "tree"
        tree.mkdir()
        (tree / "tree.tsv").write_text(
            "file\t/proc/sys/kernel/hostname\th\\nweir: all is well\n")
        bundles = self.folder / "bundles"
        bundles.mkdir()
        os.mkfifo(bundles / "a\nweir: all is well.bundle")
        for words in (["lint", "fabric.yaml"], ["lint", "l.yaml"], ["diagnose", "e.json"],
                      ["validate", "ok.yaml", "--switch", "leaf1=sonic.json"],
                      ["show", "--root", tree], ["show", "--root", bundles]):
            done = self.weir(*words)
            for line in (done.stdout + done.stderr).decode().splitlines():
                self.assertFalse(line.startswith("weir: all is well"), (words, done.stderr))
            self.assertNotEqual(done.returncode, 0, words)

    def test_nor_a_report(self):
        judgement = {"schema": "weir/findings/1", "findings": [
            {"id": "link.down", "severity": "error", "verdict": f"x{self.EVIL}",
             "where": {"host": f"h{self.EVIL}"}, "evidence": [{"source": f"s{self.EVIL}",
                                                               "line": f"l{self.EVIL}"}],
             "confidence": "certain", "fix": [], "rows": []}], "unknown": []}
        file = self.write("f.json", json.dumps(judgement))
        for ending in ("html", "md", "json"):
            done = self.clean("report", file, "-o", f"r.{ending}")
            written = self.folder / f"r.{ending}"
            if done.returncode == 0:
                self.assertEqual(controls_in(written.read_bytes()), [], ending)

    def test_our_own_colours_still_come(self):
        self.write("fabric.yaml", DESIGN + "watchdog: { enabled: off }\n")
        done = self.weir("lint", "fabric.yaml", "--color=always")
        self.assertIn(b"\x1b[", done.stdout)
        self.assertNotIn(b"\xff", done.stdout)


class Documents(Untrusted):
    """JSON that means harm is an error with its place."""

    def test_deep_json_is_an_error(self):
        self.write("fabric.yaml", DESIGN)
        for text in ("[" * 80000, '{"a":' * 80000, '{"schema":"weir/snapshot/1","captures":' +
                     "[" * 80000 + "]" * 80000 + "}"):
            file = self.write("deep.json", text)
            for words in (["diagnose", file], ["report", file], ["diff", file, file],
                          ["render", "fabric.yaml", "--to", "nccl", "--host-evidence", file]):
                done = self.weir(*words)
                self.assertEqual(done.returncode, 3, (words, done.stderr))
                self.assertIn(b"deep.json: ", done.stderr)
                self.assertIn(b"at most 64 levels of JSON", done.stderr)

    def test_deep_results_of_a_tuning_are_an_error(self):
        self.write("fabric.yaml", DESIGN)
        (self.folder / "tuned").mkdir()
        self.write("tuned/results.jsonl", "[" * 300000 + "]" * 300000 + "\n")
        done = self.weir("tune", "fabric.yaml", "-w", "incast,to=gpu1", "--knobs", "wred.min",
                         "--out", "tuned", "--resume")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(b"tuned/results.jsonl:1: JSON deeper than 64 levels", done.stderr)

    def test_a_schema_that_is_a_number_is_an_error(self):
        for text in ('{"schema":7}', '{"schema":{}}', '{"schema":"weir/snapshot/1","captures":[],'
                     '"nics":[{"host":7}]}', '{"schema":"weir/snapshot/1","captures":[7]}'):
            file = self.write("s.json", text)
            for words in (["diagnose", file], ["report", file], ["diff", file, file]):
                done = self.weir(*words)
                self.assertEqual(done.returncode, 3, (text, words, done.stderr))
                self.assertIn(b"s.json: /", done.stderr)

    def test_a_lab_state_that_is_too_deep_is_an_error(self):
        self.write("fabric.yaml", DESIGN)
        self.assertEqual(self.weir("lab", "up", "fabric.yaml", "--dir", "L").returncode, 0)
        (self.folder / "L" / "state.json").write_text("[" * 80000)
        done = self.weir("show", "--lab", "L")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(b"state.json: ", done.stderr)


class NotFiles(Untrusted):
    """A FIFO or a device where a file belongs is an error, and is not waited for."""

    def weir(self, *words, **options):
        return subprocess.run([WEIR, *map(str, words)], cwd=self.folder, capture_output=True,
                              check=False, timeout=20, **options)

    def replaced(self, path):
        """The same name as a FIFO, and as a link to a device that never ends."""
        path.unlink(missing_ok=True)
        os.mkfifo(path)
        yield b"found a FIFO"
        path.unlink()
        path.symlink_to("/dev/zero")
        yield b"found a device"
        path.unlink()

    def refused(self, path, *commands):
        for kind in self.replaced(path):
            for words in commands:
                done = self.weir(*words)
                self.assertEqual(done.returncode, 3, (words, done.stdout, done.stderr))
                self.assertIn(kind, done.stderr, words)

    def test_in_a_recorded_tree(self):
        for name in ("tree.tsv", "netlink/x.hex", "ethtool/x.txt"):
            tree = self.folder / name.replace("/", "-")
            (tree / name).parent.mkdir(parents=True)
            self.refused(tree / name, ["show", "--root", tree], ["diagnose", "--root", tree])

    def test_below_sys_it_is_unreadable(self):
        tree = self.folder / "tree"
        (tree / "proc/sys/kernel").mkdir(parents=True)
        (tree / "proc/net").mkdir()
        for _ in self.replaced(tree / "proc/sys/kernel/hostname"):
            for _ in self.replaced(tree / "proc/net/snmp"):
                self.assertIn(self.weir("show", "--root", tree).returncode, (0, 3, 4, 5))

    def test_among_bundles(self):
        (self.folder / "bundles").mkdir()
        self.refused(self.folder / "bundles" / "x.bundle", ["show", "--root", "bundles"],
                     ["init", "--from-bundles", "bundles", "-o", "-"])

    def test_in_a_lab(self):
        self.write("fabric.yaml", DESIGN)
        for name in ("state.json", "design.yaml"):
            lab = self.folder / name[:5]
            self.assertEqual(self.weir("lab", "up", "fabric.yaml", "--dir", lab).returncode, 0)
            self.refused(lab / name, ["show", "--lab", lab], ["apply", "--lab", lab],
                         ["lab", "status", "--dir", lab], ["lab", "fault", "clear", "--dir", lab])
        self.weir("lab", "up", "fabric.yaml", "--dir", "locked")
        for _ in self.replaced(self.folder / "locked" / "lock"):
            done = self.weir("lab", "fault", "add", "slow-receiver,at=gpu1", "--dir", "locked")
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(b"locked/lock is not trusted", done.stderr)

    def test_beside_a_history(self):
        """SQLite looks for a transaction that was cut off in files beside its own."""
        self.write("fabric.yaml", DESIGN)
        self.weir("lab", "up", "fabric.yaml", "--dir", "lab", "--factory", "none")
        self.weir("preflight", "--lab", "lab", "--until", "idle", "--out", "run.json")
        self.assertEqual(self.weir("baseline", "save", "good", "run.json").returncode, 0)
        for name in ("history.db-journal", "history.db-wal"):
            for _ in self.replaced(self.folder / "baselines" / name):
                for words in (["list"], ["show", "good"], ["drop", "good"],
                              ["save", "good", "run.json", "--replace"]):
                    done = self.weir("baseline", *words)
                    self.assertIn(b"expected a plain file", done.stderr, (name, words))

    def test_in_a_journal(self):
        self.write("fabric.yaml", DESIGN)
        self.weir("lab", "up", "fabric.yaml", "--dir", "lab")
        self.assertEqual(self.weir("apply", "--lab", "lab", "--yes").returncode, 0)
        for name in ("lock", "journal-00000001"):
            path = self.folder / "lab" / "journal" / name
            for _ in self.replaced(path):
                for words in (["rollback", "--lab", "lab"], ["plan", "--lab", "lab"],
                              ["apply", "--lab", "lab"]):
                    self.weir(*words)

    def test_named_by_the_user(self):
        self.write("fabric.yaml", DESIGN)
        pipe = self.folder / "pipe"
        self.refused(pipe, ["lint", pipe], ["diagnose", pipe], ["pcap", pipe], ["report", pipe],
                     ["job", pipe], ["diff", pipe, pipe], ["show", "--root", pipe],
                     ["validate", "fabric.yaml", "--switch", f"leaf1={pipe}"])

    def test_a_pipe_of_the_shell_is_read(self):
        done = subprocess.run(["bash", "-c", f"{WEIR} lint <(cat)"], input=DESIGN.encode(),
                              capture_output=True, check=False, timeout=20)
        self.assertEqual(done.returncode, 0, done.stderr)


class Journals(Untrusted):
    """A journal that another program cut is not a short apply."""

    def applied(self):
        self.write("fabric.yaml", DESIGN)
        self.weir("lab", "up", "fabric.yaml", "--dir", "lab")
        self.assertEqual(self.weir("apply", "--lab", "lab", "--yes").returncode, 0)
        journal = self.folder / "lab" / "journal" / "journal-000001"
        lines = journal.read_text().splitlines(keepends=True)
        planned = json.loads(lines[0][17:])["steps"]
        return journal, lines, planned

    @staticmethod
    def record(fields):
        """A line as the journal has it, with its digest (src/base/digest.h)."""
        text = json.dumps(fields, separators=(",", ":")).encode()
        mask = (1 << 64) - 1
        digest = 0x5EED
        for word in (len(text), *text):
            mixed = ((digest ^ word) + 0x9E3779B97F4A7C15) & mask
            mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9 & mask
            mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB & mask
            digest = mixed ^ (mixed >> 31)
        return f"{digest:016x} ".encode() + text + b"\n"

    def test_the_journal_of_a_lab_ends_no_process(self):
        """A lab of another user names a process as its load: it is not ended."""
        self.write("fabric.yaml", DESIGN)
        self.weir("lab", "up", "fabric.yaml", "--dir", "lab")
        self.weir("apply", "--lab", "lab", "--yes")
        journal = self.folder / "lab" / "journal" / "journal-000001"
        begin = json.loads(journal.read_text().splitlines()[0][17:])
        with subprocess.Popen(["sleep", "60"], start_new_session=True) as other:
            stat = pathlib.Path(f"/proc/{other.pid}/stat").read_text(encoding="utf-8")
            started = int(stat.rsplit(")", 1)[1].split()[19])
            journal.write_bytes(b"".join(map(self.record, (
                {**begin, "verb": "verify", "steps": 0},
                {"record": "load", "pid": other.pid, "started": started},
                {"record": "failing", "what": "x", "restore": "touch PWNED", "faults": []}))))
            done = self.weir("rollback", "--lab", "lab", "--yes")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(b"Ended the failure", done.stdout)
            self.assertIsNone(other.poll())
            self.assertFalse((self.folder / "PWNED").exists())
            other.kill()

    def test_what_was_cut_off_is_not_called_restored(self):
        journal, lines, planned = self.applied()
        steps = [i for i, line in enumerate(lines) if '"record":"step"' in line]
        self.assertEqual(len(steps), planned)
        journal.write_text("".join(lines[:steps[2]]))  # begin, two steps, both done
        done = self.weir("rollback", "--lab", "lab", "--yes")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"2 changes undone", done.stdout)
        self.assertIn(f"Its journal has 2 of the {planned} changes that were planned".encode(),
                      done.stdout)
        self.assertNotIn(b"every setting", done.stdout)

    def test_not_even_where_nothing_is_left_of_it(self):
        journal, lines, planned = self.applied()
        journal.write_text(lines[0])
        done = self.weir("rollback", "--lab", "lab", "--yes")
        self.assertIn(b"no change to undo is in its journal", done.stdout)
        self.assertIn(f"Its journal has 0 of the {planned} changes".encode(), done.stdout)
        self.assertNotIn(b"nothing yet", done.stdout)

    def test_a_whole_one_says_nothing_of_that(self):
        _, _, planned = self.applied()
        done = self.weir("rollback", "--lab", "lab", "--yes")
        self.assertIn(f"{planned} changes undone, these settings are as they were before.".encode(),
                      done.stdout)
        self.assertNotIn(b"Its journal has", done.stdout)

    def test_a_mistyped_state_directory_is_not_made(self):
        self.applied()
        for words in (["rollback", "--lab", "lab", "--yes"], ["confirm"],
                      ["rollback", "--unconfirmed"]):
            done = self.weir(*words, "--state", "mistyped")
            self.assertEqual(done.returncode, 3, (words, done.stdout, done.stderr))
            self.assertIn(b"mistyped: there is no such directory", done.stderr)
        done = self.weir("apply", "--lab", "lab", "--yes", "--state", "no/such")
        self.assertFalse((self.folder / "no").exists())
        self.assertFalse((self.folder / "mistyped").exists())
        self.weir("rollback", "--lab", "lab", "--yes")
        done = self.weir("apply", "--lab", "lab", "--yes", "--state", "no/such")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b"only the last directory is made", done.stderr)
        self.assertEqual(self.weir("apply", "--lab", "lab", "--yes", "--state",
                                   "new").returncode, 0)

    def test_plan_says_that_one_is_damaged(self):
        journal, lines, _ = self.applied()
        journal.write_text(lines[0] + lines[1].replace("step", "stop") + "".join(lines[2:]))
        for extra in ([], ["--quiet"], ["--json"]):
            done = self.weir("plan", "--lab", "lab", *extra)
            self.assertIn(b"journal-000001:2: damaged", done.stderr, extra)


class Sizes(Untrusted):
    """What cannot be computed is said before it is tried."""

    def test_a_buffer_that_no_switch_has_is_an_error_of_the_design(self):
        number = self.design_with("asic: spectrum3", "    asic: spectrum3\n    buffer: 1000GB")
        for words in (["lint", "fabric.yaml"], ["sim", "fabric.yaml", "-w", "pair"]):
            done = self.weir(*words)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(f"fabric.yaml:{number}:".encode(), done.stderr)
            self.assertIn(b"switches.leaf.buffer: expected at most", done.stderr)
        self.design_with("asic: spectrum3", "    asic: spectrum3\n    buffer: 6GB")
        self.assertIn(self.weir("lint", "fabric.yaml").returncode, (0, 1))

    def test_memory_that_runs_out_is_an_error(self):
        self.write("fabric.yaml", DESIGN)
        limit = 400 << 20
        done = self.weir("sim", "fabric.yaml", "-w", "pair,size=1GB,iterations=100",
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        if done.returncode != 5:  # not finished; a build with little memory for itself
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(b"not enough memory", done.stderr)
        big = self.write("big.json", '{"a":[' + "{}," * 3000000 + "{}]}")
        done = self.weir("diagnose", big,
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS,
                                                               (120 << 20, 120 << 20)))
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(b"not enough memory", done.stderr)


class Work(Untrusted):
    """Time is linear in the input, and the input is bounded."""

    PIECES = ("a=1 ", "a,", "RNR retry timeout mlx5_0 10.0.0.1 ", "{\"",
              "The PFC pause of gpu01 grows. ")

    def instructions(self, text):
        file = self.write("paste.txt", text)
        done = subprocess.run(["valgrind", "--tool=none", "-v", "--stats=yes", WEIR, "diagnose",
                               file], capture_output=True, text=True, check=False, timeout=300)
        found = re.search(r"scheduler: ([0-9,]+) event checks", done.stderr)  # one per block
        return int(found.group(1).replace(",", "")) if found else None

    def test_a_line_of_any_length_is_read_in_linear_time(self):
        """Counted, not timed: blocks of instructions that valgrind runs, at 20 KB and at 80 KB."""
        if shutil.which("valgrind") is None:
            self.skipTest("valgrind is not installed")
        empty = self.instructions("x\n")
        if empty is None:
            self.skipTest("this valgrind does not count")
        for piece in self.PIECES:
            small = self.instructions(piece * (20000 // len(piece)) + "\n") - empty
            large = self.instructions(piece * (80000 // len(piece)) + "\n") - empty
            # 4 where it is linear, 16 where it is quadratic
            self.assertLess(large, 6 * max(small, 1000), piece)

    def test_a_row_of_any_length_is_read_in_linear_time(self):
        """Cells of a table that are as long as the line, with many numbers in them: 100 KB took
        3.4 s. Counted as above, with 5 KB and 20 KB."""
        if shutil.which("valgrind") is None:
            self.skipTest("valgrind is not installed")
        empty = self.instructions("x\n")
        if empty is None:
            self.skipTest("this valgrind does not count")

        def row(size):
            cell = ('"value": {"a": 1}, ' * size)[:size]
            return f"{cell} | {cell}\n"
        small = self.instructions(row(2500)) - empty
        large = self.instructions(row(10000)) - empty
        self.assertLess(large, 6 * max(small, 1000))

    def test_a_table_of_any_length_is_read_in_linear_time(self):
        """Rows of which no reader knows the counter, with a heading and without one: 4,000 took
        34 s. Counted as above, with 500 rows and 2,000."""
        if shutil.which("valgrind") is None:
            self.skipTest("valgrind is not installed")
        empty = self.instructions("x\n")
        if empty is None:
            self.skipTest("this valgrind does not count")
        for heading, row in (("", "a1 b2 foo_bar 5 6\n"), ("counter a1 b2\n", "foo_bar 5 6\n"),
                             ("", "a1 b2\nfoo_bar 5 6\n"), ("", "counter before after\n")):
            small = self.instructions(heading + row * 500) - empty
            large = self.instructions(heading + row * 2000) - empty
            self.assertLess(large, 6 * max(small, 1000), row)

    def test_a_script_or_log_of_a_job_costs_little(self):
        """Values that double, branches that keep them, a log of many processes: at most 400 MB and
        20 s of a processor, where one took all memory and another grew with the square."""
        doubled = "A0=aaaaaaaa\n" + "".join(f"export A{i}=$A{i - 1}$A{i - 1}\n"
                                            for i in range(1, 200)) + "export NCCL_IB_TC=$A199\n"
        kept = "".join(f"export NCCL_X{i}=$A13\n" for i in range(60000))
        branches = ("#!/bin/sh\n" + "".join(f"V{i}={i}\n" for i in range(5000)) +
                    "if a; then export NCCL_IB_TC=1; fi\n" * 50000)
        launches = ("#!/bin/sh\n" + "".join(f"export NCCL_V{i}={i}\n" for i in range(30000)) +
                    "srun a\n" * 30000)
        processes = "".join(f"host{i}:1:1 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB "
                            f"eth0:10.0.0.1<0>\n" for i in range(120000))
        def bound():
            resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))
            resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
        is_small = self.weir("--version", preexec_fn=bound).returncode == 0
        for text in (doubled, doubled + kept, branches, launches, processes):
            file = self.write("job", text)
            done = self.weir("job", file, preexec_fn=bound if is_small else None)
            self.assertIn(done.returncode, (0, 1, 5), (text[:60], done.stderr[-300:]))

    def test_a_paste_of_many_switches_and_interfaces_costs_little(self):
        """Each with a name of its own: at most 30 s of CPU time for some 4 MB of prompts
        (215 KB took 2 s), or 4,000 switches whose counters are read."""
        pieces = {
            "sw{0}#show running-config\n": 150000,
            "admin@leaf{0}:~$ show pfc counters\n  Port Rx    PFC0    PFC1\n Ethernet0   1  2\n":
                4000,
            "nx{0}# show queuing interface ethernet1/{0}\n": 80000,
            "user@qfx{0}> show configuration class-of-service | display set\n"
            "set class-of-service x\n": 45000,
            "leaf{0}#show running-config\nhostname leaf{0}\ninterface Ethernet1\n"
            "   priority-flow-control on\n": 30000,
            "interface Ethernet{0}\n   priority-flow-control on\n": 60000,
        }
        for piece, count in pieces.items():
            file = self.write("paste.txt", "".join(piece.format(i) for i in range(count)))
            done = self.weir("diagnose", file, timeout=600, preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_CPU, (30, 30)))
            self.assertIn(done.returncode, (0, 1, 5), (piece, done.stderr[-300:]))

    def test_counters_of_many_switches_cost_little_more_than_their_number(self):
        """Each switch was looked for among all, several times. Counted, with 500 and 2,000:
        16 where it is the square, 9 before, 6 now: each is read with blank lines for all before."""
        if shutil.which("valgrind") is None:
            self.skipTest("valgrind is not installed")
        empty = self.instructions("x\n")
        if empty is None:
            self.skipTest("this valgrind does not count")

        def switches(count):
            return "".join(f"admin@leaf{i}:~$ show pfc counters\n  Port Rx  PFC0  PFC1\n"
                           f" Ethernet0   1  2\n" for i in range(count))
        small = self.instructions(switches(500)) - empty
        large = self.instructions(switches(2000)) - empty
        self.assertLess(large, 7 * small)

    def test_what_is_not_compared_for_its_number_is_said(self):
        """Silence would pass for a table of addresses without a fault."""
        rows = "".join(f"10.0.{i >> 8}.{i & 255} dev eth0 lladdr "
                       f"02:00:00:00:{i >> 8:02x}:{i & 255:02x} REACHABLE\n" for i in range(5000))
        file = self.write("paste.txt", "root@gpu1:~# ip neigh\n" + rows)
        found = json.loads(self.weir("diagnose", file, "--json").stdout)
        self.assertIn("904 more lines of one kind", [item["check"] for item in found["unknown"]])

    def test_a_workload_that_does_not_fit_is_refused_before_it_is_made(self):
        """In 1 GB and 10 s of a processor, where forty bytes took 14 GB and a minute."""
        self.write("fabric.yaml", DESIGN)

        def bound():
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
            resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
        if self.weir("--version", preexec_fn=bound).returncode != 0:
            self.skipTest("this build needs more address space for itself")
        done = self.weir("sim", "fabric.yaml", "-w", "all-reduce,algo=tree,chunk=1B,size=1GB",
                         preexec_fn=bound)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(b"more than 50,000,000 messages", done.stderr)

    def test_a_text_beyond_the_limit_is_refused(self):
        file = self.write("log.txt", "mlx5_0: Link down\n" * 1000000)
        done = self.weir("diagnose", file)
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"log.txt: expected at most 16 MiB of text", done.stderr)


class Bundles(Untrusted):
    """A bundle is for its owner, and holds no secret."""

    SECRET = "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"

    def setUp(self):
        super().setUp()
        self.tree = self.folder / "tree"
        self.tree.mkdir()
        for each in TREE.iterdir():
            if each.is_file():
                (self.tree / each.name).write_bytes(each.read_bytes())
            else:
                (self.tree / each.name).symlink_to(each)
        lines = (self.tree / "tree.tsv").read_text().splitlines()
        lines = [line for line in lines if "nccl.conf" not in line and "/proc/cmdline" not in line]
        lines.append(f"file\t/etc/nccl.conf\tNCCL_IB_TC=106\\nAWS_SECRET_ACCESS_KEY={self.SECRET}"
                     f"\\nNCCL_NET_TOKEN=hunter2\\n")
        lines.append("file\t/proc/cmdline\troot=/dev/sda1 iommu=pt luks.key=hunter2\\n")
        (self.tree / "tree.tsv").write_text("\n".join(lines) + "\n")

    def test_no_secret_leaves_and_the_file_is_private(self):
        for names in ([], ["--keep-names"]):
            done = self.weir("bundle", "--root", self.tree, "-o", "x.bundle", *names)
            self.assertIn(done.returncode, (0, 5), done.stderr)
            text = (self.folder / "x.bundle").read_text()
            self.assertEqual((self.folder / "x.bundle").stat().st_mode & 0o777, 0o600)
            self.assertNotIn(self.SECRET, text)
            self.assertNotIn("hunter2", text)
            self.assertNotIn("AWS_SECRET", text)
            self.assertIn("NCCL_IB_TC=106", text)
            self.assertIn("iommu=pt", text)

    def test_a_list_says_what_would_leave_and_writes_nothing(self):
        before = sorted(self.folder.iterdir())
        done = self.weir("bundle", "--root", self.tree, "--list")
        self.assertIn(done.returncode, (0, 5), done.stderr)
        self.assertEqual(sorted(self.folder.iterdir()), before)
        listed = done.stdout.decode()
        self.assertIn("would leave this host", listed)
        self.assertIn("left out, in part or all of it: /etc/nccl.conf", listed)
        self.assertIn("/sys/class/infiniband", listed)
        self.assertNotIn(self.SECRET, listed)
        document = json.loads(self.weir("bundle", "--root", self.tree, "--list", "--json").stdout)
        self.assertIn("/etc/nccl.conf", document["withheld"])

    def test_a_snapshot_has_no_secret_either(self):
        done = self.weir("snapshot", "--root", self.tree, "--json")
        self.assertNotIn(self.SECRET.encode(), done.stdout)


@unittest.skipUnless(os.geteuid() == 0, "needs root to give up")
class WithoutRoot(Untrusted):
    """Parsers of files do not run as root."""

    def status_of(self, *words):
        """What the kernel says of the process while it reads its input."""
        with subprocess.Popen([WEIR, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, cwd=self.folder) as reading:
            asleep = 0
            while asleep < 50:
                stat = pathlib.Path(f"/proc/{reading.pid}/stat").read_text(encoding="ascii")
                asleep = asleep + 1 if stat.rpartition(")")[2].split()[0] == "S" else 0
                os.sched_yield()
            text = pathlib.Path(f"/proc/{reading.pid}/status").read_text(encoding="ascii")
            reading.communicate(b"")
        return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)

    def test_verbs_that_read_files_are_nobody(self):
        self.write("fabric.yaml", DESIGN)
        for words in (["lint", "-"], ["diagnose", "-"], ["job", "-"], ["prove", "-"],
                      ["validate", "fabric.yaml", "--switch", "leaf1=-"], ["calc", "buffers", "-"]):
            status = self.status_of(*words)
            self.assertEqual(status["Uid"].split(), ["65534"] * 4, words)
            self.assertEqual(status["Gid"].split(), ["65534"] * 4, words)
            self.assertEqual(status["Groups"].strip(), "", words)
            self.assertEqual(int(status["CapEff"], 16) & ~(1 << 2), 0, words)  # DAC_READ_SEARCH
            self.assertEqual(status["NoNewPrivs"].strip(), "1", words)
            self.assertEqual(status["Seccomp"].strip(), "2", words)

    def test_they_still_read_what_only_root_may_read(self):
        design = self.write("fabric.yaml", DESIGN)
        design.chmod(0o600)
        self.outside.chmod(0o700)
        self.assertEqual(self.weir("lint", "fabric.yaml").returncode, 0)

    def test_verbs_that_write_files_keep_what_that_needs_and_no_more(self):
        self.write("fabric.yaml", DESIGN)
        for words in (["render", "-", "--to", "nccl", "--out", "out"], ["sim", "-", "--out", "out"],
                      ["sim", "-", "-w", "pair", "--trace", "t.csv"]):
            status = self.status_of(*words)
            self.assertEqual(status["Uid"].split(), ["0"] * 4, words)
            # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH
            self.assertEqual(int(status["CapEff"], 16) & ~0b110, 0, words)
            self.assertEqual(status["NoNewPrivs"].strip(), "1", words)
            self.assertEqual(status["Seccomp"].strip(), "2", words)
        for words in (["render", "-", "--to", "nccl"], ["sim", "-"], ["calc", "buffers", "-"],
                      ["calc", "wred", "-"], ["report", "-", "-o", "-"]):
            self.assertEqual(self.status_of(*words)["Uid"].split(), ["65534"] * 4, words)

    def test_they_write_where_they_are_told_to_in_anybodys_directory(self):
        self.write("fabric.yaml", DESIGN)
        os.chown(self.folder, 1000, 1000)
        self.folder.chmod(0o755)
        bundle = self.weir("bundle", "--root", TREE, "-o", "a.bundle")
        self.assertEqual(bundle.returncode, 0, bundle.stderr)
        for words in (["render", "fabric.yaml", "--to", "nccl", "--out", "out/new"],
                      ["render", "fabric.yaml", "--to", "host-script", "--all", "--out", "scripts"],
                      ["sim", "fabric.yaml", "-w", "pair", "--out", "r", "--trace", "t.csv",
                       "--plot", "p.svg", "--pcap", "p.pcap", "--at", "gpu1"],
                      ["report", "r", "-d", "fabric.yaml"],
                      ["report", "--root", "a.bundle", "-o", "deep.html"],
                      ["snapshot", "--root", "a.bundle", "-o", "s.json"],
                      ["init", "-t", "pair", "-o", "pair.yaml"],
                      ["init", "--from-bundles", ".", "-o", "found.yaml"],
                      ["lab", "up", "fabric.yaml", "--dir", "lab"],
                      ["lab", "fault", "add", "slow-receiver,at=gpu1", "--dir", "lab"],
                      ["show", "--lab", "lab"], ["validate", "--lab", "lab"],
                      ["report", "--lab", "lab", "-o", "lab.html"],
                      ["apply", "--lab", "lab"], ["rollback", "--lab", "lab"],
                      ["lab", "down", "--dir", "lab/"]):
            done = self.weir(*words)
            self.assertIn(done.returncode, (0, 1, 5), (words, done.stdout, done.stderr))
        for name in ("out/new/nccl.env", "r/sim.json", "t.csv", "p.svg", "p.pcap", "report.html",
                     "deep.html", "s.json", "pair.yaml", "found.yaml", "lab.html", "a.bundle"):
            self.assertTrue((self.folder / name).exists(), name)
        self.assertFalse((self.folder / "lab").exists())
        self.assertTrue(os.access(self.folder / "scripts" / "gpu1.roce.sh", os.X_OK))


class Descriptors(Untrusted):
    """A file is not written to because it got the number of standard error."""

    def run_closed(self, *closed):
        def close():
            for fd in closed:
                os.close(fd)
        return subprocess.run([WEIR, "sim", "fabric.yaml", "-w", "pair", "-w", "nonsense", "--out",
                               "results", "--trace", "trace.csv"], cwd=self.folder, check=False,
                              preexec_fn=close, timeout=120)

    def test_errors_do_not_end_in_files(self):
        self.write("fabric.yaml", DESIGN)
        for closed in ((2,), (1, 2), (0, 1, 2)):
            self.assertNotEqual(self.run_closed(*closed).returncode, 0)
            for file in self.folder.rglob("*"):
                if file.is_file() and file.name != "fabric.yaml":
                    self.assertNotIn(b"weir: ", file.read_bytes(), (closed, file))
        done = subprocess.run([WEIR, "tos", "26"], preexec_fn=lambda: os.close(1), check=False,
                              stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 70)
        self.assertIn(b"could not write", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
