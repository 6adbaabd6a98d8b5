#!/usr/bin/env python3
"""The named moves by sign: in the HPCC simulator's semantics and in ours (gate T1).

  moves_test.py WEIR [--table]

Runs the input files of the HPCC simulator (tests/data/sim/hpcc) with one key changed, in both
models, and the moves that only we can make on the template pod16. A row says which way a quantity
must go; `--table` prints what was measured, for docs/tuning.md.
"""
import argparse
import json
import math
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import worker

DATA = Path(__file__).resolve().parents[1] / "data" / "sim" / "hpcc"
STAR = "incast16_10MB_dcqcn_buf2"  # 16 x 10 MB into one, 2 MiB of buffer
SPINE = "ls64_perm_10MB_dcqcn"     # 64 hosts, permutation of 10 MB

# move, files, key, value, quantity, least and most ratio in the peer's model, the same in ours.
# A bound of 1 is a sign; the others keep a row from passing by a hair.
UP, DOWN, ANY, SAME = (1.0, math.inf), (0.0, 1.0), (0.0, math.inf), (0.995, 1.005)
BOTH = [
    ("lower-min-threshold, 400 to 100 KB", STAR, "KMIN_MAP",
     "2 100000000000 100 400000000000 400", "pauses", (0, 0.9), (0, 0.9)),
    ("… its price", STAR, "KMIN_MAP", "2 100000000000 100 400000000000 400", "mean", UP, UP),
    ("raise-max-threshold, x4", STAR, "KMAX_MAP",
     "2 100000000000 6400 400000000000 25600", "pauses", (1.5, math.inf), (1.5, math.inf)),
    ("… what it buys", STAR, "KMAX_MAP", "2 100000000000 6400 400000000000 25600", "mean",
     DOWN, DOWN),
    ("longer-alpha-period, 1 to 4 us", STAR, "ALPHA_RESUME_INTERVAL", "4", "pauses",
     (0, 0.5), (0, 0.5)),
    ("longer-alpha-period, 1 to 55 us", STAR, "ALPHA_RESUME_INTERVAL", "55", "pauses",
     (0, 0.2), (0, 0.2)),
    ("shorter-increase-timer, 300 to 75 us", SPINE, "RP_TIMER", "75", "mean",
     (0, 0.95), (0, 0.95)),
    ("raise-hyper-increase, x10", SPINE, "RATE_HAI", "2000Mb/s", "mean", ANY, SAME),
    ("fewer-fast-recovery-steps, 1 to 5", SPINE, "FAST_RECOVERY_TIMES", "5", "mean", ANY, SAME),
]
# Ours alone: settings of pod16, load, quantity, least and most ratio (three seeds).
TIMER = ["dcqcn.rpg_time_reset=75us"]
GAP = ["dcqcn.min_time_between_cnps=50us"]
OURS = [
    ("shorter-increase-timer, 300 to 75 us", TIMER, "incast,size=2MB", "mean_us", (0, 0.95)),
    ("shorter-increase-timer, 300 to 75 us", TIMER, "permutation,size=4MB", "mean_us", (0, 0.95)),
    ("longer-cnp-gap, 4 to 50 us", GAP, "incast,size=2MB", "p99_us", (0, 0.95)),
    ("longer-cnp-gap, 4 to 50 us", GAP, "permutation,size=4MB", "p99_us", (0, 0.95)),
    ("gentler-cuts, 50 to 90 %", ["dcqcn.rpg_min_dec_fac=90%"], "permutation,size=4MB", "mean_us",
     (0, 0.995)),
    ("longer-alpha-period, 1 to 100 us", ["dcqcn.dce_tcp_rtt=100us"], "incast,size=2MB", "mean_us",
     (1.02, math.inf)),
    ("lower-max-probability, 10 to 2 %", ["wred.probability=2%"], "permutation,size=4MB", "p99_us",
     ANY),
    ("raise-additive-increase, x4", ["dcqcn.rpg_ai_rate=20Mbps"], "incast,size=2MB", "mean_us",
     SAME),
    ("raise-additive-increase, x4", ["dcqcn.rpg_ai_rate=20Mbps"], "permutation,size=4MB", "mean_us",
     SAME),
    ("raise-hyper-increase, x10", ["dcqcn.rpg_hai_rate=500Mbps"], "incast,size=2MB", "mean_us",
     SAME),
    ("smaller-buffer-alpha, 1 to 1/8", ["buffers.alpha=1/8"], "incast,size=2MB", "mean_us", SAME),
]


def measured(weir, files, key, value, model):
    """Pauses and mean completion time of the peer's files, with one key changed."""
    with tempfile.TemporaryDirectory() as folder:
        config = (DATA / files / "config.txt").read_text(encoding="utf-8")
        if key:
            config, count = re.subn(rf"(?m)^{key} .*$", f"{key} {value}", config)
            assert count == 1, key
        Path(folder, "config.txt").write_text(config, encoding="utf-8")
        inputs = Path(folder, "inputs")
        inputs.mkdir()
        for name in re.findall(r"inputs/(\S+)", config):
            shutil.copy(DATA / "inputs" / name, inputs)
        done = subprocess.run([weir, "sim", "--hpcc", "config.txt", "--model", model, "--json"],
                              cwd=folder, capture_output=True, text=True, check=True)
    result = json.loads(done.stdout)
    assert result["flows"]["finished"] == result["flows"]["count"]
    return {"pauses": result["pfc"]["pauses"], "mean": result["flows"]["fct_us"]["mean"]}


def percent(ratio):
    return f"{100 * (ratio - 1):+.1f} %"


class Table:
    def __init__(self, is_printed):
        self.is_printed = is_printed
        self.failures = []

    def row(self, move, where, quantity, ratios, bounds):
        if self.is_printed:
            print(f"| {move} | {where} | {quantity} | {' | '.join(map(percent, ratios))} |",
                  flush=True)
        for ratio, (low, high) in zip(ratios, bounds):
            if not low <= ratio <= high:
                self.failures.append(f"{move}, {where}, {quantity}: {percent(ratio)} is not "
                                     f"within {percent(low)} and {percent(high)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("weir")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    weir = str(Path(options.weir).resolve())
    table = Table(options.table)
    known = {}

    def value(files, key, text, model, quantity):
        if (files, key, text, model) not in known:
            known[files, key, text, model] = measured(weir, files, key, text, model)
        return known[files, key, text, model][quantity]

    for move, files, key, text, quantity, peer, ours in BOTH:
        ratios = [value(files, key, text, model, quantity) / value(files, "", "", model, quantity)
                  for model in ("hpcc", "native")]
        table.row(move, files, quantity, ratios, (peer, ours))

    pod16 = subprocess.run([weir, "init", "--template", "pod16", "--output", "-"],
                           capture_output=True, text=True, check=True).stdout
    start = {}
    with worker.Worker(weir, pod16) as runs:
        for move, settings, load, quantity, bound in OURS:
            if load not in start:
                start[load] = runs.metrics([], load, range(1, 4))
            after = runs.metrics(settings, load, range(1, 4))
            ratio = math.exp(statistics.fmean(
                math.log(b[quantity] / a[quantity]) for a, b in zip(start[load], after)))
            table.row(move, "pod16 " + load, quantity, [ratio], [bound])
    for failure in table.failures:
        print("FAILED:", failure)
    print(f"{len(BOTH) + len(OURS)} moves, {len(table.failures)} against their sign")
    return 1 if table.failures else 0


if __name__ == "__main__":
    sys.exit(main())
