#!/usr/bin/env python3
"""Whole tunings of the template pod16, as an operator starts them (gates T2, T3, T4).

  gates_test.py WEIR [--full]

`--full` is gate T10: all knobs and the five usual loads; it prints the CPU seconds and fails above
ten minutes on two cores.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WEIR = ""
JOBS = str(min(2, len(os.sched_getaffinity(0))))
TIMER, GAP = "dcqcn.rpg_time_reset", "dcqcn.min_time_between_cnps"
LONG_INCAST = "incast,size=40MB"
INCREASES = ["dcqcn.rpg_ai_rate", "dcqcn.rpg_hai_rate", "dcqcn.rpg_threshold"]


def tune(*arguments):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([WEIR, "init", "--template", "pod16", "--output", "fabric.yaml"], cwd=folder,
                       check=True, capture_output=True)
        done = subprocess.run([WEIR, "tune", "fabric.yaml", *arguments, "--jobs", JOBS, "--json"],
                              cwd=folder, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


class Gates(unittest.TestCase):
    def test_the_timer_and_the_cnp_gap_come_before_the_increases_which_are_inert(self):
        result = tune("-w", "incast,size=2MB", "-w", "permutation,size=4MB", "--knobs",
                      ",".join([TIMER, GAP, *INCREASES]), "--budget", "600runs")
        ranked = [row["knob"] for row in result["sensitivity"]]
        self.assertEqual(set(ranked[:2]), {TIMER, GAP})
        inert = {row["knob"] for row in result["sensitivity"] if row["inert"]}
        self.assertEqual(inert, set(INCREASES))
        self.assertEqual(result["verdict"], "tuned", result["reason"])
        changed = {row["knob"] for row in result["chosen"]}
        self.assertTrue(changed and changed <= {TIMER, GAP}, changed)
        self.assertLess(result["gain"]["high"], -0.05)

    def test_a_ring_alone_has_nothing_to_tune(self):
        result = tune("-w", "all-reduce,size=4MB")
        self.assertEqual(result["verdict"], "nothing to tune")
        self.assertEqual(result["chosen"], [])
        self.assertLess(result["runs"], 60)

    def test_a_rollout_finds_its_design_wherever_it_is_asked(self):
        with tempfile.TemporaryDirectory() as folder:
            fabric = Path(folder, "project")
            (fabric / "results").mkdir(parents=True)

            def weir(*words, place=fabric):
                return subprocess.run([WEIR, *words], cwd=place, check=True, capture_output=True,
                                      text=True).stdout
            weir("init", "--template", "pod16", "--output", "fabric.yaml")
            weir("tune", "fabric.yaml", "-w", "incast,size=2MB", "--knobs", TIMER, "--budget",
                 "300runs", "--jobs", JOBS, "--out", "results/tuned")
            plans = {weir("tune", "rollout", result, "--quiet", place=place)
                     for place, result in ((fabric, "results/tuned"), (fabric / "results", "tuned"),
                                           (folder, "project/results/tuned/"),
                                           ("/", str(fabric / "results/tuned")))}
        self.assertEqual(len(plans), 1, plans)

    def test_the_tuner_leaves_the_pause_mode_of_a_long_incast(self):
        """On as many fresh seeds as exclude a rate of 5 %, at no more than 2 % of the mean."""
        result = tune("-w", LONG_INCAST, "--for", "latency", "--knobs", "dcqcn.dce_tcp_rtt",
                      "--budget", "300runs")
        self.assertEqual(result["verdict"], "tuned", result["reason"])
        row = result["outcomes"][0]
        self.assertGreater(row["start"]["bad"], row["start"]["runs"] // 5)  # 7 of 16 was seen first
        self.assertLess(row["chosen"]["bad_upper"], 0.05)
        self.assertLess(row["mean"]["mean"], 0.02)


def full():
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = tune()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{result['verdict']}: {result['reason']}; {len(result['start'])} knobs, "
          f"{len(result['workloads'])} loads, {result['runs']} runs, {cpu:.0f} CPU s")
    return 0 if cpu <= 2 * 600 and len(result["start"]) >= 14 else 1


def main():
    global WEIR
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("weir")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    WEIR = str(Path(options.weir).resolve())
    if options.full:
        return full()
    unittest.main(argv=[sys.argv[0], *options.names])
    return 0


if __name__ == "__main__":
    sys.exit(main())
