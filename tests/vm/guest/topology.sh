#!/usr/bin/env bash
# Two complete RoCE hosts in one kernel, joined through a switch:
#
#   rail0 (rxe0, 10.0.0.1) -- fnic1 [namespace sw: bridge] fnic3 -- rail1 (rxe1, 10.1.0.1)
#   fnic0 of the module                                             fnic2
#
# mlx5_0 and mlx5_1 are on the same two network devices: they have a ConnectX's facts and counters,
# and no data path; the load runs on Soft-RoCE and shows in the counters of the network devices.
# Soft-RoCE of Linux 6.1 works in the first network namespace only, so both hosts live there and
# routing rules send the frames over the wire. Usage: topology.sh ofed=1|ofed=0, again for anew.
set -e
if [[ -e /sys/module/fakenic ]]; then
  rmdir /sys/kernel/config/rdma_cm/mlx5_0 /sys/kernel/config/rdma_cm/mlx5_1
  rmmod fakehca
  rdma link delete rxe0
  rdma link delete rxe1
  ip netns delete sw
  while [[ ! -e /sys/class/net/fnic3 ]]; do sleep 0.1; done # it comes back here first
  rmmod fakenic
  ip rule del pref 101
  ip rule del pref 102
else
  for module in crc32_generic rdma_rxe ib_uverbs rdma_ucm bridge sch_red sch_tbf sch_ingress \
    cls_matchall act_gact; do modprobe $module; done
  ip link set lo up
  ip rule add pref 200 lookup local
  ip rule del pref 0
  echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
fi

insmod /modules/fakenic.ko pairs=2 "$1"
ip netns add sw
for port in fnic1 fnic3; do ip link set $port netns sw; done
ip -n sw link add br0 type bridge
for port in br0 fnic1 fnic3; do ip -n sw link set $port mtu 9216; done
for port in fnic1 fnic3; do ip -n sw link set $port master br0 up; done
ip -n sw link set br0 up

ip link set fnic0 name rail0
ip link set fnic2 name rail1
join() { # DEVICE MAC OWN PEER TABLE
  ip link set "$1" address "$2"
  ip link set "$1" mtu 9000 up
  ip addr add "$3/32" dev "$1"
  echo 0 >"/proc/sys/net/ipv4/conf/$1/rp_filter"
  echo 1 >"/proc/sys/net/ipv4/conf/$1/accept_local"
  echo 1 >"/proc/sys/net/ipv4/conf/$1/arp_ignore"
  ip route add "$4/32" dev "$1" src "$3" table "$5"
  ip rule add pref "$5" iif lo from "$3" to "$4" lookup "$5"
}
join rail0 02:00:00:00:00:01 10.0.0.1 10.1.0.1 101
join rail1 02:00:00:00:00:02 10.1.0.1 10.0.0.1 102
rdma link add rxe0 type rxe netdev rail0
rdma link add rxe1 type rxe netdev rail1
insmod /modules/fakehca.ko netdevs=rail0,rail1 "$1"
mkdir -p /sys/kernel/config/rdma_cm/mlx5_0 /sys/kernel/config/rdma_cm/mlx5_1
