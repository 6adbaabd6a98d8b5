#!/usr/bin/env python3
"""Weir's model `hpcc` against the HPCC ns-3 simulator, flow by flow.

  tools/compare_hpcc.py --weir build/weir --stored tests/data/sim/hpcc
      the runs whose results of the other simulator are kept there
  tools/compare_hpcc.py --weir build/weir --peer DIR [--runs 20] [--seed 1] [--keep DIR]
      inputs drawn from the seed, run by both. DIR is a built tree of
      github.com/alibaba-edu/High-Precision-Congestion-Control (commit 9f4be2a), the folder
      `simulation` with build/scratch/third in it.

One line per run: flows, those with the same completion time to the nanosecond, and the mean and
largest difference; below it each flow that differs. How to build the other simulator:
docs/peers.md. Exit status 1: some flow differs; 2: a run could not be made.
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

CONFIG = """ENABLE_QCN 1
USE_DYNAMIC_PFC_THRESHOLD 1
PACKET_PAYLOAD_SIZE 1000
TOPOLOGY_FILE topology.txt
FLOW_FILE flow.txt
TRACE_FILE trace.txt
TRACE_OUTPUT_FILE mix.tr
FCT_OUTPUT_FILE fct.txt
PFC_OUTPUT_FILE pfc.txt
SIMULATOR_STOP_TIME 4.0
CC_MODE 1
ALPHA_RESUME_INTERVAL 1
RATE_DECREASE_INTERVAL 4
CLAMP_TARGET_RATE 0
RP_TIMER {timer}
EWMA_GAIN 0.00390625
FAST_RECOVERY_TIMES 1
RATE_AI 20Mb/s
RATE_HAI 200Mb/s
MIN_RATE 1000Mb/s
DCTCP_RATE_AI 1000Mb/s
ERROR_RATE_PER_LINK 0.0000
L2_CHUNK_SIZE 4000
L2_ACK_INTERVAL 1
L2_BACK_TO_ZERO 0
HAS_WIN 0
GLOBAL_T 1
VAR_WIN 0
FAST_REACT 0
U_TARGET 0.95
MI_THRESH 0
INT_MULTI 1
MULTI_RATE 0
SAMPLE_FEEDBACK 0
PINT_LOG_BASE 1.05
PINT_PROB 1.0
RATE_BOUND 1
ACK_HIGH_PRIO 1
LINK_DOWN 0 0 0
ENABLE_TRACE 0
KMAX_MAP 2 100000000000 {kmax} 400000000000 {kmax4}
KMIN_MAP 2 100000000000 {kmin} 400000000000 {kmin4}
PMAX_MAP 2 100000000000 0.2 400000000000 0.2
BUFFER_SIZE {buffer}
QLEN_MON_FILE qlen.txt
QLEN_MON_START 2000000000
QLEN_MON_END 2000000000
"""


def draw_topology(rng):
    """A leaf-spine fabric: (text, hosts)."""
    leaves, per_leaf, spines = rng.choice([2, 4, 8]), rng.choice([4, 8]), rng.choice([2, 4])
    uplink = rng.choice(["100Gbps", "400Gbps"])
    hosts = leaves * per_leaf
    lines = []
    for host in range(hosts):
        lines.append(f"{host} {hosts + host // per_leaf} 100Gbps 1000ns 0")
    for leaf in range(leaves):
        for spine in range(spines):
            lines.append(f"{hosts + leaf} {hosts + leaves + spine} {uplink} 1000ns 0")
    switches = " ".join(str(hosts + i) for i in range(leaves + spines))
    head = f"{hosts + leaves + spines} {leaves + spines} {len(lines)}"
    return "\n".join([head, switches, *lines]) + "\n", hosts


def draw_flows(rng, hosts):
    """Flows of many sizes that begin within half a millisecond."""
    flows = []
    for _ in range(rng.randint(20, 200)):
        source, target = rng.sample(range(hosts), 2)
        size = int(10 ** rng.uniform(2, 6.5))
        start = 2.0 + rng.randint(0, 500_000) * 1e-9
        flows.append((start, f"{source} {target} 3 100 {size} {start:.9f}"))
    flows.sort()
    return "\n".join([str(len(flows)), *(text for _, text in flows)]) + "\n"


def draw_run(folder, rng):
    topology, hosts = draw_topology(rng)
    kmin = rng.choice([100, 400])
    (folder / "topology.txt").write_text(topology)
    (folder / "flow.txt").write_text(draw_flows(rng, hosts))
    (folder / "trace.txt").write_text("0\n")
    (folder / "config.txt").write_text(CONFIG.format(
        timer=rng.choice([55, 300]), kmin=kmin, kmax=4 * kmin, kmin4=4 * kmin, kmax4=16 * kmin,
        buffer=rng.choice([2, 32])))


class CannotRun(Exception):
    """One of the simulators did not run; the text says how."""


def run_simulator(name, command, **where):
    """Its words are shown only where it fails."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=False, **where)
    except OSError as error:
        raise CannotRun(f"{name}: {command[0]}: {error.strerror}") from error
    if done.returncode != 0:
        last = done.stdout.decode("utf-8", "replace").strip().splitlines()[-5:]
        raise CannotRun("\n".join([f"{name} ended with {done.returncode}:", *last]))


