#pragma once
// Which node of a network stands for which NIC and switch of the intent it was made from.
#include <cstdint>
#include <vector>

#include "design/fabric/intent.h"
#include "sim/fabric/network.h"

namespace weir::sim {

struct NicRef {
  std::uint32_t host = 0;  // of Intent::hosts
  std::uint32_t rail = 0;  // of HostIntent::nics
  friend bool operator==(const NicRef&, const NicRef&) = default;
};

struct Placement {
  std::vector<std::vector<NodeId>> nics;  // by host and rail
  std::vector<NodeId> switches;           // by switch of the intent

  [[nodiscard]] NodeId node_of(const NicRef& ref) const { return nics[ref.host][ref.rail]; }
};

/// REQUIRES: the network's links are the intent's, one for one and in their order.
[[nodiscard]] Placement placement_of(const design::Intent& intent, const Network& network);

}  // namespace weir::sim
