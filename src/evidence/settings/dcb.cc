// QoS as DCB has it: who decides, trust, maps, classes, limits, the cable's length, PFC.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "design/file/words.h"
#include "evidence/settings/row.h"
#include "units/format.h"

namespace weir::evidence {
namespace {

using vocab::ClassLimits;
using vocab::SetCableLength;
using vocab::SetDcbx;
using vocab::SetDscpMap;
using vocab::SetPfc;
using vocab::SetPriorityToTc;
using vocab::SetScheduling;
using vocab::SetTrust;

// ---- by hand ----

/// "0:0 1:0 2:0 …": the argument of the dcb tool.
template <class Values, class Text>
std::string dcb_pairs(const Values& values, const Text& text) {
  Lines words;
  for (std::size_t i = 0; i < values.size(); ++i)
    words.push_back(fmt::format("{}:{}", i, text(values[i])));
  return join(words, " ");
}

/// "0,0,0,1": the argument of mlnx_qos.
template <class Values, class Text>
std::string comma_list(const Values& values, const Text& text, std::string_view separator = ",") {
  Lines words;
  for (const auto& value : values)
    words.push_back(fmt::format("{}", text(value)));
  return join(words, separator);
}

unsigned number_of(TrafficClass tc) {
  return tc.value();
}
std::string_view word_of(Tsa tsa) {
  return to_text(tsa);
}
unsigned same(unsigned number) {
  return number;
}

/// Whole metres, rounded up, as NICs take them.
std::int64_t metres_of(Length length) {
  constexpr std::int64_t kMillimetres = 1000;
  return (length.raw() + kMillimetres - 1) / kMillimetres;
}

std::string_view dcb_obstacle(const Nic& nic) {
  if (nic.is_virtual.is(true))
    return "QoS of a virtual function belongs to its physical function: change it there";
  if (!nic.stack.is(Stack::kOfed) && driver_of(nic) == counters::Driver::kIonic)
    return "this driver has no DCB interface: nicctl update qos does it";
  return {};
}

constexpr std::string_view kDcbTools = "mlnx_qos -i <netdev>, or dcb -j … show; as root";

// ---- DCBX ----

Fact<SettingValue> found_dcbx(const SettingValue& /*like*/, const Nic& nic) {
  return value_of<SetDcbx>(nic.qos.dcbx);
}

void compare_dcbx(const NicCase& c, std::vector<Deviation>& out) {
  const Qos& qos = c.nic.qos;
  const SetDcbx found{
      .mode = qos.dcbx.is(DcbxMode::kFirmware) ? DcbxMode::kFirmware : DcbxMode::kOs,
      .is_willing = qos.dcbx_willing.is(true),
      .has_firmware_agent = qos.firmware_lldp.is(true)};
  if (found != SetDcbx{}) return out.push_back(differs(SetDcbx{}, found));
  if (!qos.dcbx.is_known()) out.push_back(not_read(SetDcbx{}, why_unknown(qos.dcbx)));
}

Lines dcbx_commands(const SetDcbx& value, const CommandPort& port, const Nic&) {
  const bool is_os = value.mode == DcbxMode::kOs;
  if (port.is_ofed) return {fmt::format("mlnx_qos -i {} -d {}", port.netdev, is_os ? "os" : "fw")};
  return {fmt::format("dcb dcbx set dev {} {}ieee", port.netdev, is_os ? "host " : "")};
}

void dcbx_rail(RailScript& script) {
  script.line(fmt::format("settle {1} \"$os_dcbx\" read_dcbx {0} set_dcbx {0}", script.netdev,
                          shell_word(script.nic.netdev + " DCBX")));
}

constexpr std::string_view kDcbxMlnxQos =
    R"sh(read_dcbx() { mlnx_qos -i "$1" | awk '/^DCBX mode: / { print tolower($3) }'; }
set_dcbx() { mlnx_qos -i "$1" -d os; }
os_dcbx=os

)sh";
constexpr std::string_view kDcbxDcb = R"sh(read_dcbx() {
  dcb dcbx show dev "$1" | awk '{ how = "firmware"
    for (i = 1; i <= NF; i++) if ($i == "host") how = "host"
    print how; exit }'
}
set_dcbx() { dcb dcbx set dev "$1" host ieee; }
os_dcbx=host

)sh";

