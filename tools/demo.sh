#!/usr/bin/env bash
# A tour of what Weir does today, on a fabric of 16 hosts, 2 leaves and 1 spine: `make demo`.
#
#   tools/demo.sh PATH/TO/weir
#
# Works in a temporary folder, touches nothing else, stops at the first step that goes wrong.
set -euo pipefail
weir=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

step=0
# run_step WHAT-TO-LOOK-AT COMMAND…: prints both, then what the command says.
run_step() {
  step=$((step + 1))
  printf '\n%d. %s\n   $ weir %s\n\n' "$step" "$1" "${*:2}"
  "$weir" "${@:2}" | sed 's/^/   /'
}

echo "Weir demo, in $folder"
run_step "A design file, commented: one file holds the intent of the whole fabric." \
  init --template pod16
run_step "Lint: what is wrong with it before anything is configured. Nothing, here." \
  lint
run_step "The most common mistake of the field: 26 is a DSCP, 106 the TOS byte that carries it." \
  tos 26
run_step "Buffer that must stay free for what is in flight when a pause is sent, term by term." \
  calc headroom --speed 100G --cable 30m --mtu 9216B
run_step "A leaf's buffer: what is reserved, what is headroom, what remains to share." \
  calc buffers
run_step "Where marking starts, and the queue it leads to for 2 to 64 senders." \
  calc wred

cp fabric.yaml good.yaml
# The two numbers of the most common mistake, swapped in the file.
sed 's/\bdscp: 26\b/dscp: 106/' good.yaml >fabric.yaml
if cmp -s good.yaml fabric.yaml; then
  echo "demo: the template has no 'dscp: 26' to break" >&2
  exit 1
fi
step=$((step + 1))
printf '\n%d. %s\n   $ weir %s\n\n' "$step" \
  "The same file with a TOS byte where the DSCP belongs: lint refuses, and says what to type." \
  "lint"
status=0
"$weir" lint >report.txt 2>&1 || status=$?
sed 's/^/   /' report.txt
if [[ "$status" -eq 0 ]]; then
  echo "demo: lint let a broken design pass" >&2
  exit 1
fi
printf '\nDone. Next: build/weir --help\n'
