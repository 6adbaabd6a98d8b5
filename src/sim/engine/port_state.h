#pragma once
// A port, its queues, and the pauses between it and its peer.
//
// Most frames find their next wire idle. Port is laid out for them: its first cache line holds all
// they need, and one word of it (PortCondition) says that nothing unusual is going on.
#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "sim/engine/packet.h"
#include "sim/engine/records.h"
#include "sim/events/event_list.h"

namespace weir::sim::engine {

struct Switch;
struct Nic;

constexpr std::uint8_t bit_of(unsigned number) {
  return static_cast<std::uint8_t>(1U << number);
}
constexpr bool has_bit(std::uint8_t mask, std::uint32_t bit) {
  return ((mask >> bit) & 1U) != 0;
}

struct Tally {
  std::uint64_t frames = 0;
  std::uint64_t bytes = 0;
  void add(std::uint16_t size) {
    ++frames;
    bytes += size;
  }
  void add(const Tally& other) {
    frames += other.frames;
    bytes += other.bytes;
  }
};
struct ClassTraffic {
  Tally rx;  // by priority group (switch) or priority (NIC)
  Tally tx;  // by queue or priority
};
/// Both directions share a cache line.
static_assert(sizeof(ClassTraffic) == 32);

[[nodiscard]] inline ClassTraffic sum_of(std::span<const ClassTraffic> parts) {
  ClassTraffic all;
  for (const ClassTraffic& part : parts) {
    all.rx.add(part.rx);
    all.tx.add(part.tx);
  }
  return all;
}

/// An egress queue of a switch, or the control packets of a NIC's priority.
struct alignas(64) Queue {
  FrameId head = kNo<FrameId>;
  FrameId tail = kNo<FrameId>;
  std::int64_t bytes = 0;  // charged bytes
  std::int64_t peak = 0;
  std::int64_t mark_min = INT64_MAX;
  std::int64_t mark_max = INT64_MAX;
  std::uint64_t mark_slope = 0;  // mark probability, of 2^32, per byte above mark_min, << 16
  std::int32_t deficit = 0;      // at most a quantum and a frame
  std::int32_t quantum = 0;

  [[nodiscard]] bool is_empty() const { return head == kNo<FrameId>; }
};
static_assert(sizeof(Queue) == 64);

/// What keeps a frame from going straight through a port: eight bytes, read as one word.
struct PortCondition {
  std::uint8_t waiting = 0;    // queues (control packets at a NIC) that hold something
  std::uint8_t paused = 0;     // queues (priorities at a NIC) that may not send
  std::uint8_t pause_due = 0;  // priorities to announce in the next pause frame
  std::uint8_t resume_due = 0;
  std::uint8_t tripped = 0;  // queues under the watchdog's action
  bool down = false;
  bool free_pending = false;
  bool watched = false;  // Sim::watch_queue() looks at one of its queues
  [[nodiscard]] bool is_plain() const { return std::bit_cast<std::uint64_t>(*this) == 0; }
  [[nodiscard]] bool has_pause_frame() const { return (pause_due | resume_due) != 0; }
};
static_assert(sizeof(PortCondition) == 8);

/// What every frame needs fills the first cache line, with the condition.
struct alignas(64) Port : PortCondition {
  static constexpr std::uint16_t kNoSize = 0xFFFF;
  static constexpr std::uint8_t kHere = 0xFF;

  Ps busy_until = 0;
  const std::uint32_t* wire_time = nullptr;  // ps, by frame size
  ClassTraffic* traffic = nullptr;           // by slot of the class
  Switch* sw = nullptr;                      // its owner: this …
  Nic* nic = nullptr;                        // … or this
  PortId peer = kNo<PortId>;
  std::uint16_t local = 0;
  std::uint16_t mtu = 0xFFFF;         // largest frame in or out (switches)
  std::uint16_t full_size = kNoSize;  // the frame size that lane_full is for
  std::uint16_t ack_size = kNoSize;   // and lane_ack
  std::uint8_t lane_full = EventList::kNoLane;
  std::uint8_t lane_ack = EventList::kNoLane;
  bool is_disturbed = false;    // down, or frames arrive with errors
  bool is_cut_through = false;  // the peer starts on the header: `flight` counts from the first
                                // bit, and lane_full is for every size

  Queue* queues = nullptr;  // by slot
  Ps flight = 0;            // from the last bit sent to kArrive at the peer
  Ps free_delay = 0;        // of a full frame: what lane_free is for
  PortId self{0};
  NodeId node{0};
  std::uint8_t lane_free = EventList::kNoLane;
  std::uint8_t round_robin = 0;      // queue served last among the weighted
  std::uint8_t peer_domain = kHere;  // where the peer is simulated

  [[nodiscard]] bool is_idle_at(Ps now) const { return busy_until <= now; }
};

/// When, by priority. Apart from PauseState: most ports are never paused, and their pages are not
/// touched.
struct PauseTimes {
  std::array<Ps, 8> until;
  std::array<Ps, 8> since;
  std::array<Ps, 8> last_rx;
};

/// What the peer told this port, and what this port told the peer.
struct PauseState {
  PauseTimes* times = nullptr;
  std::uint8_t paused = 0;     // priorities paused by the peer
  std::uint8_t announced = 0;  // priorities this port has paused at the peer
  bool expire_pending = false;
  bool refresh_pending = false;
  bool watchdog_pending = false;
  Ps reaction = 0;
  Ps cable = 0;
  Ps quanta_time = 0;  // of a full pause at this link's rate, as announced
  std::int64_t rate = 0;
  std::uint16_t quanta = 0;
  std::uint8_t enabled = 0;  // priorities with PFC

  void configure(Duration reaction_time, std::uint16_t pause_quanta, std::uint8_t priorities) {
    reaction = reaction_time.raw();
    quanta = pause_quanta;
    enabled = priorities;
    quanta_time = length_of(pause_quanta);
  }
  /// A quantum is the time of 512 bits.
  [[nodiscard]] Ps length_of(std::uint32_t pause_quanta) const {
    return static_cast<Ps>(Int128{pause_quanta} * 512 * kPicosecondsPerSecond / rate);
  }
  [[nodiscard]] Ps paused_since(unsigned priority, Ps now) const {
    return has_bit(paused, priority) ? now - times->since[priority] : 0;
  }
};

}  // namespace weir::sim::engine
