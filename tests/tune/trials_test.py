#!/usr/bin/env python3
"""What `weir tune` claims against the truth: many short tunings, 512 fresh seeds for each.

  trials_test.py WEIR [--count N] [--first SEED] [--table]

Two kinds of trials, N of each:
  null   knobs that do nothing for flows this short; a claim is false whatever the truth says
  drawn  a fabric, a load, an objective and three knobs, all drawn: what helps, what hurts, and what
         only shakes the result (p99 of mixed flows: 10 to 20 % from seed to seed)

A tuning has at most 200 runs. The truth of what it reports is the mean of the log ratios of the
objective over 512 seeds that no tuning uses. A gain is false where the tuning says "tuned" by its
objective and the truth is no gain. An interval covers where the truth, by its own standard error,
may be a value inside. Fails where more than 5 % of the gains are false or fewer than
90 % of the intervals cover; the binomial interval (Clopper and Pearson, 95 %) is printed. Ten of
each are a test; a hundred of each are the gate, see docs/tuning.md.
"""
import argparse
import json
import math
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import fabrics
import worker

TRUTH_SEEDS = range(9_000_000_001, 9_000_000_513)
OBJECTIVES = ("step-time", "p99", "throughput", "latency")

NULL_KNOBS = ["dcqcn.rpg_hai_rate", "dcqcn.rpg_threshold", "buffers.xon_offset", "buffers.alpha"]
NULL_LOADS = ["incast,size=1MB", "permutation,size=1MB",
              "flows,sizes=websearch,load=60%,duration=300us",
              "flows,sizes=hadoop,load=60%,duration=300us"]
ACTIVE = ["dcqcn.rpg_time_reset", "dcqcn.min_time_between_cnps", "dcqcn.rpg_min_dec_fac",
          "dcqcn.rate_reduce_monitor_period", "dcqcn.dce_tcp_rtt", "dcqcn.dce_tcp_g",
          "dcqcn.rpg_byte_reset", "dcqcn.rpg_ai_rate", "dcqcn.rpg_hai_rate", "dcqcn.rpg_threshold",
          "wred.min", "wred.max", "wred.probability", "buffers.alpha", "buffers.xon_offset"]


def objective_of(metrics, objective):
    if objective == "step-time":
        return metrics["step_us"] if metrics["step_us"] is not None else metrics["mean_us"]
    return metrics[{"p99": "slowdown_p99", "throughput": "duration_us",
                    "latency": "slowdown_mean"}[objective]]


def drawn_load(random_, hosts):
    kind = random_.choice(["incast", "incast", "flows", "flows", "all-to-all"])
    if kind == "incast":
        size = random_.choice([200, 500, 1000, 2000])
        return f"incast,senders={random_.randint(2, hosts - 1)},size={size}KB"
    if kind == "all-to-all":
        return f"all-to-all,size={random_.choice([128, 512])}KB"
    sizes = random_.choice(["websearch", "hadoop"])
    return f"flows,sizes={sizes},load={random_.choice([40, 60, 80])}%,duration=300us"


def trial_of(kind, seed):
    """Design, load, objective, knobs."""
    random_ = random.Random(f"{kind} {seed}")
    hosts = random_.randint(4, 8)
    if kind == "null":
        return (fabrics.star(hosts), random_.choice(NULL_LOADS), random_.choice(OBJECTIVES),
                random_.sample(NULL_KNOBS, 3))
    return (fabrics.star(hosts), drawn_load(random_, hosts), random_.choice(OBJECTIVES),
            random_.sample(ACTIVE, 3))


