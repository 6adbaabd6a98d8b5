#include "wire/sequence.h"

#include <algorithm>

namespace weir::wire {

bool Sequence::take_from_hole(std::uint32_t psn) {
  for (std::size_t i = 0; i < hole_count_; ++i) {
    Hole& hole = holes_[i];
    if (psn_difference(psn, hole.from) < 0 || psn_difference(psn, hole.to) >= 0) continue;
    const std::uint32_t after = (psn + 1) & kPsnMask;
    if (hole.from == psn) {
      hole.from = after;
      if (hole.from == hole.to) {
        std::copy(holes_.begin() + static_cast<std::ptrdiff_t>(i) + 1, holes_.begin() + hole_count_,
                  holes_.begin() + static_cast<std::ptrdiff_t>(i));
        --hole_count_;
      }
    } else if (after == hole.to) {
      hole.to = psn;
    } else {
      const std::uint32_t end = hole.to;
      hole.to = psn;
      open_hole(after, end);
    }
    return true;
  }
  return psn_difference(psn, first_) < 0;  // from before the capture: not seen
}

void Sequence::close_hole(std::size_t index) {
  const Hole& hole = holes_[index];
  counts_.lost += static_cast<std::uint64_t>(psn_difference(hole.to, hole.from));
  std::copy(holes_.begin() + static_cast<std::ptrdiff_t>(index) + 1, holes_.begin() + hole_count_,
            holes_.begin() + static_cast<std::ptrdiff_t>(index));
  --hole_count_;
}

void Sequence::open_hole(std::uint32_t from, std::uint32_t to) {
  if (hole_count_ == kHoles) close_hole(0);
  holes_[hole_count_++] = {from, to};
}

void Sequence::settle_late() {
  counts_.out_of_order += waiting_;
  waiting_ = 0;
}

void Sequence::settle_sent_again() {
  counts_.retransmitted += waiting_;
  counts_.lost += waiting_;
  waiting_ = 0;
}

void Sequence::asked_again(std::uint32_t psn) {
  was_asked_ = true;
  asked_ = psn;
  // Asked for again although it came: then what came was the repetition, and it got lost too.
  std::uint32_t& fill = asked_fills_[psn % kAskedFills];
  if (fill == psn) fill = kNoPsn;
}

void Sequence::old_number(std::uint32_t psn, bool was_missing, Age age) {
  const bool follows = psn == ((last_ + 1) & kPsnMask);
  if (was_missing && age == Age::kOriginal) {
    settle_late();
    ++counts_.out_of_order;
    return;
  }
  if (was_missing) {
    const bool is_asked_for =
        age == Age::kRepetition || (was_asked_ && psn_difference(psn, asked_) >= 0);
    if (is_asked_for || (is_repeating_ && follows)) {
      if (!(waiting_ > 0 && follows)) settle_late();
      settle_sent_again();
      ++counts_.retransmitted;
      ++counts_.lost;
      if (is_asked_for && age == Age::kNotKnown) asked_fills_[psn % kAskedFills] = psn;
      is_repeating_ = true;
    } else {
      if (waiting_ > 0 && !follows) settle_late();
      ++waiting_;
    }
    return;
  }
  if (waiting_ > 0 && follows)
    settle_sent_again();
  else
    settle_late();
  if (std::uint32_t& fill = asked_fills_[psn % kAskedFills]; fill == psn) {
    // Asked for once and here twice: the one before was the original, late.
    fill = kNoPsn;
    --counts_.lost;
    ++counts_.out_of_order;
  } else {
    ++counts_.retransmitted;
  }
  is_repeating_ = true;
}

Arrival Sequence::feed(std::uint32_t psn, std::uint32_t count, bool may_jump, Age age) {
  if (!has_started_) {
    has_started_ = true;
    first_ = psn;
    last_ = psn;
    expected_ = (psn + count) & kPsnMask;
    return Arrival::kNext;
  }
  const std::int32_t ahead = psn_difference(psn, expected_);
  if (ahead >= 0) {
    Arrival arrival = Arrival::kNext;
    if (ahead > kOtherConnection && !may_jump) {
      finish();
      ++counts_.restarts;
      first_ = psn;
      arrival = Arrival::kRestart;
    } else if (ahead > 0 && !may_jump) {
      ++counts_.gaps;
      counts_.missing += static_cast<std::uint64_t>(ahead);
      open_hole(expected_, psn);
      arrival = Arrival::kAhead;
    }
    settle_late();
    if (is_repeating_) was_asked_ = false;  // the requested packets have arrived
    is_repeating_ = false;
    last_ = psn;
    expected_ = (psn + count) & kPsnMask;
    return arrival;
  }
  if (ahead < -kOtherConnection) {
    finish();
    ++counts_.restarts;
    first_ = psn;
    last_ = psn;
    expected_ = (psn + count) & kPsnMask;
    return Arrival::kRestart;
  }
  const bool was_missing = take_from_hole(psn);
  old_number(psn, was_missing, age);
  last_ = psn;
  return was_missing ? Arrival::kFill : Arrival::kAgain;
}

void Sequence::finish() {
  settle_late();
  while (hole_count_ > 0)
    close_hole(0);
  is_repeating_ = false;
  was_asked_ = false;
  asked_fills_ = no_fills();
}

}  // namespace weir::wire
