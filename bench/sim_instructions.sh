#!/usr/bin/env bash
# Instructions a packet hop, counted by callgrind: the same on every machine, unlike seconds.
# Set-up is not counted.
#
#   bench/sim_instructions.sh FOLDER [CASE [MODEL]]    FOLDER holds sim_run
set -euo pipefail

folder=$1
here=$(cd "$(dirname "$0")" && pwd)
cases=${2:-ls64_incast16_10MB ls64_perm_10MB}
models=${3:-hpcc native}
output=$(mktemp)
trap 'rm -f "$output"' EXIT

for case in $cases; do
  for model in $models; do
    hops=$(valgrind --tool=callgrind --callgrind-out-file="$output" --collect-atstart=no \
      '--toggle-collect=weir::bench::measured_run*' --log-file=/dev/null \
      "$folder/sim_run" "$here/data/$case.config.txt" "$model")
    instructions=$(sed -n 's/^\(summary\|totals\): //p' "$output" | head -n 1)
    printf '%s %s: %s hops, %s instructions, %s a hop\n' "$case" "$model" "$hops" "$instructions" \
      "$((instructions / hops))"
  done
done
