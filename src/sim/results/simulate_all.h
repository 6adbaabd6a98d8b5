#pragma once
// Many independent runs, on the cores there are.
#include <cstddef>
#include <functional>

#include "base/result.h"
#include "sim/results/simulate.h"

namespace weir::sim {

/// Makes run i of the experiment `order(i)` and hands its outcome to `take(i, outcome)`, for every
/// i below `count`, `jobs` at a time. Both are called on several threads; `take` writes into a slot
/// of its own or takes a lock, so that nothing depends on `jobs`. Returns the error of the first
/// run (by its number) that has one.
[[nodiscard]] Status simulate_all(std::size_t count, unsigned jobs,
                                  const std::function<Experiment(std::size_t)>& order,
                                  const std::function<void(std::size_t, const Outcome&)>& take);

}  // namespace weir::sim
