#pragma once
// The events that end a roll-out at once (docs/rollout.md).
#include <span>
#include <vector>

#include "tune/judge/judge.h"

namespace weir::tune {

/// Of the blocks with the change, in the order of time. Always the same criteria in the same order.
[[nodiscard]] std::vector<Criterion> check_criteria(std::span<const BlockPair> pairs);

/// The criteria as rules, for a plan.
[[nodiscard]] std::vector<Criterion> criteria();

}  // namespace weir::tune
