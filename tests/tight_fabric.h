#pragma once
// A fabric in which every workload congests something: three leaves of four hosts, two spines, two
// cables to each; the uplinks carry half of what the hosts can send, and buffers are small.
#include <string_view>

namespace weir::test {

inline constexpr std::string_view kTightFabric = R"(
weir: 1
name: tight
hosts:
  gpu: { names: "gpu[01-12]", nic: connectx6dx, stack: ofed }
switches:
  leaf: { names: "leaf[1-3]", system: cumulus, asic: spectrum3, tier: 1, buffer: 2MB }
  spine: { names: "spine[1-2]", system: cumulus, asic: spectrum3, tier: 2, buffer: 2MB }
links:
  - { from: gpu, to: leaf, wiring: block, speed: 100G, cable: dac, length: 3m }
  - { from: leaf, to: spine, wiring: mesh, count: 2, speed: 50G, cable: aoc, length: 30m }
classes:
  rdma: { dscp: [26, 24-31], priority: 3, lossless: on, minimum: 50% }
  cnp: { dscp: [48, 49-55], priority: 6, scheduling: strict }
  storage: { dscp: 32-39, priority: 4, minimum: 20% }
  management: { dscp: 16-23, priority: 2, minimum: 5% }
  best_effort: { priority: 0, minimum: 10% }
buffers: { alpha: 1/4 }
)";

}  // namespace weir::test
