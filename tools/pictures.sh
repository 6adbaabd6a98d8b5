#!/usr/bin/env bash
# The pictures under docs/img, made anew: `make pictures`.
#
#   tools/pictures.sh PATH/TO/weir
#
# A lab of pod16 is set up, loaded healthy, broken, loaded again; the reports of both are rendered.
# A thousand hosts show how a large fabric is folded.
set -euo pipefail
weir=$(realpath "$1")
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# picture NAME: report.html as docs/img/NAME-….png
picture() {
  "$root/tools/render_report.sh" report.html "$root/docs/img/$1"
}

mkdir -p "$root/docs/img"
"$weir" init --quiet --template pod16 --output pod16.yaml
"$weir" lab up pod16.yaml --dir lab --quiet
"$weir" apply --lab lab --quiet
"$weir" verify --lab lab --quiet -- all-to-all size=500KB
"$weir" report --lab lab --title "pod16, healthy" --quiet --output report.html
picture report-healthy

"$weir" lab fault add slow-receiver,at=gpu05,rate=10G --quiet
"$weir" verify --lab lab --quiet -- all-to-all size=500KB || true
"$weir" report --lab lab --title "pod16, gpu05 slow" --quiet --output report.html
picture report-slow-receiver

"$weir" init --quiet --template clos1k --output clos1k.yaml
"$weir" sim clos1k.yaml --workload incast,to=gpu0007,senders=32,size=200KB \
  --fault slow-receiver,at=gpu0007 --duration 2ms --quiet --out clos1k
"$weir" report clos1k --title "clos1k, folded" --quiet --output report.html
picture report-clos1k
ls "$root/docs/img"
