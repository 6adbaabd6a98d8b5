#pragma once
// What reading configurations has in common: defaults of a system where a file says nothing, and
// the statements that EOS and NX-OS share.
#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "evidence/evidence.h"
#include "platforms/common/lower_common.h"
#include "platforms/common/statement.h"

namespace weir::platforms {

/// What a system does where its configuration says nothing.
struct Defaults {
  std::string_view source;  // "default of EOS"

  template <class T>
  [[nodiscard]] Fact<T> value(T value) const {
    return Fact<T>::of(std::move(value), std::string(source));
  }
  template <class T>
  [[nodiscard]] Fact<T> unless(const Fact<T>& said, T value) const {
    return said.is_known() ? said : this->value(std::move(value));
  }
  /// A map entry by entry; its source is that of the last entry that was said.
  template <class Slot, class Code, std::size_t N, class DefaultOf>
  [[nodiscard]] Fact<std::array<Slot, N>> unless(const std::array<Fact<Code>, N>& said,
                                                 DefaultOf default_of) const {
    std::array<Slot, N> map{};
    std::string from(source);
    for (unsigned i = 0; i < N; ++i) {
      map.at(i) = said.at(i).is_known() ? *said.at(i) : Code::of(default_of(i));
      if (said.at(i).is_known()) from = said.at(i).source();
    }
    return Fact<std::array<Slot, N>>::of(map, from);
  }
  /// A queue neither marks, drops early nor is limited unless something says so.
  void settle(evidence::EgressQueue& queue) const;
};

/// The definition that a fact names; nullptr where it names none, or one that is not there.
template <class Map>
[[nodiscard]] const typename Map::mapped_type* find_named(const Map& map,
                                                          const Fact<std::string>& name) {
  if (!name.is_known()) return nullptr;
  const auto found = map.find(*name);
  return found == map.end() ? nullptr : &found->second;
}

/// Whether a line starts with one of these.
[[nodiscard]] bool has_line_with(std::string_view text,
                                 std::initializer_list<std::string_view> starts);

/// Which VLANs an indented CLI gives its ports. A VLAN carries nothing before it is declared, so a
/// range of allowed ones counts only where it meets those.
struct VlanText {
  static constexpr unsigned kMost = 4094;
  struct Allowed {
    std::string port;
    unsigned low;
    unsigned high;
    std::string source;
  };
  std::vector<bool> declared = std::vector<bool>(kMost + 1);
  std::vector<Allowed> allowed;
  std::set<std::string, std::less<>> limited;              // ports with a list
  std::map<std::string, std::string, std::less<>> trunks;  // and where that is said

  void declare(unsigned low, unsigned high);
  void allow(const std::string& port, unsigned low, unsigned high, const Place& at);
};
/// Calls `take(low, high)` for each piece of "100,200-210".
[[nodiscard]] Status read_vlans(std::string_view text,
                                const std::function<void(unsigned, unsigned)>& take);

/// By name.
using PortModes = std::map<std::string, PortMode, std::less<>>;
[[nodiscard]] inline PortMode& mode_of(PortModes& all, const std::string& name) {
  PortMode& mode = all[name];
  mode.name = name;
  return mode;
}
/// "400g", "100gfull", "400G"; nothing for what is no rate ("auto").
[[nodiscard]] std::optional<BitRate> read_port_speed(std::string_view word);

/// Sets what the lines say of cages. REQUIRES: `is_whole` is set.
void set_modes(const PortModes& said, Parsed& parsed);
/// Where the text may be a part, what is missing may be elsewhere: those faults are listed as
/// unread. REQUIRES: `is_whole` is set.
void settle_faults(Parsed& parsed);

using Interfaces = std::map<std::string, evidence::SwitchInterface, std::less<>>;

/// From what the statements of EOS, NX-OS or NVUE say to the state of the switch: what the three
/// have in common. `Said` has hostname, telemetry, interfaces and ports.
template <class Said>
class StateBuilder {
 protected:
  StateBuilder(const Said& said, const Defaults& defaults, vocab::SwitchSystem system)
      : said_(said), defaults_(defaults) {
    out_.name = said.hostname;
    out_.platform = platform_fact(system);
    out_.telemetry = said.telemetry;
    out_.telemetry.gnmi = defaults.unless(said.telemetry.gnmi, false);
    out_.telemetry.sflow = defaults.unless(said.telemetry.sflow, false);
    for (const auto& [name, interface] : said.interfaces)
      if (interface.kind == "port-channel" && interface.members.is_known())
        for (const std::string& member : *interface.members)
          channel_of_.try_emplace(member, known(name, interface.members.source()));
  }

