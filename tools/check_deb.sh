#!/usr/bin/env bash
# The package holds what it should, and lintian finds no error in it.
#
#   tools/check_deb.sh build/weir_VERSION_ARCH.deb      also weir-mpi_VERSION_ARCH.deb
set -euo pipefail
deb=$1
name=$(dpkg-deb -f "$deb" Package)

listing=$(dpkg-deb -c "$deb")
paths=("usr/bin/$name" "usr/share/man/man1/$name.1.gz" "usr/share/doc/$name/copyright")
if [[ "$name" == weir ]]; then
  paths+=(usr/share/bash-completion/completions/weir usr/share/zsh/vendor-completions/_weir
    usr/lib/systemd/system/weir-settle.service usr/lib/systemd/system/weir-serve.service)
fi
for path in "${paths[@]}"; do
  grep -q " \./$path\$" <<<"$listing" || {
    echo "$deb: $path is missing" >&2
    exit 1
  }
done
folder=$(dirname "$deb")
symbols=("$folder/$name"-dbgsym_*.deb)
dpkg-deb -c "${symbols[0]}" | grep -q '\.debug$' || {
  echo "$folder: no debug symbols beside $deb" >&2
  exit 1
}
unpacked=$(mktemp -d)
trap 'rm -rf "$unpacked"' EXIT
dpkg-deb -x "$deb" "$unpacked"
if readelf -S "$unpacked/usr/bin/$name" | grep -qE '\.symtab|\.debug_info'; then
  echo "$deb: usr/bin/$name is not stripped" >&2
  exit 1
fi
python3 - "$folder/$name.spdx.json" "$name" <<'CHECK'
import json, sys
sbom = json.load(open(sys.argv[1], encoding="utf-8"))
names = {package["name"] for package in sbom["packages"]}
missing = {sys.argv[2], "libc6", "libyaml-0-2", "libpcap0.8", "nlohmann-json3-dev"} - names
sys.exit(f"{sys.argv[1]}: lacks {missing}" if sbom["spdxVersion"] != "SPDX-2.3" or missing else 0)
CHECK
depends=$(dpkg-deb -f "$deb" Depends)
grep -q 'libc6' <<<"$depends" || {
  echo "$deb: no library dependencies were found: '$depends'" >&2
  exit 1
}
"$(dirname "${BASH_SOURCE[0]}")/with_tool.sh" lintian lintian --fail-on error "$deb"
echo "$deb: complete; depends on $depends"
