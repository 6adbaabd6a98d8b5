#pragma once
// One stream of packet sequence numbers as a capture shows it: what was missing, what came again,
// what came late. Tells loss from reordering:
//
//   1 2 4 5 3 6        3 was late: the stream goes on where it was             (out of order)
//   1 2 4 5 3 4 5 6    3 was sent again, and with it what follows: it was lost (go-back-N)
//   1 2 4 NAK(3) 3 5   3 was requested: lost, and sent again alone             (selective repeat)
//   1 2 4 NAK(3) 3 5 … 3 …  3 came twice after one NAK: the first was late, not lost
//   1 2 3 4 3 4 5      3 and 4 were seen and sent again: lost further on, or reordered there
//
// Numbers have 24 bits and wrap. Memory is fixed: beyond kHoles gaps at once the oldest is settled
// as lost.
#include <array>
#include <cstddef>
#include <cstdint>

namespace weir::wire {

inline constexpr std::uint32_t kPsnMask = 0xFF'FFFF;

/// a - b on the circle of 2^24: negative where a is older.
constexpr std::int32_t psn_difference(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>(((a - b) & kPsnMask) << 8U) >> 8;
}

/// What else is known about a packet: senders that number their packets (the IPv4 identification)
/// show whether it left before or after those that overtook it.
enum class Age : std::uint8_t { kNotKnown, kOriginal, kRepetition };

enum class Arrival : std::uint8_t {
  kNext,    // as expected, or the first
  kAhead,   // something is missing before it
  kFill,    // was missing until now: late or sent again
  kAgain,   // was seen before
  kRestart  // so far off that it is another connection
};

class Sequence {
 public:
  struct Counts {
    std::uint64_t gaps = 0;           // times that the stream jumped ahead
    std::uint64_t missing = 0;        // numbers jumped over
    std::uint64_t out_of_order = 0;   // late packets
    std::uint64_t retransmitted = 0;  // packets sent again, also those that fill a gap
    std::uint64_t lost = 0;           // numbers lost before the capture: sent again or never seen
    std::uint64_t restarts = 0;
  };

  /// `count`: numbers that this packet takes; `may_jump`: a jump ahead of it is no gap.
  Arrival feed(std::uint32_t psn, std::uint32_t count = 1, bool may_jump = false,
               Age age = Age::kNotKnown);
  /// The other side asked for everything from `psn` on again.
  void asked_again(std::uint32_t psn);
  /// No more packets: what waits for its verdict gets one.
  void finish();

  [[nodiscard]] bool has_started() const { return has_started_; }
  [[nodiscard]] std::uint32_t expected() const { return expected_; }
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  struct Hole {
    std::uint32_t from = 0;
    std::uint32_t to = 0;  // one past the last
  };
  static constexpr std::size_t kHoles = 8;
  static constexpr std::size_t kAskedFills = 16;
  static constexpr std::uint32_t kNoPsn = 0xFFFFFFFFU;
  static constexpr std::int32_t kOtherConnection = 1 << 16;

  static constexpr std::array<std::uint32_t, kAskedFills> no_fills() {
    std::array<std::uint32_t, kAskedFills> none{};
    none.fill(kNoPsn);
    return none;
  }
  bool take_from_hole(std::uint32_t psn);
  void open_hole(std::uint32_t from, std::uint32_t to);
  void close_hole(std::size_t index);
  void settle_late();
  void settle_sent_again();
  void old_number(std::uint32_t psn, bool was_missing, Age age);

  bool has_started_ = false;
  bool is_repeating_ = false;  // in a run of packets sent again
  bool was_asked_ = false;
  std::uint8_t hole_count_ = 0;
  std::uint32_t expected_ = 0;
  std::uint32_t first_ = 0;
  std::uint32_t last_ = 0;
  std::uint32_t asked_ = 0;
  std::uint32_t waiting_ = 0;  // fills without a verdict, the last of them last_
  std::array<Hole, kHoles> holes_{};
  std::array<std::uint32_t, kAskedFills> asked_fills_ = no_fills();  // came once since asked for
  Counts counts_;
};

}  // namespace weir::wire
