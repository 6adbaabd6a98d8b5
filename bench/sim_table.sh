#!/usr/bin/env bash
# The simulator's table: instructions per hop (counted by callgrind, without the set-up: the
# same on every machine), events per hop, speed beside a std::multimap, set-up and memory, on the
# inputs of sim_inputs.tsv. Fails when one of them misses what it must reach or comes to another
# result; a ratio is a goal, and only marked.
#
#   bench/sim_table.sh FOLDER [INPUT...]    FOLDER holds sim_run
#
# COUNT_ALL=1 counts the instructions of every input, not only where they are limited.
set -euo pipefail

folder=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
repetitions=3  # of the runs whose speed counts
missed=0
table=$work/table

miss() {
  echo "MISSED: $*" >&2
  missed=1
}

# at_most WHAT VALUE LIMIT: a limit of "-" asks for nothing.
at_most() {
  [[ $3 == - ]] || awk -v value="$2" -v limit="$3" 'BEGIN { exit !(value <= limit) }' ||
    miss "$1: $2, at most $3"
}

# The input as sim_run wants it.
place() {
  case $1 in
    rails:*) echo "$1" ;;
    *) echo "$here/data/$1.config.txt" ;;
  esac
}

# The best of some runs: one line of sim_run, the multimap's rate from the same run.
best_run() {
  local runs=$repetitions
  [[ $1 != rails:* ]] || runs=1
  for ((i = 0; i < runs; ++i)); do
    "$folder/sim_run" "$(place "$1")" native
  done | sort -k 9,9 -g | head -n 1
}

# How many times as long one hop takes on the second input as on the first: the median of pairs of
# runs, one after the other, because the machine's speed changes from minute to minute.
growth_of() {
  for ((i = 0; i < 9; ++i)); do
    for input in "$1" "$2"; do
      "$folder/sim_run" "$(place "$input")" native --count
    done | awk '{ cost[NR] = $9 / $1 } END { printf "%.2f\n", cost[2] / cost[1] }'
  done | sort -g | sed -n 5p
}

# How many times as fast two threads are, by the clock: the median of pairs of runs. Says so where
# the threads come to another result.
speed_up_of() {
  local one two
  for ((i = 0; i < 5; ++i)); do
    one=$("$folder/sim_run" "$(place "$1")" native --count 1)
    two=$("$folder/sim_run" "$(place "$1")" native --count 2)
    printf '%s %s\n' "$one" "$two"
  done | awk '{ if ($4 != $17) { print "another result" } else printf "%.2f\n", $12 / $25 }' |
    sort -g | sed -n 3p
}

count_instructions() {
  valgrind --tool=callgrind --callgrind-out-file="$work/callgrind" --collect-atstart=no \
    '--toggle-collect=weir::bench::measured_run*' --log-file=/dev/null \
    "$folder/sim_run" "$(place "$1")" native --count >/dev/null
  sed -n 's/^\(summary\|totals\): //p' "$work/callgrind" | head -n 1
}

measure() {
  local input=$1 most=$2 events_most=$3 setup_most=$4 mb_most=$5 goal=$6 congested=$7 expected=$8
  local hops _data events digest marks cnps acks setup run mb multimap _wall
  read -r hops _data events digest marks cnps acks setup run mb multimap _wall \
    <<<"$(best_run "$input")"
  local instructions=-
  if [[ $most != - || -n ${COUNT_ALL:-} ]]; then
    instructions=$(($(count_instructions "$input") / hops))
    at_most "$input: instructions per hop" "$instructions" "$most"
  fi
  local each ratio speed
  each=$(awk -v e="$events" -v h="$hops" 'BEGIN { printf "%.2f", e / h }')
  speed=$(awk -v h="$hops" -v s="$run" 'BEGIN { printf "%.1f", h / s / 1e6 }')
  ratio=$(awk -v h="$hops" -v s="$run" -v m="$multimap" 'BEGIN { printf "%.1f", h / s / m }')
  at_most "$input: events per hop" "$each" "$events_most"
  at_most "$input: seconds of set-up" "$setup" "$setup_most"
  at_most "$input: MB" "$mb" "$mb_most"
  [[ $expected == - || $digest == "$expected" ]] || miss "$input: digest $digest, not $expected"
  ((acks > 0)) || miss "$input: no ACKs"
  [[ $congested == no ]] || ((marks > 0 && cnps > 0)) || miss "$input: $marks marks, $cnps CNPs"
  local wanted=$goal
  [[ $goal == - ]] ||
    wanted=$(awk -v r="$ratio" -v g="$goal" 'BEGIN { print (r >= g ? "met" : "below " g) }')
  printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$input" "$hops" "$instructions" "$each" \
    "$speed" "$ratio" "$wanted" "$setup" "$mb" "$digest" >>"$table"
}

printf '%s\n' "input hops instr/hop events/hop Mhops/s /multimap goal setup_s MB digest" |
  tr ' ' '\t' >"$table"
while IFS=$'\t' read -r -a row; do
  [[ ${row[0]} == \#* ]] && continue
  [[ $# -eq 0 || " $* " == *" ${row[0]} "* ]] && measure "${row[@]}"
done <"$here/sim_inputs.tsv"
column -t -s $'\t' "$table"

if [[ $# -eq 0 ]]; then
  growth=$(growth_of ls64_perm_1MB ls1024_perm_1MB)
  echo "a hop with 1,024 hosts takes $growth times as long as with 64"
  at_most "growth from 64 to 1,024 hosts" "$growth" 2
  for input in ls320_perm_10MB ls1024_perm_1MB; do
    times=$(speed_up_of "$input")
    # A goal only: it wants two cores that nobody else uses.
    echo "$input: two threads are $times times as fast as one (goal 1.8)"
    [[ $times != another* ]] || miss "$input: $times with two threads"
  done
fi
exit "$missed"
