#!/usr/bin/env bash
# Two builds of one tree in two folders give one binary, byte for byte.
#
#   tools/check_reproducible.sh [TARGET…]     default: weir
#
# Copies the tracked files to two folders of different length below a temporary one, builds both
# with the release preset, and compares. Takes as long as two builds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
targets=("$@")
[[ ${#targets[@]} -gt 0 ]] || targets=(weir)
base=$(mktemp -d)
trap 'rm -rf "$base"' EXIT
for folder in one another-folder; do
  mkdir -p "$base/$folder"
  git ls-files -z --cached --others --exclude-standard |
    tar --null --files-from=- -cf - | tar -C "$base/$folder" -xf -
  (cd "$base/$folder" && cmake --preset release >/dev/null &&
    cmake --build build -j "${JOBS:-$(nproc)}" --target "${targets[@]}" -- --quiet)
done
different=0
compared=0
while IFS= read -r file; do
  compared=$((compared + 1))
  cmp -s "$base/one/build/$file" "$base/another-folder/build/$file" || {
    echo "check_reproducible: $file differs" >&2
    different=$((different + 1))
  }
done < <(cd "$base/one/build" && find . \( -name '*.o' -o -type f -name 'weir' \) -print)
[[ $compared -gt 0 ]] || {
  echo 'check_reproducible: nothing was built' >&2
  exit 1
}
[[ $different -eq 0 ]] || exit 1
echo "check_reproducible: $compared files, the same in both folders"
