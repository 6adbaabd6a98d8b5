#!/usr/bin/env bash
# Runs every benchmark of a build folder, then counts the simulator's instructions a packet hop and
# those of a snapshot beside the shell's, and reads a capture side by side with tshark.
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
