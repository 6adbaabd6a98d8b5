#pragma once
// What chance decided, as far as counters tell: a rehearsal in which chance decides otherwise hides
// small faults.
//
//   - Which links a load took depends on source ports and hashes, but switches count what each link
//     carried: source ports are chosen so that the simulated load goes the same ways. A fault of
//     the paths themselves cannot be seen like this; whatever was carried looks as designed.
//   - Which flows came at random nobody knows, but NICs count what they sent and received: of many
//     draws those are taken that come nearest.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "diagnose/core/view.h"
#include "sim/fabric/from_design.h"

namespace weir::lab {

/// Bytes that left over each link, by 2 * link of the intent, plus 1 towards its lower end. Links
/// to hosts, and those that nobody counted, have none.
using LinkLoads = std::vector<std::optional<double>>;

/// Empty where no link between switches was counted, or where a switch does not hash.
[[nodiscard]] LinkLoads link_loads(const diagnose::View& view);

struct Ports {
  std::vector<std::uint16_t> of_qps;  // source ports
  double off = 0;  // how far the links are from what was observed, as a share of it (rms)
};
/// As near as a random search comes; another luck, other ports that do as well.
/// REQUIRES: `bytes` of each queue pair of the network; loads of this fabric.
[[nodiscard]] Ports ports_for(const sim::Network& network, std::span<const std::int64_t> bytes,
                              const LinkLoads& loads, std::uint64_t luck);

/// Bytes, by node; of NICs that nobody counted, nothing.
struct NicLoad {
  double sent = 0;
  double received = 0;
};
using NicLoads = std::vector<std::optional<NicLoad>>;

[[nodiscard]] NicLoads nic_loads(const diagnose::View& view, const sim::Fabric& fabric);
/// Of messages whose bytes are known: all of a load that comes at random.
[[nodiscard]] NicLoads posted_loads(const sim::Fabric& fabric);
/// Of bytes of queue pairs.
[[nodiscard]] NicLoads carried_loads(const sim::Fabric& fabric,
                                     std::span<const std::int64_t> bytes);
/// How far `one` is from what was observed, over NICs that were: squared logarithms.
[[nodiscard]] double difference(const NicLoads& one, const NicLoads& observed);

}  // namespace weir::lab
