#pragma once
// A switch: its tables and its buffer.
#include <array>
#include <cstdint>
#include <span>

#include "base/rng.h"
#include "sim/engine/packet_pool.h"
#include "sim/engine/port_state.h"
#include "sim/engine/shared_buffer.h"
#include "sim/fabric/class_slots.h"
#include "sim/fabric/network.h"

namespace weir::sim::engine {

/// Where the frames of a DSCP go.
struct Lookup {
  std::uint8_t queue = 0;
  std::uint8_t group = 0;
  std::uint8_t queue_slot = 0;
  std::uint8_t group_slot = 0;
};

struct Switch {
  NodeId node;
  std::uint32_t port_count;
  const SwitchConfig* config;
  ClassSlots slots;
  SharedBuffer buffer;
  RandomStream spray;
  Port* ports = nullptr;
  std::size_t route_row = 0;  // see Routes::row_of
  std::array<Lookup, 64> classes{};
  std::uint8_t strict = 0;    // queues
  std::uint8_t lossless = 0;  // groups
  std::uint8_t lane_pipeline = EventList::kNoLane;
  bool has_pipeline = false;
  bool has_plain_ecmp = false;
  std::uint64_t ecmp_seed = 0;
  std::int64_t in_pipeline = 0;  // charged bytes, not yet in a queue

  [[nodiscard]] const Lookup& classify(const Packet& packet) const {
    return classes[packet.tos >> 2U];
  }
  [[nodiscard]] bool is_lossless(Lookup lookup) const { return has_bit(lossless, lookup.group); }
  /// The priority that a pause for this group carries, as a bit.
  [[nodiscard]] std::uint8_t pause_bit(Lookup lookup) const {
    return bit_of(config->group_to_priority[lookup.group]);
  }
  /// The watchdog has taken this queue of `out` out of service.
  [[nodiscard]] bool discards(const Port& out, std::uint32_t queue) const {
    return has_bit(out.tripped, queue) && config->watchdog.action == WatchdogAction::kDrop;
  }
  /// Queues that pauses of these priorities hold back.
  [[nodiscard]] std::uint8_t queues_of(std::uint8_t priorities) const;

  /// Of several ports, the one with the shortest queue of the packet's class; the hash decides
  /// where the search begins.
  [[nodiscard]] std::uint32_t least_loaded(const Packet& packet,
                                           std::span<const std::uint16_t> candidates, Ps now) const;
  /// The queue of `port` to serve, of those that are eligible (at least one): strict ones from the
  /// top, the others by deficit round robin.
  [[nodiscard]] std::uint32_t next_queue(Port& port, std::uint8_t eligible,
                                         const PacketPool& pool) const;
};

}  // namespace weir::sim::engine