// ---- trust and the DSCP map ----

SetTrust designed_trust(const NicCase& c) {
  return {c.wanted.trust == design::Trust::kDscp ? TrustMode::kDscp : TrustMode::kPcp};
}

Lines trust_commands(const SetTrust& value, const CommandPort& port, const Nic&) {
  const bool is_dscp = value.trust == TrustMode::kDscp;
  if (port.is_ofed)
    return {fmt::format("mlnx_qos -i {} --trust {}", port.netdev, is_dscp ? "dscp" : "pcp")};
  // Trust has no switch of its own in the kernel: a map with entries is trust in DSCP.
  if (!is_dscp) return {fmt::format("dcb app flush dev {} dscp-prio", port.netdev)};
  return {fmt::format("dcb app replace dev {} dscp-prio 0:0", port.netdev)};
}

void trust_rail(RailScript& script) {
  const std::string_view trust = design::to_word(script.nic.trust);
  script.settle("trust", std::string(trust), "read_trust", script.netdev,
                fmt::format("set_trust {} {}", script.netdev, trust));
}

constexpr std::string_view kTrustMlnxQos =
    R"sh(read_trust() { mlnx_qos -i "$1" | awk '/^Priority trust state: / { print $4 }'; }
set_trust() { mlnx_qos -i "$1" --trust "$2"; }

)sh";
constexpr std::string_view kTrustDcb =
    R"sh(# Trust has no switch of its own here: a map with entries is trust in DSCP.
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

)sh";

/// A NIC that goes by PCP has no DSCP map to speak of; its trust is the deviation, if it is one.
std::optional<SettingValue> wanted_map(const NicCase& c) {
  if (c.wanted.trust == design::Trust::kPcp) return std::nullopt;
  SetDscpMap map;
  std::copy(c.wanted.dscp_to_priority.begin(), c.wanted.dscp_to_priority.end(),
            map.priority.begin());
  return map;
}

Fact<SettingValue> found_map(const SettingValue& /*like*/, const Nic& nic) {
  return value_of<SetDscpMap>(nic.qos.dscp_to_priority);
}

/// The map that vendors ship puts eight code points to a priority. Where the design wants best
/// effort it does no harm: no class of the design is there.
bool is_acceptable(std::size_t dscp, std::optional<Priority> found, Priority wanted) {
  if (found == wanted) return true;
  return wanted == Priority() && found && found->value() == dscp / 8;
}

/// Neighbouring code points with the same mistake are one deviation. A code point without an entry
/// is as the firmware was left by whoever came before (mlx5: DSCP / 8 after a reset, 0 after a
/// flush), so it deviates.
void compare_map(const NicCase& c, std::vector<Deviation>& out) {
  const auto wanted = wanted_map(c);
  if (!wanted) return;
  const Fact<SettingValue> found = found_map(*wanted, c.nic);
  if (!found.is_known()) return out.push_back(not_read(*wanted, found.why()));
  const auto& map = *c.nic.qos.dscp_to_priority;
  for (unsigned first = 0; first < map.size();) {
    const Priority designed = c.wanted.dscp_to_priority.at(first);
    unsigned last = first;
    while (last + 1 < map.size() && map.at(last + 1) == map.at(first) &&
           c.wanted.dscp_to_priority.at(last + 1) == designed) {
      ++last;
    }
    if (!is_acceptable(first, map.at(first), designed))
      out.push_back(differs(*wanted, *found, Part{first, last}));
    first = last + 1;
  }
}

