#!/usr/bin/env bash
# How the work of the verbs grows with the fabric: eight times the hosts may take ten times the
# instructions.
#
#   bench/fabric_growth.sh WEIR [SMALL [FACTOR]]
#
# Instructions are counted by callgrind, without the kernel, on fabrics of SMALL (16) and
# FACTOR (8) times as many hosts of 8 NICs, less those of `weir explain`, which any start takes.
# With SMALL 128 it is the table of docs/performance.md, and takes an hour.
set -euo pipefail

weir=$(realpath "$1")
small=${2:-16}
factor=${3:-8}
most=$((factor * 10 / 8))
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Instructions of weir with these words; its exit status may say that there are findings.
instructions() {
  valgrind --tool=callgrind --callgrind-out-file="$work/count" --log-file=/dev/null \
    "$weir" "$@" >"$work/out" 2>&1 || [[ $? -le 5 ]] || { cat "$work/out" >&2; exit 1; }
  awk '/^totals: / { printf "%d", $2 }' "$work/count"
}

# Every verb without a load, in an order in which each has what it needs.
verbs=(
  "lint fabric.yaml" "prove fabric.yaml --failures 1" "render fabric.yaml --out configs"
  "lab up fabric.yaml --dir lab" "show --lab lab" "show --lab lab --json" "check --lab lab"
  "check --lab lab --json" "plan --lab lab" "validate --lab lab" "validate --lab lab --json"
  "snapshot --lab lab --out before.json" "apply --lab lab --yes" "diff before.json --lab lab"
  "snapshot --lab lab --out after.json" "diff before.json after.json" "diagnose --lab lab"
  "diagnose after.json" "preflight --lab lab --until 0" "top --lab lab --once --interval 100ms"
  "serve --lab lab --textfile weir.prom" "report --lab lab -o report.html"
  "rollback --lab lab --yes"
)

measure() { # hosts -> a line per verb
  mkdir "$work/$1" && cd "$work/$1"
  "$weir" init --system sonic --model sn5600 --hosts "$1" --rails 8 --speed 400G >/dev/null
  for words in "${verbs[@]}"; do
    # shellcheck disable=SC2086 # words
    instructions $words
    echo
  done
}

start=$(instructions explain np_cnp_sent)
mapfile -t few < <(measure "$small")
mapfile -t many < <(measure $((small * factor)))
failed=0
printf '%-46s %12s %12s %6s\n' "verb" "$small hosts" "$((small * factor)) hosts" "times"
for i in "${!verbs[@]}"; do
  before=$((few[i] - start)) after=$((many[i] - start))
  times=$((after * 10 / before))
  printf '%-46s %10d k %10d k %4d.%d\n' "${verbs[i]}" $((before / 1000)) $((after / 1000)) \
    $((times / 10)) $((times % 10))
  if [[ $times -gt $((most * 10)) ]]; then failed=1; fi
done
[[ $failed -eq 0 ]] || { echo "a verb grows faster than $most times" >&2; exit 1; }
