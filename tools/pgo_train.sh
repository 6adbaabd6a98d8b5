#!/usr/bin/env bash
# What the compiler learns from for `make release-pgo`: incast, collectives and a mix of sizes on
# fabrics of two and three speeds, with marks, pauses, CNPs and loss among them. Prints the digest
# of each run, so that the binary before and the one after can be compared.
#
#   tools/pgo_train.sh WEIR
set -euo pipefail

weir=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

run() {
  "$weir" sim "$@" | sed -n 's/.*seed \([0-9]*\), digest \([0-9a-f]*\)$/\2/p'
}

for template in pod16 rail256; do
  "$weir" init --quiet -t "$template" -o "$template.yaml" >/dev/null
done
run pod16.yaml -w incast,to=gpu01,size=4MB
run pod16.yaml -w all-to-all,size=2MB --seed 2
run pod16.yaml -w permutation,size=8MB --seed 3
run pod16.yaml -w incast,to=gpu01,size=2MB -f slow-receiver,at=gpu01,rate=40G --seed 4
run pod16.yaml -w all-reduce,size=8MB -f degraded-link,at=gpu02,ber=1e-8 --seed 5
run rail256.yaml -w permutation,size=100KB --seed 6
