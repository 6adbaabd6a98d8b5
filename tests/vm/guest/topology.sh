# Two complete RoCE hosts in one kernel, joined through a switch:
#
#   fnic0 (rxe0, 192.0.2.1) -- fnic1 [namespace sw: bridge] fnic3 -- fnic2 (rxe1, 192.0.2.2)
#
# Soft-RoCE of Linux 6.1 works in the first network namespace only, so both hosts live there and
# routing rules send the frames over the wire. Usage: . topology.sh [OPTION=VALUE of fakenic]…
for module in crc32_generic rdma_rxe ib_uverbs rdma_ucm bridge sch_red sch_tbf sch_ingress \
  cls_matchall act_gact; do modprobe $module; done
insmod /modules/fakenic.ko pairs=2 "$@"
ip link set lo up
ip netns add sw
for port in fnic1 fnic3; do ip link set $port netns sw; done
ip -n sw link add br0 type bridge
for port in br0 fnic1 fnic3; do ip -n sw link set $port mtu 9216; done
for port in fnic1 fnic3; do ip -n sw link set $port master br0 up; done
ip -n sw link set br0 up

join() { # DEVICE OWN PEER TABLE
  ip link set "$1" address "02:00:00:00:00:0$2"
  ip link set "$1" mtu 9000 up
  ip addr add "192.0.2.$2/32" dev "$1"
  echo 0 >"/proc/sys/net/ipv4/conf/$1/rp_filter"
  echo 1 >"/proc/sys/net/ipv4/conf/$1/accept_local"
  echo 1 >"/proc/sys/net/ipv4/conf/$1/arp_ignore"
  ip route add "192.0.2.$3/32" dev "$1" src "192.0.2.$2" table "$4"
  ip rule add pref "$4" iif lo from "192.0.2.$2" to "192.0.2.$3" lookup "$4"
}
join fnic0 1 2 101
join fnic2 2 1 102
echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
ip rule add pref 200 lookup local
ip rule del pref 0
rdma link add rxe0 type rxe netdev fnic0
rdma link add rxe1 type rxe netdev fnic2
