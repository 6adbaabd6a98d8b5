#!/usr/bin/env bash
# Every shell script of ours passes shellcheck.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mapfile -d '' scripts < <(find tools tests .ci -type f -name '*.sh' -print0)
shellcheck .ci/run "${scripts[@]}"
