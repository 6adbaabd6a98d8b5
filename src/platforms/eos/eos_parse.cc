#include "platforms/eos/eos_parse.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "platforms/common/read_common.h"

namespace weir::platforms::eos_cli {
namespace {

constexpr Defaults kDefaults{kSource};

// ---- what the statements say ----

/// A profile, or the same statements on an interface.
struct Profile {
  Fact<evidence::TrustMode> trust;
  std::map<unsigned, EgressQueue> queues;
  Fact<bool> pfc_on;
  std::array<Fact<bool>, 8> no_drop;
  Fact<bool> watchdog;
  Fact<std::string> action;
  Fact<Duration> timeout;
  Fact<Duration> recovery;
  Fact<BitRate> shape;
  Fact<Share> shape_share;
};

struct Port {
  Profile own;
  Fact<std::string> profile;
  Fact<Bytes> mtu;
  Fact<bool> is_routed;
  Fact<bool> pause;
  Fact<bool> dcbx;
  Fact<bool> up;  // false where it is shut
};

struct Mmu {
  Fact<Alpha> threshold;
  Fact<Bytes> headroom;
  Fact<Bytes> reserved;
  std::array<Fact<Alpha>, 8> egress;
};

struct Said {
  std::string hostname;
  std::array<Fact<TrafficClass>, 64> dscp;
  std::array<Fact<TrafficClass>, 8> cos;
  std::array<Fact<Queue>, 8> queues;
  std::array<std::optional<Dscp>, 8> rewrites{};
  Fact<bool> rewrite;
  std::map<std::string, Profile, std::less<>> profiles;
  std::map<std::string, Port, std::less<>> ports;
  Interfaces interfaces;
  PortModes modes;
  VlanText vlans;
  std::map<std::string, Mmu, std::less<>> mmus;
  std::map<std::string, int, std::less<>> mmu_lines;  // of what defines or applies one
  std::string applied_mmu;
  Fact<bool> all_off;
  Fact<Duration> timeout;
  Fact<Duration> recovery;
  Fact<std::string> action;
  Fact<bool> lldp;
  Fact<bool> dynamic;
  Fact<bool> cut_through;
  evidence::Telemetry telemetry;

