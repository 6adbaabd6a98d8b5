#pragma once
// The events that end a roll-out at once (docs/rollout.md). Their limits are thresholds
// (pause_error, pause_warning and rollout_...), and the rules are printed as the user set them.
#include <span>
#include <vector>

#include "finding/thresholds.h"
#include "tune/judge/judge.h"

namespace weir::tune {

/// Of the blocks with the change, in the order of time. Always the same criteria in the same order.
[[nodiscard]] std::vector<Criterion> check_criteria(std::span<const BlockPair> pairs,
                                                    const finding::Thresholds& limits);

/// The criteria as rules, for a plan.
[[nodiscard]] std::vector<Criterion> criteria(const finding::Thresholds& limits);

}  // namespace weir::tune
