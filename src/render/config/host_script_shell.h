#pragma once
// The shell of `weir render --to host-script` that does not depend on the design: reading,
// comparing, writing and reading back one setting. POSIX sh, so that it runs wherever a NIC does.
//
// A reader prints a setting in one form, whatever it was printed in, or nothing where it cannot be
// read: what is not read is not changed. Formats and traps: host-interfaces 1, 2, 4, 6, 9 and 12.
#include <string_view>

namespace weir::render {

inline constexpr std::string_view kScriptCommon = R"sh(set -u
LC_ALL=C
export LC_ALL
root=${WEIR_ROOT:-}  # where /sys stands; empty on a real machine
check=no
changed=0
differing=0
failed=0
unread=0

case ${1-} in
  '') ;;
  --check) check=yes ;;
  *)
    echo "usage: $0 [--check]" >&2
    exit 2
    ;;
esac

say() { printf '%s\n' "$*"; }

need() {
  for tool in "$@"; do
    command -v "$tool" >/dev/null 2>&1 && continue
    say "$tool is not installed: nothing was changed" >&2
    exit 4
  done
}

# settle WHAT WANTED READER READER-ARGUMENT COMMAND...
# Reads with READER; runs COMMAND where the setting is not WANTED, then reads it back.
settle() {
  what=$1 wanted=$2 reader=$3 argument=$4
  shift 4
  found=$("$reader" "$argument" 2>/dev/null)
  if [ -z "$found" ]; then
    unread=$((unread + 1))
    say "$what: could not be read, left as it is (wanted: $wanted)"
    return 0
  fi
  [ "$found" = "$wanted" ] && return 0
  if [ "$check" = yes ]; then
    differing=$((differing + 1))
    say "$what: $found, wanted $wanted"
    return 0
  fi
  if ! message=$("$@" 2>&1); then
    failed=$((failed + 1))
    say "$what: could not be set to $wanted: $message"
    return 0
  fi
  now=$("$reader" "$argument" 2>/dev/null)
  if [ "$now" != "$wanted" ]; then
    failed=$((failed + 1))
    say "$what: set to $wanted, but the driver shows ${now:-nothing}"
    return 0
  fi
  changed=$((changed + 1))
  say "$what: $found -> $wanted"
}

put() { printf '%s\n' "$1" >"$2"; }
read_file() { [ -r "$1" ] && tr -d '\n' <"$1"; }

read_pause() {
  ethtool -a "$1" | awk '/^RX:/ { rx = $2 } /^TX:/ { tx = $2 } END { if (rx) print rx "," tx }'
}
set_pause() { ethtool -A "$1" rx "$2" tx "$2"; }

read_mtu() { read_file "$root/sys/class/net/$1/mtu"; }
set_mtu() { ip link set dev "$1" mtu "$2"; }

# No ring is longer than the NIC allows.
ring_limit() {
  ethtool -g "$1" 2>/dev/null | awk -v wanted="$2" '
    /^Pre-set/ { part = 1 } /^Current/ { part = 2 }
    part == 1 && /^RX:/ { rx = $2 } part == 1 && /^TX:/ { tx = $2 }
    END { print (rx + 0 && rx < wanted ? rx : wanted) "," (tx + 0 && tx < wanted ? tx : wanted) }'
}
read_rings() {
  ethtool -g "$1" | awk '/^Current/ { now = 1 } now && /^RX:/ { rx = $2 } now && /^TX:/ { tx = $2 }
    END { if (rx) print rx "," tx }'
}
set_rings() { ethtool -G "$1" rx "${2%,*}" tx "${2#*,}"; }

# Connections made through RDMA-CM that name no TOS of their own. The directory is only a window on
# the value: made to look through it, taken away again. The ECN bits are the NIC's.
cm_path() { echo "$root/sys/kernel/config/rdma_cm/${1%/*}"; }
with_cm() {
  path=$(cm_path "$1") made=no
  [ -d "$(dirname "$path")" ] || return 1
  if [ ! -d "$path" ]; then mkdir "$path" 2>/dev/null && made=yes; fi
  shift
  "$@"
  status=$?
  [ "$made" = yes ] && rmdir "$path" 2>/dev/null
  return "$status"
}
cm_file() { echo "$(cm_path "$1")/ports/${1#*/}/default_roce_tos"; }
read_cm_dscp() {
  tos=$(with_cm "$1" cat "$(cm_file "$1")") && [ -n "$tos" ] && echo "DSCP $((tos / 4))"
}
set_cm_tos() { with_cm "$1" put "$2" "$(cm_file "$1")"; }

