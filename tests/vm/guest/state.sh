#!/usr/bin/env bash
# Every value of both rails that a program other than weir can read, as text. Entries of the DSCP
# map are a set: the kernel lists them in the order they came.
for port in rail0 rail1; do
  for part in pfc ets buffer maxrate dcbx; do
    echo "$port $part"
    dcb -N $part show dev $port
  done
  echo "$port app"
  dcb -N app show dev $port | tr ' ' '\n' | sort
  ethtool -a $port
  ethtool -g $port
  grep -r . /sys/class/net/$port/mtu /sys/class/net/$port/ecn 2>/dev/null | sort
done
for device in mlx5_0 mlx5_1; do
  grep -r . /sys/kernel/config/rdma_cm/$device/ports /sys/class/infiniband/$device/tc | sort
done
grep -r . /sys/kernel/debug/mlx5 | sort
