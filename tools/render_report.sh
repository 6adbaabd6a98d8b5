#!/usr/bin/env bash
# Pictures of an HTML report, with a headless chromium: the screen as one PNG, the print as one PNG
# a sheet.
#
#   tools/render_report.sh REPORT.html PREFIX     writes PREFIX-screen.png, PREFIX-print-1.png, …
#
# Not part of the tests: a person looks at the pictures.
set -euo pipefail

die() {
  echo "weir: $*" >&2
  exit 1
}

[[ $# == 2 ]] || die "usage: tools/render_report.sh REPORT.html PREFIX"
report=$(realpath "$1")
prefix=$2
browser=$(command -v chromium || command -v google-chrome) ||
  die "no chromium: apt-get install chromium"
command -v pdftoppm >/dev/null || die "no pdftoppm: apt-get install poppler-utils"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A browser of its own that knows nothing and asks nobody. Its chatter is shown only when it fails.
browse() {
  "$browser" --headless --no-sandbox --disable-gpu --disable-extensions --no-first-run \
    --user-data-dir="$work/profile" --hide-scrollbars "$@" "file://$report" >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    die "the browser failed"
  }
}

browse --print-to-pdf="$work/print.pdf" --no-pdf-header-footer
rm -f "$prefix"-print-*.png
pdftoppm -r 96 -png "$work/print.pdf" "$prefix-print"

# A screenshot is as high as its window. The page on screen is about 1.35 times the print, which
# leaves the last sheet part empty: a little grey at the end is better than a cut.
sheets=$(find "$(dirname "$prefix")" -maxdepth 1 -name "$(basename "$prefix")-print-*.png" | wc -l)
browse --window-size="880,$((1150 * sheets))" --screenshot="$prefix-screen.png"
