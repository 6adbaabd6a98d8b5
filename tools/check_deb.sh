#!/usr/bin/env bash
# The package holds what it should, and lintian finds no error in it.
#
#   tools/check_deb.sh build/weir_VERSION_ARCH.deb
set -euo pipefail
deb=$1

listing=$(dpkg-deb -c "$deb")
for path in usr/bin/weir usr/share/man/man1/weir.1.gz usr/share/doc/weir/copyright \
  usr/share/bash-completion/completions/weir usr/share/zsh/vendor-completions/_weir; do
  grep -q " \./$path\$" <<<"$listing" || {
    echo "$deb: $path is missing" >&2
    exit 1
  }
done
depends=$(dpkg-deb -f "$deb" Depends)
grep -q 'libc6' <<<"$depends" || {
  echo "$deb: no library dependencies were found: '$depends'" >&2
  exit 1
}
"$(dirname "${BASH_SOURCE[0]}")/with_tool.sh" lintian lintian --fail-on error "$deb"
echo "$deb: complete; depends on $depends"
