#pragma once
// The target of a tuning, judged: frequent marks, rare PFC, no drops, high use, short tails. A load
// that cannot show one of them (it offers too little, its flows differ in size) is not judged by
// it.
#include <vector>

#include "finding/thresholds.h"
#include "tune/run.h"
#include "tune/search.h"

namespace weir::tune {

/// Rows of one load, in the order above. `chosen` is null where there are no chosen values.
/// REQUIRES: at least one run of each.
[[nodiscard]] std::vector<TargetRow> judge_target(const Load& load,
                                                  const std::vector<Metrics>& start,
                                                  const std::vector<Metrics>* chosen,
                                                  double pause_limit,
                                                  const finding::Thresholds& thresholds = {});

/// A load of one flow on an idle fabric, which must not be marked, and its row.
[[nodiscard]] std::string idle_load();
[[nodiscard]] TargetRow judge_idle(const Metrics& start, const Metrics* chosen);

}  // namespace weir::tune
