#pragma once
// A NIC: the queue pairs that may send, its receive buffer, and its counters.
#include <array>
#include <cstdint>

#include "sim/engine/port_state.h"
#include "sim/engine/transport_state.h"
#include "sim/fabric/network.h"

namespace weir::sim::engine {

using Senders = View<QpId, Sender>;

struct Nic {
  NodeId node{0};
  Port* port = nullptr;
  const NicConfig* config = nullptr;
  std::int64_t line = 0;
  std::array<QpId, 8> ready_head{};  // by priority: QPs that may send, linked by next_ready
  std::array<QpId, 8> ready_tail{};
  std::uint8_t ready = 0;  // priorities with a QP that may send
  std::uint8_t strict = 0;
  std::uint8_t cnp_priority = 0;
  std::uint8_t receive_paused = 0;
  bool drain_pending = false;
  Ps next_cnp = 0;  // cnp_capacity_interval
  std::int64_t receive_level = 0;
  Ps receive_at = 0;
  NicCounters counters;

  void append_ready(QpId qp, const Senders& senders);
  /// REQUIRES: the priority is in `ready`.
  QpId take_ready(unsigned priority, const Senders& senders);
  /// Strict priorities from the top, then the others in turn after the last one served.
  [[nodiscard]] unsigned next_priority(std::uint8_t eligible) const;
  /// The others are served in turn after this one.
  void note_served(unsigned priority) {
    if ((strict & bit_of(priority)) == 0) port->round_robin = static_cast<std::uint8_t>(priority);
  }
  /// Brings the level of the receive buffer up to `now`: PCIe drains it at a steady rate.
  void drain_until(Ps now);
  /// False: the receive buffer has no room for the frame.
  [[nodiscard]] bool receive(std::uint16_t size, Ps now);
  /// Until the level is down at XON; 0 where it is already.
  [[nodiscard]] Ps time_to_resume() const;
  /// Whether a CE mark for this receiver makes a CNP now: at most one per QP and interval, and no
  /// more than the NIC can send.
  [[nodiscard]] bool may_notify(Receiver& receiver, Ps now);
};

}  // namespace weir::sim::engine
