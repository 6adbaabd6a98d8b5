#pragma once
// What writers of configurations share: ports that are set alike have one profile, and the frame of
// an indented CLI.
#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "evidence/evidence.h"
#include "platforms/common/lower_common.h"

namespace weir::platforms {

/// Ports grouped by key, in the order in which keys appear; ports without a key are left out.
template <class Key>
[[nodiscard]] std::vector<std::pair<Key, std::vector<std::string>>> ports_by(
    const evidence::Switch& state,
    const std::function<std::optional<Key>(const evidence::SwitchPort&)>& key_of) {
  std::vector<std::pair<Key, std::vector<std::string>>> out;
  for (const evidence::SwitchPort& port : state.ports) {
    const std::optional<Key> key = key_of(port);
    if (!key) continue;
    auto at =
        std::find_if(out.begin(), out.end(), [&](const auto& row) { return row.first == *key; });
    if (at == out.end()) at = out.insert(out.end(), {*key, {}});
    at->second.push_back(port.name);
  }
  return out;
}

/// REQUIRES: the switch has that port.
[[nodiscard]] inline const evidence::SwitchPort& port_of(const evidence::Switch& state,
                                                         const std::string& name) {
  return *std::find_if(state.ports.begin(), state.ports.end(),
                       [&](const evidence::SwitchPort& port) { return port.name == name; });
}

[[nodiscard]] inline bool is_bundled(const evidence::SwitchPort& port) {
  return port.channel.is_known() && !port.channel->empty();
}

/// Port-channels in their order, each with its first port: what it says holds for all of them.
[[nodiscard]] inline std::vector<std::pair<std::string, const evidence::SwitchPort*>> channels_of(
    const evidence::Switch& state) {
  std::vector<std::pair<std::string, const evidence::SwitchPort*>> out;
  for (const evidence::SwitchInterface& interface : state.interfaces)
    if (interface.kind == "port-channel")
      out.emplace_back(interface.name, &port_of(state, interface.members->front()));
  return out;
}

/// By everything that a profile says of a port's queues: marking, shares, limits.
[[nodiscard]] inline auto ports_by_queues(const evidence::Switch& state) {
  using Key = std::vector<std::int64_t>;
  return ports_by<Key>(state, [](const evidence::SwitchPort& port) {
    Key key = {port.max_rate.is_known() ? port.max_rate->raw() : 0};
    for (const evidence::EgressQueue& queue : port.queues) {
      key.push_back(queue.max_rate.is_known() ? queue.max_rate->raw() : 0);
      if (!queue.ecn.is(true)) continue;
      key.insert(key.end(), {queue.queue.value(), queue.ecn_min->raw(), queue.ecn_max->raw(),
                             queue.ecn_probability->raw()});
    }
    return std::optional(key);
  });
}

/// What EOS and NX-OS write alike. `indent` is one step of theirs.
class CliPrinter {
 protected:
  CliPrinter(const Lowered& lowered, std::string_view indent)
      : state_(lowered.state),
        remarks_(lowered.remarks),
        first_(state_.ports.empty() ? nullptr : &state_.ports.front()),
        indent_(indent) {}

  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    out_ += fmt::format(format, std::forward<Args>(args)...) + "\n";
  }
  void why(std::string_view text) { out_ += comment("!", text); }
  void bar() { out_ += "!\n"; }

  void print_head(std::string_view made_for) {
    why(fmt::format("{}: QoS of a lossless RoCEv2 fabric, {}", state_.name, made_for));
    out_ += remarks_comment("!", remarks_);
    line("hostname {}", state_.name);
  }
  /// VLANs; the port-channels are written with the ports.
  void print_interfaces() {
    for (const evidence::SwitchInterface& interface : state_.interfaces) {
      if (interface.kind != "svi") continue;
      line("vlan {}", vlan_of(interface));
      if (!interface.mtu.is_known()) continue;
      line("interface {}", interface.name);
      line("{}mtu {}", indent_, interface.mtu->raw());
      bar();
    }
  }
  /// "Vlan100" → "100".
  [[nodiscard]] static std::string vlan_of(const evidence::SwitchInterface& interface) {
    return interface.name.substr(4);
  }
  /// Of a port, or of the port-channel `name` that it is in.
  void begin_port(const std::string& name, const SwitchPort& port, bool has_mtu = true) {
    line("interface {}", name);
    if (has_mtu) line("{}mtu {}", indent_, port.mtu->raw());
    for (const evidence::SwitchInterface& interface : state_.interfaces) {
      if (interface.kind != "svi" || !interface.members.is_known()) continue;
      const std::vector<std::string>& members = *interface.members;
      if (std::find(members.begin(), members.end(), name) == members.end()) continue;
      line("{}switchport mode trunk", indent_);
      line("{}switchport trunk allowed vlan {}", indent_, vlan_of(interface));
    }
    if (!*port.global_pause) return;
    line("{}flowcontrol receive on", indent_);
    line("{}flowcontrol send on", indent_);
  }
  /// "channel-group 7 mode active" of a member.
  void print_membership(const SwitchPort& port) {
    if (is_bundled(port))
      line("{}channel-group {} mode active", indent_,
           port.channel->substr(port.channel->find_first_of("0123456789")));
  }
  /// Each port-channel with its first port, before the ports: a member joins what is there.
  template <class Print>
  void for_each_channel(Print print) {
    for (const auto& [channel, first] : channels_of(state_))
      print(channel, *first);
  }
  void why_shares(std::string_view lossless) {
    why(
        fmt::format("Shares are the design's minimums, scaled to 100 %; every class in use has "
                    "one, management included. ECN marks the {} queue before PFC pauses it.",
                    lossless));
  }
  /// "NAME", then "NAME-2".
  [[nodiscard]] static std::string numbered(std::string_view name, int n) {
    return n == 1 ? std::string(name) : fmt::format("{}-{}", name, n);
  }
  /// The words behind `random-detect`.
  [[nodiscard]] static std::string thresholds(const EgressQueue& queue,
                                              std::string_view probability) {
    return fmt::format("minimum-threshold {} bytes maximum-threshold {} bytes {} {} weight {}",
                       queue.ecn_min->raw(), queue.ecn_max->raw(), probability,
                       percent_of(*queue.ecn_probability), *queue.ecn_weight);
  }
  [[nodiscard]] static std::int64_t kilobits(BitRate rate) { return rate.raw() / 1000; }

  const evidence::Switch& state_;
  const std::vector<Remark>& remarks_;
  const SwitchPort* const first_;  // nullptr: no ports
  const std::string_view indent_;
  std::string out_;
};

}  // namespace weir::platforms
