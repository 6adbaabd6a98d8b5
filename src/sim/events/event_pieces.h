#pragma once
// Where the events of lanes live: pieces of some fifty events, a chain of them for each lane. It
// so holds what is under way and at most two pieces more, where a ring that doubles holds up to
// twice as much.
//
// A piece that was read to its end serves again from the next instant on: the events of the instant
// in hand stay where they are. Nothing is allocated after reserve(); pieces never used are pages
// never touched.
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "sim/engine/raw_array.h"
#include "sim/events/event_heap.h"

namespace weir::sim {

struct EventPiece {
  static constexpr std::size_t kEvents = 51;
  std::array<Event, kEvents> events;
  EventPiece* next;

  [[nodiscard]] Event* begin() { return events.data(); }
  [[nodiscard]] Event* end() { return events.data() + kEvents; }
};
static_assert(sizeof(EventPiece) == 2048);

class EventPieces {
 public:
  void reserve(std::size_t count) { room_ = RawArray<EventPiece>(count); }

  [[nodiscard]] EventPiece* take(Ps now) {
    free_those_before(now);
    EventPiece* piece = free_;
    if (piece != nullptr) {
      free_ = piece->next;
    } else {
      WEIR_CHECK(used_ < room_.size());  // no more fit on these wires: a bound was wrong
      piece = &room_[used_++];
    }
    piece->next = nullptr;
    return piece;
  }
  /// REQUIRES: what is in it is read by the end of the instant `now`.
  void give_back(EventPiece* piece, Ps now) {
    free_those_before(now);
    if (read_ == nullptr) last_read_ = piece;
    piece->next = read_;
    read_ = piece;
    read_at_ = now;
  }
  /// Ever, at a time.
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  void free_those_before(Ps now) {
    if (read_ == nullptr || read_at_ == now) return;
    last_read_->next = free_;
    free_ = read_;
    read_ = nullptr;
  }

  RawArray<EventPiece> room_;
  std::size_t used_ = 0;
  EventPiece* free_ = nullptr;  // last in, first out
  EventPiece* read_ = nullptr;  // to the end, in the instant …
  EventPiece* last_read_ = nullptr;
  Ps read_at_ = -1;  // … this one
};

}  // namespace weir::sim
