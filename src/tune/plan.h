#pragma once
// How many runs a tuning spends on what. Everything is fixed before the first run, from the budget
// and the size of the problem alone, so that the answer depends on neither time nor cores.
#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace weir::tune {

/// What the size of a tuning is made of.
struct Problem {
  std::size_t knobs = 0;
  std::size_t loads = 0;
  std::size_t held_out = 0;
  std::size_t move_values = 0;  // values that named moves try
  std::size_t failures = 0;     // scenarios of the last step
};

struct Plan {
  std::size_t trajectories = 1;  // of the screening; the first goes both ways
  std::size_t screen_seeds = 1;
  std::size_t move_seeds = 2;
  std::size_t candidates = 6;   // of the hypercube
  std::size_t first_seeds = 1;  // of the successive halving; three times as many at each rung
  std::size_t rungs = 3;
  std::size_t refinements = 1;  // rounds of single steps from the best
  std::size_t finalists = 3;
  std::size_t select_seeds = 4;
  std::size_t report_seeds = 8;
  std::size_t failure_seeds = 1;
  std::size_t curve_points = 3;
  std::size_t peer_seeds = 2;

  [[nodiscard]] std::size_t last_seeds() const;  // of the last rung
  /// At most this many runs; repeated ones are made once.
  [[nodiscard]] std::uint64_t most_runs(const Problem& problem) const;
};

/// The richest plan within `budget` runs. The error says how many the poorest needs.
[[nodiscard]] Result<Plan> plan_for(const Problem& problem, std::uint64_t budget);

/// Loads of which some runs pause and some do not are run often enough to exclude a rate of 5 %
/// (Clopper and Pearson, 95 %): 0 of 59, 1 of 93 and 2 of 124 bound it below that. Finalists are
/// ranked by fewer.
inline constexpr std::size_t kSeedsToRank = 64;
inline constexpr std::size_t kSeedsToBound = 128;

}  // namespace weir::tune
