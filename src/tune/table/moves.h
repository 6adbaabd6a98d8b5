#pragma once
// The named moves: what operators are taught to turn when they see a symptom, with the condition
// under which it works, what it costs, what was measured, and where the teaching is wrong.
//
// The search tries each move that can be made; `weir tune --explain MOVE` prints the row.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tune/table/knobs.h"

namespace weir::tune {

enum class MoveVerdict : std::uint8_t {
  kRight,        // does what is said of it
  kConditional,  // only where its condition holds
  kTradeOff,     // does it, and pays for it elsewhere
  kBackwards,    // does the opposite
  kWeak,         // hardly anything
  kCannot,       // cannot be made on a NIC or switch as shipped
};
[[nodiscard]] std::string_view to_text(MoveVerdict);  // "right" "conditional" "trade-off" …

struct Move {
  std::string_view name;  // "shorter-increase-timer"
  std::string_view title;
  std::string_view knob;  // id; empty: no knob of the table (it cannot be made, or is not tuned)
  /// What it makes of the start value; 0 stands for none. A factor of the value itself, of the
  /// memory (1024 - value) for dce_tcp_g, a power of two for alpha.
  double factor = 0;
  double second_factor = 0;    // a further step
  std::string_view symptom;    // when the guides say to make it
  std::string_view condition;  // when it works
  std::string_view price;
  std::string_view taught;  // the guides' wording; empty: no guide has it
  std::string_view wrong;   // where that is wrong; empty: it is not
  MoveVerdict verdict = MoveVerdict::kRight;
  std::string_view measured;  // simulated, with the set-up
};

[[nodiscard]] std::span<const Move> moves();
[[nodiscard]] const Move* find_move(std::string_view name);

/// The values the move gives its knob, in the order it tries them; empty where it cannot be made
/// from `start` (at the end of the register's range, no knob, a value that is off).
[[nodiscard]] std::vector<std::int64_t> values_of(const Move& move, std::int64_t start);

/// Plain text for `weir tune --explain`.
[[nodiscard]] std::string explain(const Move& move, std::size_t width);
/// A table of all, for `weir tune --list-moves`.
[[nodiscard]] std::string list_moves(std::size_t width);

}  // namespace weir::tune
