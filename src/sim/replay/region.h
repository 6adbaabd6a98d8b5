#pragma once
// Parts of the fabric that share no queue, no pause and no NIC, such as rails: what one does, no
// other feels. While one is congested, others repeat what they did before.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/replay/rest.h"

namespace weir::sim::engine {

/// The ports, switches, NICs and queue pairs of a region.
struct Region {
  std::vector<PortId> ports;
  std::vector<std::uint32_t> switches;  // Tables::switches
  std::vector<std::uint32_t> nics;      // Tables::nics
  std::vector<QpId> qps;
  std::uint32_t domain = 0;
  bool is_whole = true;  // in one domain
};

/// A region in the middle of a step that is repeated.
struct Script {
  std::shared_ptr<const Episode> episode;  // none: it is simulated
  Ps origin = 0;
  std::vector<MessageId> messages;  // posted so far, as the episode has them
  std::vector<MessageId> later;     // and those that follow it
  std::size_t pushed = 0;           // entries in the event list or handled
  std::size_t handled = 0;
};

}  // namespace weir::sim::engine
