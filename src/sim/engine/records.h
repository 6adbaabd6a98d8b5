#pragma once
// What a run writes down: messages, counters of ports and NICs, statistics of one queue.
#include <algorithm>
#include <array>
#include <cstdint>

#include "sim/engine/packet.h"
#include "sim/events/event_heap.h"
#include "sim/fabric/ids.h"
#include "units/quantity.h"

namespace weir::sim {

enum class MessageState : std::uint8_t { kPosted, kDone, kFailed };

struct MessageRecord {
  Ps post = 0;            // at the NIC: NicConfig::message_latency after the post
  Ps delivered = kNever;  // last byte at the target
  Ps done = kNever;       // completion at the side that posted it
  std::int64_t size = 0;
  QpId qp{0};
  MessageId next = kNo<MessageId>;  // of the same QP
  std::uint32_t first_psn = 0;
  std::uint32_t packets = 0;
  MessageState state = MessageState::kPosted;

  [[nodiscard]] std::uint32_t end_psn() const { return first_psn + packets; }
};

struct PortCounters {
  std::uint64_t tx_frames = 0;
  std::uint64_t tx_bytes = 0;
  std::uint64_t rx_frames = 0;
  std::uint64_t rx_bytes = 0;
  std::uint64_t marked = 0;
  std::uint64_t pfc_tx_frames = 0;
  std::uint64_t pfc_rx_frames = 0;
  std::array<std::uint64_t, 8> tx_class_frames{};  // by queue (switch) or priority (NIC)
  std::array<std::uint64_t, 8> tx_class_bytes{};
  std::array<std::uint64_t, 8> rx_class_frames{};  // by priority group or priority
  std::array<std::uint64_t, 8> rx_class_bytes{};
  std::array<std::uint64_t, 8> pause_tx{};  // by priority: XOFF transitions announced
  std::array<std::uint64_t, 8> resume_tx{};
  std::array<std::uint64_t, 8> pause_rx{};
  std::array<std::uint64_t, 8> resume_rx{};
  std::array<Ps, 8> paused_time{};  // by priority: how long the peer paused this port
  std::array<std::uint64_t, kDropReasons> drops{};
  std::uint64_t lossless_drops = 0;  // no buffer left for a lossless class
  std::uint64_t watchdog_trips = 0;
  std::uint64_t watchdog_restores = 0;
};

struct NicCounters {
  std::uint64_t cnp_sent = 0;         // np_cnp_sent
  std::uint64_t ce_received = 0;      // np_ecn_marked_roce_packets
  std::uint64_t cnp_handled = 0;      // rp_cnp_handled
  std::uint64_t cnp_ignored = 0;      // rp_cnp_ignored
  std::uint64_t out_of_sequence = 0;  // responder: a gap
  std::uint64_t packet_seq_err = 0;   // requester: a NAK arrived
  std::uint64_t duplicate_request = 0;
  std::uint64_t implied_nak_seq_err = 0;  // a gap in a READ's response
  std::uint64_t local_ack_timeout = 0;
  std::uint64_t out_of_buffer = 0;  // responder: no receive posted
  std::uint64_t rnr_nak_received = 0;
  std::uint64_t retries_exhausted = 0;
  std::uint64_t retransmitted = 0;
  std::uint64_t acks_sent = 0;
  std::uint64_t socket_tx_frames = 0;  // those of the port's frames that are not RDMA
  std::uint64_t socket_tx_bytes = 0;
  std::uint64_t socket_rx_frames = 0;
  std::uint64_t socket_rx_bytes = 0;
};

/// Time-weighted statistics of one egress queue (bytes waiting, the frame on the wire excluded).
struct QueueWatch {
  PortId port = kNo<PortId>;
  std::uint32_t queue = 0;
  Ps since = 0;
  Ps last = 0;
  std::int64_t level = 0;  // bytes since `last`
  Int128 sum = 0;          // byte * ps
  Int128 square = 0;       // byte^2 * ps
  std::int64_t low = 0;
  std::int64_t high = 0;

  void advance(Ps now) {
    const Ps span = now - last;
    sum += Int128{level} * span;
    square += Int128{level} * level * span;
    last = now;
  }
  void note(Ps now, std::int64_t bytes) {
    advance(now);
    level = bytes;
    low = std::min(low, bytes);
    high = std::max(high, bytes);
  }
};

}  // namespace weir::sim
