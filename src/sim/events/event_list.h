#pragma once
// The future-event list: first-in-first-out lanes for delays that are constants, a wheel for the
// rest, and one canonical order for events of the same instant.
//
// Why lanes: an event pushed at now + constant arrives in push order, so a plain list is a priority
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
// (2) Nothing is allocated after `reserve`: lanes and the wheel are sized from the design. A lane
//     uses little more than it holds, the batch in hand included, so that it stays in the cache.
// (3) In `Ties::kInsertion` (the peer's rule, model `hpcc`) there are no lanes and equal times are
//     handled in push order.
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "sim/engine/packet.h"
#include "sim/engine/raw_array.h"
#include "sim/events/event_heap.h"
#include "sim/events/event_pieces.h"

namespace weir::sim {

/// What an event is; the order is the order of handling within one instant and node.
enum class EventKind : std::uint8_t {
  kLinkState,    // entity: index of a link change
  kPfcApply,     // entity: port; packet: the pause frame whose reaction time is over
  kPauseExpire,  // entity: port
  kPortFree,     // entity: port
  kArrive,       // entity: receiving port; packet: the frame
  kForward,      // entity: ingress port; packet: `psn` = where the frame waits, `key` = egress port
  kPauseRefresh,  // entity: port
  kNicDrain,      // entity: port
  kQpWake,        // entity: QP
  kQpTimeout,     // entity: QP
  kRecvRepost,    // entity: QP
  kWatchdog,      // entity: port
  kUnused,        // holds its place
  kNicWake,       // entity: port (model `hpcc`)
  kCnpDue,        // entity: QP whose mark is answered now
};

inline constexpr unsigned kTieKindShift = 27;
constexpr std::uint32_t tie_of(EventKind kind, std::uint32_t entity) {
  return (static_cast<std::uint32_t>(kind) << kTieKindShift) | entity;
}
template <IndexId Id>
constexpr std::uint32_t tie_of(EventKind kind, Id entity) {
  return tie_of(kind, to_index(entity));
}
constexpr EventKind kind_of(std::uint32_t tie) {
  return static_cast<EventKind>(tie >> kTieKindShift);
}
constexpr std::uint32_t entity_of(std::uint32_t tie) {
  return tie & ((std::uint32_t{1} << kTieKindShift) - 1);
}

enum class Ties : std::uint8_t { kCanonical, kInsertion };

class EventList {
 public:
  static constexpr std::size_t kMaxLanes = 32;
  static constexpr std::size_t kOwnLanes = 16;  // … of them for add_lane()
  static constexpr std::size_t kFewLanes = 3;   // of one link speed: full frames, ACKs, port free
  static constexpr std::size_t kMoreLanes = 6;  // of two
  static constexpr std::uint8_t kNoLane = 0xFF;

  explicit EventList(Ties ties = Ties::kCanonical) : ties_(ties) { heads_.fill(kNever); }

  /// A lane for events pushed at now + `delay`, or kNoLane when there is no room for one more.
  /// `bound`: the most events it can hold at a time. REQUIRES: reserve() comes later.
  std::uint8_t add_lane(Ps delay, std::size_t bound);
  /// `wheel_capacity`: the most events without a lane; `ports`: how many act at a time.
  void reserve(std::size_t wheel_capacity, std::size_t batch_capacity, std::size_t ports = 0);

  [[nodiscard]] Ps now() const { return now_; }

  [[gnu::always_inline]] void push(Ps at, std::uint32_t tie) {
    WEIR_CHECK(at > now_);
    wheel_.push(now_, at, tie);
    note_head(lane_count_, at);
  }
  void push(Ps at, std::uint32_t tie, const Packet& packet) {
    WEIR_CHECK(at > now_);
    wheel_.push(now_, at, tie, packet);
    note_head(lane_count_, at);
  }

  /// The same through a lane. REQUIRES: now + delay of the lane.
  [[gnu::always_inline]] void push_lane(std::uint8_t lane, std::uint32_t tie,
                                        const Packet& packet) {
    push_slot(lane, tie).packet = packet;
  }
  /// And without a packet.
  void push_lane(std::uint8_t lane, std::uint32_t tie) { push_slot(lane, tie); }

