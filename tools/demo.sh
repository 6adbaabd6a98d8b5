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
# narrate WHAT-TO-LOOK-AT COMMAND-LINE
narrate() {
  step=$((step + 1))
  printf '\n== %d. %s\n$ %s\n\n' "$step" "$1" "$2"
}

# run_step EXPECTED-EXIT-STATUS WHAT-TO-LOOK-AT VERB…
run_step() {
  local expected=$1 status=0
  narrate "$2" "weir ${*:3}"
  "$weir" "${@:3}" 2>&1 || status=$?
  if [[ "$status" -ne "$expected" ]]; then
    echo "demo: weir ${*:3} ended with status $status, expected $expected" >&2
    exit 1
  fi
}

echo "Weir on a fabric of 16 hosts, in $folder"
run_step 0 "One file holds the intent of the whole fabric; it is yours to edit." \
  init --template pod16
run_step 0 "Lint: the mistakes of a design before anything is configured. None here." \
  lint
run_step 0 "The most common mistake of the field: 26 is a DSCP, 106 the TOS byte that carries it." \
  tos 26
run_step 0 "Buffer kept free for what is in flight when a pause is sent, term by term." \
  calc headroom --speed 100G --cable 30m --mtu 9216B
run_step 0 "The switches' buffer: what is headroom, what is shared, where PFC begins." \
  calc buffers
run_step 0 "Where marking begins, and the queue it leads to for 2 to 64 senders." \
  calc wred

narrate "Now make that mistake: the DSCP where the TOS byte belongs." \
  "printf 'marking:\n  traffic_class: 26\n' >>fabric.yaml"
printf 'marking:\n  traffic_class: 26\n' >>fabric.yaml
run_step 1 "Traffic would flow, badly, and nothing would say so. Lint says so, and what to type." \
  lint
narrate "Type it." "sed -i 's/traffic_class: 26/traffic_class: 106/' fabric.yaml"
sed -i 's/traffic_class: 26/traffic_class: 106/' fabric.yaml
run_step 0 "Sound again." \
  lint
printf '\nDone. Next: build/weir --help\n'
