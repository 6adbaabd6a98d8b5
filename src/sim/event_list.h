#pragma once
// The future-event list: first-in-first-out lanes for delays that are constants, a monotone radix
// heap for the rest, and one canonical order for events of the same instant.
//
// Why lanes: an event pushed at now + constant arrives in push order, so a plain ring is a priority
// queue. Cable + serialisation of a full frame, of an ACK, and "port free after a full frame" are
// such constants; they are nine tenths of all events.
//
// Why a canonical order: starts are synchronous, so ties are the norm, and ties decide results. All
// events of one instant are taken out together and handed over by ascending `tie` (kind, entity),
// which is a function of the model alone: never of push order, build or (one day) thread. For one
// kind and entity there is at most one event an instant that matters: a link delivers one frame at
// a time, a port is freed once, and a timer that fires twice does nothing the second time.
//
// Invariants:
// (1) Every event is pushed strictly after `now()`, so a batch never grows while it is handled.
// (2) Nothing is allocated after `reserve`: rings and the heap's pool are sized from the design.
// (3) In `Ties::kInsertion` (the peer's rule, model `hpcc`) there are no lanes and equal times
// leave
//     the heap in push order.
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/check.h"
#include "sim/packet.h"
#include "sim/raw_array.h"

namespace weir::sim {

using Ps = std::int64_t;  // picoseconds since the start, the engine's inner currency
inline constexpr Ps kNever = std::numeric_limits<Ps>::max();

/// What an event is; the order is the order of handling within one instant and node.
enum class EventKind : std::uint8_t {
  kLinkState,    // entity: index of a link change
  kPfcApply,     // entity: port; packet: the pause frame whose reaction time is over
  kPauseExpire,  // entity: port
  kPortFree,     // entity: port
  kArrive,       // entity: receiving port; packet: the frame
  kForward,      // entity: ingress port; packet: `psn` = where the frame waits, `aux` = egress port
  kPauseRefresh,  // entity: port
  kNicDrain,      // entity: port
  kQpWake,        // entity: QP
  kQpTimeout,     // entity: QP
  kRecvRepost,    // entity: QP
  kWatchdog,      // entity: port
  kDriver,        // entity: the driver's token
  kNicWake,       // entity: port (model `hpcc`)
};

inline constexpr unsigned kTieKindShift = 27;
constexpr std::uint32_t tie_of(EventKind kind, std::uint32_t entity) {
  return (static_cast<std::uint32_t>(kind) << kTieKindShift) | entity;
}
constexpr EventKind kind_of(std::uint32_t tie) {
  return static_cast<EventKind>(tie >> kTieKindShift);
}
constexpr std::uint32_t entity_of(std::uint32_t tie) {
  return tie & ((std::uint32_t{1} << kTieKindShift) - 1);
}

struct Event {
  Ps at = kNever;
  std::uint32_t tie = 0;
  Packet packet;
};
static_assert(sizeof(Event) == 40);

enum class Ties : std::uint8_t { kCanonical, kInsertion };

/// Monotone radix heap with FIFO ties: bucket b holds what differs from `last_` first at bit b - 1.
/// Buckets are lists through one pool, so a push touches one node and allocates nothing.
class RadixHeap {
 public:
  void reserve(std::size_t capacity);
  void push(const Event& event);
  /// Time of the earliest event, kNever when empty. Does not advance the heap's clock.
  [[nodiscard]] Ps min() {
    if (min_stale_) refresh_min();
    return min_;
  }
  /// Calls `take(const Event&)` for every event at `at`, in push order, and removes them.
  /// REQUIRES: at == min(), and nothing earlier will be pushed any more.
  template <class Take>
  void pop_all(Ps at, Take&& take) {
    if (at != last_) advance_to(at);
    std::uint32_t node = head_[0];
    head_[0] = tail_[0] = kNone;
    occupied_ &= ~std::uint64_t{1};
    while (node != kNone) {
      Node& n = pool_[node];
      const std::uint32_t next = n.next;
      take(n.event);
      n.next = free_;
      free_ = node;
      --size_;
      node = next;
    }
    min_stale_ = true;
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  template <class See>
  void for_each(See&& see) const {
    for (const std::uint32_t head : head_)
      for (std::uint32_t node = head; node != kNone; node = pool_[node].next)
        see(pool_[node].event);
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFU;
  struct Node {
    Event event;
    std::uint32_t next;
  };
  void refresh_min();
  void advance_to(Ps at);
  void append(unsigned bucket, std::uint32_t node);
  [[nodiscard]] unsigned bucket_of(Ps at) const;

  RawArray<Node> pool_;
  std::array<std::uint32_t, 65> head_{};
  std::array<std::uint32_t, 65> tail_{};
  std::uint64_t occupied_ = 0;  // bit b: bucket b is non-empty (64 is never reached: times >= 0)
  Ps last_ = 0;
  Ps min_ = kNever;
  bool min_stale_ = false;
  std::uint32_t free_ = kNone;  // released nodes, last in first out
  std::uint32_t fresh_ = 0;     // nodes never used yet start here: untouched pages cost nothing
  std::uint32_t capacity_ = 0;
  std::size_t size_ = 0;
};

class EventList {
 public:
  static constexpr std::size_t kMaxLanes = 16;
  static constexpr std::uint8_t kNoLane = 0xFF;

  explicit EventList(Ties ties = Ties::kCanonical) : ties_(ties) {}

  /// A lane for events pushed at now + `delay`, or kNoLane when there is no room for one more.
  /// `bound`: the most events it can hold at a time.
  std::uint8_t add_lane(Ps delay, std::size_t bound);
  void reserve(std::size_t heap_capacity, std::size_t batch_capacity);

  [[nodiscard]] Ps now() const { return now_; }

  void push(Ps at, std::uint32_t tie, const Packet& packet = {}) {
    WEIR_CHECK(at > now_);
    heap_.push(Event{at, tie, packet});
  }

  /// The same through a lane. REQUIRES: now + delay of the lane.
  void push_lane(std::uint8_t lane, std::uint32_t tie, const Packet& packet) {
    Lane& l = lanes_[lane];
    Event& slot = l.ring[l.tail & l.mask];
    slot.at = now_ + l.delay;
    slot.tie = tie;
    slot.packet = packet;
    ++l.tail;
    WEIR_CHECK(l.tail - l.head <= l.bound);
    if (l.tail - l.head == 1) heads_[lane] = slot.at;
  }

  /// Hands every event before `end` to `dispatch(const Event&)`, in order. Leaves the clock at the
  /// last instant handled.
  template <class Dispatch>
  void run_before(Ps end, Dispatch&& dispatch) {
    stop_ = false;
    while (!stop_) {
      const Ps at = next_time();
      if (at >= end) return;
      if (const Event* only = take_only(at)) {
        ++events_;
        dispatch(*only);
        continue;
      }
      take_batch(at);
      events_ += batch_.size();
      for (const Event* event : batch_)
        dispatch(*event);
    }
  }
  [[nodiscard]] Ps next_time() {
    Ps at = heap_.min();
    for (std::size_t i = 0; i < lane_count_; ++i)
      at = heads_[i] < at ? heads_[i] : at;
    return at;
  }
  /// Ends the current run_before after the instant in hand.
  void stop() { stop_ = true; }
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] Ties ties() const { return ties_; }
  /// Calls `see(const Event&)` for every pending event, in no particular order (checks, digests).
  template <class See>
  void for_each(See&& see) const {
    for (std::size_t i = 0; i < lane_count_; ++i)
      for (std::uint64_t at = lanes_[i].head; at != lanes_[i].tail; ++at)
        see(lanes_[i].ring[at & lanes_[i].mask]);
    heap_.for_each(see);
  }

 private:
  struct Lane {
    Ps delay = 0;
    RawArray<Event> ring;
    std::uint64_t head = 0;
    std::uint64_t tail = 0;
    std::uint64_t mask = 0;
    std::uint64_t bound = 0;  // half the ring: the batch in hand is still read from the other half
  };
  /// The event at `at` where it is alone and in a lane, which nearly all are; else nullptr. It
  /// stays readable until the next one is taken.
  [[nodiscard]] const Event* take_only(Ps at) {
    if (heap_.min() == at) return nullptr;
    std::size_t found = kMaxLanes;
    for (std::size_t i = 0; i < lane_count_; ++i) {
      if (heads_[i] != at) continue;
      if (found != kMaxLanes) return nullptr;
      found = i;
    }
    Lane& lane = lanes_[found];
    const Event& event = lane.ring[lane.head & lane.mask];
    const bool is_last = lane.head + 1 == lane.tail;
    const Ps next = is_last ? kNever : lane.ring[(lane.head + 1) & lane.mask].at;
    if (next == at) return nullptr;
    now_ = at;
    ++lane.head;
    heads_[found] = next;
    return &event;
  }
  void take_batch(Ps at);

  Ties ties_;
  Ps now_ = -1;  // before the first instant, so that events at time 0 can be pushed
  bool stop_ = false;
  std::size_t lane_count_ = 0;
  std::array<Ps, kMaxLanes> heads_{};
  std::array<Lane, kMaxLanes> lanes_;
  RadixHeap heap_;
  std::vector<const Event*> batch_;
  std::vector<Event> popped_;  // the heap's share of the batch
  std::uint64_t events_ = 0;
};

}  // namespace weir::sim
