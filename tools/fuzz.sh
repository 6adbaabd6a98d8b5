#!/usr/bin/env bash
# Runs the libFuzzer targets, SECONDS each, and fails on the first crash.
#
#   tools/fuzz.sh FOLDER SECONDS [NAME…]     FOLDER holds fuzz_NAME; `make fuzz` builds it
#
# Starts from tests/fuzz/corpus/NAME; what it finds beyond that stays in FOLDER/found/NAME and is
# not committed, but for a crash: that file belongs in the corpus, which every `make test` replays.
set -euo pipefail
folder=$(realpath "$1")
seconds=$2
shift 2
cd "$(dirname "${BASH_SOURCE[0]}")/.."

names=("$@")
if [[ ${#names[@]} -eq 0 ]]; then
  for target in "$folder"/fuzz_*; do
    [[ -x "$target" && -f "$target" ]] && names+=("$(basename "${target#"$folder"/fuzz_}")")
  done
fi

for name in "${names[@]}"; do
  mkdir -p "$folder/found/$name" "$folder/crashes/$name"
  echo "fuzz $name: $seconds s"
  log="$folder/$name.log"
  seeds=("tests/fuzz/corpus/$name")
  options=()
  [[ "$name" != design ]] || seeds+=(designs)
  [[ ! -f "tests/fuzz/$name.dict" ]] || options+=("-dict=tests/fuzz/$name.dict")
  if ! "$folder/fuzz_$name" -max_total_time="$seconds" -timeout=60 -print_final_stats=1 \
    -artifact_prefix="$folder/crashes/$name/" "${options[@]}" "$folder/found/$name" "${seeds[@]}" \
    >"$log" 2>&1; then
    tail -n 40 "$log"
    echo "fuzz $name: CRASHED. Copy the file named above to tests/fuzz/corpus/$name/; fix it." >&2
    exit 1
  fi
  grep -E '^stat::number_of_executed_units' "$log" | sed "s/^stat::/fuzz $name: /"
done
