#!/usr/bin/env bash
# clang-format over every C++ file of ours.
#
#   tools/format.sh           rewrites
#   tools/format.sh --check   lists what would change and fails
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Releases of clang-format differ in details: 14, Debian 12's, is the one that counts.
formatter=$(command -v clang-format-14 || command -v clang-format)
mapfile -d '' files < <(find src tests bench -name '*.h' -print0 -o -name '*.cc' -print0)
if [[ "${1:-}" == --check ]]; then
  "$formatter" --dry-run --Werror "${files[@]}" || {
    echo "run 'make format'" >&2
    exit 1
  }
else
  "$formatter" -i "${files[@]}"
fi
