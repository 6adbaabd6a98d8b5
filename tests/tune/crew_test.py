#!/usr/bin/env python3
"""The same answer whoever makes the runs: threads, MPI ranks, job steps (gate T7).

  crew_test.py WEIR [--mpi WEIR_MPI]

Skips (77) what needs Open MPI where it is absent, unless WEIR_REQUIRE names mpi. srun is a stub
that starts what follows its options: what Slurm adds is the place.
"""
import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import fabrics

WEIR = ""
MPI = None
TUNING = ["tune", "fabric.yaml", "-w", "incast,size=300KB", "-w", "permutation,size=300KB",
          "--knobs", "dcqcn.rpg_time_reset,wred.max,dcqcn.rpg_hai_rate", "--budget", "500runs"]
LONG = ["tune", "fabric.yaml", "-w", "incast,size=20MB", "--knobs",
        "dcqcn.rpg_time_reset,dcqcn.rpg_ai_rate", "--budget", "300runs"]
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe"]
STUB = """#!/bin/sh
# srun of the tests: drops its own options and starts the rest.
while case "$1" in -*) true ;; *) false ;; esac; do shift; done
echo "$$" >>"$STUB_PIDS"
exec "$@"
"""


def lines_of(path):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def without_time(line):
    return {key: value for key, value in line.items() if key != "cpu_s"}


