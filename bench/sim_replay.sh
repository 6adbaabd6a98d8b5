#!/usr/bin/env bash
# Exact replay: what it saves where the run without it can be waited for, with both digests
# compared, and 1,000 training steps of 1,024 hosts with 8 NICs each. Fails when a digest differs,
# the saving is less than 200 times, or the long run takes more than 60 s of CPU.
#
#   bench/sim_replay.sh WEIR
set -euo pipefail

weir=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# run NAME ARGUMENT...: digest, CPU seconds of the process, peak memory in MB, steps replayed.
run() {
  local name=$1
  shift
  local self=$BASHPID before after  # in /proc: clock ticks of its children, 10 ms each
  before=$(awk '{ print $16 + $17 }' "/proc/$self/stat")
  "$weir" sim "$@" --json >"$name.json"
  after=$(awk '{ print $16 + $17 }' "/proc/$self/stat")
  python3 - "$name.json" "$(((after - before) * 10))" <<'PYTHON'
import json
import sys

result = json.load(open(sys.argv[1]))
print(result["digest"], int(sys.argv[2]) / 1000, result["perf"]["max_rss_bytes"] // 1000000,
      result["replay"]["steps"], result["finished"])
PYTHON
}

"$weir" init --quiet -t pod16 -o pod16.yaml
load="training,compute=1ms,size=16MB,qps=1,steps=1000"
read -r digest cpu _ steps _ < <(run with pod16.yaml --duration 10s -w "$load")
read -r plain_digest plain_cpu _ _ _ < <(
  run without pod16.yaml --duration 10s -w "$load" --no-replay
)
ratio=$(awk -v a="$plain_cpu" -v b="$cpu" 'BEGIN { printf "%.0f", a / b }')
echo "16 hosts, 1,000 steps of 16 MB: $plain_cpu s, $cpu s with $steps steps replayed: $ratio times"

"$weir" init --quiet -t rail256 -o rail256.yaml
sed -e 's/gpu\[01-32\]/gpu[0001-1024]/' -e 's/leaf\[0-7\]/leaf[000-127]/' \
  -e 's/spine\[1-8\]/spine[01-64]/' -e 's/wiring: rail,/wiring: rail, groups: 16,/' \
  -e 's/wiring: mesh, count: 4/wiring: mesh/' rail256.yaml >rail8192.yaml
load="training,compute=5ms,size=4MB,qps=1,steps=1000"
read -r _ long _ long_steps finished < <(run long rail8192.yaml --duration 100s -w "$load")
echo "1,024 hosts x 8 NICs, 1,000 steps of 4 MB per rail: $long s, $long_steps steps replayed"

missed=0
miss() {
  echo "MISSED: $*" >&2
  missed=1
}
[[ $digest == "$plain_digest" ]] || miss "another digest with replay"
[[ $finished == True ]] || miss "the long run did not finish"
awk -v ratio="$ratio" 'BEGIN { exit !(ratio >= 200) }' || miss "$ratio times, at least 200"
awk -v long="$long" 'BEGIN { exit !(long <= 60) }' || miss "$long s, at most 60"
exit "$missed"
