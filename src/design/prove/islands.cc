#include "design/prove/islands.h"

#include <numeric>
#include <optional>

namespace weir::design {

bool joins_switches(const LinkIntent& link) {
  return link.lower.kind == NodeKind::kSwitch && link.upper.kind == NodeKind::kSwitch;
}

std::vector<std::uint32_t> islands(const Intent& intent) {
  std::vector<std::uint32_t> island(intent.switches.size());
  std::iota(island.begin(), island.end(), 0U);
  const auto root = [&](std::uint32_t node) {
    while (island[node] != node)
      node = island[node] = island[island[node]];
    return node;
  };
  for (const LinkIntent& link : intent.links) {
    if (joins_switches(link)) island[root(link.lower.node)] = root(link.upper.node);
  }
  for (std::uint32_t node = 0; node < island.size(); ++node)
    island[node] = root(node);
  return island;
}

bool has_isolated_rails(const Intent& intent, const HostIntent& host,
                        const std::vector<std::uint32_t>& islands) {
  const auto island_of = [&](std::size_t rail) -> std::optional<std::uint32_t> {
    const LinkIntent& link = intent.links[host.nics[rail].link];
    if (link.upper.kind != NodeKind::kSwitch) return std::nullopt;
    return islands[link.upper.node];
  };
  for (std::size_t rail = 1; rail < host.nics.size(); ++rail)
    if (island_of(rail) != island_of(0)) return true;
  return false;
}

}  // namespace weir::design