  [[nodiscard]] std::vector<ConfigFault> faults() const;
};

/// A queue profile has no effect before it is applied, and only one is.
std::vector<ConfigFault> Said::faults() const {
  const bool is_applied = !applied_mmu.empty();
  if (is_applied ? mmus.contains(applied_mmu) : mmus.empty()) return {};
  const std::string& name = is_applied ? applied_mmu : mmus.begin()->first;
  const std::string text =
      is_applied ? fmt::format("applies queue profile {}, which is not in the file", name)
                 : fmt::format(
                       "defines queue profile {}, and no line applies it (platform trident mmu "
                       "queue profile {} apply): its headroom and alpha are not in effect",
                       name, name);
  return {{.line = mmu_lines.at(name),
           .port = "",
           .text = text,
           .source = "platform trident mmu queue profile " + name}};
}

Result<std::string> action_of(std::string_view word) {
  if (word == "no-drop") return std::string("forward");
  if (word == "notify-only") return std::string("alert");
  return std::string(word);
}

// ---- statements with a grammar of their own ----

/// "26 27 to traffic-class 3 [drop-precedence 2]": the numbers before, the words after `to`.
struct Mapping {
  std::string_view from;
  std::vector<std::string> to;
};
Mapping mapping_of(std::string_view tail) {
  const std::size_t to = tail.find(" to ");
  if (to == std::string_view::npos) return {tail, {}};
  return {tail.substr(0, to), words_of(tail.substr(to + 4))};
}

template <std::size_t N>
Status map_codes(const std::string& tail, std::array<Fact<TrafficClass>, N>& map,
                 std::string_view what, const Place& at) {
  const Mapping mapping = mapping_of(tail);
  if (mapping.to.size() < 2 || mapping.to[0] != "traffic-class")
    return parse_error(fmt::format("expected 'to traffic-class N', found '{}'", tail));
  WEIR_TRY(codes, read_numbers(mapping.from, N, what));
  WEIR_TRY(tc, read_number(mapping.to[1], 0, 7, "a traffic class"));
  for (const unsigned c : codes)
    assign(map.at(c), TrafficClass::of(static_cast<unsigned>(tc)), at);
  return {};
}
Status map_dscp(Said& said, const Taken& t, const Place& at) {
  return map_codes(t[0], said.dscp, "a DSCP", at);
}
Status map_cos(Said& said, const Taken& t, const Place& at) {
  return map_codes(t[0], said.cos, "an 802.1p value", at);
}
Status map_class(Said& said, const Taken& t, const Place& at) {
  const Mapping mapping = mapping_of(t[0]);
  if (mapping.to.size() < 2)
    return parse_error(fmt::format("expected 'to tx-queue N', found '{}'", t[0]));
  WEIR_TRY(classes, read_numbers(mapping.from, 8, "a traffic class"));
  if (mapping.to[0] == "tx-queue" || mapping.to[0] == "uc-tx-queue") {
    WEIR_TRY(queue, read_number(mapping.to[1], 0, 7, "a queue"));
    for (const unsigned c : classes)
      assign(said.queues.at(c), Queue::of(static_cast<unsigned>(queue)), at);
    return {};
  }
  if (mapping.to[0] != "dscp") return unsupported("rewrites a field other than the DSCP");
  WEIR_TRY(value, read_number(mapping.to[1], 0, 63, "a DSCP"));
  for (const unsigned c : classes)
    said.rewrites.at(c) = Dscp::of(static_cast<unsigned>(value));
  return {};
}

Status define_mmu(Said& said, const Taken& t, const Place& at) {
  said.mmus[t[0]];
  said.mmu_lines.try_emplace(t[0], at.line);
  return {};
}
Status apply_mmu(Said& said, const Taken& t, const Place& at) {
  said.applied_mmu = t[0];
  said.mmu_lines.try_emplace(t[0], at.line);
  return {};
}
/// "400g-4": rate and lanes; "100g", "forced 100gfull". `auto` leaves both to the port.
Status set_speed(Said& said, const Taken& t, const Place&) {
  said.ports[t[0]];
  const std::string_view word = t.back();
  const std::size_t dash = word.find('-');
  const auto speed = read_port_speed(word.substr(0, dash));
  if (!speed || !is_ethernet(t[0])) return {};
  PortMode& mode = mode_of(said.modes, t[0]);
  mode.speed = *speed;
  if (dash == std::string_view::npos) return {};
  WEIR_TRY(lanes, read_number(word.substr(dash + 1), 1, 8, "lanes"));
  mode.lanes = static_cast<unsigned>(lanes);
  return {};
}
Status no_unit(Said&, const Taken&, const Place&) {
  return unsupported("no unit: bytes or cells");
}
Status join_channel(Said& said, const Taken& t, const Place& at) {
  add_member(said.interfaces, "Port-Channel" + t[1], t[0], at);
  return {};
}

/// Its unit before the number: "bytes 331776".
auto unit_and_size() {
  return [](Words& words) -> Result<Bytes> {
    const std::string& unit = words.next();
    return read_size(words.next(), unit);
  };
}

auto percent_share() {
  return times(1_percent, 1, 100, "percent");
}
/// "shape rate 20 mbps", or "… 20 percent" of the line.
template <class Owner, class... Path>
auto sets_shape(Fact<BitRate> Owner::*limit, Fact<Share> Owner::*share, Path... path) {
  return [=](Said& said, const Taken& taken, const Place& at) -> Status {
    return taken.back() == "percent" ? sets(percent_share(), path..., share)(said, taken, at)
                                     : sets(rate(), path..., limit)(said, taken, at);
  };
}
auto is_not_none() {
  return [](Words& words) -> Result<bool> { return words.next() != "none"; };
}

Result<EgressQueue*> queue_of(Profile& profile, Words& words) {
  WEIR_TRY(number, read_number(words.next(), 0, 7, "a queue"));
  return &profile.queues[static_cast<unsigned>(number)];
}

// ---- the table of statements ----

/// A profile and an interface take the same statements; `path` leads to what they are said of.
template <class... Path>
void add_queue_rules(const std::string& at, Rules<Said>& rules, Path... path) {
  using enum evidence::Scheduler;
  const auto percent = number(0, 100, "percent");
  const Rules<Said> queue_rules = {
      {at, names(path..., queue_of)},
      {at + " | no priority",
       sets(constant(kWeighted), path..., queue_of, &EgressQueue::scheduler)},
      {at + " | priority strict",
       sets(constant(kStrict), path..., queue_of, &EgressQueue::scheduler)},
      {at + " | bandwidth percent *", sets(percent, path..., queue_of, &EgressQueue::weight)},
      {at + " | bandwidth guaranteed percent *",
       sets(percent, path..., queue_of, &EgressQueue::weight)},
      {at + " | shape rate * *",
       sets_shape(&EgressQueue::max_rate, &EgressQueue::max_share, path..., queue_of)},
      {at + " | random-detect ecn count", {}},
      {at + " | random-detect ecn **", sets_marking(true, path..., queue_of)},
      {at + " | random-detect drop **", sets_marking(false, path..., queue_of)},
  };
  rules = joined(std::move(rules), queue_rules);
}

template <class... Path>
void add_owner_rules(const std::string& owner, Rules<Said>& rules, Path... path) {
  using enum evidence::TrustMode;
  const std::string pfc = owner + " | priority-flow-control";
  const std::string timer =
      pfc + " pause watchdog port timer timeout * polling-interval * recovery-time *";
  const auto sets_timer = both(sets(read_by(read_seconds), path..., &Profile::timeout),
                               sets(after(2, read_by(read_seconds)), path..., &Profile::recovery));
  const Rules<Said> owner_rules = {
      {owner + " | qos trust *", sets(choice<evidence::TrustMode>({{"dscp", kDscp}, {"cos", kPcp}}),
                                      path..., &Profile::trust)},
      {owner + " | no qos trust", sets(constant(kPort), path..., &Profile::trust)},
      {owner + " | shape rate * *", sets_shape(&Profile::shape, &Profile::shape_share, path...)},
      {pfc + " on", sets(constant(true), path..., &Profile::pfc_on)},
      {pfc + " mode on", sets(constant(true), path..., &Profile::pfc_on)},
      {pfc + " priority * *", sets(choice<bool>({{"no-drop", true}, {"drop", false}}), path...,
                                   elements(&Profile::no_drop, "a priority"))},
      {pfc + " pause watchdog", sets(constant(true), path..., &Profile::watchdog)},
      {pfc + " pause watchdog port action *", sets(read_by(action_of), path..., &Profile::action)},
      {timer, sets_timer},
      {timer + " forced", sets_timer},
  };
  rules = joined(std::move(rules), owner_rules);
  add_queue_rules(owner + " | uc-tx-queue *", rules, path...);
  add_queue_rules(owner + " | tx-queue *", rules, path...);
}

Rules<Said> box_rules() {
  const std::string mmu = "platform trident mmu queue profile *";
  const std::string watchdog = "priority-flow-control pause watchdog";
  using evidence::Telemetry;
  return {
      {"hostname *", sets(word(), &Said::hostname)},
      {"qos map dscp **", map_dscp},
      {"qos map cos **", map_cos},
      {"qos map traffic-class **", map_class},
      {"qos rewrite dscp", sets(constant(true), &Said::rewrite)},
      {"qos profile *", names(&Said::profiles)},
      {mmu, define_mmu},
      {mmu + " apply", apply_mmu},
      {mmu + " | ingress threshold *", sets(read_by(read_fraction), &Said::mmus, &Mmu::threshold)},
      {mmu + " | ingress headroom * *", sets(unit_and_size(), &Said::mmus, &Mmu::headroom)},
      {mmu + " | ingress headroom *", no_unit},
      {mmu + " | ingress reserved * *", sets(unit_and_size(), &Said::mmus, &Mmu::reserved)},
      {mmu + " | ingress reserved *", no_unit},
      {mmu + " | egress unicast queue * threshold *",
       sets(read_by(read_fraction), &Said::mmus, elements(&Mmu::egress, "a queue"))},
      {watchdog + " default timeout *", sets(read_by(read_seconds), &Said::timeout)},
      {watchdog + " default recovery-time *", sets(read_by(read_seconds), &Said::recovery)},
      {watchdog + " default polling-interval *", checks(read_by(read_seconds))},
      {watchdog + " action *", sets(read_by(action_of), &Said::action)},
      {"priority-flow-control all off", sets(constant(true), &Said::all_off)},
      {"lldp run", sets(constant(true), &Said::lldp)},
      {"no lldp run", sets(constant(false), &Said::lldp)},
      {"ip hardware fib load-balance distribution dynamic", sets(constant(true), &Said::dynamic)},
      {"switch forwarding-mode *", sets(is_word("cut-through"), &Said::cut_through)},
      {"queue-monitor length", sets(constant(true), &Said::telemetry, &Telemetry::queue_monitor)},
      {"hardware counter feature ecn out",
       sets(constant(true), &Said::telemetry, &Telemetry::ecn_counters)},
      {"sflow run", sets(constant(true), &Said::telemetry, &Telemetry::sflow)},
      {"sflow polling-interval *",
       sets(times(Duration(1_s), 1, 3'600, "seconds"), &Said::telemetry, &Telemetry::interval)},
      {"management api gnmi", sets(constant(true), &Said::telemetry, &Telemetry::gnmi)},
      {"management api gnmi | **", {}},
      {"vlan *", declare_vlans<Said>},
      {"vrf instance *", {}},
      {"ip routing", {}},
      {"router bgp **", {}},
      {"end", {}},
  };
}

Rules<Said> interface_rules() {
  return {
      {"interface *", name_interface<Said>},
      {"interface * | switchport trunk allowed vlan *", join_vlans<Said>},
      {"interface * | switchport trunk allowed vlan add *", join_vlans<Said>},
      {"interface * | switchport access vlan *", join_vlans<Said>},
      {"interface * | switchport mode *", set_switchport_mode<Said>},
      {"interface * | mtu *", sets_mtu(68, 9214)},
      {"interface * | shutdown", sets(constant(false), &Said::ports, &Port::up)},
      {"interface * | speed *", set_speed},
      {"interface * | speed * *", set_speed},
      {"interface * | service-profile *", sets(word(), &Said::ports, &Port::profile)},
      {"interface * | no switchport", sets(constant(true), &Said::ports, &Port::is_routed)},
      {"interface * | flowcontrol * *", set_pause<Said>},
      {"interface * | dcbx mode *", sets(is_not_none(), &Said::ports, &Port::dcbx)},
      {"interface * | channel-group * mode *", join_channel},
  };
}

const Rules<Said>& rules() {
  static const Rules<Said> kRules = [] {
    Rules<Said> all = joined(box_rules(), interface_rules(), other_interface_rules<Said>());
    add_owner_rules("qos profile *", all, &Said::profiles);
    add_owner_rules("interface *", all, &Said::ports, &Port::own);
    all = joined(std::move(all), other_box_rules<Said>());
    return all;
  }();
  return kRules;
}

// ---- from statements to the state of the switch ----

class Builder : StateBuilder<Said> {
 public:
  explicit Builder(const Said& said) : StateBuilder(said, kDefaults, vocab::SwitchSystem::kEos) {}

  evidence::Switch build() {
    set_maps();
    out_.load_balancing = said_.dynamic.is_known()
                              ? known(std::string("adaptive"), said_.dynamic.source())
                              : kDefaults.value(std::string("ecmp"));
    out_.cut_through = said_.cut_through;
    out_.lldp = kDefaults.unless(said_.lldp, true);
    for (Fact<bool>* fact : {&out_.telemetry.queue_monitor, &out_.telemetry.ecn_counters})
      *fact = kDefaults.unless(*fact, false);
    out_.watchdog.enabled = kDefaults.value(false);
    out_.watchdog.action = kDefaults.unless(said_.action, std::string("errdisable"));
    out_.watchdog.detection = said_.timeout;
    out_.watchdog.restoration = said_.recovery;
    for (const auto& [name, port] : said_.ports)
      if (is_ethernet(name)) add_port(name, with_channel(name, port));
    sort_ports(out_);
    set_groups_of_classes();
    evidence::Switch out = finish(kDefaultMtu);
    add_vlans(said_.vlans, out);
    return out;
  }

 private:
  /// A member has the MTU of its port-channel, and the QoS of that where it has none of its own.
  [[nodiscard]] Port with_channel(const std::string& name, const Port& port) const {
    Port out = port;
    const Fact<std::string> channel = channel_of(name);
    out.mtu = mtu_of_channel(channel, port.mtu);
    const Port* const from = find_named(said_.ports, channel);
    if (from == nullptr) return out;
    inherit(out.profile, from->profile);
    inherit(out.is_routed, from->is_routed);
    inherit(out.pause, from->pause);
    inherit(out.own.trust, from->own.trust);
    inherit(out.own.pfc_on, from->own.pfc_on);
    for (std::size_t p = 0; p < out.own.no_drop.size(); ++p)
      inherit(out.own.no_drop.at(p), from->own.no_drop.at(p));
    inherit(out.own.shape, from->own.shape);
    inherit(out.own.shape_share, from->own.shape_share);
    return out;
  }

  void set_maps() {
    using Slot = std::optional<TrafficClass>;
    out_.dscp_to_tc =
        kDefaults.unless<Slot>(said_.dscp, [](unsigned d) { return default_class(d / 8); });
    out_.pcp_to_tc = kDefaults.unless<Slot>(said_.cos, default_class);
    out_.tc_to_queue = kDefaults.unless<Queue>(said_.queues, [](unsigned tc) { return tc; });
    out_.pfc_to_queue = out_.tc_to_queue;
    set_rewrites();
  }

  /// A statement on the interface overrides its profile.
  template <class Member>
  static auto said_of(const Port& port, const Profile* profile, Member member) {
    return (port.own.*member).is_known() || profile == nullptr ? port.own.*member
                                                               : profile->*member;
  }

  void set_pfc(const Port& from, const Profile* profile, SwitchPort& port) {
    const Fact<bool> is_on = said_of(from, profile, &Profile::pfc_on);
    PrioritySet set;
    for (std::size_t p = 0; p < 8; ++p) {
      const Fact<bool>& own = from.own.no_drop.at(p);
      const bool no_drop =
          own.is_known() ? *own : profile != nullptr && profile->no_drop.at(p).is(true);
      if (no_drop && is_on.is(true)) set.insert(Priority::of(static_cast<unsigned>(p)));
    }
    port.pfc = known(set, kDefaults.unless(is_on, false).source());
    if (said_.all_off.is(true)) port.pfc = known(PrioritySet(), said_.all_off.source());
  }

  void set_watchdog(const Port& from, const Profile* profile, SwitchPort& port) {
    const Fact<bool> watchdog = said_of(from, profile, &Profile::watchdog);
    port.watchdog = kDefaults.unless(watchdog, false);
    if (!watchdog.is(true)) return;
    out_.watchdog.enabled = watchdog;
    const auto take = [&](auto member, auto& to) {
      const auto said = said_of(from, profile, member);
      if (said.is_known()) to = said;
    };
    take(&Profile::action, out_.watchdog.action);
    take(&Profile::timeout, out_.watchdog.detection);
    take(&Profile::recovery, out_.watchdog.restoration);
  }

  void add_port(const std::string& name, const Port& from) {
    const Profile* const profile = find_named(said_.profiles, from.profile);
    SwitchPort port;
    port.name = name;
    port.channel = channel_of(name);
    port.up = from.up;
    port.mtu = kDefaults.unless(from.mtu, kDefaultMtu);
    // By default, routed ports trust the DSCP and switched ports the VLAN tag.
    port.trust = kDefaults.unless(
        said_of(from, profile, &Profile::trust),
        from.is_routed.is(true) ? evidence::TrustMode::kDscp : evidence::TrustMode::kPcp);
    set_pfc(from, profile, port);
    if (from.profile.is_known() && profile == nullptr)
      port.pfc = Fact<PrioritySet>::missing(Missing::kError, from.profile.source());
    port.pfc_negotiated = kDefaults.value(false);
    port.global_pause = kDefaults.unless(from.pause, false);
    set_watchdog(from, profile, port);
    port.rewrites_dscp = kDefaults.unless(said_.rewrite, false);
    port.max_rate = kDefaults.unless(said_of(from, profile, &Profile::shape), BitRate());
    port.max_share = said_of(from, profile, &Profile::shape_share);
    if (port.max_share.is_known()) port.max_rate = {};
    port.lldp = out_.lldp;
    port.dcbx = kDefaults.unless(from.dcbx, false);
    set_lossless_groups(port, [&](GroupBuffer& group, unsigned) {
      if (mmu() == nullptr) return Fact<Bytes>();
      group.headroom = mmu()->headroom;
      group.alpha = mmu()->threshold;
      group.reserved = mmu()->reserved;
      return group.headroom;
    });
    set_queues(from, profile, port);
    out_.ports.push_back(std::move(port));
  }

  [[nodiscard]] const Mmu* mmu() const {
    const auto found = said_.mmus.find(said_.applied_mmu);
    return found == said_.mmus.end() ? nullptr : &found->second;
  }

  void set_queues(const Port& from, const Profile* profile, SwitchPort& port) {
    std::map<unsigned, EgressQueue> queues = from.own.queues;
    if (profile != nullptr)
      for (const auto& [number, profiled] : profile->queues) {
        EgressQueue queue = profiled;
        if (const auto own = queues.find(number); own != queues.end()) overlay(own->second, queue);
        queues[number] = std::move(queue);
      }
    for (auto& [number, queue] : queues) {
      queue.queue = Queue::of(number);
      if (mmu() != nullptr) queue.alpha = mmu()->egress.at(number);
      kDefaults.settle(queue);
      queue_at(port, queue.queue) = std::move(queue);
    }
  }

  static void overlay(const EgressQueue& own, EgressQueue& queue) {
    const auto take = [&](auto... members) {
      ((queue.*members = (own.*members).is_known() ? own.*members : queue.*members), ...);
    };
    take(&EgressQueue::ecn, &EgressQueue::wred_drop, &EgressQueue::ecn_min, &EgressQueue::ecn_max,
         &EgressQueue::ecn_probability, &EgressQueue::ecn_weight, &EgressQueue::scheduler,
         &EgressQueue::weight, &EgressQueue::max_rate, &EgressQueue::max_share);
  }
};

}  // namespace

bool looks_like(std::string_view text) {
  return has_line_with(
      text, {"qos profile ", "qos map dscp ", "qos map traffic-class ", "platform trident mmu",
             "priority-flow-control pause watchdog", "   service-profile ", "   uc-tx-queue "});
}

namespace {

/// The text of a banner is no statement; lines keep their numbers.
std::string without_banners(std::string_view text) {
  std::string out;
  bool is_banner = false;
  for (const std::string_view line : split(text, '\n')) {
    const bool ends = trim(line) == "EOF";
    if (!is_banner || ends) out += is_banner ? std::string_view() : line;
    out += '\n';
    is_banner = (is_banner || line.starts_with("banner ")) && !ends;
  }
  return out;
}

}  // namespace

Result<Parsed> parse(std::string_view text, std::string_view file) {
  return build_from<Builder>(rules(), indented_statements(without_banners(text)), file);
}

}  // namespace weir::platforms::eos_cli
