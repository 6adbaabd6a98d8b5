#pragma once
// The target of a tuning, judged: frequent marks, rare PFC, no drops, high use, short tails. A load
// that cannot show one of them (it offers too little, its flows differ in size) is not judged by
// it.
#include <vector>

#include "tune/run.h"
#include "tune/search.h"

namespace weir::tune {

/// A load that can fill the receivers' links fills this much of them.
inline constexpr double kTargetUse = 0.8;
/// Neither the longest step or flow against the mean, nor one run against another, reaches this.
inline constexpr double kTargetTail = 2;
/// Runs that are paused beyond the limit are rare where the bound of their rate is below this.
inline constexpr double kTargetPausedRuns = 0.05;

/// Rows of one load, in the order above. `chosen` is null where there are no chosen values.
/// REQUIRES: at least one run of each.
[[nodiscard]] std::vector<TargetRow> judge_target(const Load& load,
                                                  const std::vector<Metrics>& start,
                                                  const std::vector<Metrics>* chosen,
                                                  double pause_limit);

/// A load of one flow on an idle fabric, which must not be marked, and its row.
[[nodiscard]] std::string idle_load();
[[nodiscard]] TargetRow judge_idle(const Metrics& start, const Metrics* chosen);

}  // namespace weir::tune