# A traffic class forced on the port overrides every job. It is not forced where it was not; where
# it is, it must be the designed one.
forced_file() { echo "$root/sys/class/infiniband/${1%/*}/tc/${1#*/}/traffic_class"; }
forced_dscp() {
  [ -r "$(forced_file "$1")" ] &&
    awk -F= '/^Global tclass=/ { print "DSCP " int($2 / 4) }' "$(forced_file "$1")"
}
# As above, where the design asks for it.
read_forced() {
  [ -r "$(forced_file "$1")" ] || return 1
  forced=$(forced_dscp "$1")
  echo "${forced:-not forced}"
}
set_forced() { put "$2" "$(forced_file "$1")"; }

# A DCQCN parameter: a file of the vendor's driver, else of debugfs.
knob_file() {
  interface=${1%%:*} rest=${1#*:}
  vendor=$root/sys/class/net/$interface/ecn/${rest%%:*}
  if [ -e "$vendor" ]; then
    echo "$vendor"
  else
    device=$(readlink "$root/sys/class/net/$interface/device")
    echo "$root/sys/kernel/debug/mlx5/${device##*/}/cc_params/${rest#*:}"
  fi
}
read_knob() { read_file "$(knob_file "$1")"; }
set_knob() { put "$2" "$(knob_file "$1")"; }

# PFC may take the link down for a moment: wait until it is back.
wait_for_link() {
  tries=0
  while [ "$(cat "$root/sys/class/net/$1/carrier" 2>/dev/null)" != 1 ]; do
    tries=$((tries + 1))
    if [ "$tries" -gt 30 ]; then
      echo "the link did not come back within 30 s"
      return 1
    fi
    sleep 1
  done
}

finish() {
  if [ "$check" = yes ] && [ "$differing" -gt 0 ]; then
    say "$differing settings are not as designed"
    exit 1
  fi
  if [ "$failed" -gt 0 ]; then
    say "$failed settings could not be made, $changed were changed"
    exit 1
  fi
  if [ "$unread" -gt 0 ]; then
    say "$changed settings changed; $unread could not be read and were left alone"
    exit 5
  fi
  say "all is as designed; $changed settings changed"
}
)sh";

inline constexpr std::string_view kScriptMlnxQos = R"sh(
# ---- QoS with the vendor's tool ----
need mlnx_qos ethtool ip awk

read_dcbx() { mlnx_qos -i "$1" | awk '/^DCBX mode: / { print tolower($3) }'; }
set_dcbx() { mlnx_qos -i "$1" -d os; }
os_dcbx=os

read_trust() { mlnx_qos -i "$1" | awk '/^Priority trust state: / { print $4 }'; }
set_trust() { mlnx_qos -i "$1" --trust "$2"; }

found_map() {
  mlnx_qos -i "$1" | awk '/prio:[0-7] dscp:/ {
    split($1, p, ":"); sub(/^dscp:/, "", $2); n = split($2, points, ",")
    for (i = 1; i <= n; i++) if (points[i] != "") print points[i] + 0 ":" p[2] }'
}
set_map() {
  interface=$1 point=0 list=$2
  set --
  for priority in $list; do
    set -- "$@" --dscp2prio "set,$point,$priority"
    point=$((point + 1))
  done
  mlnx_qos -i "$interface" "$@"
}

read_classes() {
  mlnx_qos -i "$1" -a | awk -v used="$used_classes" '
    /^tc: / {
      tc = $2; how = "unknown"
      for (i = 3; i <= NF; i++) {
        if ($i == "tsa:") { how = $(i + 1); sub(/,/, "", how) }
        if ($i == "bw:" && how == "ets") { how = how ":" $(i + 1); sub(/%/, "", how) }
      }
      class[tc] = how }
    /^[ \t]+priority:/ { to[$2] = tc; seen++ }
    END {
      if (seen != 8) exit 1
      for (p = 0; p < 8; p++) printf "%s%s", to[p], p < 7 ? "," : ""
      n = split(used, u, " ")
      for (i = 1; i <= n; i++) printf " tc%s=%s", u[i], class[u[i]]
      print "" }'
}
set_classes() { mlnx_qos -i "$1" --prio_tc "$2" --tsa "$3" --tcbw "$4"; }

read_cable() { mlnx_qos -i "$1" | awk '/^Cable len: / { print $3 }'; }
set_cable() { mlnx_qos -i "$1" --cable_len "$2"; }

read_pfc() {
  mlnx_qos -i "$1" | awk '/^PFC configuration:/ { here = 1 }
    here && $1 == "enabled" {
      for (i = 2; i <= 9; i++) printf "%s%s", $i, i < 9 ? "," : "\n"
      exit
    }'
}
set_pfc() { mlnx_qos -i "$1" --pfc "$2" && wait_for_link "$1"; }
)sh";