  /// Two lanes for what comes from each of `sources` others, each in the order of time: full
  /// frames and the rest. What comes out of order goes to the wheel.
  void add_inboxes(std::size_t sources, std::size_t bound, std::uint16_t full_size);
  void push_from(std::size_t source, const Event& event) {
    const std::size_t lane =
        first_inbox_ + 2 * source + (event.packet.size == inbox_full_size_ ? 0 : 1);
    if (lane < lane_count_ && fits_behind(lanes_[lane], event.at))
      append(lane, event);
    else
      push(event.at, event.tie, event.packet);
  }

  /// One instant, event by event: for several lists whose events have one order.
  void begin_instant(Ps at) {
    now_ = at;
    take_batch(nullptr, 0);
    taken_ = 0;
  }
  [[nodiscard]] bool has_more() const { return taken_ < batch_size_; }
  [[nodiscard]] std::uint64_t next_tie() const { return order_[taken_] >> 32U; }
  [[nodiscard]] Event& take_next() { return *batch_[static_cast<std::uint32_t>(order_[taken_++])]; }

  /// Hands every event before `end` to `dispatch(Event&)`, in order. Leaves the clock at the last
  /// instant handled. The event is the handler's to change; it stays where it is until the instant
  /// is over.
  template <class Dispatch>
  void run_before(Ps end, Dispatch&& dispatch) {
    stop_ = false;
    while (!stop_) {
      if (next_.at >= end) return;
      now_ = next_.at;
      const std::size_t source = next_.source;
      Event* const first = take_only(source);
      if (first != nullptr) {
        next_ = earliest();
        if (next_.at != now_) {
          ++events_;
          dispatch(*first);
          continue;
        }
      }
      take_batch(first, source);
      for (std::size_t i = 0; i < batch_size_; ++i)
        dispatch(*batch_[static_cast<std::uint32_t>(order_[i])]);
    }
  }
  [[nodiscard]] Ps next_time() const { return next_.at; }
  /// Forgets what is pending and sets the clock on. REQUIRES: no lane holds anything.
  void restart(Ps now);
  /// Later by `by`, the clock too: every pending event of which `edit(Event&)` says so.
  template <class Edit>
  void move_on(Ps by, Edit&& edit);
  /// Ends the current run_before after the instant in hand.
  void stop() { stop_ = true; }
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] Ties ties() const { return ties_; }
  /// Places for events that the lanes ever used, all together.
  [[nodiscard]] std::size_t lane_places() const { return pieces_.used() * EventPiece::kEvents; }
  /// Calls `see(const Event&)` for every pending event, in no particular order (checks, digests).
  template <class See>
  void for_each(See&& see) const {
    for (std::size_t i = 0; i < lane_count_; ++i)
      for_each_in(lanes_[i], see);
    wheel_.for_each(see);
  }

 private:
  /// A chain of pieces. What follows the last event is a place with the time kNever.
  struct alignas(64) Lane {
    Ps delay = 0;
    Event* head = nullptr;
    Event* tail = nullptr;
    Event* head_end = nullptr;  // of the pieces that head and tail are in
    Event* tail_end = nullptr;
    EventPiece* first = nullptr;
    EventPiece* last = nullptr;
    Ps latest = 0;  // of an inbox: the time of its last event

    [[nodiscard]] bool is_empty() const { return head == tail; }
  };
  static_assert(sizeof(Lane) == 64);
  struct Earliest {
    Ps at = kNever;
    std::size_t source = 0;  // a lane, or lane_count_ for the wheel
  };

