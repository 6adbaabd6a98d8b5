#pragma once
// What each rank did over time, one lane below the other: computing, communication that computing
// does not hide, and nothing. A lane of several ranks shows how many of them did what.
#include <string>
#include <string_view>

#include "render/report/report.h"

namespace weir::render {

/// As SVG; empty where there is no lane. `origin`: "simulated".
[[nodiscard]] std::string draw_lanes(const LaneChart& chart, std::string_view origin);
/// Pixels that it is high.
[[nodiscard]] double height_of(const LaneChart& chart);

/// For a terminal: a character says what most ranks of a lane did most of its time.
[[nodiscard]] std::string lanes_text(const LaneChart& chart, std::size_t width);

}  // namespace weir::render
