#!/usr/bin/env bash
# Runs every benchmark of a build folder.
#
#   tools/bench.sh FOLDER     FOLDER holds *_bench; `make bench` builds it
set -euo pipefail

for bench in "$1"/*_bench; do
  [[ -x "$bench" ]] || continue
  "$bench" --benchmark_counters_tabular=true
done
