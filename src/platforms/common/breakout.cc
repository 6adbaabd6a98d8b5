#include "platforms/common/breakout.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"

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

std::vector<PortMode> designed_modes(const design::SwitchIntent& node, vocab::SwitchSystem system) {
  using enum vocab::SwitchSystem;
  std::vector<PortMode> out;
  if (node.model == nullptr || system == kSonic) return out;
  const auto count = [](int number) { return static_cast<unsigned>(number); };
  if (system == kEos) {
    for (const design::SwitchPortIntent& port : node.ports) {
      const design::CageMode& mode = port.place.mode;
      if (port.place.cage == 0 || mode.ports < 2) continue;
      out.push_back({port.name, 0, mode.speed, count(mode.lanes / mode.ports)});
    }
  } else {
    for (const UsedCage& cage : changed_cages(node)) {
      const bool is_split = cage.is_split();
      if (!is_split && system == kNxos) continue;
      const int usual = node.model->block_of(cage.cage).lanes / std::max(cage.mode.ports, 1);
      const bool is_odd = is_split && system == kCumulus && cage.lanes_per_port() != usual;
      out.push_back({cage.name, is_split ? count(cage.mode.ports) : 0U,
                     is_split && system == kCumulus ? BitRate() : cage.mode.speed,
                     is_odd ? count(cage.lanes_per_port()) : 0U});
    }
  }
  std::sort(out.begin(), out.end(),
            [](const auto& a, const auto& b) { return natural_order(a.name, b.name) < 0; });
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
