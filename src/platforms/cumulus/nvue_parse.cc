#include "platforms/cumulus/nvue_parse.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "base/untrusted/printable.h"
#include "base/untrusted/secret.h"
#include "design/file/yaml_document.h"
#include "platforms/common/lower_common.h"
#include "platforms/common/read_common.h"
#include "platforms/cumulus/nvue.h"

namespace weir::platforms::nvue {
namespace {

constexpr Defaults kDefaults{kSource};
constexpr Defaults kRoceDefaults{kRoceSource};

// ---- what was said ----

struct Marking {
  Fact<bool> ecn;
  Fact<bool> red;
  Fact<Bytes> min;
  Fact<Bytes> max;
  Fact<Share> probability;
};
struct Sched {
  Fact<evidence::Scheduler> mode;
  Fact<unsigned> percent;
};
struct PfcProfile {
  PrioritySet priorities;
  bool tx = true;
  bool rx = true;
  Fact<Length> cable;
  Fact<Bytes> port_buffer;
  Fact<Bytes> xoff;
  Fact<Bytes> xon;
};
struct Shaper {
  std::array<Fact<BitRate>, 8> queues;
  Fact<BitRate> port;
};
struct LinkPause {
  bool rx = false;
  bool tx = false;
};
struct Port {
  Fact<Bytes> mtu;
  Fact<std::string> pfc;
  Fact<std::string> marking;
  Fact<std::string> scheduler;
  Fact<std::string> shaper;
  Fact<std::string> pause;
  Fact<bool> watchdog;
};
/// What profiles say of traffic classes.
struct Markings {
  std::array<Marking, 8> queues;
};
struct Scheds {
  std::array<Sched, 8> queues;
};

struct Said {
  std::string hostname;
  Fact<bool> roce;
  Fact<std::string> roce_mode;
  Fact<Length> roce_cable;
  Fact<evidence::TrustMode> trust;
  std::array<Fact<TrafficClass>, 64> dscp;
  std::array<Fact<TrafficClass>, 8> pcp;
  std::array<Fact<Queue>, 8> queues;
  std::map<std::string, Markings, std::less<>> markings;
  std::map<std::string, Scheds, std::less<>> scheds;
  std::map<std::string, PfcProfile, std::less<>> pfc;
  std::map<std::string, Shaper, std::less<>> shapers;
  std::map<std::string, LinkPause, std::less<>> pauses;
  std::map<std::string, Port, std::less<>> ports;
  Interfaces interfaces;
  PortModes modes;
  std::vector<evidence::Pool> pools;
  std::string pools_source;
  Fact<Alpha> ingress_alpha;
  Fact<Bytes> reserved;
  std::array<Fact<Alpha>, 8> egress_alpha;
  Fact<unsigned> oversubscription;
  Fact<bool> rewrite;
  std::array<std::optional<Dscp>, 8> rewrites{};
  Fact<Duration> polling;
  Fact<unsigned> robustness;
  Fact<bool> dcbx;
  Fact<bool> adaptive;
  Fact<unsigned> seed;
  evidence::Telemetry telemetry;
  std::map<std::string, std::set<unsigned>> vlans;                                  // by bridge
  std::map<std::string, std::pair<std::vector<std::string>, std::string>> bridged;  // ports, source
  std::map<std::string, std::set<unsigned>> own_vlans;  // of ports that do not carry all of these
};

/// The names of "swp1-4,swp7s0-3".
Result<std::vector<std::string>> expand(const std::string& word) {
  constexpr std::int64_t kMost = 4096;
  const auto bad = [&] {
    return parse_error(fmt::format("expected ports such as swp1-4,swp7, found '{}'", word));
  };
  constexpr std::string_view kDigits = "0123456789";
  std::vector<std::string> out;
  for (std::string_view piece : split(word, ',')) {
    if (piece.empty()) return bad();
    std::vector<std::string> names = {""};
    while (!piece.empty()) {
      // Text, then a number or a range: "swp1-64", "s0-1".
      const std::size_t text_end = std::min(piece.find_first_of("0123456789-"), piece.size());
      const std::string_view text = piece.substr(0, text_end);
      piece.remove_prefix(text_end);
      const std::size_t first_end = std::min(piece.find_first_not_of(kDigits), piece.size());
      const std::string_view first = piece.substr(0, first_end);
      piece.remove_prefix(first_end);
      std::vector<std::string> numbers = {std::string(first)};
      if (piece.starts_with('-')) {
        piece.remove_prefix(1);
        const std::size_t last_end = std::min(piece.find_first_not_of(kDigits), piece.size());
        const std::string_view last = piece.substr(0, last_end);
        piece.remove_prefix(last_end);
        if (first.empty() || last.empty()) return bad();
        WEIR_TRY(low, read_number(first, 0, kMost, "a port"));
        WEIR_TRY(high, read_number(last, low, kMost, "a port"));
        numbers.clear();
        for (std::int64_t n = low; n <= high; ++n)
          numbers.push_back(std::to_string(n));
      }
      if (names.size() * numbers.size() > static_cast<std::size_t>(kMost)) return bad();
      std::vector<std::string> longer;
      for (const std::string& name : names)
        for (const std::string& number : numbers)
          longer.push_back(fmt::format("{}{}{}", name, text, number));
      names = std::move(longer);
    }
    out.insert(out.end(), names.begin(), names.end());
  }
  return out;
}

bool is_port(std::string_view name) {
  return name.rfind("swp", 0) == 0;
}

// ---- statements with a grammar of their own ----

Result<bool> on_off(std::string_view word) {
  if (word == "enable" || word == "enabled" || word == "on") return true;
  if (word == "disable" || word == "disabled" || word == "off") return false;
  return expected_one_of({"enable", "disable"}, word);
}

Result<std::string> roce_mode(std::string_view word) {
  for (const std::string_view mode :
       {"lossless", "lossy", "lossless-single-ipool", "lossy-multi-tc", "dci-1"})
    if (word == mode) return std::string(word);
  return expected_one_of({"lossless", "lossy"}, word);
}

Result<Alpha> alpha_of(std::string_view word) {
  for (int log2 = -7; log2 <= 6; ++log2)
    if (alpha_word(Alpha::from_log2(log2)) == word) return Alpha::from_log2(log2);
  if (word == "alpha_0" || word == "alpha_infinity")
    return unsupported("an alpha of zero or infinity is not a power of 2");
  return parse_error(fmt::format("expected alpha_1_128 to alpha_64, found '{}'", word));
}

Status imply_roce(Said& said, const Taken&, const Place& at) {
  if (!said.roce.is_known()) assign(said.roce, true, at);
  return {};
}
Status set_rewrite(Said& said, const Taken& t, const Place& at) {
  if (t[0] != "l3" && t[0] != "both") return unsupported("rewrites 802.1p bits, not the DSCP");
  assign(said.rewrite, true, at);
  return {};
}
Status check_marking_mode(Said&, const Taken& t, const Place&) {
  if (t[2] == "absolute") return {};
  return unsupported("thresholds in percent of the queue: their size in bytes is not known");
}
Status add_pfc_priorities(Said& said, const Taken& t, const Place&) {
  WEIR_TRY(priorities, read_numbers(t[1], 8, "a switch priority"));
  for (const unsigned p : priorities)
    said.pfc[t[0]].priorities.insert(Priority::of(p));
  return {};
}
Status add_pool(Said& said, const Taken& t, const Place& at) {
  using enum evidence::PoolKind;
  WEIR_TRY(percent, read_number(t[1], 0, 100, "percent"));
  const bool is_lossy = t[0].find("lossy") != std::string::npos;
  said.pools.push_back({t[0], is_lossy ? kLossy : kLossless, {}, 1_percent * percent});
  said.pools_source = at.text();
  return {};
}

/// Management, loopback and VLAN interfaces have a type by their name; any other is a bond (NVUE
/// accepts no bond whose name begins with these).
bool is_bond(std::string_view name) {
  for (const std::string_view other : {"swp", "sw", "eth", "vlan", "lo", "ib", "fnm", "vrrp"})
    if (name.starts_with(other)) return false;
  return !name.empty();
}

evidence::SwitchInterface& interface_of(Said& said, const std::string& name) {
  evidence::SwitchInterface& interface = said.interfaces[name];
  interface.name = name;
  interface.kind = name.starts_with("vlan") ? "svi" : "port-channel";
  return interface;
}
Status set_mtu(Said& said, const Taken& t, const Place& at) {
  WEIR_TRY(bytes, read_number(t[1], 68, 9216, "an MTU"));
  const bool is_known = is_port(t[0]) || is_bond(t[0]) || t[0].starts_with("vlan");
  if (!is_known) return {};  // eth0, lo
  assign(is_port(t[0]) ? said.ports[t[0]].mtu : interface_of(said, t[0]).mtu, Bytes::raw(bytes),
         at);
  return {};
}
Status name_port(Said& said, const Taken& t, const Place&) {
  if (is_port(t[0])) said.ports[t[0]];
  return {};
}
/// "2x", "4x100G": sub-ports of the cage, and their speed.
Status set_breakout(Said& said, const Taken& t, const Place&) {
  if (!is_port(t[0])) return {};
  const std::size_t x = t[1].find('x');
  const auto count = parse_u64(std::string_view(t[1]).substr(0, x));
  if (x == std::string::npos || !count || *count < 1 || *count > 8)
    return unsupported("a breakout other than a number of ports");
  PortMode& mode = mode_of(said.modes, t[0]);
  mode.ports = static_cast<unsigned>(*count);
  if (const auto speed = read_port_speed(std::string_view(t[1]).substr(x + 1))) mode.speed = *speed;
  return {};
}
Status set_breakout_lanes(Said& said, const Taken& t, const Place& at) {
  WEIR_TRY(lanes, read_number(t[2], 1, 8, "lanes"));
  WEIR_TRY_STATUS(set_breakout(said, t, at));
  if (is_port(t[0])) mode_of(said.modes, t[0]).lanes = static_cast<unsigned>(lanes);
  return {};
}
Status set_speed(Said& said, const Taken& t, const Place& at) {
  if (const auto speed = read_port_speed(t[1]); speed && is_port(t[0]))
    mode_of(said.modes, t[0]).speed = *speed;
  return name_port(said, t, at);
}
Status set_type(Said& said, const Taken& t, const Place& at) {
  if (!is_port(t[0]) && (t[1] == "svi" || t[1] == "bond")) interface_of(said, t[0]);
  return name_port(said, t, at);
}
Status add_bond_members(Said& said, const Taken& t, const Place& at) {
  WEIR_TRY(members, expand(t[1]));
  for (const std::string& member : members) {
    if (is_port(member)) said.ports[member];
    add_member(interface_of(said, t[0]), member, at.text());
  }
  return {};
}
Status collect_vlans(std::string_view text, std::set<unsigned>& out) {
  constexpr unsigned kLongest = 256;  // of a range that is worth an interface each
  bool is_long = false;
  WEIR_TRY_STATUS(read_vlans(text, [&](unsigned low, unsigned high) {
    is_long |= high - low >= kLongest;
    for (unsigned vlan = low; vlan <= high && !is_long; ++vlan)
      out.insert(vlan);
  }));
  return is_long ? Status(unsupported("a range of more than 256 VLANs")) : Status();
}
Status add_vlan(Said& said, const Taken& t, const Place&) {
  return collect_vlans(t[1], said.vlans[t[0]]);
}
Status bridge_port(Said& said, const Taken& t, const Place& at) {
  if (!is_port(t[0]) && !is_bond(t[0])) return {};
  said.ports[t[0]];
  auto& [ports, source] = said.bridged[t[1]];
  ports.push_back(t[0]);
  source = at.text();
  return {};
}
/// "interface swp1 bridge domain br_default access 10".
Status bridge_port_to(Said& said, const Taken& t, const Place& at) {
  WEIR_TRY_STATUS(bridge_port(said, t, at));
  WEIR_TRY_STATUS(collect_vlans(t[2], said.own_vlans[t[0]]));
  std::set<unsigned>& all = said.vlans[t[1]];
  all.insert(said.own_vlans[t[0]].begin(), said.own_vlans[t[0]].end());
  return {};
}
/// A port, or a bond: what is said of it holds for its members.
Result<Port*> nvue_port(Said& said, Words& words) {
  const std::string& name = words.next();
  if (!is_port(name) && !is_bond(name)) return unsupported(fmt::format("{} is not a port", name));
  return &said.ports[name];
}

// ---- the table of statements ----

auto bytes() {
  return times(1_B, 0, std::int64_t{1} << 40, "bytes");
}
auto metres() {
  return times(Length(1_m), 1, 100'000, "metres");
}
auto kilobits() {
  return [](Words& words) -> Result<BitRate> { return read_rate(words.next(), "kbps"); };
}

Rules<Said> class_rules() {
  using enum evidence::TrustMode;
  using enum evidence::Scheduler;
  const std::string map = "qos mapping default-global";
  const std::string scheduler = "qos egress-scheduler * traffic-class *";
  const std::string marking = "qos congestion-control * traffic-class *";
  const auto marked = elements(&Markings::queues, "a traffic class");
  const auto scheduled = elements(&Scheds::queues, "a traffic class");
  return {
      {"qos roce", sets(constant(true), &Said::roce)},
      {"qos roce state *", sets(read_by(on_off), &Said::roce)},
      {"qos roce enable *", sets(read_by(on_off), &Said::roce)},
      {"qos roce mode *", both(sets(read_by(roce_mode), &Said::roce_mode), imply_roce)},
      {"qos roce cable-length *", sets(metres(), &Said::roce_cable)},
      {map + " trust *", sets(choice<evidence::TrustMode>(
                                  {{"l2", kPcp}, {"l3", kDscp}, {"both", kBoth}, {"port", kPort}}),
                              &Said::trust)},
      {map + " dscp * switch-priority *",
       sets(code<TrafficClass>("a switch priority"), elements(&Said::dscp, "a DSCP"))},
      {map + " pcp * switch-priority *",
       sets(code<TrafficClass>("a switch priority"), elements(&Said::pcp, "an 802.1p value"))},
      {"qos egress-queue-mapping default-global switch-priority * traffic-class *",
       sets(code<Queue>("a traffic class"), elements(&Said::queues, "a switch priority"))},
      {"qos remark default-global rewrite *", set_rewrite},
      {"qos remark default-global switch-priority * dscp *",
       sets(code<Dscp>("a DSCP"), elements(&Said::rewrites, "a switch priority"))},
      {scheduler + " mode *",
       sets(choice<evidence::Scheduler>({{"dwrr", kWeighted}, {"strict", kStrict}}), &Said::scheds,
            scheduled, &Sched::mode)},
      {scheduler + " bw-percent *",
       sets(number(0, 100, "percent"), &Said::scheds, scheduled, &Sched::percent)},
      {marking + " ecn *", sets(read_by(on_off), &Said::markings, marked, &Marking::ecn)},
      {marking + " red *", sets(read_by(on_off), &Said::markings, marked, &Marking::red)},
      {marking + " min-threshold *", sets(bytes(), &Said::markings, marked, &Marking::min)},
      {marking + " max-threshold *", sets(bytes(), &Said::markings, marked, &Marking::max)},
      {marking + " probability *", sets(times(1_percent, 0, 100, "a probability in percent"),
                                        &Said::markings, marked, &Marking::probability)},
      {marking + " mode *", check_marking_mode},
  };
}

Rules<Said> buffer_rules() {
  const std::string buffers = "qos advance-buffer-config default-global";
  return {
      {"qos pfc * switch-priority *", add_pfc_priorities},
      {"qos pfc * tx *", sets(read_by(on_off), &Said::pfc, &PfcProfile::tx)},
      {"qos pfc * rx *", sets(read_by(on_off), &Said::pfc, &PfcProfile::rx)},
      {"qos pfc * cable-length *", sets(metres(), &Said::pfc, &PfcProfile::cable)},
      {"qos pfc * port-buffer *", sets(bytes(), &Said::pfc, &PfcProfile::port_buffer)},
      {"qos pfc * xoff-threshold *", sets(bytes(), &Said::pfc, &PfcProfile::xoff)},
      {"qos pfc * xon-threshold *", sets(bytes(), &Said::pfc, &PfcProfile::xon)},
      {"qos egress-shaper * traffic-class * max-rate *",
       sets(kilobits(), &Said::shapers, elements(&Shaper::queues, "a traffic class"))},
      {"qos egress-shaper * port-max-rate *", sets(kilobits(), &Said::shapers, &Shaper::port)},
      {"qos link-pause * tx *", sets(read_by(on_off), &Said::pauses, &LinkPause::tx)},
      {"qos link-pause * rx *", sets(read_by(on_off), &Said::pauses, &LinkPause::rx)},
      {"qos traffic-pool * memory-percent *", add_pool},
      {buffers + " ingress-lossless-buffer shared-alpha *",
       sets(read_by(alpha_of), &Said::ingress_alpha)},
      {buffers + " ingress-lossless-buffer reserved *", sets(bytes(), &Said::reserved)},
      {buffers + " egress-lossy-buffer traffic-class * shared-alpha *",
       sets(read_by(alpha_of), elements(&Said::egress_alpha, "a traffic class"))},
      {buffers + " shared-headroom oversubscription-ratio *",
       sets(number(1, kOversubscriptionMost, "a ratio"), &Said::oversubscription)},
      {"qos pfc-watchdog polling-interval *",
       sets(times(Duration(1_ms), 100, 5'000, "a polling interval in milliseconds"),
            &Said::polling)},
      {"qos pfc-watchdog robustness *",
       sets(number(1, kRobustnessMost, "a robustness"), &Said::robustness)},
  };
}

Rules<Said> system_rules() {
  using evidence::Telemetry;
  return {
      {"system hostname *", sets(word(), &Said::hostname)},
      {"system lldp tlv egress-policy * state *", sets(after(1, read_by(on_off)), &Said::dcbx)},
      {"router adaptive-routing state *", sets(read_by(on_off), &Said::adaptive)},
      {"router adaptive-routing enable *", sets(read_by(on_off), &Said::adaptive)},
      {"system forwarding hash-seed *", sets(number(0, 4'294'967'295, "a seed"), &Said::seed)},
      {"system gnmi-server state *", sets(read_by(on_off), &Said::telemetry, &Telemetry::gnmi)},
      {"system sflow state *", sets(read_by(on_off), &Said::telemetry, &Telemetry::sflow)},
      {"system telemetry interface-stats sample-interval *",
       sets(times(Duration(1_s), 1, 86'400, "seconds"), &Said::telemetry, &Telemetry::interval)},
      {"bridge domain * vlan *", add_vlan},
      {"bridge **", {}},
      {"vrf **", {}},
      {"router bgp **", {}},
      {"system ntp **", {}},
      {"system timezone *", {}},
      {"system aaa ***", {}},
      {"system api ***", {}},
      {"system config ***", {}},
      {"system date-time ***", {}},
      {"system dns ***", {}},
      {"system message ***", {}},
      {"system ntp ***", {}},
      {"system security ***", {}},
      {"system snmp-server ***", {}},
      {"system ssh-server ***", {}},
      {"system syslog ***", {}},
      {"interface eth0 ***", {}},
      {"interface lo ***", {}},
      {"router bgp ***", {}},
      {"router ospf ***", {}},
      {"router policy ***", {}},
      {"vrf ***", {}},
      {"service **", {}},
  };
}

Rules<Said> interface_rules() {
  return {
      {"interface * link mtu *", set_mtu},
      {"interface * type *", set_type},
      {"interface * bond member *", add_bond_members},
      {"interface * bond **", {}},
      {"interface * qos pfc profile *", sets(word(), nvue_port, &Port::pfc)},
      {"interface * qos congestion-control profile *", sets(word(), nvue_port, &Port::marking)},
      {"interface * qos egress-scheduler profile *", sets(word(), nvue_port, &Port::scheduler)},
      {"interface * qos egress-shaper profile *", sets(word(), nvue_port, &Port::shaper)},
      {"interface * qos link-pause profile *", sets(word(), nvue_port, &Port::pause)},
      {"interface * qos pfc-watchdog state *", sets(read_by(on_off), nvue_port, &Port::watchdog)},
      {"interface * qos shared-headroom-pool *", name_port},
      {"interface * description **", name_port},
      {"interface * link state **", name_port},
      {"interface * link speed *", set_speed},
      {"interface * link fec *", name_port},
      {"interface * link breakout *", set_breakout},
      {"interface * link breakout * lanes-per-port *", set_breakout_lanes},
      {"interface * ip **", name_port},
      {"interface * bridge domain *", bridge_port},
      {"interface * bridge domain * access *", bridge_port_to},
      {"interface * bridge domain * vlan *", bridge_port_to},
      {"interface * bridge **", name_port},
      {"interface * router adaptive-routing **", name_port},
      {"interface * vlan *", {}},
  };
}

const Rules<Said>& rules() {
  static const Rules<Said> kRules =
      joined(class_rules(), buffer_rules(), system_rules(), interface_rules());
  return kRules;
}

// ---- what that makes of the switch ----

class Builder : StateBuilder<Said> {
 public:
  explicit Builder(const Said& said)
      : StateBuilder(said, kDefaults, vocab::SwitchSystem::kCumulus) {}

  evidence::Switch build() {
    is_roce_ = said_.roce.is(true) &&
               (!said_.roce_mode.is_known() || said_.roce_mode->rfind("lossless", 0) == 0);
    set_maps();
    set_watchdog();
    if (!said_.pools.empty()) out_.pools = known(said_.pools, said_.pools_source);
    out_.headroom_oversubscription = kDefaults.unless(said_.oversubscription, 1U);
    out_.load_balancing =
        said_.adaptive.is_known()
            ? known(std::string(*said_.adaptive ? "adaptive" : "ecmp"), said_.adaptive.source())
            : kDefaults.value(std::string("ecmp"));
    out_.ecmp_seed = said_.seed;
    out_.lldp = kDefaults.value(true);
    for (const auto& [name, port] : said_.ports)
      if (is_port(name)) add_port(name, with_bond(name, port));
    sort_ports(out_);
    set_groups_of_classes();
    evidence::Switch out = finish(kMtu);
    add_vlans(out);
    return out;
  }

 private:
  /// A member has the MTU and the QoS of its bond, and a watchdog of its own.
  [[nodiscard]] Port with_bond(const std::string& name, const Port& port) const {
    Port out = port;
    const Fact<std::string> bond = channel_of(name);
    out.mtu = mtu_of_channel(bond, port.mtu);
    const Port* const from = find_named(said_.ports, bond);
    if (from == nullptr) return out;
    inherit(out.pfc, from->pfc);
    inherit(out.marking, from->marking);
    inherit(out.scheduler, from->scheduler);
    inherit(out.shaper, from->shaper);
    inherit(out.pause, from->pause);
    return out;
  }

  /// A port of a bridge carries its VLANs.
  void add_vlans(evidence::Switch& out) const {
    for (const auto& [bridge, vlans] : said_.vlans) {
      const auto ports = said_.bridged.find(bridge);
      if (ports == said_.bridged.end()) continue;
      for (const unsigned vlan : vlans) {
        for (const std::string& port : ports->second.first) {
          const auto own = said_.own_vlans.find(port);
          if (own != said_.own_vlans.end() && !own->second.contains(vlan)) continue;
          add_member(interface_named(out, fmt::format("vlan{}", vlan), "svi"), port,
                     ports->second.second);
        }
      }
    }
  }

  /// What holds where the file says nothing: the RoCE bundle's values where that is on.
  [[nodiscard]] Defaults base() const { return is_roce_ ? kRoceDefaults : kDefaults; }

  void set_maps() {
    using Slot = std::optional<TrafficClass>;
    out_.dscp_to_tc = base().unless<Slot>(said_.dscp, [](unsigned d) { return d / 8; });
    out_.pcp_to_tc = base().unless<Slot>(said_.pcp, [](unsigned pcp) { return pcp; });
    out_.tc_to_queue = base().unless<Queue>(said_.queues, [&](unsigned p) {
      const bool is_apart = !is_roce_ || p == kRocePriority || p == kCnpPriority;
      return is_apart ? p : 0;
    });
    out_.pfc_to_queue = out_.tc_to_queue;
    set_rewrites();
  }

  void set_watchdog() {
    const Fact<Duration> poll = kDefaults.unless(said_.polling, kPolling);
    const std::int64_t times =
        said_.robustness.is_known() ? static_cast<std::int64_t>(*said_.robustness) : kRobustness;
    const std::string source = !said_.polling.is_known() && said_.robustness.is_known()
                                   ? said_.robustness.source()
                                   : poll.source();
    out_.watchdog.enabled = kDefaults.value(false);
    for (const auto& [name, port] : said_.ports)
      if (port.watchdog.is(true)) out_.watchdog.enabled = port.watchdog;
    out_.watchdog.detection = known(*poll * times, source);
    out_.watchdog.restoration = known(*poll, source);
    out_.watchdog.action = kDefaults.value(std::string("drop"));
  }

  [[nodiscard]] const PfcProfile* profile_of(const Port& port) const {
    return find_named(said_.pfc, port.pfc);
  }
  [[nodiscard]] PrioritySet pfc_of(const Port& port) const {
    if (const PfcProfile* profile = profile_of(port))
      return profile->rx && profile->tx ? profile->priorities : PrioritySet();
    return is_roce_ ? PrioritySet::from_mask(1U << kRocePriority) : PrioritySet();
  }

  void add_port(const std::string& name, const Port& from) {
    SwitchPort port;
    port.name = name;
    port.channel = channel_of(name);
    port.mtu = kDefaults.unless(from.mtu, kMtu);
    port.trust = base().unless(said_.trust,
                               is_roce_ ? evidence::TrustMode::kBoth : evidence::TrustMode::kPcp);
    const bool is_undefined = from.pfc.is_known() && profile_of(from) == nullptr;
    const PrioritySet pfc = pfc_of(from);
    port.pfc = is_undefined ? Fact<PrioritySet>::missing(Missing::kError, from.pfc.source())
               : from.pfc.is_known() ? known(pfc, from.pfc.source())
                                     : base().value(pfc);
    port.pfc_negotiated = kDefaults.value(false);
    port.global_pause = kDefaults.value(false);
    if (from.pause.is_known()) {
      const LinkPause* const pause = find_named(said_.pauses, from.pause);
      port.global_pause = known(pause != nullptr && (pause->rx || pause->tx), from.pause.source());
    }
    port.watchdog = kDefaults.unless(from.watchdog, false);
    port.rewrites_dscp = kDefaults.unless(said_.rewrite, false);
    port.max_rate = kDefaults.value(BitRate());
    port.lldp = kDefaults.value(true);
    port.dcbx = base().unless(said_.dcbx, is_roce_);
    set_groups(from, port);
    set_queues(from, port);
    out_.ports.push_back(std::move(port));
  }

  void set_groups(const Port& from, SwitchPort& port) {
    if (!port.pfc.is_known() || port.pfc->count() == 0) return;
    const PfcProfile* profile = profile_of(from);
    port.cable_length = profile != nullptr ? kDefaults.unless(profile->cable, kProfileCable)
                                           : kRoceDefaults.unless(said_.roce_cable, kRoceCable);
    set_lossless_groups(port, [&](GroupBuffer& group, unsigned) {
      group.reserved = said_.reserved;
      group.alpha = said_.ingress_alpha;
      if (profile == nullptr || !profile->port_buffer.is_known()) return Fact<Bytes>();
      group.xoff = profile->xoff;
      if (!profile->xoff.is_known()) return profile->port_buffer;
      group.headroom = known(std::max(*profile->port_buffer - *profile->xoff, 0_B),
                             profile->port_buffer.source());
      if (profile->xon.is_known())
        group.xon = known(std::max(*profile->xoff - *profile->xon, 0_B), profile->xon.source());
      return profile->port_buffer;
    });
  }

  /// The bundle's, where it is on and `q` is one of its classes.
  static void set_roce_queue(unsigned q, EgressQueue& queue) {
    const bool marks = std::find(kRoceMarks.begin(), kRoceMarks.end(), q) != kRoceMarks.end();
    queue.ecn = kRoceDefaults.value(marks);
    queue.wred_drop = kRoceDefaults.value(false);
    if (marks) {
      queue.ecn_min = kRoceDefaults.value(kRoceMin);
      queue.ecn_max = kRoceDefaults.value(kRoceMax);
      queue.ecn_probability = kRoceDefaults.value(kRoceProbability);
    }
    const bool is_strict = q == kCnpPriority;
    queue.scheduler = kRoceDefaults.value(is_strict ? evidence::Scheduler::kStrict
                                                    : evidence::Scheduler::kWeighted);
    if (!is_strict) queue.weight = kRoceDefaults.value(kRoceWeight);
  }

  static void set_marking(const Marking& from, EgressQueue& queue) {
    if (from.ecn.is_known()) queue.ecn = from.ecn;
    if (from.red.is_known()) queue.wred_drop = from.red;
    if (from.min.is_known()) queue.ecn_min = from.min;
    if (from.max.is_known()) queue.ecn_max = from.max;
    if (from.probability.is_known()) queue.ecn_probability = from.probability;
  }

  void set_queues(const Port& from, SwitchPort& port) {
    const Fact<std::string> global = kDefaults.value(std::string("default-global"));
    const Scheds* const scheds =
        find_named(said_.scheds, from.scheduler.is_known() ? from.scheduler : global);
    const Markings* const markings =
        find_named(said_.markings, from.marking.is_known() ? from.marking : global);
    const Shaper* const shaper = find_named(said_.shapers, from.shaper);
    if (shaper != nullptr && shaper->port.is_known()) port.max_rate = shaper->port;
    for (unsigned q = 0; q < 8; ++q) {
      const bool is_bundled = is_roce_ && (q == 0 || q == kRocePriority || q == kCnpPriority);
      const Sched sched = scheds == nullptr ? Sched() : scheds->queues.at(q);
      const Marking marking = markings == nullptr ? Marking() : markings->queues.at(q);
      const bool is_said = sched.mode.is_known() || marking.ecn.is_known() ||
                           marking.min.is_known() || said_.egress_alpha.at(q).is_known();
      if (!is_bundled && !is_said) continue;
      EgressQueue& queue = queue_at(port, Queue::of(q));
      if (is_bundled) set_roce_queue(q, queue);
      set_marking(marking, queue);
      if (sched.mode.is_known()) {
        queue.scheduler = sched.mode;
        queue.weight =
            sched.mode.is(evidence::Scheduler::kStrict) ? Fact<unsigned>() : sched.percent;
      }
      const Fact<BitRate> limit = shaper == nullptr ? Fact<BitRate>() : shaper->queues.at(q);
      queue.max_rate = kDefaults.unless(limit, BitRate());
      queue.alpha = said_.egress_alpha.at(q);
      settle_queue(queue);
    }
  }

  bool is_roce_ = false;
};

// ---- the two forms ----

Result<std::vector<Statement>> from_commands(std::string_view text, std::string_view file,
                                             std::vector<Unread>& unread) {
  std::vector<Statement> out;
  int line = 0;
  for (const std::string_view raw : split(text, '\n')) {
    ++line;
    const std::string_view bare = trim(raw);
    if (bare.empty() || bare.front() == '#') continue;
    std::vector<std::string> words = words_of(bare);
    if (words[0] != "nv")
      return parse_error(fmt::format("{}:{}: expected a command 'nv set …', found '{}'", file, line,
                                     without_secret(bare)));
    if (words.size() > 1 && words[1] == "config") continue;
    if (words.size() < 3 || words[1] != "set") {
      unread.push_back({line, std::string(bare), "not a 'nv set'"});
      continue;
    }
    out.push_back({line, {words.begin() + 2, words.end()}, std::string(bare)});
  }
  return out;
}

void flatten(const design::YamlNode& node, std::vector<std::string>& path,
             std::vector<Statement>& out) {
  const auto add = [&](const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words)
      text += (text.empty() ? "" : " ") + word;
    out.push_back({node.at.line, words, std::move(text)});
  };
  switch (node.kind) {
    case design::YamlNode::Kind::kScalar: {
      std::vector<std::string> words = path;
      if (!node.is_empty()) words.push_back(printable_line(node.scalar));
      return add(words);
    }
    case design::YamlNode::Kind::kSequence:
      for (const design::YamlNode& item : node.items)
        flatten(item, path, out);
      return;
    case design::YamlNode::Kind::kMapping: break;
  }
  if (node.entries.empty()) return add(path);
  for (const design::YamlEntry& entry : node.entries) {
    path.push_back(printable_line(entry.key));
    flatten(entry.value, path, out);
    path.pop_back();
  }
}

Result<std::vector<Statement>> from_tree(std::string_view text, std::string_view file) {
  const design::YamlDocument document = design::parse_yaml(text);
  if (!document.errors.empty())
    return parse_error(fmt::format("{}:{}: expected a configuration of NVUE in YAML: {}", file,
                                   document.errors.front().at.line,
                                   document.errors.front().message));
  std::vector<Statement> out;
  std::vector<std::string> path;
  bool has_set = false;
  const auto take = [&](const design::YamlNode& item) {
    for (const design::YamlEntry& entry : item.entries) {
      if (entry.key != "set") continue;
      has_set = true;
      flatten(entry.value, path, out);
    }
  };
  take(document.root);
  for (const design::YamlNode& item : document.root.items)
    take(item);
  if (!has_set)
    return parse_error(fmt::format("{}:1: expected '- set:' as in startup.yaml, found {}", file,
                                   design::describe_kind(document.root)));
  return out;
}

/// "interface swp1-4 …" becomes one statement per interface.
Result<std::vector<Statement>> per_interface(const std::vector<Statement>& statements,
                                             std::string_view file) {
  std::vector<Statement> out;
  for (const Statement& statement : statements) {
    if (statement.words.size() < 2 || statement.words[0] != "interface") {
      out.push_back(statement);
      continue;
    }
    const auto interfaces = expand(statement.words[1]);
    if (!interfaces) return error_at({file, statement.line}, interfaces.error());
    for (const std::string& name : *interfaces)
      out.emplace_back(statement).words[1] = name;
  }
  return out;
}

/// The first line that is neither empty nor a comment.
std::string_view first_line(std::string_view text) {
  for (const std::string_view raw : split(text, '\n')) {
    const std::string_view bare = trim(raw);
    if (!bare.empty() && bare.front() != '#') return raw;
  }
  return {};
}

bool is_command(std::string_view line) {
  return trim(line).starts_with("nv ");
}

}  // namespace

bool looks_like(std::string_view text) {
  const std::string_view first = first_line(text);
  return is_command(first) || first.starts_with("- set:") || first.starts_with("- header:");
}

Result<Parsed> parse(std::string_view text, std::string_view file) {
  Parsed parsed;
  const std::string_view first = first_line(text);
  WEIR_TRY(statements, first.empty() || is_command(first) ? from_commands(text, file, parsed.unread)
                                                          : from_tree(text, file));
  WEIR_TRY(expanded, per_interface(statements, file));
  return build_from<Builder>(rules(), expanded, file, std::move(parsed));
}

}  // namespace weir::platforms::nvue
