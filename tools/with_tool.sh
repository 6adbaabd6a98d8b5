#!/usr/bin/env bash
# Runs a check that needs an optional tool.
#
#   tools/with_tool.sh TOOL COMMAND…
#
# Without TOOL the check is skipped (exit 77, which CTest shows as "Skipped"), unless WEIR_REQUIRE,
# a list such as "clang-format,shellcheck", names it: then its absence is a failure. CI sets that
# list, so that a check cannot quietly stop running there.
set -euo pipefail

tool=$1
shift
if command -v "$tool" >/dev/null; then
  exec "$@"
fi
if [[ ",${WEIR_REQUIRE:-}," == *",$tool,"* ]]; then
  echo "FAILED: $tool is not installed and WEIR_REQUIRE names it" >&2
  exit 1
fi
echo "skipped: $tool is not installed (apt-get install $tool)"
exit 77
