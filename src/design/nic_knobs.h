#pragma once
// Every DCQCN parameter of a NIC that exists, and the ones people look for that do not.
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "design/fabric.h"

namespace weir::design {

/// How a knob is written in a design file, and what one step of the NIC's own register means.
enum class KnobUnit : std::uint8_t {
  kFlag,            // true / false
  kNumber,          // a plain number, in the register's own scale
  kMicroseconds,    // "300us"
  kMegabits,        // "5Mbps"
  kPercent,         // "50%"
  kBlocksOf64Bytes, // "2097088B": the register counts 64-byte blocks
  kDscp,
  kPriority,
};

struct NicKnob {
  std::string_view name;         // "rpg_ai_rate", as under ecn/roce_rp
  std::string_view debugfs;      // "rp_ai_rate", as under cc_params
  std::string_view mlxconfig;    // "RPG_AI_RATE_P1"
  bool is_notification_point;    // roce_np, else roce_rp
  KnobUnit unit;
  std::int64_t min;              // in register steps
  std::int64_t max;
  std::int64_t fallback;         // the firmware's default, in register steps
  std::string_view meaning;
  std::string_view trap;         // what people get wrong; may be empty
  std::string_view source;
};

[[nodiscard]] std::span<const NicKnob> nic_knobs();
[[nodiscard]] const NicKnob* find_knob(std::string_view name_in_any_form);

/// Knobs that documents mention and no NIC has: the name and the word on it.
struct PhantomKnob {
  std::string_view name;
  std::string_view instead;
};
[[nodiscard]] std::span<const PhantomKnob> phantom_knobs();

/// The register value of what was written: "5Mbps" → 5. A bare number where a unit belongs is an error
/// that suggests it; a value out of range names the range.
[[nodiscard]] Result<std::int64_t> parse_knob(const NicKnob& knob, std::string_view text);
[[nodiscard]] std::string knob_text(const NicKnob& knob, std::int64_t registers);

}  // namespace weir::design
