#!/usr/bin/env bash
# weir pcap and tshark on the same capture, the same per-flow tally, side by side.
#
#   bench/pcap_vs_tshark.sh FOLDER     FOLDER holds pcap_make and pcap_tally; `make bench` calls it
#
# tshark prints the fields of each packet and awk adds them up: its fastest way to this tally. It
# does not verify ICRCs; pcap_tally does, with everything else that weir pcap finds out.
set -euo pipefail

folder=$1
frames=${WEIR_BENCH_FRAMES:-1000000}
if ! command -v tshark >/dev/null; then
  echo "pcap: tshark is not installed, nothing to compare with (apt-get install tshark)"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$folder/pcap_make" "$work/bench.pcap" "$frames"
cat "$work/bench.pcap" >/dev/null # both find it in the page cache

# measure COMMAND…: wall and CPU seconds, its children's too
measure() {
  local TIMEFORMAT='%R %U %S'
  { time "$@" >"$work/out" 2>"$work/err"; } 2>&1 | awk '{ print $1, $2 + $3 }'
}
tshark_tally() {
  tshark -r "$work/bench.pcap" -n -T fields -e ip.src -e ip.dst -e infiniband.bth.destqp \
    -e ip.dsfield -e infiniband.bth.opcode -e infiniband.bth.psn -e infiniband.aeth.syndrome \
    -e infiniband.invariant.crc -e frame.len |
    awk -F'\t' '$5 != "" { n[$1 " " $2 " " $3]++; b[$1 " " $2 " " $3] += $9; t[$4]++ }
      END { for (f in n) print f, n[f], b[f] }'
}

for _ in 1 2 3; do measure "$folder/pcap_tally" "$work/bench.pcap"; done |
  sort -n | head -n 1 >"$work/ours"
sort "$work/out" >"$work/weir"
measure tshark_tally >"$work/theirs"
sort "$work/out" >"$work/tshark"
if ! cmp -s "$work/weir" "$work/tshark"; then
  echo "pcap: the tallies differ" >&2
  diff "$work/weir" "$work/tshark" | head -n 5 >&2
  exit 1
fi
echo "pcap: $frames packets, $(wc -l <"$work/weir") flows, tallies equal"
awk -v n="$frames" -v s="$(stat -c %s "$work/bench.pcap")" '
  NR == 1 {
    w = $1; c = $2
    printf "  weir    %7.2f s, %7.2f s of CPU: %.2f M packets/s, %.2f GB/s, ICRC verified\n",
      w, c, n / w / 1e6, s / w / 1e9
  }
  NR == 2 {
    printf "  tshark  %7.2f s, %7.2f s of CPU: %.2f M packets/s\n", $1, $2, n / $1 / 1e6
    printf "  ratio   %7.1f    %7.1f\n", $1 / w, $2 / c
  }' "$work/ours" "$work/theirs"
