#include "sim/event_list.h"

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

void RadixHeap::push(const Event& event) {
  std::uint32_t node = free_;
  if (node != kNone) {
    free_ = pool_[node].next;
  } else {
    WEIR_CHECK(fresh_ < capacity_);  // the pool is sized from the design: a bound was wrong
    node = fresh_++;
  }
  pool_[node].event = event;
  append(bucket_of(event.at), node);
  ++size_;
  if (!min_stale_ && event.at < min_) min_ = event.at;
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

std::uint8_t EventList::add_lane(Ps delay, std::size_t bound) {
  WEIR_CHECK(delay > 0);
  if (ties_ == Ties::kInsertion || lane_count_ == kMaxLanes) return kNoLane;
  Lane& lane = lanes_[lane_count_];
  lane.delay = delay;
  lane.bound = bound;
  const std::size_t slots = std::bit_ceil(2 * bound + 2);
  lane.ring = RawArray<Event>(slots);
  lane.mask = slots - 1;
  heads_[lane_count_] = kNever;
  return static_cast<std::uint8_t>(lane_count_++);
}

void EventList::reserve(std::size_t heap_capacity, std::size_t batch_capacity) {
  heap_.reserve(heap_capacity);
  batch_.reserve(batch_capacity);
  popped_.reserve(batch_capacity);
}

void EventList::take_batch(Ps at) {
  now_ = at;
  batch_.clear();
  for (std::size_t i = 0; i < lane_count_; ++i) {
    if (heads_[i] != at) continue;
    Lane& lane = lanes_[i];
    do {
      batch_.push_back(&lane.ring[lane.head & lane.mask]);
      ++lane.head;
    } while (lane.head != lane.tail && lane.ring[lane.head & lane.mask].at == at);
    heads_[i] = lane.head == lane.tail ? kNever : lane.ring[lane.head & lane.mask].at;
  }
  if (heap_.min() == at) {
    popped_.clear();
    heap_.pop_all(at, [this](const Event& event) { popped_.push_back(event); });
    WEIR_CHECK(popped_.size() + batch_.size() <= batch_.capacity());
    for (const Event& event : popped_)
      batch_.push_back(&event);
  }
  if (ties_ == Ties::kInsertion || batch_.size() < 2) return;
  const auto before = [](const Event* a, const Event* b) { return a->tie < b->tie; };
  if (!std::is_sorted(batch_.begin(), batch_.end(), before))
    std::sort(batch_.begin(), batch_.end(), before);
}

}  // namespace weir::sim
