#!/usr/bin/env bash
# codespell over what people read. Words it takes
# for mistakes and that are not: tools/spelling.txt.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
skip='*/corpus/*,*/__pycache__/*,tests/data/*'
codespell --ignore-words tools/spelling.txt --skip "$skip" \
  ./*.md .ci Makefile bench cmake designs docs packaging src tests tools