  /// The port-channel of a port; its name is empty where the port is in none.
  [[nodiscard]] Fact<std::string> channel_of(const std::string& port) const {
    const auto found = channel_of_.find(port);
    return found == channel_of_.end() ? defaults_.value(std::string()) : found->second;
  }
  /// The MTU that the statements give that port-channel, or else what they give the port.
  [[nodiscard]] Fact<Bytes> mtu_of_channel(const Fact<std::string>& channel,
                                           const Fact<Bytes>& own) const {
    const evidence::SwitchInterface* const interface = find_named(said_.interfaces, channel);
    return interface != nullptr && interface->mtu.is_known() ? interface->mtu : own;
  }
  /// `own` where the port says it itself, else what its port-channel says.
  template <class T>
  static void inherit(Fact<T>& own, const Fact<T>& channel) {
    if (!own.is_known()) own = channel;
  }

  /// A class is rewritten where rewriting is on.
  void set_rewrites() {
    out_.tc_to_dscp =
        known(said_.rewrite.is(true) ? said_.rewrites : std::array<std::optional<Dscp>, 8>{},
              defaults_.unless(said_.rewrite, false).source());
  }

  /// Each lossless class has a priority group of its own; all others share one.
  void set_groups_of_classes() {
    std::array<PriorityGroup, 8> groups{};
    for (const SwitchPort& port : out_.ports)
      for (unsigned p = 0; p < 8; ++p)
        if (port.pfc.is_known() && port.pfc->contains(Priority::of(p)))
          groups.at(p) = PriorityGroup::of(p);
    out_.tc_to_group = defaults_.value(groups);
  }

  /// Calls `by_hand(group, priority)` for each priority with PFC; it returns what sets the size of
  /// the headroom, or an unknown fact where the switch computes it.
  template <class ByHand>
  void set_lossless_groups(SwitchPort& port, const ByHand& by_hand) const {
    for (unsigned p = 0; p < 8; ++p) {
      if (!port.pfc.is_known() || !port.pfc->contains(Priority::of(p))) continue;
      GroupBuffer& group = group_at(port, PriorityGroup::of(p));
      group.lossless = known(true, port.pfc.source());
      const auto size = by_hand(group, p);
      group.headroom_auto = size.is_known() ? known(false, size.source()) : defaults_.value(true);
    }
  }

  /// `mtu` is that of a port-channel without a statement.
  [[nodiscard]] evidence::Switch finish(Bytes mtu) {
    for (const auto& [name, interface] : said_.interfaces) {
      evidence::SwitchInterface& out = interface_named(out_, name, interface.kind);
      out = interface;
      const bool is_channel = interface.kind == "port-channel" && interface.members.is_known();
      if (is_channel) out.mtu = defaults_.unless(interface.mtu, mtu);
    }
    return std::move(out_);
  }

  const Said& said_;
  evidence::Switch out_;