def tune(weir, folder, load, objective, knobs, seed):
    done = subprocess.run(
        [weir, "tune", "fabric.yaml", "-w", load, "--for", objective, "--knobs", ",".join(knobs),
         "--budget", "200runs", "--jobs", "1", "--seed", str(seed), "--json"],
        cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"weir tune: status {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def truth_of(weir, design, load, objective, settings):
    """Mean log ratio and its standard error."""
    with worker.Worker(weir, design) as runs:
        before = runs.metrics([], load, TRUTH_SEEDS)
        after = runs.metrics(settings, load, TRUTH_SEEDS)
    ratios = [math.log(objective_of(b, objective) / objective_of(a, objective))
              for a, b in zip(before, after) if a["finished"] and b["finished"]]
    return statistics.fmean(ratios), statistics.stdev(ratios) / math.sqrt(len(ratios))


def beta_quantile(p, a, b):
    """Of the beta distribution with whole a and b, by bisection of the binomial sum."""
    n = a + b - 1

    def below(x):
        return sum(math.comb(n, k) * x**k * (1 - x)**(n - k) for k in range(a, n + 1))
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < p else (low, middle)
    return low


def interval(count, trials):
    """Clopper and Pearson, two-sided, 95 %."""
    low = 0.0 if count == 0 else beta_quantile(0.025, count, trials - count + 1)
    high = 1.0 if count == trials else beta_quantile(0.975, count + 1, trials - count)
    return low, high


def percent(count, trials):
    if trials == 0:
        return "none"
    low, high = interval(count, trials)
    return (f"{count} of {trials} = {100 * count / trials:.1f} % "
            f"({100 * low:.1f} to {100 * high:.1f})")


class Tally:
    def __init__(self):
        self.verdicts = {}
        self.gains = self.false = self.intervals = self.covered = 0
        self.claimed = self.claimed_covered = 0

    def add(self, result, truth):
        verdict = result["verdict"]
        self.verdicts[verdict] = self.verdicts.get(verdict, 0) + 1
        if truth is None:
            return
        mean, error = truth
        is_claim = verdict == "tuned" and "paused beyond" not in result["reason"]
        self.gains += is_claim
        self.false += is_claim and mean >= 0
        # The truth is known to two of its standard errors.
        low, high = math.log1p(result["gain"]["low"]), math.log1p(result["gain"]["high"])
        covers = low - 1.96 * error <= mean <= high + 1.96 * error
        self.intervals += 1
        self.covered += covers
        self.claimed += is_claim
        self.claimed_covered += is_claim and covers


def run(weir, kind, seed, tally, table):
    design, load, objective, knobs = trial_of(kind, seed)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "fabric.yaml").write_text(design, encoding="utf-8")
        result = tune(weir, folder, load, objective, knobs, seed)
    assert result["runs"] <= 200, result["runs"]
    truth = None
    if result["gain"]["pairs"] >= 2:
        settings = [f"{c['knob']}={c['value']}" for c in result["proposed"]]
        truth = truth_of(weir, design, load, objective, settings)
    tally.add(result, truth)
    if table:
        claim = "" if truth is None else (
            f"{100 * result['gain']['mean']:+.2f} ({100 * result['gain']['low']:+.2f} to "
            f"{100 * result['gain']['high']:+.2f}) truth {100 * math.expm1(truth[0]):+.2f} "
            f"+-{100 * 1.96 * truth[1]:.2f}")
        print(kind, seed, load, objective, result["runs"], result["verdict"], claim, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("weir")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    weir = str(Path(options.weir).resolve())
    all_gains = all_false = intervals = covered = null_claims = 0
    for kind in ("null", "drawn"):
        tally = Tally()
        for seed in range(options.first, options.first + options.count):
            run(weir, kind, seed, tally, options.table)
        print(f"{kind}: {options.count} tunings, {tally.verdicts}; false gains "
              f"{percent(tally.false, options.count)} of tunings; intervals that cover the truth "
              f"{percent(tally.covered, tally.intervals)}, of claimed gains "
              f"{percent(tally.claimed_covered, tally.claimed)}", flush=True)
        if kind == "null":
            null_claims = tally.gains
        all_gains += options.count
        all_false += tally.false
        intervals += tally.intervals
        covered += tally.covered
    print(f"false gains: {percent(all_false, all_gains)}; coverage: {percent(covered, intervals)}; "
          f"claims on null knobs: {percent(null_claims, options.count)}")
    allowed = max(1, math.floor(0.05 * options.count))  # one in ten may be chance
    failed = (null_claims > allowed or all_false > max(1, math.floor(0.05 * all_gains))
              or covered < math.floor(0.9 * intervals))
    print("FAILED" if failed else "ok")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