/// mlnx_qos takes one code point at a time: only those that differ from what is there by then.
Lines map_commands(const SetDscpMap& value, const CommandPort& port, const Nic& before) {
  const auto& map = value.priority;
  if (!port.is_ofed) {
    Lines words;
    for (std::size_t d = 0; d < map.size(); ++d)
      if (map.at(d)) words.push_back(fmt::format("{}:{}", d, map.at(d)->value()));
    if (words.empty()) return {fmt::format("dcb app flush dev {} dscp-prio", port.netdev)};
    return {fmt::format("dcb app replace dev {} dscp-prio {}", port.netdev, join(words, " "))};
  }
  const bool trusts_dscp = before.qos.trust.is(TrustMode::kDscp);
  const bool is_map_known = before.qos.dscp_to_priority.is_known();
  std::string line = fmt::format("mlnx_qos -i {}", port.netdev);
  const std::size_t bare = line.size();
  for (std::size_t d = 0; d < map.size(); ++d) {
    // Trust in DSCP begins with eight code points per priority.
    std::optional<Priority> there = Priority::of(static_cast<unsigned>(d) / 8);
    if (trusts_dscp && is_map_known) there = (*before.qos.dscp_to_priority).at(d);
    if (there == map.at(d)) continue;
    if (map.at(d)) {
      line += fmt::format(" --dscp2prio set,{},{}", d, map.at(d)->value());
    } else {
      line += fmt::format(" --dscp2prio del,{},{}", d, there->value());
    }
  }
  if (line.size() == bare) return {};
  return {line};
}

void map_rail(RailScript& script) {
  if (script.nic.trust != design::Trust::kDscp) return;
  const std::string& netdev = script.netdev;
  script.line(fmt::format(
      "map='{}'", comma_list(
                      script.nic.dscp_to_priority, [](Priority p) { return p.value(); }, " ")));
  script.settle("DSCP map", "\"$map\"", "read_map", netdev,
                fmt::format("set_map {} \"$map\"", netdev));
}

constexpr std::string_view kMapMlnxQos = R"sh(found_map() {
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

)sh";
constexpr std::string_view kMapDcb = R"sh(found_map() {
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

)sh";
constexpr std::string_view kMapWithBoth = R"sh(
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

// ---- traffic classes ----

bool uses_classes(const design::NicIntent& wanted) {
  return std::any_of(wanted.traffic_classes.begin(), wanted.traffic_classes.end(),
                     [](const design::Share8& share) { return share.used; });
}

std::optional<SettingValue> wanted_classes(const NicCase& c) {
  if (!uses_classes(c.wanted)) return std::nullopt;
  return SetPriorityToTc{c.wanted.priority_to_tc};
}

Fact<SettingValue> found_classes(const SettingValue& /*like*/, const Nic& nic) {
  return value_of<SetPriorityToTc>(nic.qos.priority_to_tc);
}

void compare_classes(const NicCase& c, std::vector<Deviation>& out) {
  const auto wanted = wanted_classes(c);
  if (!wanted) return;
  const Fact<SettingValue> found = found_classes(*wanted, c.nic);
  if (!found.is_known()) return out.push_back(not_read(*wanted, found.why()));
  for (unsigned p = 0; p < 8; ++p) {
    if (c.nic.qos.priority_to_tc->at(p) != c.wanted.priority_to_tc.at(p))
      out.push_back(differs(*wanted, *found, Part{p, p}));
  }
}

Lines class_commands(const SetPriorityToTc& value, const CommandPort& port, const Nic&) {
  if (port.is_ofed)
    return {
        fmt::format("mlnx_qos -i {} --prio_tc {}", port.netdev, comma_list(value.tc, number_of))};
  // Without tc-bw the tool adds up what vendor classes show and refuses.
  return {fmt::format("dcb ets set dev {} tc-bw all:0 prio-tc {}", port.netdev,
                      dcb_pairs(value.tc, number_of))};
}

/// Classes and scheduling are settled at once.
void class_rail(RailScript& script) {
  const design::NicIntent& nic = script.nic;
  const SetScheduling wanted = wanted_scheduling(nic);
  std::string used;
  std::string state;
  for (std::size_t tc = 0; tc < 8; ++tc) {
    if (!nic.traffic_classes.at(tc).used) continue;
    used += fmt::format("{}{}", used.empty() ? "" : " ", tc);
    const bool is_ets = wanted.tsa.at(tc) == Tsa::kEts;
    state += fmt::format(" tc{}={}{}", tc, to_text(wanted.tsa.at(tc)),
                         is_ets ? fmt::format(":{}", wanted.percent.at(tc)) : "");
  }
  if (used.empty()) return;
  const std::string map = comma_list(nic.priority_to_tc, number_of);
  script.line(fmt::format("used_classes='{}'", used));
  script.settle("traffic classes", map + state, "read_classes", script.netdev,
                fmt::format("set_classes {} {} {} {}", script.netdev, map,
                            comma_list(wanted.tsa, word_of), comma_list(wanted.percent, same)));
}

