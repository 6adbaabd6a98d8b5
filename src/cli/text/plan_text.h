#pragma once
// Plans of many hosts for a terminal and for programs; `weir plan` and `weir apply` share it. Hosts
// with the same plan are told once.
#include <span>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "host/change/plan.h"

namespace weir::cli {

enum class Tense { kWillBe, kIsNow };

/// The steps of each group of hosts (rail, setting, what is and will be, or was and is now), and
/// what no step mends.
[[nodiscard]] std::string plan_table(std::span<const host::HostPlan> plans, Tense tense);

/// What one would type on the first host of each group, and what to know before.
[[nodiscard]] std::string plan_commands(std::span<const host::HostPlan> plans);

/// device, rail, setting, from, to, commands[], risk, reversible, not_restored.
[[nodiscard]] Json step_json(const host::Step& step);
/// host, steps[], left[]{device, rail, setting, item, expected, found, reason, unread}.
[[nodiscard]] Json plan_json(const host::HostPlan& plan);

[[nodiscard]] std::size_t step_count(std::span<const host::HostPlan> plans);
/// Settings that nobody could read, so that nobody knows whether they are right.
[[nodiscard]] std::size_t unread_count(std::span<const host::HostPlan> plans);

}  // namespace weir::cli
