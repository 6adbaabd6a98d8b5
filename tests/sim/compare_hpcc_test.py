#!/usr/bin/env python3
"""tools/compare_hpcc.py with a stand-in for the other simulator.

The stand-in answers with Weir's own results, changed where a case wants a difference: what is
tested is the tool (inputs, both runs, what is said of them), and nothing of how the two simulators
agree. That is sim.Reference and sim.compare_hpcc, on recordings of the real one.

  compare_hpcc_test.py WEIR
"""
import hashlib
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "compare_hpcc.py"
WEIR = ""
STAND_IN = """#!{python}
import os, subprocess, sys
from pathlib import Path
if os.environ.get("STAND_IN") == "fails":
    sys.exit("no such topology")
subprocess.run([{weir!r}, "sim", "--hpcc", sys.argv[1], "--out", "mine", "--quiet"], check=True)
lines = Path("mine/fct.txt").read_text().splitlines()
if os.environ.get("STAND_IN") == "later":
    words = lines[0].split()
    words[6] = str(int(words[6]) + 7)
    lines[0] = " ".join(words)
if os.environ.get("STAND_IN") == "loses":
    lines = lines[1:]
Path("fct.txt").write_text("\\n".join(lines) + "\\n")
"""


class CompareHpcc(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)
        third = self.place / "peer" / "build" / "scratch" / "third"
        third.parent.mkdir(parents=True)
        third.write_text(STAND_IN.format(python=sys.executable, weir=WEIR))
        third.chmod(0o755)

    def compare(self, *arguments, stand_in="", peer="peer"):
        done = subprocess.run(
            [sys.executable, TOOL, "--weir", WEIR, "--peer", self.place / peer, "--runs", "1",
             *arguments], env=dict(os.environ, STAND_IN=stand_in), capture_output=True, text=True,
            check=False)
        return done.returncode, done.stdout, done.stderr

    def inputs(self, seed):
        keep = self.place / f"keep{seed}"
        self.assertEqual(self.compare("--seed", str(seed), "--keep", str(keep))[0], 0)
        folder = keep / f"run{seed}"
        return "".join((folder / name).read_text()
                       for name in ("config.txt", "topology.txt", "flow.txt", "trace.txt"))

    def test_a_seed_draws_the_same_inputs_everywhere(self):
        one = self.inputs(1)
        self.assertEqual(hashlib.sha256(one.encode()).hexdigest()[:16], "4853e2258fb124af")
        self.assertNotEqual(one, self.inputs(2))

    def test_equal_flows_are_all_identical(self):
        status, out, _ = self.compare()
        self.assertEqual(status, 0, out)
        self.assertRegex(out, r"seed 1 +(\d+) flows +\1 identical  mean \+0.0000%")
        self.assertEqual(len(out.splitlines()), 1)

    def test_a_flow_that_differs_is_shown_with_both_times(self):
        status, out, _ = self.compare(stand_in="later")
        self.assertEqual(status, 1)
        self.assertRegex(out, r"\n  \d+ -> \d+ port \d+: \d+ ns, weir \d+ ns \(-7 ns, -0\.\d+%\)\n")
        self.assertIn("and 1 more", self.compare("--most", "0", stand_in="later")[1])

    def test_a_flow_that_one_of_them_never_finished_is_named(self):
        status, out, _ = self.compare(stand_in="loses")
        self.assertEqual(status, 1)
        self.assertRegex(out, r"\n  \d+ -> \d+ port \d+: not finished in the other simulator\n")

    def test_a_peer_that_is_not_there_or_fails_is_said(self):
        status, _, err = self.compare(peer="absent")
        self.assertEqual(status, 2)
        self.assertIn("absent/build/scratch/third: No such file", err)
        status, _, err = self.compare(stand_in="fails")
        self.assertEqual(status, 2)
        self.assertEqual(err, "compare_hpcc: the other simulator ended with 1:\nno such topology\n")


if __name__ == "__main__":
    WEIR = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