inline constexpr std::string_view kScriptDcb = R"sh(
# ---- QoS with iproute2's dcb ----
need dcb ethtool ip awk

read_dcbx() {
  dcb dcbx show dev "$1" | awk '{ how = "firmware"
    for (i = 1; i <= NF; i++) if ($i == "host") how = "host"
    print how; exit }'
}
set_dcbx() { dcb dcbx set dev "$1" host ieee; }
os_dcbx=host

# Trust has no switch of its own here: a map with entries is trust in DSCP.
read_trust() {
  entries=$(found_map "$1") || return 1
  if [ -n "$entries" ]; then echo dscp; else echo pcp; fi
}
set_trust() {
  if [ "$2" = pcp ]; then
    dcb app flush dev "$1" dscp-prio
  else
    dcb app replace dev "$1" dscp-prio 0:0
  fi
}

found_map() {
  entries=$(dcb -N app show dev "$1" dscp-prio) || return 1
  say "$entries" | tr ' ' '\n' | awk '/^[0-9]+:[0-7]$/'
}
set_map() {
  interface=$1 point=0 list=$2
  set --
  for priority in $list; do
    set -- "$@" "$point:$priority"
    point=$((point + 1))
  done
  dcb app replace dev "$interface" dscp-prio "$@"
}

read_classes() {
  dcb ets show dev "$1" prio-tc tc-tsa tc-bw | awk -v used="$used_classes" '
    $1 == "prio-tc" || $1 == "tc-tsa" || $1 == "tc-bw" {
      for (i = 2; i <= NF; i++) { split($i, kv, ":"); v[$1, kv[1]] = kv[2]; n[$1]++ } }
    END {
      if (n["prio-tc"] != 8) exit 1
      for (p = 0; p < 8; p++) printf "%s%s", v["prio-tc", p], p < 7 ? "," : ""
      count = split(used, u, " ")
      for (i = 1; i <= count; i++) {
        how = v["tc-tsa", u[i]]
        if (how == "ets") how = how ":" v["tc-bw", u[i]]
        printf " tc%s=%s", u[i], how }
      print "" }'
}
# "a,b,c" as dcb takes it: 0:a 1:b 2:c.
pairs() { say "$1" | tr ',' '\n' | awk '{ printf "%s%d:%s", (NR > 1 ? " " : ""), NR - 1, $1 }'; }
# All of ETS at once: on its own the tool refuses a map while classes show the vendor's shares.
set_classes() {
  # shellcheck disable=SC2046  # the pairs are words of their own
  dcb ets set dev "$1" prio-tc $(pairs "$2") tc-tsa $(pairs "$3") tc-bw $(pairs "$4")
}

read_cable() {
  dcb pfc show dev "$1" delay |
    awk '{ for (i = 1; i < NF; i++) if ($i == "delay") print $(i + 1) }'
}
set_cable() { dcb pfc set dev "$1" delay "$2"; }

read_pfc() {
  dcb pfc show dev "$1" prio-pfc | awk '$1 == "prio-pfc" {
    for (i = 2; i <= 9; i++) {
      split($i, kv, ":")
      printf "%s%s", kv[2] == "on" ? 1 : 0, i < 9 ? "," : "\n"
    } }'
}
set_pfc() {
  interface=$1 index=0 list=$2
  set -- all:off
  for bit in $(say "$list" | tr ',' ' '); do
    [ "$bit" = 1 ] && set -- "$@" "$index:on"
    index=$((index + 1))
  done
  dcb pfc set dev "$interface" prio-pfc "$@" && wait_for_link "$interface"
}
)sh";

/// After either: what both read the map with.
inline constexpr std::string_view kScriptMap = R"sh(
# The priority of each code point. A vendor's DSCP / 8 where the design wants best effort does no
# harm (no class is there) and counts as such; an entry that is missing or there twice does not.
read_map() {
  entries=$(found_map "$1") || return 1
  say "$entries" | awk -F: -v wanted="$map" '
    NF == 2 { if ($1 in found && found[$1] != $2) found[$1] = "x"; else found[$1] = $2 }
    END {
      split(wanted, want, " ")
      for (d = 0; d < 64; d++) {
        p = (d in found) ? found[d] : "-"
        if (want[d + 1] == 0 && p == int(d / 8)) p = 0
        printf "%s%s", p, d < 63 ? " " : "\n"
      } }'
}
)sh";

}  // namespace weir::render
