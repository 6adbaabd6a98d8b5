#!/usr/bin/env bash
# The NICs at boot, with systemd: of one of several machines, or of one that is alone.
set -e
if [[ -e /mnt/rail ]]; then
  read -ra words </mnt/rail
  exec bash /guest/rail.sh "${words[@]}"
fi
bash /guest/topology.sh ofed=1
rdma link delete rxe0
rdma link delete rxe1
