#pragma once
// Reliable connections: the requester (sends data, hears ACKs) and the responder (hears data, sends
// ACKs). PSNs are counted without wrap; the wire carries their low 24 bits.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/engine/congestion_control.h"
#include "sim/engine/packet.h"
#include "sim/engine/records.h"
#include "sim/fabric/network.h"

namespace weir::sim::engine {

struct Nic;

/// "None" for PSNs and other counts that are no ids.
inline constexpr std::uint32_t kNone = 0xFFFFFFFFU;

using Messages = View<MessageId, MessageRecord>;

/// The message that `psn` belongs to, searched from `from` on; none: no message goes that far.
[[nodiscard]] MessageId message_with(const Messages& messages, MessageId from, std::uint32_t psn);

struct Sender {
  std::unique_ptr<CongestionControl> control;
  Ps next_send = 0;
  Ps last_send = 0;
  std::int64_t gap_rate = 0;     // the rate that gap_inverse stands for
  std::int64_t gap_inverse = 0;  // ps per byte << 16
  Ps wake_at = kNever;           // earliest pending kQpWake
  Ps timeout_at = kNever;
  Ps hold_until = 0;  // RNR back-off
  Ps sure_until = 0;  // in Nic::ready: until then it is known that a packet may go
  Nic* nic = nullptr;
  std::uint32_t key = 0;
  std::uint32_t next_psn = 0;
  std::uint32_t una = 0;               // oldest not acknowledged
  std::uint32_t top_psn = 0;           // one past the highest ever sent
  std::uint32_t granted = kNone;       // READ: responses may go up to here
  MessageId current = kNo<MessageId>;  // message of next_psn
  MessageId oldest = kNo<MessageId>;   // message of una
  MessageId last = kNo<MessageId>;     // newest message
  QpId next_ready = kNo<QpId>;
  std::uint32_t gap_from = 0;  // selective: to be sent again, [from, to)
  std::uint32_t gap_to = 0;
  NodeId dst{0};
  std::uint16_t last_wire = 0;  // bytes of the last packet on the wire: what pacing spaces
  std::uint8_t priority = 0;
  std::uint8_t tos = 0;
  std::uint8_t retries = 0;
  std::uint8_t rnr_retries = 0;
  Operation operation = Operation::kWrite;
  bool is_socket = false;
  bool in_ready = false;
  bool timer_pending = false;
  bool failed = false;
  bool is_guarded = false;     // since something was repeated: see start_timer()
  bool is_scripted = false;    // what it sends is not simulated (script.h)
  bool keeps_answers = false;  // what it may send depends on no window and on no grant

  [[nodiscard]] bool is_read() const { return operation == Operation::kRead; }
  [[nodiscard]] bool has_gap() const { return gap_from < gap_to; }
  /// When the rate next allows a packet. A rate that changed since the last packet re-times it.
  [[nodiscard]] Ps earliest_send(std::int64_t line, Ps now) {
    const std::int64_t rate = control->rate(now);
    if (rate >= line) return hold_until;
    return std::max(hold_until, last_send + pacing_gap(last_wire, rate));
  }
  /// When to look at a waiting QP again: at `earliest`, or when its rate changes by itself before.
  [[nodiscard]] Ps retime_at(Ps earliest, Ps now) const {
    const Ps due = control->next_due();
    return due <= now ? earliest : std::min(earliest, due);
  }
  /// Until when its answers stay: a packet that may go now may go later.
  [[nodiscard]] Ps steady_until() const { return keeps_answers ? control->steady_until() : 0; }
  void on_cnp(Ps now) {
    sure_until = 0;
    control->on_cnp(now);
  }
  /// Time of `wire_bytes` at `rate`. The division is kept while the rate stays.
  [[nodiscard]] Ps pacing_gap(std::int64_t wire_bytes, std::int64_t rate) {
    if (rate != gap_rate) {
      gap_rate = rate;
      gap_inverse = ((std::int64_t{8} * kPicosecondsPerSecond) << 16U) / rate;
    }
    return (wire_bytes * gap_inverse) >> 16U;
  }
  /// The next packet to send is `psn` again.
  void rewind(const Messages& messages, std::uint32_t psn);
  /// After a loss: from `psn` on, or from the start of its message (go-back-0).
  void recover(const Messages& messages, Recovery recovery, std::uint32_t psn);
  /// A selective NAK: [from, to) is to be sent again.
  void add_gap(std::uint32_t from, std::uint32_t to);
};

struct Receiver {
  Ps next_cnp = 0;
  Ps nak_again = 0;        // the same gap may be NAKed again from here
  Ps timeout_at = kNever;  // READ: the requester's timer
  std::int64_t bytes = 0;
  Nic* nic = nullptr;
  std::uint32_t key = 0;  // of the way back
  std::uint32_t expected = 0;
  std::uint32_t naked = kNone;  // expected PSN of the last NAK
  std::uint32_t unacked = 0;
  FrameId queued_ack = kNo<FrameId>;     // an ACK that still waits in the NIC
  MessageId message = kNo<MessageId>;    // of `expected`
  MessageId requested = kNo<MessageId>;  // READ: next message to ask for
  std::uint32_t early = kNone;           // selective: its slot in EarlyPackets
  std::uint32_t highest = 0;             // selective: one past the highest seen
  std::int32_t receives = -1;
  NodeId dst{0};
  std::uint8_t priority = 0;  // of control packets at this NIC
  std::uint8_t tos = 0;
  std::uint8_t retries = 0;
  bool is_read = false;
  bool is_socket = false;

  [[nodiscard]] bool is_selective() const { return early != kNone; }
};

/// Selective repeat: which packets beyond the expected one have arrived, one bitmap per queue pair.
class EarlyPackets {
 public:
  static constexpr std::uint32_t kBits = 4096;  // this many packets ahead are kept

  /// A slot for one more queue pair.
  [[nodiscard]] std::uint32_t add() {
    words_.resize(words_.size() + kBits / 64, 0);
    return static_cast<std::uint32_t>(words_.size() - kBits / 64);
  }
  [[nodiscard]] bool contains(std::uint32_t slot, std::uint32_t psn) const {
    const std::uint32_t bit = psn % kBits;
    return ((words_[slot + bit / 64] >> (bit % 64)) & 1U) != 0;
  }
  /// What lies before `expected` is no longer early.
  void advance(Receiver& receiver);
  void accept(Receiver& receiver, const Packet& packet);
  /// The first PSN from `expected` on that has arrived, or `highest`.
  [[nodiscard]] std::uint32_t end_of_gap(const Receiver& receiver) const;

 private:
  void set(std::uint32_t slot, std::uint32_t psn, bool value);
  std::vector<std::uint64_t> words_;
};

/// What a responder sends back.
struct Answer {
  PacketKind kind = PacketKind::kAck;
  std::uint32_t psn = 0;       // the next one expected
  std::uint32_t gap_from = 0;  // selective: what is missing, [from, to)
  std::uint32_t gap_to = 0;
  bool echo = false;
};

}  // namespace weir::sim::engine
