#!/usr/bin/env bash
# Runs every benchmark of a build folder, then counts the simulator's instructions per packet hop
# and those of a snapshot against a shell script, times a capture against tshark, weighs exact
# replay and the approximation, and compares slowdowns with published ones.
#
#   tools/bench.sh FOLDER     FOLDER holds *_bench; `make bench` builds it
set -euo pipefail

for program in "$1"/*_bench; do
  [[ -x "$program" ]] || continue
  "$program" --benchmark_counters_tabular=true
done

folder=$1
bench=$(dirname "$0")/../bench
missed=()
# part NAME ARGUMENT...: one that misses what it must reach does not keep the others from running.
part() {
  "$bench/$1" "${@:2}" || missed+=("$1")
}
part sim_table.sh "$folder"
part snapshot_instructions.sh "$folder/../weir"
part pcap_vs_tshark.sh "$folder"
part sim_replay.sh "$folder/../weir"
part sim_websearch.py "$folder/../weir"
part sim_fast.sh "$folder/../weir"
if [[ ${#missed[@]} -gt 0 ]]; then
  echo "bench: missed in ${missed[*]}" >&2
  exit 1
fi
