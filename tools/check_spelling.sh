#!/usr/bin/env bash
# codespell over what people read. Words it takes for mistakes and that are not: tools/spelling.txt.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
codespell --ignore-words tools/spelling.txt --skip '*/corpus/*,*/__pycache__/*,tests/data/*' \
  ./*.md .ci Makefile bench cmake designs docs packaging src tests tools