 private:
  const Defaults defaults_;
  std::map<std::string, Fact<std::string>, std::less<>> channel_of_;
};

/// Statements → what they say → the state, by the system's rules and its builder.
template <class Builder, class Said>
[[nodiscard]] Result<Parsed> build_from(const Rules<Said>& rules,
                                        const std::vector<Statement>& statements,
                                        std::string_view file, Parsed parsed = {}) {
  WEIR_TRY(said, read_statements(rules, statements, file, parsed.unread));
  parsed.state = Builder(said).build();
  parsed.is_whole = !said.hostname.empty();
  set_modes(said.modes, parsed);
  if constexpr (requires { said.faults(); }) parsed.faults = said.faults();
  settle_faults(parsed);
  return parsed;
}

// ---- EOS and NX-OS ----

[[nodiscard]] bool is_ethernet(std::string_view name);
/// VLAN interfaces and port channels; nullptr for any other name.
evidence::SwitchInterface* interface_in(Interfaces& all, const std::string& name);
/// "interface Ethernet1 | channel-group 7": `channel` is "Port-Channel7".
void add_member(Interfaces& all, const std::string& channel, const std::string& port,
                const Place& at);
/// The ports of each declared VLAN; a trunk without a list carries all of them.
void add_vlans(const VlanText& vlans, evidence::Switch& state);

/// What follows `random-detect`, thresholds in bytes: "minimum-threshold 100 kbytes
/// maximum-threshold … drop-probability 10 weight 0 ecn". `marks`: ECN is on without that word.
[[nodiscard]] Status read_random_detect(std::string_view text, bool marks, const Place& at,
                                        evidence::EgressQueue& queue);

/// "random-detect …" of the queue at the end of the path.
template <class... Path>
[[nodiscard]] auto sets_marking(bool marks, Path... path) {
  return [=](auto& said, const Taken& taken, const Place& at) -> Status {
    return follow(
        said, Words(taken, at),
        [&](evidence::EgressQueue& queue, Words words) {
          return read_random_detect(words.next(), marks, at, queue);
        },
        path...);
  };
}

[[nodiscard]] inline bool is_channel(std::string_view name) {
  return name.starts_with("Port-Channel") || name.starts_with("port-channel");
}

/// "interface NAME".
template <class Said>
Status name_interface(Said& said, const Taken& t, const Place&) {
  if (is_ethernet(t[0]))
    said.ports[t[0]];
  else
    interface_in(said.interfaces, t[0]);
  return {};
}

/// "interface NAME | mtu BYTES".
[[nodiscard]] inline auto sets_mtu(std::int64_t low, std::int64_t high) {
  return [=](auto& said, const Taken& t, const Place& at) -> Status {
    WEIR_TRY(bytes, read_number(t[1], low, high, "an MTU"));
    if (is_ethernet(t[0]))
      assign(said.ports[t[0]].mtu, Bytes::raw(bytes), at);
    else if (evidence::SwitchInterface* const interface = interface_in(said.interfaces, t[0]))
      assign(interface->mtu, Bytes::raw(bytes), at);
    return {};
  };
}

/// Statements of the box that have nothing to do with RoCE: users, logs, routes, management.
[[nodiscard]] std::vector<std::string> other_box_patterns();
/// They go behind all other rules.
template <class Said>
[[nodiscard]] Rules<Said> other_box_rules() {
  Rules<Said> rules;
  for (std::string& pattern : other_box_patterns())
    rules.push_back({std::move(pattern), {}});
  return rules;
}

/// Statements of an interface that have nothing to do with QoS.
template <class Said>
[[nodiscard]] Rules<Said> other_interface_rules() {
  Rules<Said> rules;
  for (const std::string_view other :
       {"description **", "ip **", "ipv6 **", "vrf **", "speed *", "switchport", "switchport **",
        "no switchport", "no shutdown"})
    rules.push_back({"interface * | " + std::string(other), {}});
  return rules;
}

/// "vlan 100,200-210": a trunk without a list of its own carries them.
template <class Said>
Status declare_vlans(Said& said, const Taken& t, const Place&) {
  return read_vlans(t[0], [&](unsigned low, unsigned high) { said.vlans.declare(low, high); });
}
/// "interface NAME | switchport trunk allowed vlan 100,200-210".
template <class Said>
Status join_vlans(Said& said, const Taken& t, const Place& at) {
  said.vlans.limited.insert(t[0]);
  if (t[1] == "none") return {};
  if (t[1] == "all") {
    said.vlans.allow(t[0], 1, VlanText::kMost, at);
    return {};
  }
  return read_vlans(t[1],
                    [&](unsigned low, unsigned high) { said.vlans.allow(t[0], low, high, at); });
}
/// "interface NAME | switchport mode trunk".
template <class Said>
Status set_switchport_mode(Said& said, const Taken& t, const Place& at) {
  if (t[1] == "trunk") said.vlans.trunks.emplace(t[0], at.text());
  return {};
}

/// "interface NAME | flowcontrol receive|send on|off": either direction pauses.
template <class Said>
Status set_pause(Said& said, const Taken& t, const Place& at) {
  Fact<bool>& pause = said.ports[t[0]].pause;
  assign(pause, t[2] == "on" || t[2] == "desired" || pause.is(true), at);
  return {};
}

}  // namespace weir::platforms
