#pragma once
// What a design and the tables do not know of a real fabric, and calibration fits: one table for
// the fit, the plan, the design file and the documentation.
//
// Values here are ratios (applied to configured, measured to the table's) or microseconds, all
// positive, so that a fit works on their logarithms.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "design/file/fabric.h"

namespace weir::tune {

enum class Unknown : std::uint8_t {
  kNicLatency,
  kSwitchLatency,
  kHostRate,
  kXoff,
  kPauseReaction,
  kCnpGap,
  kWredMin,
  kWredMax,
  kWredProbability,
  kCnpDelay,
};
inline constexpr std::size_t kUnknowns = 10;

struct UnknownInfo {
  Unknown unknown;
  std::string_view key;  // of `calibration:`
  bool is_ratio = true;  // else a time in microseconds
  double start = 1;      // where nothing is known; a ratio of 1: as configured
  double low = 0.25;
  double high = 4;
  std::string_view meaning;
  std::string_view experiment;  // what identifies it
  std::string_view statistic;
  std::string_view identifiable;
};

[[nodiscard]] std::span<const UnknownInfo> unknowns();
[[nodiscard]] const UnknownInfo& info_of(Unknown unknown);

/// One value per unknown, in the order of the table.
using UnknownValues = std::array<double, kUnknowns>;

/// What a design that was calibrated before says, else where a fit starts.
[[nodiscard]] UnknownValues start_values(const design::Calibration& calibration);
/// Writes the values into `calibration`, those alone that `is_set` names.
void write_values(const UnknownValues& values, const std::array<bool, kUnknowns>& is_set,
                  design::Calibration& calibration);
/// As the design file has it: "1.32us", "104.2%".
[[nodiscard]] std::string value_text(const UnknownInfo& info, double value);

}  // namespace weir::tune
