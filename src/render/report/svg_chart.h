#pragma once
// Small multiples over one axis of time: panels under each other, so that the eye can go straight
// down from a pause to the queue that caused it. Each curve has its own line style and stands by
// name at the right, with its peak; units are said once, in the title of the panel.
#include <string>
#include <vector>

#include "render/report/report.h"

namespace weir::render {

/// Curves a panel shows; the rest are left out, and the panel says how many.
inline constexpr std::size_t kMostCurves = 4;

/// Empty where there is nothing to draw. `origin` ("simulated", "measured") stands beside each
/// title. REQUIRES: every curve as long as the times.
[[nodiscard]] std::string draw_timeline(const Timeline& timeline, std::string_view origin);

/// At most `most` values, each standing for a run of them: its peak or its mean.
[[nodiscard]] std::vector<double> thin_out(const std::vector<double>& values, std::size_t most,
                                           Merge merge);

/// The smallest round number that is not below `value`; 1 for 0.
[[nodiscard]] double round_up(double value);

/// Three significant digits, thousands as "12.3k": for people.
[[nodiscard]] std::string short_number(double value);

}  // namespace weir::render