  [[gnu::always_inline]] Event& push_slot(std::uint8_t lane, std::uint32_t tie) {
    Lane& l = lanes_[lane];
    Event& slot = *l.tail;
    const Ps at = now_ + l.delay;
    slot.at = at;
    slot.tie = tie;
    if (l.is_empty()) begin_with(lane, at);
    end_after(l);
    return slot;
  }
  void begin_with(std::size_t lane, Ps at) {
    heads_[lane] = at;
    note_head(lane, at);
  }
  /// A source has an event at `at` now.
  [[gnu::always_inline]] void note_head(std::size_t source, Ps at) {
    if (at < next_.at) next_ = {at, source};
  }
  /// The place at the tail is taken: the next one is the end.
  [[gnu::always_inline]] void end_after(Lane& lane) {
    Event* next = lane.tail + 1;
    if (next == lane.tail_end) [[unlikely]]
      next = lengthen(lane);
    next->at = kNever;
    lane.tail = next;
  }
  [[nodiscard]] static bool fits_behind(const Lane& lane, Ps at) {
    return lane.is_empty() || lane.latest <= at;
  }
  void append(std::size_t lane, const Event& event) {
    Lane& l = lanes_[lane];
    *l.tail = event;
    l.latest = event.at;
    if (l.is_empty()) begin_with(lane, event.at);
    end_after(l);
  }
  /// Which source is next, from all of them.
  [[nodiscard]] Earliest earliest() const {
    Earliest out{wheel_.min(), lane_count_};
    const auto look_at = [&](std::size_t lane) {
      const Ps head = heads_[lane];
      out.source = head < out.at ? lane : out.source;
      out.at = head < out.at ? head : out.at;
    };
    for (std::size_t lane = 0; lane < kFewLanes; ++lane)  // unrolled: most fabrics have no more
      look_at(lane);
    if (lane_count_ <= kFewLanes) return out;
    for (std::size_t lane = kFewLanes; lane < kMoreLanes; ++lane)
      look_at(lane);
    for (std::size_t lane = kMoreLanes; lane < lane_count_; ++lane)
      look_at(lane);
    return out;
  }
  /// The event that `source` has now, or nullptr when it has more than one of this instant.
  [[nodiscard]] Event* take_only(std::size_t source) {
    if (source == lane_count_) return wheel_.take_only();
    Lane& lane = lanes_[source];
    Event* const event = lane.head;
    const bool is_last = event + 1 == lane.head_end;
    Event* const following = is_last ? lane.first->next->begin() : event + 1;
    const Ps next = following->at;
    if (next == now_) return nullptr;
    if (is_last) [[unlikely]]
      leave_first(lane);
    lane.head = following;
    heads_[source] = next;
    return event;
  }
  [[nodiscard]] EventPiece* add_piece(Lane& lane);
  [[nodiscard]] Event* lengthen(Lane& lane);
  void leave_first(Lane& lane);
  /// Calls `see(Event&)` for every event of the lane.
  template <class See>
  static void for_each_in(const Lane& lane, See&& see) {
    EventPiece* piece = lane.first;
    for (Event* event = lane.head; event != lane.tail;) {
      see(*event);
      if (++event != piece->end()) continue;
      piece = piece->next;
      event = piece->begin();
    }
  }
  void take_batch(Event* first, std::size_t source);
  void sort_batch();

  Ties ties_;
  Ps now_ = -1;  // before the first instant, so that events at time 0 can be pushed
  bool stop_ = false;
  std::size_t lane_count_ = 0;
  Earliest next_;                    // of all that is pending, while nobody takes anything out
  std::array<Ps, kMaxLanes> heads_;  // kNever: empty, or not there
  std::array<Lane, kMaxLanes> lanes_;
  EventPieces pieces_;
  std::size_t pieces_wanted_ = 0;
  TimerWheel wheel_;
  std::size_t first_inbox_ = kMaxLanes;
  std::uint16_t inbox_full_size_ = 0;
  std::size_t batch_size_ = 0;
  std::size_t taken_ = 0;  // of an instant in hand
  std::size_t batch_capacity_ = 0;
  RawArray<Event*> batch_;         // as found
  RawArray<std::uint64_t> order_;  // tie << 32 | place in batch_
  std::uint64_t events_ = 0;
};

template <class Edit>
void EventList::move_on(Ps by, Edit&& edit) {
  for (std::size_t i = 0; i < lane_count_; ++i) {
    Lane& lane = lanes_[i];
    for_each_in(lane, [&](Event& event) {
      WEIR_CHECK(edit(event));  // what has a lane is a frame, or a port that becomes free
      event.at += by;
    });
    lane.latest += by;
    if (!lane.is_empty()) heads_[i] += by;
  }
  std::vector<Event> waiting;
  wheel_.for_each([&](const Event& event) { waiting.push_back(event); });
  wheel_.clear();
  now_ += by;
  for (Event& event : waiting) {
    if (edit(event)) event.at += by;
    wheel_.push(now_, event.at, event.tie, event.packet);
  }
  next_ = earliest();
}

}  // namespace weir::sim
