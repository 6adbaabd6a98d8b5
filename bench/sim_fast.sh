#!/usr/bin/env bash
# weir sim --fast: what the approximation saves, and how far it is off, against the run in full:
# WebSearch on a fat tree of 320 hosts and a 64 MB all-to-all of 256 NICs. Both are made in turn, so
# that other work on the machine slows both alike. Fails when a completion time lies outside its
# printed bound, the error is above 1 % (mean) or 3 % (p99), or the saving is less than 20 times.
#
#   bench/sim_fast.sh WEIR [RUNS]     RUNS seeds of each (default: 1)
set -euo pipefail

weir=$(realpath "$1")
runs=${2:-1}
inputs=$(realpath "$(dirname "$0")/data")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# cpu_of NAME ARGUMENT...: CPU milliseconds of weir sim; its output is NAME.json.
cpu_of() {
  local name=$1
  shift
  local self=$BASHPID before after  # in /proc: clock ticks of its children, 10 ms each
  before=$(awk '{ print $16 + $17 }' "/proc/$self/stat")
  "$weir" sim "$@" --json >"$name.json"
  after=$(awk '{ print $16 + $17 }' "/proc/$self/stat")
  echo $(((after - before) * 10))
}

# compare NAME ARGUMENT...: all seeds of one input, in full and by approximation.
compare() {
  local name=$1
  shift
  : >"$name.tsv"
  for ((seed = 1; seed <= runs; ++seed)); do
    fast=$(cpu_of fast "$@" --seed "$seed" --fast)
    full=$(cpu_of full "$@" --seed "$seed" --threads 1)
    python3 - "$seed" "$fast" "$full" >>"$name.tsv" <<'PYTHON'
import json
import sys

seed, fast_ms, full_ms = (int(word) for word in sys.argv[1:])
fast, full = json.load(open("fast.json")), json.load(open("full.json"))
row = [seed, fast_ms, full_ms, full_ms / fast_ms]
for what in ("mean", "p99"):
    guess, truth = fast["flows"]["fct"][what], full["flows"]["fct_us"][what]
    row += [guess["us"] / truth - 1, guess["bound"], abs(truth / guess["us"] - 1) <= guess["bound"]]
print(*row, sep="\t")
PYTHON
  done
  python3 - "$name" <<'PYTHON'
import sys

name = sys.argv[1]
rows = [line.split("\t") for line in open(name + ".tsv").read().splitlines()]
times = sum(float(row[2]) for row in rows) / sum(float(row[1]) for row in rows)
missed = [] if times >= 20 else [f"{times:.1f} times, at least 20"]
print(f"{name}: {times:.1f} times over {len(rows)} runs")
for what, at, most in (("mean", 4, 0.01), ("p99", 7, 0.03)):
    errors = [float(row[at]) for row in rows]
    inside = sum(row[at + 2] == "True" for row in rows)
    worst = max(errors, key=abs)
    bounds = [float(row[at + 1]) for row in rows]
    print(f"  {what}: error {100 * worst:+.2f} % at most, bound {100 * min(bounds):.1f} to "
          f"{100 * max(bounds):.1f} %, {inside} of {len(rows)} inside")
    if abs(worst) > most:
        missed.append(f"{what} off by {100 * worst:+.2f} %, at most {100 * most:.0f}")
    if inside < 0.9 * len(rows):
        missed.append(f"{what}: {inside} of {len(rows)} inside the bound")
for what in missed:
    print(f"MISSED: {name}: {what}", file=sys.stderr)
sys.exit(bool(missed))
PYTHON
}

failed=0
"$weir" init --quiet -t rail256 -o rail256.yaml
compare "64 MB all-to-all of 256 NICs" rail256.yaml -w all-to-all,size=64MB || failed=1
compare "WebSearch on 320 hosts" "$inputs/fat320.yaml" --duration 400ms \
  -w flows,load=30%,duration=200ms || failed=1
exit "$failed"
