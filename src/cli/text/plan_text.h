#pragma once
// Plans of many hosts for a terminal; `weir plan` and `weir apply` share it. Hosts with the same
// plan share one block.
#include <span>
#include <string>
#include <vector>

#include "host/change/plan.h"

namespace weir::cli {

enum class Tense { kWillBe, kIsNow };

/// The steps of each group of hosts (rail, setting, what is and will be, or was and is now), and
/// the differences that no step removes.
[[nodiscard]] std::string plan_table(std::span<const host::HostPlan> plans, Tense tense);

/// What one would type on the first host of each group, and what to know before.
[[nodiscard]] std::string plan_commands(std::span<const host::HostPlan> plans);

}  // namespace weir::cli