constexpr std::string_view kClassMlnxQos = R"sh(read_classes() {
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

)sh";
constexpr std::string_view kClassDcb = R"sh(read_classes() {
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

)sh";

std::optional<SettingValue> wanted_shares(const NicCase& c) {
  if (!uses_classes(c.wanted)) return std::nullopt;
  return wanted_scheduling(c.wanted);
}

/// mlx5 shows 100 % for each vendor class: only ETS shares mean anything.
Fact<SettingValue> found_shares(const SettingValue& /*like*/, const Nic& nic) {
  const Fact<SettingValue> shown = value_of<SetScheduling>(nic.qos.tsa, nic.qos.tc_bandwidth);
  if (!shown.is_known()) return shown;
  SetScheduling found = std::get<SetScheduling>(*shown);
  for (std::size_t tc = 0; tc < 8; ++tc)
    if (found.tsa.at(tc) != Tsa::kEts) found.percent.at(tc) = 0;
  return Fact<SettingValue>::of(found, shown.source());
}

/// A class that the design does not use may be scheduled in any way.
void compare_shares(const NicCase& c, std::vector<Deviation>& out) {
  const auto wanted = wanted_shares(c);
  if (!wanted) return;
  const Fact<SettingValue> found = found_shares(*wanted, c.nic);
  if (!found.is_known()) return out.push_back(not_read(*wanted, found.why()));
  const SetScheduling& designed = std::get<SetScheduling>(*wanted);
  const SetScheduling& now = std::get<SetScheduling>(*found);
  for (unsigned tc = 0; tc < 8; ++tc) {
    const bool is_same =
        now.tsa.at(tc) == designed.tsa.at(tc) && now.percent.at(tc) == designed.percent.at(tc);
    if (c.wanted.traffic_classes.at(tc).used && !is_same)
      out.push_back(differs(*wanted, *found, Part{tc, tc}));
  }
}

Lines share_commands(const SetScheduling& value, const CommandPort& port, const Nic&) {
  if (port.is_ofed) {
    return {fmt::format("mlnx_qos -i {} --tsa {} --tcbw {}", port.netdev,
                        comma_list(value.tsa, word_of), comma_list(value.percent, same))};
  }
  return {fmt::format("dcb ets set dev {} tc-tsa {} tc-bw {}", port.netdev,
                      dcb_pairs(value.tsa, word_of), dcb_pairs(value.percent, same))};
}

Fact<SettingValue> found_limits(const SettingValue& /*like*/, const Nic& nic) {
  return value_of<ClassLimits>(nic.qos.tc_max_rate);
}

/// Of the class that RDMA is in.
void compare_limit(const NicCase& c, std::vector<Deviation>& out) {
  const Priority rdma = c.wanted.dscp_to_priority.at(dscp_of(c.wanted.traffic_class).value());
  const unsigned tc = c.wanted.priority_to_tc.at(rdma.value()).value();
  const Fact<SettingValue> found = found_limits(ClassLimits{}, c.nic);
  if (!found.is_known()) return out.push_back(not_read(ClassLimits{}, found.why(), Part{tc, tc}));
  if (c.nic.qos.tc_max_rate->at(tc).raw() != 0)
    out.push_back(differs(ClassLimits{}, *found, Part{tc, tc}));
}

// ---- the cable's length, and PFC ----

std::optional<SettingValue> wanted_cable(const NicCase& c) {
  if (c.wanted.cable.raw() <= 0 || !may_be_mlx5(c.nic)) return std::nullopt;
  return SetCableLength{c.wanted.cable};
}

Lines cable_commands(const SetCableLength& value, const CommandPort& port, const Nic&) {
  const std::int64_t metres = metres_of(value.length);
  if (port.is_ofed) return {fmt::format("mlnx_qos -i {} --cable_len {}", port.netdev, metres)};
  return {fmt::format("dcb pfc set dev {} delay {}", port.netdev, metres)};
}

