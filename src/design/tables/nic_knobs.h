#pragma once
// Every DCQCN parameter of a NIC that exists, and the ones people look for that do not.
//
// The parameters are those of mlx5 (ConnectX-4 and later, BlueField). Each has three names: a file
// of the vendor's driver, a file of debugfs, and a firmware setting; find_knob() knows all of them.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace weir::design {

/// How a knob is written in a design file, and what one step of the NIC's own register means.
enum class KnobUnit : std::uint8_t {
  kFlag,             // true / false
  kNumber,           // a plain number, in the register's own scale
  kMicroseconds,     // "300us"
  kMegabits,         // "5Mbps"
  kPercent,          // "50%"
  kBlocksOf64Bytes,  // "2097088B": the register counts 64-byte blocks
  kDscp,
  kPriority,
};

struct NicKnob {
  std::string_view name;               // "rpg_ai_rate", as under ecn/roce_rp
  std::string_view debugfs;            // "rp_ai_rate", as under cc_params
  std::string_view mlxconfig;          // "RPG_AI_RATE_P1"
  bool is_notification_point = false;  // roce_np, else roce_rp
  KnobUnit unit;
  std::int64_t min = 0;  // in register steps
  std::int64_t max;
  std::int64_t fallback;  // the firmware's default, in register steps
  std::string_view meaning;
  std::string_view trap = {};  // what people get wrong; may be empty
  std::string_view source =
      "NVIDIA DOCA, DCQCN CC parameters; mstflint tools_layouts; mlxconfig dumps";
};

/// In the order of a firmware dump: the 16 of the reaction point, then the 3 of the notification
/// point.
[[nodiscard]] std::span<const NicKnob> nic_knobs();

/// By any of its names, in any case; the firmware's with _P1, _P2 or no port. nullptr if there is
/// none.
[[nodiscard]] const NicKnob* find_knob(std::string_view name_in_any_form);

/// Knobs that documents and simulators mention and no NIC has.
struct PhantomKnob {
  std::string_view name;     // lower case, words joined by '_'
  std::string_view real;     // the knob that does this on a NIC; empty where a NIC has none
  std::string_view instead;  // what to use, as a sentence without a full stop
};
[[nodiscard]] std::span<const PhantomKnob> phantom_knobs();

/// As people write it: "Kmin", "Rate AI", "alpha-update-period", "α update period".
[[nodiscard]] const PhantomKnob* find_phantom(std::string_view name);

/// The register value of what was written: "5Mbps" → 5. A bare number where a unit belongs is an
/// error that suggests it; a value out of range names the range. The caller adds the knob's name.
[[nodiscard]] Result<std::int64_t> parse_knob(const NicKnob& knob, std::string_view text);

/// What parse_knob() reads back: 5 → "5Mbps". REQUIRES: a register value in the knob's range.
[[nodiscard]] std::string knob_text(const NicKnob& knob, std::int64_t registers);

/// "1Mbps to 131071Mbps", "true or false".
[[nodiscard]] std::string range_text(const NicKnob& knob);

/// Plain text for `weir explain rpg_ai_rate`: what, range, default, where it lives, trap, source.
[[nodiscard]] std::string explain(const NicKnob& knob);
[[nodiscard]] std::string explain(const PhantomKnob& phantom);

/// `weir explain knobs`: one table of them all, and the names that do not exist.
[[nodiscard]] std::string explain_knobs();

}  // namespace weir::design
