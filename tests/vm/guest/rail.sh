#!/usr/bin/env bash
# One RoCE host of several (cluster.py): rail.sh NAME ADDRESS RATE ADDRESS=NAME…
#
#   rail0 (rxe0, ADDRESS) -- fnic1 -- eth0 -- the network all share
#
# rail0 is our NIC that answers DCB netlink and ethtool; what it sends leaves through eth0, shaped
# to RATE Mb/s. Both have the same MAC address, because eth0 takes frames for its own alone. The
# shaper's burst lets it catch up when an emulated CPU was late. eth1 is the way in (ssh). Soft-RoCE
# runs on rail0: its load shows in the NIC's counters per priority.
set -e
name=$1 address=$2 rate=$3
shift 3
for module in virtio_net crc32_generic rdma_rxe ib_uverbs rdma_ucm sch_red sch_tbf sch_ingress \
  cls_matchall act_gact act_mirred; do modprobe $module; done
ip link set lo up
until [[ -e /sys/class/net/eth1 ]]; do sleep 0.1; done
hostname "$name"
for host in 127.0.0.1=localhost "$@"; do echo "${host%%=*} ${host#*=}"; done >/etc/hosts

insmod /modules/fakenic.ko pairs=1 ofed=1 speed=1000
ip link set fnic0 name rail0
for port in rail0 fnic1 eth0; do echo 1 >/proc/sys/net/ipv6/conf/$port/disable_ipv6; done
ip link set rail0 address "$(cat /sys/class/net/eth0/address)"
for port in fnic1 eth0; do
  ip link set $port mtu 9216 up
  tc qdisc add dev $port clsact
done
tc filter add dev fnic1 ingress matchall action mirred egress redirect dev eth0
tc filter add dev eth0 ingress matchall action mirred egress redirect dev fnic1
tc qdisc add dev eth0 root tbf rate "${rate}mbit" burst 64kb limit 4mb
ip link set rail0 mtu 9000 up
ip addr add "$address/24" dev rail0
rdma link add rxe0 type rxe netdev rail0
mkdir -p /sys/kernel/config/rdma_cm/rxe0

ip addr add 10.0.2.15/24 dev eth1 # QEMU's own network of one guest
ip link set eth1 up
bash /guest/sshd.sh