void cable_rail(RailScript& script) {
  const std::int64_t metres = metres_of(script.nic.cable);
  if (metres > 0)
    script.settle("cable length in m", std::to_string(metres), "read_cable", script.netdev,
                  fmt::format("set_cable {} {}", script.netdev, metres));
}

constexpr std::string_view kCableMlnxQos =
    R"sh(read_cable() { mlnx_qos -i "$1" | awk '/^Cable len: / { print $3 }'; }
set_cable() { mlnx_qos -i "$1" --cable_len "$2"; }

)sh";
constexpr std::string_view kCableDcb = R"sh(read_cable() {
  dcb pfc show dev "$1" delay |
    awk '{ for (i = 1; i < NF; i++) if ($i == "delay") print $(i + 1) }'
}
set_cable() { dcb pfc set dev "$1" delay "$2"; }

)sh";

/// "0,0,0,1,0,0,0,0": as mlnx_qos and the script write it.
std::string pfc_bits(PrioritySet on) {
  Lines bits;
  for (unsigned p = 0; p < 8; ++p)
    bits.emplace_back(on.contains(Priority::of(p)) ? "1" : "0");
  return join(bits, ",");
}

Lines pfc_commands(const SetPfc& value, const CommandPort& port, const Nic&) {
  if (port.is_ofed)
    return {fmt::format("mlnx_qos -i {} --pfc {}", port.netdev, pfc_bits(value.on))};
  std::string words;
  for (unsigned p = 0; p < 8; ++p)
    if (value.on.contains(Priority::of(p))) words += fmt::format(" {}:on", p);
  return {fmt::format("dcb pfc set dev {} prio-pfc all:off{}", port.netdev, words)};
}

void pfc_rail(RailScript& script) {
  const std::string bits = pfc_bits(script.nic.pfc);
  script.settle("PFC", bits, "read_pfc", script.netdev,
                fmt::format("set_pfc {} {}", script.netdev, bits));
}

constexpr std::string_view kPfcCommon =
    R"sh(# PFC may take the link down for a moment: wait until it is back.
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

)sh";
constexpr std::string_view kPfcMlnxQos = R"sh(read_pfc() {
  mlnx_qos -i "$1" | awk '/^PFC configuration:/ { here = 1 }
    here && $1 == "enabled" {
      for (i = 2; i <= 9; i++) printf "%s%s", $i, i < 9 ? "," : "\n"
      exit
    }'
}
set_pfc() { mlnx_qos -i "$1" --pfc "$2" && wait_for_link "$1"; }
)sh";
constexpr std::string_view kPfcDcb = R"sh(read_pfc() {
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

// ---- the table ----

