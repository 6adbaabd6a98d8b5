#pragma once
// Panels below each other over one time axis, so that a pause and the queue that caused it are in
// one vertical line. Each curve has its own line style, and its name and peak at the right; the
// unit is in the title of the panel.
#include <string>
#include <vector>

#include "render/report/report.h"

namespace weir::render {

/// The most curves in a panel; the panel says how many are left out.
inline constexpr std::size_t kMostCurves = 4;

/// The drawing as a file of its own: with its name space, on white.
[[nodiscard]] std::string as_svg_file(std::string drawing);

/// Empty where there is nothing to draw; a value that is not a number is left out. `origin`
/// ("simulated", "measured") follows each title.
/// REQUIRES: every curve as long as the times.
[[nodiscard]] std::string draw_timeline(const Timeline& timeline, std::string_view origin);

/// At most `most` values, each the peak or mean of several.
[[nodiscard]] std::vector<double> thin_out(const std::vector<double>& values, std::size_t most,
                                           Merge merge);

/// The smallest round number that is not below `value`; 1 for 0.
[[nodiscard]] double round_up(double value);

/// Three significant digits, thousands as "12.3k": for people.
[[nodiscard]] std::string short_number(double value);

}  // namespace weir::render
