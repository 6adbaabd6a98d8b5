#!/usr/bin/env bash
# Exact replay: what it saves where the run without it can be waited for, with both digests
# compared: training steps, steps of seven rails beside a congested one, and a flow in a steady
# state; and 1,000 training steps of 1,024 hosts with 8 NICs each. Fails when a digest differs, the
# savings are less than 200, 4 and 10 times, or the long run takes more than 60 s of CPU.
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

# simulated NAME: hops of its run that were, in per cent.
simulated() {
  python3 - "$1.json" <<'PYTHON'
import json
import sys

result = json.load(open(sys.argv[1]))
replay, hops = result["replay"], result["perf"]["hops"]
print(round(100 * (hops - replay["hops"] - replay["steady_hops"]) / hops, 1))
PYTHON
}

"$weir" init --quiet -t rail256 -o rail256.yaml
load="training,compute=1ms,size=16MB,qps=1,steps=20"
slow="slow-receiver,at=gpu03/1,rate=100G"
read -r rail_digest rail_cpu _ < <(
  run rails rail256.yaml --threads 1 --duration 10s -w "$load" --fault "$slow"
)
read -r plain_rail_digest plain_rail_cpu _ < <(
  run rails_plain rail256.yaml --threads 1 --duration 10s -w "$load" --fault "$slow" --no-replay
)
rail_ratio=$(awk -v a="$plain_rail_cpu" -v b="$rail_cpu" 'BEGIN { printf "%.1f", a / b }')
echo "8 rails, one congested, 20 steps: $plain_rail_cpu s, $rail_cpu s: $rail_ratio times"

read -r flow_digest _ < <(run flow pod16.yaml --duration 1s -w pair,size=1GB,qps=1)
read -r plain_flow_digest _ < <(
  run flow_plain pod16.yaml --duration 1s -w pair,size=1GB,qps=1 --no-replay
)
flow_share=$(simulated flow)
echo "a flow of 1 GB: $flow_share % of its hops simulated"

"$weir" init --quiet --system cumulus --model sn5600 --hosts 1024 --rails 8 -o rail8192.yaml
load="training,compute=5ms,size=4MB,qps=1,steps=1000"
# As text and on one core: every counter of 16,384 ports as JSON is a file of 2 GB, which takes
# longer to write than the run.
before=$(awk '{ print $16 + $17 }' "/proc/$$/stat")
"$weir" sim rail8192.yaml --duration 100s -w "$load" --threads 1 >long.txt
long=$(awk -v before="$before" '{ printf "%.1f", ($16 + $17 - before) / 100 }' "/proc/$$/stat")
long_last=$(tail -n 1 long.txt)
echo "1,024 hosts x 8 NICs, 1,000 steps of 4 MB per rail: $long s; $long_last"

missed=0
miss() {
  echo "MISSED: $*" >&2
  missed=1
}
[[ $digest == "$plain_digest" ]] || miss "another digest with replay"
[[ $rail_digest == "$plain_rail_digest" ]] || miss "another digest with replay of rails"
[[ $flow_digest == "$plain_flow_digest" ]] || miss "another digest with a steady state skipped"
awk -v ratio="$rail_ratio" 'BEGIN { exit !(ratio >= 4) }' ||
  miss "rails: $rail_ratio times, at least 4"
awk -v share="$flow_share" 'BEGIN { exit !(share <= 10) }' || miss "flow: $flow_share %, at most 10"
[[ $long_last == "999 of 1,000 steps replayed"* ]] || miss "the long run: $long_last"
awk -v ratio="$ratio" 'BEGIN { exit !(ratio >= 200) }' || miss "$ratio times, at least 200"
awk -v long="$long" 'BEGIN { exit !(long <= 60) }' || miss "$long s, at most 60"
exit "$missed"
