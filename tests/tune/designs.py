#!/usr/bin/env python3
"""Designs that are no template, tuned, and what the HPCC simulator's semantics say to the result.

  designs.py WEIR [NAME…]     prints a row of docs/tuning.md for each of tests/tune/designs

Only knobs that the other simulator has are turned, so that all of a gain is checked. Not a test: a
design takes minutes.
"""
import json
import resource
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent / "designs"
KNOBS = ("dcqcn.rpg_time_reset,dcqcn.rate_reduce_monitor_period,dcqcn.dce_tcp_rtt,dcqcn.dce_tcp_g,"
         "dcqcn.rpg_ai_rate,dcqcn.rpg_hai_rate,wred.*")
LOADS = {
    "rack12-200g": ["incast,size=4MB", "permutation,size=4MB", "flows,sizes=websearch,load=50%"],
    "leafspine24-100g": ["incast,senders=16,size=2MB", "permutation,size=4MB",
                         "flows,sizes=hadoop,load=50%"],
    "rails8-400g": ["incast,size=8MB", "all-to-all,size=1MB"],
    "oversubscribed16-100g": ["permutation,size=4MB", "flows,sizes=websearch,load=40%"],
    "rack10-400g": ["incast,senders=6,size=10MB", "flows,sizes=websearch,load=60%"],
}


def percent(change):
    low, high = 100 * change["low"], 100 * change["high"]
    return f"{100 * change['mean']:+.1f} % ({low:+.1f} to {high:+.1f})"


def main():
    weir, names = sys.argv[1], sys.argv[2:] or list(LOADS)
    for name in names:
        loads = [word for load in LOADS[name] for word in ("-w", load)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([weir, "tune", str(HERE / f"{name}.yaml"), *loads, "--knobs", KNOBS,
                               "--budget", "3000runs", "--json"], check=True, capture_output=True,
                              text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime - before.ru_utime
        result = json.loads(done.stdout)
        changes = ", ".join(f"`{row['knob']}` {row['from']} to {row['to']}"
                            for row in result["bought"]) or "none"
        gain = percent(result["gain"]) if result["chosen"] else result["verdict"]
        print(f"| {name} | {changes} | {gain} | {result['runs']} runs, {cpu:.0f} CPU s |")
        for row in result["peer"]["workloads"]:
            ratio = f"{row['ratio']:.2f}" if row["ratio"] is not None else "-"
            print(f"|  | {row['workload']} | ours {percent(row['ours'])}, "
                  f"HPCC {percent(row['peer'])} | ratio {ratio}, "
                  f"{'agrees' if row['agrees'] else 'does not agree'} |", flush=True)
        if not result["peer"]["was_run"]:
            print(f"|  | {result['reason']} | {result['peer']['why_not']} | |", flush=True)


if __name__ == "__main__":
    main()
