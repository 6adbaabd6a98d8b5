#!/usr/bin/env bash
# The design by hand, with Debian's tools alone: what weir should find in order.
set -e
# Debian's dcb numbers its requests by the second: an answer that comes in the next one is refused
# ("Protocol error") after it took effect. Everything here may be said twice.
dcb() {
  command dcb "$@" || command dcb "$@" || command dcb "$@"
}
for port in rail0 rail1; do
  ethtool -A $port rx off tx off
  ethtool -G $port rx 8192 tx 8192
  # shellcheck disable=SC2046 # 64 words
  dcb app replace dev $port dscp-prio $(for code in {0..63}; do
    case $((code / 8)) in
      3) echo "$code:3" ;;
      6) [[ $code -le 55 ]] && echo "$code:6" ;;
      *) echo "$code:0" ;;
    esac
  done)
  dcb ets set dev $port prio-tc all:0 3:3 6:6 tc-tsa all:strict 0:ets 3:ets tc-bw all:0 0:29 3:71
  dcb pfc set dev $port delay 3
  dcb pfc set dev $port prio-pfc all:off 3:on
done
for device in mlx5_0 mlx5_1; do
  echo 106 >/sys/kernel/config/rdma_cm/$device/ports/1/default_roce_tos
done
