#!/usr/bin/env bash
# Runs every benchmark of a build folder, then counts the simulator's instructions per packet hop
# and those of a snapshot against a shell script, times a capture against tshark, weighs exact
# replay and the approximation, and compares slowdowns with published ones.
#
#   tools/bench.sh FOLDER     FOLDER holds *_bench; `make bench` builds it
set -euo pipefail

for bench in "$1"/*_bench; do
  [[ -x "$bench" ]] || continue
  "$bench" --benchmark_counters_tabular=true
done

"$(dirname "$0")/../bench/sim_table.sh" "$1"
"$(dirname "$0")/../bench/snapshot_instructions.sh" "$1/../weir"
"$(dirname "$0")/../bench/pcap_vs_tshark.sh" "$1"
"$(dirname "$0")/../bench/sim_replay.sh" "$1/../weir"
"$(dirname "$0")/../bench/sim_websearch.py" "$1/../weir"
"$(dirname "$0")/../bench/sim_fast.sh" "$1/../weir"
