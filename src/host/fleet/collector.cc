#include "host/fleet/collector.h"

#include <string_view>

namespace weir::host {
namespace {

// A blank takes the place of every line feed.
//   e  a text with what the format escapes     f  a file, or why not
//   q  a file, or nothing: absent and hidden look alike    l  a directory      p  where a link
//      leads
constexpr std::string_view kCollector = R"sh(
T=$(printf "\t"); R=${WEIR_SYSROOT-};
e() { case $V in *\\*|*"$T"*) V=$(printf "%s" "$V" | sed -e "s/\\\\/\\\\\\\\/g" -e
"s/$T/\\\\t/g");; esac; };
f() { V=; C=; if [ -e "$R$1" ]; then :; else echo "no-file$T$1${T}ENOENT"; return; fi;
if [ -r "$R$1" ]; then :; else echo "no-file$T$1${T}EACCES"; return; fi;
while IFS= read -r V; do e; C="$C$V\\n"; done 2>/dev/null <"$R$1"; e; C="$C$V";
if [ -z "$C" ]; then cat "$R$1" >/dev/null 2>&1 || { echo "no-file$T$1${T}EINVAL"; return; }; fi;
printf "file\t%s\t%s\n" "$1" "$C"; };
q() { if [ -r "$R$1" ]; then f "$1"; fi; };
l() { if [ -d "$R$1" ]; then :; else echo "no-list$T$1${T}ENOENT"; return; fi; C=;
for N in "$R$1"/*; do N=${N##*/}; case $N in \*|*"$T"*|*\\*) continue;; esac; C="$C${C:+/}$N";
done;
printf "list\t%s\t%s\n" "$1" "$C"; };
p() { V=$(readlink -f "$R$1" 2>/dev/null); if [ -e "$R$1" ] && [ -n "$V" ]; then printf
"path\t%s\t%s\n" "$1" "${V#"$R"}"; else echo "no-path$T$1${T}ENOENT"; fi; };
echo "weir bundle 1"; echo "# Read by a shell: what netlink and ioctl would tell was not asked.";
printf "names\tkept\nlook\t1\n";
printf "about\tmachine\t%s\n" "$(uname -m)"; printf "about\ttime\t%s\n" "$(date -u
+%Y-%m-%dT%H:%M:%SZ)";
if read -r U V <"$R/proc/uptime"; then U=${U%%.*}${U#*.}; printf "about\tclock_ns\t%s0000000\n"
"$U"; fi 2>/dev/null;
for F in /etc/nccl.conf /etc/os-release /.dockerenv /run/.containerenv /run/systemd/container
/proc/1/cgroup /proc/1/comm /proc/cmdline /proc/modules /proc/net/netstat /proc/net/snmp
/proc/self/limits /proc/stat /proc/driver/nvidia/version /sys/devices/system/cpu/online
/sys/devices/system/node/online /sys/module/mlx5_core/version /sys/module/nvidia_peermem/version
/sys/kernel/mm/memory_peers/nv_mem/version /sys/kernel/mm/memory_peers/nv_mem_nc/version; do f
"$F"; done;
for F in kernel/hostname kernel/osrelease net/core/default_qdisc net/core/netdev_max_backlog
net/core/rmem_max net/core/wmem_max net/ipv4/conf/all/arp_ignore net/ipv4/conf/all/rp_filter
net/ipv4/tcp_congestion_control net/ipv4/tcp_ecn net/ipv4/tcp_rmem net/ipv4/tcp_wmem; do f
"/proc/sys/$F"; done;
for D in /dev/infiniband /sys/class/infiniband /sys/class/iommu /sys/devices/system/node
/sys/module; do l "$D"; done;
for N in "$R"/sys/devices/system/node/node*/cpulist; do q "${N#"$R"}"; done;
n() { B=/sys/class/net/$1; l "$B"; l "$B/statistics"; l "$B/ecn";
for F in carrier carrier_changes carrier_down_count carrier_up_count dev_port duplex ifindex mtu
speed qos/buffer_size qos/maxrate qos/prio2buffer qos/trust settings/pfc_stall_prevention; do f
"$B/$F"; done;
for F in "$R$B"/statistics/* "$R$B"/ecn/roce_np/* "$R$B"/ecn/roce_rp/*
"$R$B"/ecn/roce_np/enable/* "$R$B"/ecn/roce_rp/enable/*; do if [ -f "$F" ]; then f "${F#"$R"}";
fi; done; };
for I in "$R"/sys/class/infiniband/*; do if [ -d "$I" ]; then :; else continue; fi; I=${I##*/};
B=/sys/class/infiniband/$I;
for F in board_id fw_ver device/device device/vendor; do f "$B/$F"; done;
f "$B/parent"; for F in hca_type tc/1/traffic_class; do q "$B/$F"; done;
p "$B/device"; p "$B/device/driver"; p "$B/device/physfn"; l "$B/device/net"; l "$B/ports";
P=$(readlink -f "$R$B/device" 2>/dev/null); P=${P#"$R"};
for F in current_link_speed current_link_width max_link_speed max_link_width numa_node; do q
"$P/$F"; done;
for F in "$R/sys/kernel/debug/mlx5/${P##*/}"/cc_params/*
"$R/sys/kernel/config/rdma_cm/$I"/ports/1/default_roce_*; do q "${F#"$R"}"; done;
for W in "$R$B"/ports/*; do W=${W#"$R"}; l "$W/counters"; l "$W/hw_counters"; l "$W/gids"; f
"$W/state"; f "$W/link_layer"; f "$W/rate";
for F in "$R$W"/counters/* "$R$W"/hw_counters/* "$R$W"/gids/*; do if [ -f "$F" ]; then f
"${F#"$R"}"; fi; done;
for F in "$R$W"/gids/*; do F=${F##*/}; q "$W/gid_attrs/ndevs/$F"; q "$W/gid_attrs/types/$F";
done; done;
for N in "$R$B"/device/net/*; do if [ -e "$N" ]; then n "${N##*/}"; fi; done;
if [ -r "$R$B/parent" ] && IFS= read -r N <"$R$B/parent"; then case $N in */*|.*|"") ;; *) if [
-d "$R/sys/class/net/$N" ]; then n "$N"; fi;; esac; fi;
done)sh";

}  // namespace

std::string collector_line() {
  std::string line(kCollector.substr(1));
  for (char& c : line)
    if (c == '\n') c = ' ';
  return line;
}

}  // namespace weir::host