class Crew(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "fabric.yaml").write_text(fabrics.star(6), encoding="utf-8")
        stub = self.folder / "bin" / "srun"
        stub.parent.mkdir()
        stub.write_text(STUB, encoding="utf-8")
        stub.chmod(0o755)
        self.pids = self.folder / "pids"
        self.environment = dict(os.environ, STUB_PIDS=str(self.pids), SLURM_NTASKS="3",
                                PATH=f"{stub.parent}:{os.environ['PATH']}")

    def run_(self, command, status=0):
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False,
                              env=self.environment, timeout=300)
        self.assertEqual(done.returncode, status, done.stderr + done.stdout)
        return done

    def answer(self, command):
        return json.loads(self.run_([*command, "--json"]).stdout)

    def results(self, name):
        """The set of lines, and that none comes twice."""
        lines = lines_of(self.folder / name / "results.jsonl")
        self.assertEqual(len(lines), len({line["key"] for line in lines}))
        return sorted(json.dumps(without_time(line), sort_keys=True) for line in lines)

    def start_long(self, command):
        return subprocess.Popen(command, cwd=self.folder, env=self.environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def wait_for_lines(self, name, count):
        path = self.folder / name / "results.jsonl"
        for _ in range(2400):
            if path.exists() and path.read_text(encoding="utf-8").count("\n") >= count:
                return
            time.sleep(0.05)
        self.fail("no results")

    def test_job_steps_give_the_answer_of_threads(self):
        alone = self.answer([WEIR, *TUNING, "--jobs", "1", "--out", "alone"])
        steps = self.answer([WEIR, *TUNING, "--launcher", "slurm", "--out", "steps"])
        self.assertEqual(len(self.pids.read_text().split()), 3)
        alone.pop("written"), steps.pop("written")
        self.assertEqual(alone, steps)
        self.assertEqual(self.results("alone"), self.results("steps"))

    def test_a_worker_that_is_killed_is_replaced_by_the_others(self):
        (self.folder / "fabric.yaml").write_text(fabrics.star(8), encoding="utf-8")
        tuning = self.start_long([WEIR, *LONG, "--launcher", "slurm", "--out", "killed", "--json"])
        self.wait_for_lines("killed", 12)
        os.kill(int(self.pids.read_text().split()[0]), signal.SIGKILL)
        out, err = tuning.communicate(timeout=300)
        self.assertEqual(tuning.returncode, 0, err)
        alone = self.answer([WEIR, *LONG, "--jobs", "2", "--out", "alone"])
        killed = json.loads(out)
        alone.pop("written"), killed.pop("written")
        self.assertEqual(alone, killed)
        self.assertEqual(self.results("alone"), self.results("killed"))

    def test_without_workers_it_says_so(self):
        (self.folder / "bin" / "srun").write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
        done = self.run_([WEIR, *TUNING, "--launcher", "slurm"], status=4)
        # A worker that is gone before it gets the design has nothing to say.
        self.assertRegex(done.stderr, "ended with status 3|no worker could be started")
        self.environment.pop("SLURM_NTASKS")
        done = self.run_([WEIR, *TUNING, "--launcher", "slurm"], status=2)
        self.assertIn("SLURM_NTASKS is not set", done.stderr)

    def test_a_killed_tuning_repeats_only_what_was_in_flight(self):
        (self.folder / "fabric.yaml").write_text(fabrics.star(8), encoding="utf-8")
        tuning = self.start_long([WEIR, *LONG, "--jobs", "2", "--out", "cut"])
        self.wait_for_lines("cut", 20)
        tuning.kill()
        tuning.communicate()
        kept = (self.folder / "cut" / "results.jsonl").read_text(encoding="utf-8").count("\n")
        again = self.answer([WEIR, *LONG, "--jobs", "2", "--out", "cut", "--resume"])
        whole = self.answer([WEIR, *LONG, "--jobs", "1", "--out", "whole"])
        again.pop("written"), whole.pop("written")
        self.assertEqual(again, whole)
        self.assertGreaterEqual(kept, 20)
        self.assertEqual(self.results("cut"), self.results("whole"))

    def test_a_worker_says_what_is_wrong_with_its_input(self):
        done = subprocess.run([WEIR, "tune", "worker"], capture_output=True, text=True, check=False,
                              input='{"design": "x", "text": "weir: 9"}\n')
        self.assertEqual(done.returncode, 3)
        self.assertIn("error", json.loads(done.stdout.splitlines()[0]))


class Ranks(Crew):
    """weir-mpi."""

    def setUp(self):
        super().setUp()
        if MPI is None or shutil.which("mpirun") is None:
            if "mpi" in os.environ.get("WEIR_REQUIRE", "").split(","):
                self.fail("WEIR_REQUIRE names mpi, and weir-mpi or mpirun is not here")
            self.skipTest("no Open MPI, or weir-mpi was not built")

    def test_any_number_of_ranks_gives_one_answer(self):
        alone = self.answer([WEIR, *TUNING, "--jobs", "1", "--out", "alone"])
        alone.pop("written")
        for ranks in (1, 2, 4):
            name = f"ranks{ranks}"
            told = self.answer([*MPIRUN, "-n", str(ranks), MPI, *TUNING, "--out", name])
            told.pop("written")
            self.assertEqual(alone, told, ranks)
            self.assertEqual(self.results("alone"), self.results(name))

    def test_a_killed_rank_ends_the_job_and_resume_goes_on(self):
        (self.folder / "fabric.yaml").write_text(fabrics.star(8), encoding="utf-8")
        job = self.start_long([*MPIRUN, "-n", "3", MPI, *LONG, "--out", "cut"])
        self.wait_for_lines("cut", 12)
        ranks = subprocess.run(["pgrep", "-P", str(job.pid)], capture_output=True, text=True,
                               check=True).stdout.split()
        os.kill(int(ranks[-1]), signal.SIGKILL)
        job.communicate(timeout=120)
        self.assertNotEqual(job.returncode, 0)
        again = self.answer([*MPIRUN, "-n", "3", MPI, *LONG, "--out", "cut", "--resume"])
        whole = self.answer([WEIR, *LONG, "--jobs", "2", "--out", "whole"])
        again.pop("written"), whole.pop("written")
        self.assertEqual(again, whole)
        self.assertEqual(self.results("cut"), self.results("whole"))

    def test_it_tunes_and_nothing_else(self):
        done = self.run_([*MPIRUN, "-n", "2", MPI, "lint"], status=2)
        self.assertIn("expected tune", done.stderr)
        done = self.run_([*MPIRUN, "-n", "2", MPI, *TUNING, "--jobs", "2"], status=2)
        self.assertIn("ranks of weir-mpi", done.stderr)
        done = self.run_([*MPIRUN, "-n", "2", MPI, "tune", "absent.yaml"], status=3)
        self.assertIn("absent.yaml", done.stderr)

    # What Crew tests of the others is not repeated.
    test_job_steps_give_the_answer_of_threads = None
    test_a_worker_that_is_killed_is_replaced_by_the_others = None
    test_without_workers_it_says_so = None
    test_a_killed_tuning_repeats_only_what_was_in_flight = None
    test_a_worker_says_what_is_wrong_with_its_input = None


def main():
    global WEIR, MPI
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("weir")
    parser.add_argument("--mpi")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    WEIR = str(Path(options.weir).resolve())
    if options.mpi and Path(options.mpi).exists():
        MPI = str(Path(options.mpi).resolve())
    unittest.main(argv=[sys.argv[0], *options.names])


if __name__ == "__main__":
    main()
