#pragma once
// Ports that are set alike share a profile: a small tool of the renderers.
#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evidence/evidence.h"

namespace weir::platforms {

/// Ports by what is said of them, in the order in which it is first said; those without a key are
/// left out.
template <class Key>
[[nodiscard]] std::vector<std::pair<Key, std::vector<std::string>>> ports_by(
    const evidence::Switch& state,
    const std::function<std::optional<Key>(const evidence::SwitchPort&)>& key_of) {
  std::vector<std::pair<Key, std::vector<std::string>>> out;
  for (const evidence::SwitchPort& port : state.ports) {
    const std::optional<Key> key = key_of(port);
    if (!key) continue;
    auto at =
        std::find_if(out.begin(), out.end(), [&](const auto& one) { return one.first == *key; });
    if (at == out.end()) at = out.insert(out.end(), {*key, {}});
    at->second.push_back(port.name);
  }
  return out;
}

/// REQUIRES: the switch has that port.
[[nodiscard]] inline const evidence::SwitchPort& port_of(const evidence::Switch& state,
                                                         const std::string& name) {
  return *std::find_if(state.ports.begin(), state.ports.end(),
                       [&](const evidence::SwitchPort& one) { return one.name == name; });
}

/// Everything of a port's queues that a profile must say: marking, shares, limits.
[[nodiscard]] inline std::vector<std::int64_t> queue_key(const evidence::SwitchPort& port) {
  std::vector<std::int64_t> key = {port.max_rate.is_known() ? port.max_rate->raw() : 0};
  for (const evidence::EgressQueue& queue : port.queues) {
    key.push_back(queue.max_rate.is_known() ? queue.max_rate->raw() : 0);
    if (!queue.ecn.is(true)) continue;
    key.insert(key.end(), {queue.queue.value(), queue.ecn_min->raw(), queue.ecn_max->raw(),
                           queue.ecn_probability->raw()});
  }
  return key;
}

}  // namespace weir::platforms
