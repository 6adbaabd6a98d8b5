#!/usr/bin/env bash
# `weir snapshot` of eight NICs beside the loop of cp that people paste into a shell, on the same
# files: instructions of each, with those of every process it starts, counted by valgrind.
#
#   bench/snapshot_instructions.sh WEIR
#
# The sysfs part: hw_counters and counters of each port, which is all the shell reads; weir also
# asks netlink, and writes one file for all. It has to need 50 times less. Kernel not counted.
set -euo pipefail

weir=$1
nics=8
least=50
export WEIR_LOOK_BUDGET=1000s # valgrind is slow, and weir would stop looking
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A tree of eight functions of one card, as real files and links, from the captured tree of one.
make_tree() {
  local kind path content lines=$work/lines
  awk -F '\t' -v nics="$nics" '
    $1 !~ /^(file|link|dir)$/ { next }
    !/mlx5_0|eth2|0000:18:00\.0/ { print; next }
    { for (n = 0; n < nics; ++n) {
        line = $0
        gsub(/mlx5_0/, "mlx5_" n, line); gsub(/eth2/, "eth" 2 + n, line)
        gsub(/0000:18:00\.0/, "0000:18:00." n, line)
        print line } }' "$here/../tests/data/host/mlx5-ofed/tree.tsv" | sort -u >"$lines"
  cut -f 2 "$lines" | sed "s|^|$work/tree|; s|/[^/]*$||" | sort -u | xargs mkdir -p
  while IFS=$'\t' read -r kind path content; do
    case $kind in
      file) printf '%b' "$content" >"$work/tree$path" ;;
      link) ln -s "$content" "$work/tree$path" ;;
      dir) mkdir -p "$work/tree$path" ;;
    esac
  done <"$lines"
}

# The usual snippet: a copy of every counter of one port.
write_loop() {
  cat >"$work/loop.sh" <<'LOOP'
DEV=$1
PORT=1
PRE_DIR=$2/$DEV
mkdir -p "$PRE_DIR"
for f in /sys/class/infiniband/$DEV/ports/$PORT/hw_counters/*; do
  cp "$f" "$PRE_DIR/$(basename $f).pre"
done
for f in /sys/class/infiniband/$DEV/ports/$PORT/counters/*; do
  cp "$f" "$PRE_DIR/$(basename $f).pre"
done
LOOP
}

# A command that sees the tree as its /sys.
with_tree() {
  # shellcheck disable=SC2016 # the inner shell's
  unshare --map-root-user --mount bash -c 'mount --bind "$0" /sys && exec "$@"' \
    "$work/tree/sys" "$@"
}

# Instructions of a command and of all its children.
instructions() {
  rm -f "$work"/count.*
  with_tree valgrind --tool=callgrind --trace-children=yes \
    --callgrind-out-file="$work/count.%p" --log-file=/dev/null "$@" >/dev/null
  awk '/^totals: / { sum += $2 } END { printf "%d", sum }' "$work"/count.*
}

make_tree
if ! with_tree true 2>/dev/null; then
  echo "snapshot of $nics NICs: not measured, as a mount namespace is not permitted here"
  exit 0
fi
write_loop
start=$(instructions "$weir" --version)
ours=$(instructions "$weir" snapshot --counters --out "$work/snapshot.json")
grep -q "[1-9][0-9]* counters on $nics NICs" "$work/snapshot.json" ||
  { echo "weir did not read $nics NICs" >&2; exit 1; }
one=$(instructions bash "$work/loop.sh" mlx5_0 "$work/copies")
files=$(find "$work/copies/mlx5_0" -type f | wc -l)
shell=$((one * nics))
echo "snapshot of $nics NICs, $files sysfs counters each: weir $((ours / 1000)) k instructions" \
  "($((start / 1000)) k of them until any verb starts, most by the dynamic linker)," \
  "shell $((shell / 1000)) k ($nics times one NIC's), $((shell / ours)) times as many"
[[ $((shell / ours)) -ge $least ]] ||
  { echo "weir snapshot must need $least times less than the shell" >&2; exit 1; }
