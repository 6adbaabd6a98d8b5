#!/usr/bin/env bash
# Every shell script of ours passes shellcheck.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# Scripts that tests read as data are users' scripts.
mapfile -d '' scripts < <(find tools tests bench .ci -type f -name '*.sh' \
  -not -path 'tests/data/*' -not -path 'tests/fuzz/corpus/*' -not -path 'tests/golden/*' -print0)
shellcheck .ci/run "${scripts[@]}"
