#pragma once
// The knobs that a tuning may turn: one table. A knob is a key of the design file; its values are a
// short grid, nearly even in logarithm, with the start value in it.
//
// What is not in the table is not tuned: headroom (the proof sets it), pools and profiles (on some
// systems a change stops every port), MTU, classes and PFC (architecture, decided before).
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "design/fabric/intent.h"
#include "design/file/fabric.h"

namespace weir::tune {

enum class KnobPlace : std::uint8_t { kNic, kSwitch };

/// What the whole numbers of a knob count.
enum class KnobUnit : std::uint8_t {
  kRegister,  // steps of the NIC's register: design/tables/nic_knobs.h says what one is
  kBytes,
  kShare,  // parts per million
  kAlpha,  // logarithm to base 2
};

/// How `low` and `high` are meant.
enum class KnobRange : std::uint8_t {
  kAbsolute,
  kOfStart,     // percent of the start value: thresholds scale with speed and buffer
  kOfLine,      // percent of the slowest NIC's line rate; 0, which turns it off, is a value too
  kMemory,      // 1024 less the value is what counts (dce_tcp_g weighs the old alpha)
  kEveryValue,  // each whole number from low to high
};

struct Knob {
  std::string_view id;  // "dcqcn.rpg_time_reset": a path that design::set_value() takes
  KnobPlace place = KnobPlace::kNic;
  KnobUnit unit = KnobUnit::kRegister;
  KnobRange range = KnobRange::kAbsolute;
  std::int64_t low = 0;
  std::int64_t high = 0;
  int points = 7;             // of the grid, before the start value joins it
  std::string_view peer_key;  // in the HPCC simulator's configuration; empty: it has no such knob
  std::string_view meaning;
  std::string_view price;  // what turning it costs, beside what the run shows

  /// Its gain can be checked in the peer's semantics.
  [[nodiscard]] bool has_peer() const { return !peer_key.empty(); }
};

[[nodiscard]] std::span<const Knob> knobs();
/// nullptr where there is none of that id.
[[nodiscard]] const Knob* find_knob(std::string_view id);

/// The value that the design gives it.
[[nodiscard]] std::int64_t start_value(const Knob& knob, const design::Design& design,
                                       const design::Intent& intent);

/// Ascending, each once; `start` is in it. REQUIRES: start_value() of the same design.
[[nodiscard]] std::vector<std::int64_t> grid_of(const Knob& knob, std::int64_t start,
                                                const design::Intent& intent);

/// As the design file writes it: "75us", "100KB", "10%", "1/8".
[[nodiscard]] std::string value_text(const Knob& knob, std::int64_t value);

/// A number that grows evenly along the grid; only differences mean something.
[[nodiscard]] double position(const Knob& knob, std::int64_t value);

/// Why this design's knob cannot be turned; nullopt where it can. (Switch groups with thresholds of
/// their own, NICs without DCQCN parameters, static XOFF.)
[[nodiscard]] std::optional<std::string> why_fixed(const Knob& knob, const design::Design& design,
                                                   const design::Intent& intent);

/// "dcqcn.*", "*_rate": stars stand for any characters.
[[nodiscard]] bool matches(std::string_view glob, std::string_view id);

}  // namespace weir::tune
