#pragma once
// Of the eight classes (queues and groups of switches, priorities of NICs) those that a frame of a
// network can have. What exists for every port and class has a slot for each of these and none for
// the others: most fabrics use two or three classes, and of a large one such state is most of the
// memory.
#include <array>
#include <bit>
#include <cstdint>

#include "sim/fabric/network.h"

namespace weir::sim {

class ClassSlots {
 public:
  /// All eight.
  ClassSlots() : ClassSlots(0xFF) {}
  /// At least one slot, so that there is always something to point at.
  explicit ClassSlots(std::uint8_t used) : used_(used == 0 ? std::uint8_t{1} : used) {
    for (unsigned number = 0; number < 8; ++number)
      slots_[number] = static_cast<std::uint8_t>(std::popcount(used_ & ((1U << number) - 1U)));
  }
  [[nodiscard]] std::uint32_t count() const {
    return static_cast<std::uint32_t>(std::popcount(used_));
  }
  [[nodiscard]] bool contains(unsigned number) const { return ((used_ >> number) & 1U) != 0; }
  /// REQUIRES: contains(number).
  [[nodiscard]] std::uint8_t operator[](unsigned number) const { return slots_[number]; }

 private:
  std::uint8_t used_;
  std::array<std::uint8_t, 8> slots_;
};

/// Every class that a frame of `network` has at some port. A frame has the TOS of its queue pair or
/// the code point of its NIC's CNPs, and nothing changes either, or the maps, during a run.
[[nodiscard]] ClassSlots classes_in_use(const Network& network);

/// The priority of a frame with this TOS at a NIC that receives it.
[[nodiscard]] inline std::uint8_t received_priority(const NicConfig& config, std::uint8_t tos) {
  return config.trust == Trust::kDscp ? config.dscp_to_priority[tos >> 2U] : std::uint8_t{0};
}
/// And of its queue pair at the NIC that sends it.
[[nodiscard]] inline std::uint8_t sent_priority(const NicConfig& config, const QueuePair& qp) {
  return config.trust == Trust::kDscp ? config.dscp_to_priority[qp.tos >> 2U] : qp.service_level;
}
[[nodiscard]] inline std::uint8_t cnp_priority(const NicConfig& config) {
  if (config.trust == Trust::kDscp) return config.dscp_to_priority[config.cnp_dscp.value()];
  return static_cast<std::uint8_t>(config.cnp_priority.value());
}
/// Of a switch: where the frames of a DSCP go.
[[nodiscard]] inline std::uint8_t class_of(const SwitchConfig& config, std::size_t dscp) {
  return config.trust == Trust::kDscp ? config.dscp_to_class[dscp] : config.untrusted_class;
}

}  // namespace weir::sim
