#include "platforms/common/breakout.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/check.h"

namespace weir::platforms {

std::vector<UsedCage> changed_cages(const design::SwitchIntent& node) {
  if (node.model == nullptr) return {};
  std::map<int, UsedCage> cages;
  for (const design::SwitchPortIntent& port : node.ports) {
    const design::CagePort& place = port.place;
    if (place.cage == 0) continue;
    cages.try_emplace(place.cage,
                      UsedCage{place.cage, design::cage_name(*node.model, node.system, place.cage),
                               place.mode, node.model->block_of(place.cage).native});
  }
  std::vector<UsedCage> out;
  for (const auto& [number, cage] : cages)
    if (cage.is_split() || cage.is_slowed()) out.push_back(cage);
  return out;
}

std::vector<CageRun> runs_of(const std::vector<UsedCage>& cages) {
  std::vector<CageRun> out;
  const auto is_alike = [](const design::CageMode& a, const design::CageMode& b) {
    return a.ports == b.ports && a.speed == b.speed && a.lanes == b.lanes;
  };
  for (const UsedCage& cage : cages) {
    const bool continues = !out.empty() && out.back().last.cage + 1 == cage.cage &&
                           is_alike(out.back().last.mode, cage.mode);
    if (!continues) out.push_back({cage, cage, {}});
    out.back().last = cage;
    out.back().names.push_back(cage.name);
  }
  return out;
}

std::string speed_word(BitRate speed) {
  return fmt::format("{}g", speed.raw() / (1_Gbps).raw());
}

std::string peer_text(const design::Intent& intent, const design::SwitchPortIntent& port) {
  if (port.peer.kind == design::NodeKind::kHost) {
    const design::HostIntent& host = intent.hosts[port.peer.node];
    return fmt::format("{} {}", host.name, host.nics[port.peer.port].netdev);
  }
  const design::SwitchIntent& node = intent.switches[port.peer.node];
  return fmt::format("{} {}", node.name, node.ports[port.peer.port].name);
}

const design::SwitchPortIntent& intent_of(const design::SwitchIntent& node, std::string_view name) {
  const auto found =
      std::find_if(node.ports.begin(), node.ports.end(),
                   [&](const design::SwitchPortIntent& port) { return port.name == name; });
  WEIR_CHECK(found != node.ports.end());
  return *found;
}

}  // namespace weir::platforms
