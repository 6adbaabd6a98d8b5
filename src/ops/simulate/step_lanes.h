#pragma once
// The first steps of a simulated job as lanes: what its ranks did, and when.
#include <cstddef>

#include "render/report/report.h"
#include "sim/fabric/network.h"
#include "sim/workload/workload.h"

namespace weir::ops {

inline constexpr std::size_t kStepsDrawn = 4;

/// One lane per rank, or per so many ranks that there are at most sixteen.
[[nodiscard]] render::LaneChart lanes_of(const sim::RankTimes& times, const sim::Network& network);

}  // namespace weir::ops
