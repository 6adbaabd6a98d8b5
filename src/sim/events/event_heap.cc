#include "sim/events/event_heap.h"

#include <algorithm>
#include <bit>

namespace weir::sim {

void RadixHeap::reserve(std::size_t capacity) {
  WEIR_CHECK(size_ == 0 && capacity < kNone);
  capacity_ = static_cast<std::uint32_t>(capacity);
  pool_ = RawArray<Node>(capacity);
  head_.fill(kNone);
  tail_.fill(kNone);
}

void RadixHeap::clear() {
  head_.fill(kNone);
  tail_.fill(kNone);
  occupied_ = 0;
  min_ = kNever;
  min_stale_ = false;
  free_ = kNone;
  fresh_ = 0;
  size_ = 0;
}

unsigned RadixHeap::bucket_of(Ps at) const {
  const auto differ = static_cast<std::uint64_t>(at ^ last_);
  return static_cast<unsigned>(64 - std::countl_zero(differ));
}

void RadixHeap::append(unsigned bucket, std::uint32_t node) {
  pool_[node].next = kNone;
  if (head_[bucket] == kNone)
    head_[bucket] = node;
  else
    pool_[tail_[bucket]].next = node;
  tail_[bucket] = node;
  occupied_ |= std::uint64_t{1} << bucket;
}

Event& RadixHeap::push(Ps at, std::uint32_t tie) {
  std::uint32_t node = free_;
  if (node != kNone) {
    free_ = pool_[node].next;
  } else {
    WEIR_CHECK(fresh_ < capacity_);  // the pool is sized from the design: a bound was wrong
    node = fresh_++;
  }
  Event& event = pool_[node].event;
  event.at = at;
  event.tie = tie;
  append(bucket_of(at), node);
  ++size_;
  if (!min_stale_ && at < min_) min_ = at;
  return event;
}

void RadixHeap::refresh_min() {
  min_stale_ = false;
  min_ = kNever;
  if (occupied_ == 0) return;
  const auto bucket = static_cast<std::size_t>(std::countr_zero(occupied_));
  for (std::uint32_t node = head_[bucket]; node != kNone; node = pool_[node].next)
    min_ = std::min(min_, pool_[node].event.at);
}

void RadixHeap::advance_to(Ps at) {
  const auto bucket = static_cast<std::size_t>(std::countr_zero(occupied_));
  std::uint32_t node = head_[bucket];
  head_[bucket] = tail_[bucket] = kNone;
  occupied_ &= ~(std::uint64_t{1} << bucket);
  last_ = at;
  while (node != kNone) {
    const std::uint32_t next = pool_[node].next;
    append(bucket_of(pool_[node].event.at), node);
    node = next;
  }
}

void TimerWheel::reserve(std::size_t capacity, unsigned slot_shift) {
  WEIR_CHECK(words_ == 0 && capacity < kNone);
  pool_ = RawArray<Node>(capacity);
  capacity_ = static_cast<std::uint32_t>(capacity);
  slot_shift_ = slot_shift;
  far_.reserve(capacity);
}

void TimerWheel::clear() {
  slots_.fill({});
  bits_.fill(0);
  words_ = 0;
  min_ = far_min_ = kNever;
  far_.clear();
  free_ = kNone;
  fresh_ = 0;
  taken_first_ = taken_last_ = kNone;
}

/// Where the tail is later: behind the last that is not.
void TimerWheel::insert_between(Slot& slot, std::uint32_t index) {
  const Ps at = pool_[index].event.at;
  std::uint32_t* link = &slot.head;
  while (pool_[*link].event.at <= at)
    link = &pool_[*link].next;
  pool_[index].next = *link;
  *link = index;
}

/// What is far and due first comes into the wheel. It was pushed before anything near of the same
/// instant, so it goes to the head of its slot.
void TimerWheel::fetch_far() {
  const std::size_t at = slot_of(min_);
  Slot& slot = slots_[at];
  std::uint32_t* link = &slot.head;
  far_.pop_all(min_, [&](const Event& event) {
    const std::uint32_t index = new_node();
    pool_[index].event = event;
    pool_[index].next = *link;
    *link = index;
    if (pool_[index].next == kNone) slot.tail = index;
    link = &pool_[index].next;
  });
  bits_[at / 64] |= std::uint64_t{1} << (at % 64);
  words_ |= std::uint64_t{1} << (at / 64);
  far_min_ = far_.min();
}

}  // namespace weir::sim
