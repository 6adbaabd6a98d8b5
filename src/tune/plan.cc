#include "tune/plan.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace weir::tune {
namespace {

/// More than this many changes rarely survive the elimination.
constexpr std::size_t kMostChanges = 4;

// Poorest first. Seeds of the selection decide between finalists, those of the report make the
// printed interval: at a deviation of 4 % between pairs, 16 pairs give +-2 %, 32 give +-1.4 %.
constexpr std::array kPlans = {
    Plan{.rungs = 2, .finalists = 2, .curve_points = 2},
    Plan{
        .trajectories = 1, .candidates = 9, .select_seeds = 6, .report_seeds = 12, .peer_seeds = 4},
    Plan{.trajectories = 2,
         .candidates = 12,
         .select_seeds = 8,
         .report_seeds = 16,
         .failure_seeds = 2,
         .curve_points = 4,
         .peer_seeds = 4},
    Plan{.trajectories = 3,
         .move_seeds = 3,
         .candidates = 18,
         .refinements = 2,
         .select_seeds = 12,
         .report_seeds = 24,
         .failure_seeds = 2,
         .curve_points = 5,
         .peer_seeds = 8},
    Plan{.trajectories = 4,
         .screen_seeds = 2,
         .move_seeds = 4,
         .candidates = 27,
         .refinements = 2,
         .finalists = 4,
         .select_seeds = 16,
         .report_seeds = 32,
         .failure_seeds = 2,
         .curve_points = 5,
         .peer_seeds = 8},
    Plan{.trajectories = 6,
         .screen_seeds = 2,
         .move_seeds = 6,
         .candidates = 54,
         .first_seeds = 2,
         .refinements = 3,
         .finalists = 5,
         .select_seeds = 24,
         .report_seeds = 48,
         .failure_seeds = 3,
         .curve_points = 7,
         .peer_seeds = 8},
    Plan{.trajectories = 10,
         .screen_seeds = 2,
         .move_seeds = 8,
         .candidates = 81,
         .first_seeds = 3,
         .refinements = 4,
         .finalists = 6,
         .select_seeds = 32,
         .report_seeds = 64,
         .failure_seeds = 4,
         .curve_points = 7,
         .peer_seeds = 16},
};

}  // namespace

std::size_t Plan::last_seeds() const {
  std::size_t seeds = first_seeds;
  for (std::size_t rung = 1; rung < rungs; ++rung)
    seeds *= 3;
  return seeds;
}

std::uint64_t Plan::most_runs(const Problem& problem) const {
  const std::size_t all = problem.loads + problem.held_out;
  const std::size_t changes = std::min(problem.knobs, kMostChanges);
  std::uint64_t runs = 4 + problem.loads * last_seeds();  // burst, one flow, start values
  runs += (trajectories * (problem.knobs + 1) + problem.knobs) * problem.loads * screen_seeds;
  runs += problem.move_values * problem.loads * move_seeds;
  std::size_t left = candidates + problem.move_values;
  std::size_t seeds = first_seeds;
  for (std::size_t rung = 0; rung < rungs; ++rung, seeds *= 3) {
    runs += left * problem.loads * seeds;
    left = (left + 2) / 3;
  }
  runs += refinements * 2 * problem.knobs * problem.loads * first_seeds * 3;
  runs += (finalists + 1) * all * select_seeds;
  runs += 2 * changes * problem.loads * select_seeds;
  runs += curve_points * problem.loads * select_seeds;
  runs += 2 * problem.failures * failure_seeds;
  runs += 2 * all * report_seeds + changes * problem.loads * report_seeds;
  runs += 2 * problem.loads * peer_seeds;
  return runs;
}

Result<Plan> plan_for(const Problem& problem, std::uint64_t budget) {
  const Plan* best = nullptr;
  for (const Plan& plan : kPlans)
    if (plan.most_runs(problem) <= budget) best = &plan;
  if (best != nullptr) return *best;
  return invalid_error(
      fmt::format("{} runs are too few: {} knobs and {} workloads need at least {}; --knobs with "
                  "fewer knobs needs less",
                  budget, problem.knobs, problem.loads, kPlans.front().most_runs(problem)));
}

}  // namespace weir::tune
