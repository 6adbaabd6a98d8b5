#pragma once
// Events, and the priority queue for those that fit no lane (sim/events/event_list.h): ports that
// become free after an odd frame, paced queue pairs, CNPs, pauses, time-outs.
//
//   TimerWheel  what is near: slots of about a nanosecond, found by bits. A push and a pop cost
//               some fifty instructions, however much is pending.
//   RadixHeap   what is far, until it is due.
//
// Both hand out equal times in push order. Neither allocates after reserve(): the bound comes from
// the design, and WEIR_CHECK enforces it.
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/check.h"
#include "sim/engine/packet.h"
#include "sim/engine/raw_array.h"

namespace weir::sim {

using Ps = std::int64_t;  // picoseconds since the start, the engine's inner currency
inline constexpr Ps kNever = std::numeric_limits<Ps>::max();

struct Event {
  Ps at = kNever;
  std::uint32_t tie = 0;
  Packet packet;
};
static_assert(sizeof(Event) == 40);

/// Bucket b holds what differs from `last_` first at bit b - 1. Buckets are lists through one pool,
/// so a push touches one node.
class RadixHeap {
 public:
  void reserve(std::size_t capacity);
  /// The packet of the new event is the caller's to write.
  Event& push(Ps at, std::uint32_t tie);
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
  void clear();
  template <class See>
  void for_each(See&& see) const {
    if (capacity_ == 0) return;
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

class TimerWheel {
 public:
  /// `slot_shift`: a slot is 2^slot_shift ps. The more is pending, the narrower it should be; a
  /// slot is a list in the order of time.
  void reserve(std::size_t capacity, unsigned slot_shift);

  void clear();

  /// REQUIRES: at > now, and now never goes back.
  void push(Ps now, Ps at, std::uint32_t tie) { event_for(now, at, tie); }
  void push(Ps now, Ps at, std::uint32_t tie, const Packet& packet) {
    event_for(now, at, tie).packet = packet;
  }
  /// Time of the earliest event, kNever when empty.
  [[nodiscard]] Ps min() const { return min_; }
  /// The event of the earliest instant, taken out, or nullptr when that instant has more of them.
  /// It stays where it is until the next one is taken.
  [[nodiscard]] Event* take_only() {
    if (far_min_ == min_) fetch_far();
    Slot& slot = slots_[slot_of(min_)];
    Node& node = pool_[slot.head];
    if (node.next != kNone && pool_[node.next].event.at == min_) return nullptr;
    detach(slot, slot.head, slot.head);
    return &node.event;
  }
  /// Calls `see(Event&)` for all of the earliest instant, in push order, and takes them out. They
  /// stay where they are until the next ones are taken.
  template <class See>
  void take_all(See&& see) {
    if (far_min_ == min_) fetch_far();
    Slot& slot = slots_[slot_of(min_)];
    const std::uint32_t first = slot.head;
    std::uint32_t last = first;
    see(pool_[last].event);
    while (pool_[last].next != kNone && pool_[pool_[last].next].event.at == min_) {
      last = pool_[last].next;
      see(pool_[last].event);
    }
    detach(slot, first, last);
  }
  /// Calls `see(const Event&)` for everything pending, in no particular order.
  template <class See>
  void for_each(See&& see) const {
    for (std::size_t s = 0; s < kSlots; ++s)
      for (std::uint32_t at = slots_[s].head; at != kNone; at = pool_[at].next)
        see(pool_[at].event);
    far_.for_each(see);
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFU;
  static constexpr std::size_t kSlots = 4096;  // 64 words of bits, and one word for those
  struct Node {
    Event event;
    std::uint32_t next;
  };
  struct Slot {
    std::uint32_t head = kNone;
    std::uint32_t tail = kNone;
  };
  [[nodiscard]] std::size_t slot_of(Ps at) const {
    return static_cast<std::size_t>(at >> slot_shift_) % kSlots;
  }
  Event& event_for(Ps now, Ps at, std::uint32_t tie) {
    if (at < min_) min_ = at;
    if ((at >> slot_shift_) - (now >> slot_shift_) >= static_cast<Ps>(kSlots)) [[unlikely]] {
      if (at < far_min_) far_min_ = at;
      return far_.push(at, tie);
    }
    const std::uint32_t index = new_node();
    Node& node = pool_[index];
    node.event.at = at;
    node.event.tie = tie;
    insert(index);
    return node.event;
  }
  std::uint32_t new_node() {
    const std::uint32_t node = free_;
    if (node == kNone) {
      WEIR_CHECK(fresh_ < capacity_);  // sized from the design: a bound was wrong
      return fresh_++;
    }
    free_ = pool_[node].next;
    return node;
  }
  void insert(std::uint32_t index) {
    Node& node = pool_[index];
    const std::size_t at = slot_of(node.event.at);
    Slot& slot = slots_[at];
    node.next = kNone;
    if (slot.head == kNone) {
      slot.head = slot.tail = index;
      bits_[at / 64] |= std::uint64_t{1} << (at % 64);
      words_ |= std::uint64_t{1} << (at / 64);
    } else if (pool_[slot.tail].event.at <= node.event.at) {
      pool_[slot.tail].next = index;
      slot.tail = index;
    } else {
      insert_between(slot, index);
    }
  }
  /// Takes the nodes from `first`, the head, to `last` out of the slot of `min_`, frees those
  /// taken before, and finds the next earliest.
  void detach(Slot& slot, std::uint32_t first, std::uint32_t last) {
    const std::size_t at = slot_of(min_);
    slot.head = pool_[last].next;
    if (taken_first_ != kNone) {
      pool_[taken_last_].next = free_;
      free_ = taken_first_;
    }
    taken_first_ = first;
    taken_last_ = last;
    if (slot.head != kNone) {
      min_ = pool_[slot.head].event.at;
    } else {
      slot.tail = kNone;
      bits_[at / 64] &= ~(std::uint64_t{1} << (at % 64));
      if (bits_[at / 64] == 0) words_ &= ~(std::uint64_t{1} << (at / 64));
      min_ = words_ == 0 ? kNever : pool_[slots_[next_slot(at)].head].event.at;
    }
    if (far_min_ < min_) min_ = far_min_;
  }
  /// The first slot with anything in it, from `at` round to `at` again. REQUIRES: there is one.
  [[nodiscard]] std::size_t next_slot(std::size_t at) const {
    std::size_t word = at / 64;
    const std::uint64_t here = bits_[word] >> (at % 64);
    if (here != 0) return at + static_cast<std::size_t>(std::countr_zero(here));
    const std::uint64_t after = words_ & (~std::uint64_t{1} << word);
    word = static_cast<std::size_t>(std::countr_zero(after != 0 ? after : words_));
    return word * 64 + static_cast<std::size_t>(std::countr_zero(bits_[word]));
  }
  void insert_between(Slot& slot, std::uint32_t index);
  void fetch_far();

  RawArray<Node> pool_;
  std::array<Slot, kSlots> slots_;
  std::array<std::uint64_t, kSlots / 64> bits_{};  // of a slot: it holds something
  std::uint64_t words_ = 0;                        // of a word of bits: it is not zero
  unsigned slot_shift_ = 10;
  Ps min_ = kNever;
  Ps far_min_ = kNever;
  RadixHeap far_;
  std::uint32_t free_ = kNone;  // released nodes, last in first out
  std::uint32_t fresh_ = 0;     // nodes never used yet start here: untouched pages cost nothing
  std::uint32_t capacity_ = 0;
  std::uint32_t taken_first_ = kNone;  // nodes in the hands of the caller
  std::uint32_t taken_last_ = kNone;
};

}  // namespace weir::sim