def read_fct(path):
    """(source, target, source port, target port) -> (size, start, completion in ns)."""
    out = {}
    try:
        text = path.read_text()
    except OSError as error:
        raise CannotRun(f"{path}: {error.strerror}") from error
    for line in text.splitlines():
        words = line.split()
        out[tuple(words[:4])] = tuple(int(word) for word in words[4:7])
    return out


def node_of(address):
    """The node id is in the middle of the address, 0x0b000401: node 4."""
    return int(address, 16) >> 8 & 0xFFFF


def difference(theirs, ours):
    """One flow in words: what each of the two says."""
    if theirs is None or ours is None:
        missing = "the other simulator" if theirs is None else "weir"
        return f"not finished in {missing}"
    if theirs[:2] != ours[:2]:
        return f"size and start {theirs[:2]}, weir {ours[:2]}"
    off = ours[2] - theirs[2]
    return f"{theirs[2]} ns, weir {ours[2]} ns ({off:+} ns, {off / theirs[2]:+.4%})"


def compare(name, theirs, ours, most):
    """Prints a line, and one for each of the first flows that differ; whether all are equal."""
    common = [key for key in theirs if key in ours]
    same = sum(1 for key in common if theirs[key] == ours[key])
    off = [abs(ours[key][2] - theirs[key][2]) / theirs[key][2] for key in common]
    mean = sum(ours[key][2] for key in common) / max(sum(theirs[key][2] for key in common), 1) - 1
    print(f"{name:34} {len(theirs):6} flows  {same:6} identical  mean {mean:+.4%}  "
          f"largest {max(off, default=0):.4%}")
    different = [key for key in sorted({*theirs, *ours}) if theirs.get(key) != ours.get(key)]
    for key in different[:most]:
        print(f"  {node_of(key[0])} -> {node_of(key[1])} port {key[2]}: "
              f"{difference(theirs.get(key), ours.get(key))}")
    if len(different) > most:
        print(f"  and {len(different) - most} more")
    return not different


def run_weir(weir, config, folder):
    run_simulator("weir", [weir, "sim", "--hpcc", str(config), "--out", str(folder), "--quiet"])
    return read_fct(Path(folder) / "fct.txt")


def stored_runs(args):
    good = True
    for folder in sorted(Path(args.stored).iterdir()):
        if not (folder / "config.txt").is_file() or not (folder / "fct.txt").is_file():
            continue
        with tempfile.TemporaryDirectory() as out:
            ours = run_weir(args.weir, folder / "config.txt", out)
        good = compare(folder.name, read_fct(folder / "fct.txt"), ours, args.most) and good
    return good


def drawn_runs(args):
    good = True
    peer = Path(args.peer).resolve()
    environment = dict(os.environ, LD_LIBRARY_PATH=str(peer / "build"))
    for number in range(args.runs):
        seed = args.seed + number
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(args.keep, f"run{seed}") if args.keep else Path(scratch)
            folder.mkdir(parents=True, exist_ok=True)
            draw_run(folder, random.Random(seed))
            (folder / "fct.txt").unlink(missing_ok=True)
            run_simulator("the other simulator", [str(peer / "build/scratch/third"), "config.txt"],
                          cwd=folder, env=environment)
            theirs = read_fct(folder / "fct.txt")
            ours = run_weir(args.weir, folder / "config.txt", folder / "weir")
            good = compare(f"seed {seed}", theirs, ours, args.most) and good
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weir", default="build/weir")
    parser.add_argument("--stored", help="folder of runs with the other simulator's results")
    parser.add_argument("--peer", help="built tree of the other simulator")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="folder for inputs and results")
    parser.add_argument("--most", type=int, default=20, help="flows of a run that are shown (20)")
    args = parser.parse_args()
    if bool(args.stored) == bool(args.peer):
        parser.error("give --stored or --peer")
    try:
        return 0 if (stored_runs if args.stored else drawn_runs)(args) else 1
    except CannotRun as error:
        print(f"compare_hpcc: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