constexpr auto kDcbRows = std::to_array<SettingRow>({
    {.setting = Setting::kDcbx,
     .wanted = [](const NicCase&) -> std::optional<SettingValue> { return SetDcbx{}; },
     .found = found_dcbx,
     .compare = compare_dcbx,
     .finding = "dcbx.willing",
     .how_to_read = kDcbTools,
     .absent_is_right = true,
     .commands = Typed<dcbx_commands>::commands,
     .obstacle = dcb_obstacle,
     .script = {.needs = ScriptNeeds::kDcb,
                .mlnx_qos = kDcbxMlnxQos,
                .dcb = kDcbxDcb,
                .rail = dcbx_rail}},
    {.setting = Setting::kTrust,
     .wanted = [](const NicCase& c) -> std::optional<SettingValue> { return designed_trust(c); },
     .found = [](const SettingValue&, const Nic& nic) { return value_of<SetTrust>(nic.qos.trust); },
     .finding = "trust.not_dscp",
     .how_to_read = kDcbTools,
     .commands = Typed<trust_commands>::commands,
     .obstacle = dcb_obstacle,
     .script = {.needs = ScriptNeeds::kDcb,
                .mlnx_qos = kTrustMlnxQos,
                .dcb = kTrustDcb,
                .rail = trust_rail}},
    {.setting = Setting::kDscpToPriority,
     .wanted = wanted_map,
     .found = found_map,
     .compare = compare_map,
     .finding = "dscp.nic_map_wrong",
     .how_to_read = kDcbTools,
     .commands = Typed<map_commands>::commands,
     .obstacle = dcb_obstacle,
     .script = {.needs = ScriptNeeds::kDcb,
                .mlnx_qos = kMapMlnxQos,
                .dcb = kMapDcb,
                .with_both = kMapWithBoth,
                .rail = map_rail}},
    {.setting = Setting::kPriorityToTc,
     .wanted = wanted_classes,
     .found = found_classes,
     .compare = compare_classes,
     .severity = finding::Severity::kWarning,
     .how_to_read = kDcbTools,
     .commands = Typed<class_commands>::commands,
     .obstacle = dcb_obstacle,
     .script = {.needs = ScriptNeeds::kDcb,
                .mlnx_qos = kClassMlnxQos,
                .dcb = kClassDcb,
                .rail = class_rail}},
    {.setting = Setting::kScheduling,
     .wanted = wanted_shares,
     .found = found_shares,
     .compare = compare_shares,
     .severity = finding::Severity::kWarning,
     .how_to_read = kDcbTools,
     .commands = Typed<share_commands>::commands,
     .obstacle = dcb_obstacle},
    {.setting = Setting::kTcMaxRate,
     .found = found_limits,
     .compare = compare_limit,
     .finding = "shaper.on_rdma_path",
     .how_to_read = kDcbTools,
     .not_changed = "remove the limit by hand: mlnx_qos -r",
     .absent_is_right = true},
    {.setting = Setting::kCableLength,
     .wanted = wanted_cable,
     .found = [](const SettingValue&,
                 const Nic& nic) { return value_of<SetCableLength>(nic.qos.cable_length); },
     .finding = "headroom.too_small",
     .how_to_read = kDcbTools,
     .commands = Typed<cable_commands>::commands,
     .obstacle = dcb_obstacle,
     .script = {.needs = ScriptNeeds::kDcqcn,
                .mlnx_qos = kCableMlnxQos,
                .dcb = kCableDcb,
                .rail = cable_rail}},
    {.setting = Setting::kPfc,
     .wanted = [](const NicCase& c) -> std::optional<SettingValue> { return SetPfc{c.wanted.pfc}; },
     .found = [](const SettingValue&, const Nic& nic) { return value_of<SetPfc>(nic.qos.pfc); },
     .how_to_read = kDcbTools,
     .commands = Typed<pfc_commands>::commands,
     .obstacle = dcb_obstacle,
     .script = {.needs = ScriptNeeds::kDcb,
                .common = kPfcCommon,
                .mlnx_qos = kPfcMlnxQos,
                .dcb = kPfcDcb,
                .rail = pfc_rail}},
});

}  // namespace

SetScheduling wanted_scheduling(const design::NicIntent& wanted) {
  SetScheduling out;
  std::int64_t total = 0;
  const auto is_ets = [&](std::size_t tc) {
    const design::Share8& share = wanted.traffic_classes.at(tc);
    return share.used && share.scheduling == design::Scheduling::kDwrr;
  };
  for (std::size_t tc = 0; tc < 8; ++tc) {
    const bool is_vendor = wanted.traffic_classes.at(tc).used &&
                           wanted.traffic_classes.at(tc).scheduling == design::Scheduling::kVendor;
    out.tsa.at(tc) = is_ets(tc) ? Tsa::kEts : is_vendor ? Tsa::kVendor : Tsa::kStrict;
    if (is_ets(tc)) total += wanted.traffic_classes.at(tc).minimum.raw();
  }
  if (total <= 0) return out;
  std::vector<std::pair<std::int64_t, std::size_t>> remainders;
  unsigned left = 100;
  for (std::size_t tc = 0; tc < 8; ++tc) {
    if (!is_ets(tc)) continue;
    const std::int64_t scaled = wanted.traffic_classes.at(tc).minimum.raw() * 100;
    out.percent.at(tc) = static_cast<unsigned>(scaled / total);
    left -= out.percent.at(tc);
    remainders.emplace_back(scaled % total, tc);
  }
  std::stable_sort(remainders.begin(), remainders.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t i = 0; i < left; ++i)
    ++out.percent.at(remainders.at(i % remainders.size()).second);
  return out;
}

std::span<const SettingRow> dcb_rows() {
  return kDcbRows;
}

}  // namespace weir::evidence
