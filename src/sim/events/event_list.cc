#include "sim/events/event_list.h"

#include <algorithm>
#include <bit>

namespace weir::sim {
namespace {
constexpr std::size_t kFirstSlots = 64;  // of a ring; it doubles when all of it is in use
constexpr std::size_t kFewEvents = 24;   // sorted by insertion: most instants have two or three
}  // namespace

std::uint8_t EventList::add_lane(Ps delay, std::size_t bound) {
  WEIR_CHECK(delay > 0);
  if (ties_ == Ties::kInsertion || lane_count_ == kOwnLanes) return kNoLane;
  Lane& lane = lanes_[lane_count_];
  lane.delay = delay;
  lane.bound = bound;
  lane.ring = RawArray<Event>(std::max(std::bit_ceil(2 * bound + 2), kFirstSlots));
  lane.mask = kFirstSlots - 1;
  lane.limit = kFirstSlots - 1;
  return static_cast<std::uint8_t>(lane_count_++);
}

void EventList::add_inboxes(std::size_t sources, std::size_t bound, std::uint16_t full_size) {
  first_inbox_ = lane_count_;
  inbox_full_size_ = full_size;
  for (std::size_t i = 0; i < 2 * sources && lane_count_ < kMaxLanes; ++i) {
    Lane& lane = lanes_[lane_count_++];
    lane.bound = bound;
    lane.ring = RawArray<Event>(std::max(std::bit_ceil(2 * bound + 2), kFirstSlots));
    lane.mask = kFirstSlots - 1;
    lane.limit = kFirstSlots - 1;
  }
}

void EventList::reserve(std::size_t wheel_capacity, std::size_t batch_capacity, std::size_t ports) {
  // A wheel of 4 us for small fabrics, of 0.25 us for the largest: about one event a slot.
  const unsigned slot_shift = ports < 2048 ? 10 : ports < 16384 ? 8 : 6;
  wheel_.reserve(wheel_capacity, slot_shift);
  batch_ = RawArray<Event*>(batch_capacity);
  order_ = RawArray<std::uint64_t>(batch_capacity);
  batch_capacity_ = batch_capacity;
}

/// A limit of another instant becomes that of the one event in hand. Otherwise doubles the part of
/// the ring in use: what waits moves to the new half, so that the events of the batch in hand stay
/// where they are, and the new half alone is used until it is over.
void EventList::widen(Lane& lane) {
  const std::uint64_t waiting = lane.tail - lane.head;
  WEIR_CHECK(waiting < lane.bound);  // no more fit on these wires: a bound was wrong
  if (lane.limited_at != now_) {
    lane.limit = lane.mask;
    if (waiting < lane.limit) return;
  }
  const std::uint64_t slots = lane.mask + 1;
  for (std::uint64_t i = 0; i < waiting; ++i)
    lane.ring[slots + i] = lane.ring[(lane.head + i) & lane.mask];
  lane.head = slots;
  lane.tail = slots + waiting;
  lane.mask = 2 * slots - 1;
  lane.limit = slots;
  lane.limited_at = now_;
}

void EventList::restart(Ps now) {
  for (std::size_t i = 0; i < lane_count_; ++i)
    WEIR_CHECK(lanes_[i].head == lanes_[i].tail);
  wheel_.clear();
  WEIR_CHECK(now >= now_);
  now_ = now;
}

/// Everything of the instant `now_`, from all lanes and the wheel, in its order.
void EventList::take_batch() {
  const Ps at = now_;
  // Locals, because the compiler has to believe that a store to an array changes the members.
  Event** const batch = &batch_[0];
  std::uint64_t* const order = &order_[0];
  const std::size_t capacity = batch_capacity_;
  std::size_t size = 0;
  const auto add = [&](Event& event) {
    WEIR_CHECK(size < capacity);
    batch[size] = &event;
    order[size] = (std::uint64_t{event.tie} << 32U) | size;
    ++size;
  };
  for (std::size_t i = 0; i < lane_count_; ++i) {
    if (heads_[i] != at) continue;
    Lane& lane = lanes_[i];
    Event* const ring = &lane.ring[0];
    const std::uint64_t mask = lane.mask;
    const std::uint64_t tail = lane.tail;
    std::uint64_t head = lane.head;
    Ps next = kNever;
    do {
      add(ring[head & mask]);
      ++head;
      next = head == tail ? kNever : ring[head & mask].at;
    } while (next == at);
    lane.limit = mask + 1 - (head - lane.head);
    lane.limited_at = at;
    lane.head = head;
    heads_[i] = next;
  }
  if (wheel_.min() == at) wheel_.take_all(add);
  batch_size_ = size;
  if (ties_ == Ties::kCanonical) sort_batch();
}

void EventList::sort_batch() {
  std::uint64_t* const order = &order_[0];
  if (batch_size_ > kFewEvents) {
    // Hosts that start together send in the order of their ports for a while.
    if (!std::is_sorted(order, order + batch_size_)) std::sort(order, order + batch_size_);
    return;
  }
  for (std::size_t i = 1; i < batch_size_; ++i) {
    const std::uint64_t key = order[i];
    std::size_t to = i;
    for (; to > 0 && key < order[to - 1]; --to)
      order[to] = order[to - 1];
    order[to] = key;
  }
}

}  // namespace weir::sim
