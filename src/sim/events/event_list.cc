#include "sim/events/event_list.h"

#include <algorithm>
#include <bit>

namespace weir::sim {
namespace {
constexpr std::size_t kFewEvents = 24;  // sorted by insertion: most instants have two or three

/// Of a lane that holds at most `bound` events and the instant in hand: its ends are in two more.
std::size_t most_pieces(std::size_t bound) {
  return 2 * (bound / EventPiece::kEvents + 2);
}

}  // namespace

std::uint8_t EventList::add_lane(Ps delay, std::size_t bound) {
  WEIR_CHECK(delay > 0);
  if (ties_ == Ties::kInsertion || lane_count_ == kOwnLanes) return kNoLane;
  lanes_[lane_count_].delay = delay;
  pieces_wanted_ += most_pieces(bound);
  return static_cast<std::uint8_t>(lane_count_++);
}

void EventList::add_inboxes(std::size_t sources, std::size_t bound, std::uint16_t full_size) {
  first_inbox_ = lane_count_;
  inbox_full_size_ = full_size;
  for (std::size_t i = 0; i < 2 * sources && lane_count_ < kMaxLanes; ++i) {
    ++lane_count_;
    pieces_wanted_ += most_pieces(bound);
  }
}

void EventList::reserve(std::size_t wheel_capacity, std::size_t batch_capacity, std::size_t ports) {
  // A wheel of 4 us for small fabrics, of 0.25 us for the largest: about one event a slot.
  const unsigned slot_shift = ports < 2048 ? 10 : ports < 16384 ? 8 : 6;
  wheel_.reserve(wheel_capacity, slot_shift);
  batch_ = RawArray<Event*>(batch_capacity);
  order_ = RawArray<std::uint64_t>(batch_capacity);
  batch_capacity_ = batch_capacity;
  pieces_.reserve(pieces_wanted_);
  for (std::size_t i = 0; i < lane_count_; ++i) {
    Lane& lane = lanes_[i];
    lane.first = add_piece(lane);
    lane.head = lane.tail = lane.first->begin();
    lane.head_end = lane.first->end();
    lane.tail->at = kNever;
  }
}

EventPiece* EventList::add_piece(Lane& lane) {
  lane.last = pieces_.take(now_);
  lane.tail_end = lane.last->end();
  return lane.last;
}

/// The first place of one more piece.
Event* EventList::lengthen(Lane& lane) {
  EventPiece* const before = lane.last;
  before->next = add_piece(lane);
  return lane.last->begin();
}

/// Its events have been taken; those of the instant in hand are read still.
void EventList::leave_first(Lane& lane) {
  EventPiece* const left = lane.first;
  lane.first = left->next;
  lane.head_end = lane.first->end();
  pieces_.give_back(left, now_);
}

void EventList::restart(Ps now) {
  for (std::size_t i = 0; i < lane_count_; ++i)
    WEIR_CHECK(lanes_[i].is_empty());
  wheel_.clear();
  WEIR_CHECK(now >= now_);
  now_ = now;
  next_ = {};
}

/// Everything of the instant `now_`, from all lanes and the wheel, in its order. `first`: what was
/// taken out of `source` already, if anything.
void EventList::take_batch(Event* first, std::size_t source) {
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
    if (first != nullptr && i == source) add(*first);
    if (heads_[i] != at) continue;
    Lane& lane = lanes_[i];
    Event* event = lane.head;
    do {
      add(*event);
      if (++event != lane.head_end) continue;
      leave_first(lane);
      event = lane.first->begin();
    } while (event->at == at);
    lane.head = event;
    heads_[i] = event->at;
  }
  if (first != nullptr && source == lane_count_) add(*first);
  if (wheel_.min() == at) wheel_.take_all(add);
  next_ = earliest();
  batch_size_ = size;
  events_ += size;
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
