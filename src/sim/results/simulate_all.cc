#include "sim/results/simulate_all.h"

#include <optional>
#include <vector>

#include "base/parallel.h"

namespace weir::sim {

Status simulate_all(std::size_t count, unsigned jobs,
                    const std::function<Experiment(std::size_t)>& order,
                    const std::function<void(std::size_t, const Outcome&)>& take) {
  std::vector<std::optional<Error>> errors(count);
  for_each_index(count, jobs, [&](std::size_t i) {
    const auto outcome = simulate(order(i));
    if (outcome) {
      take(i, *outcome);
    } else {
      errors[i] = outcome.error();
    }
  });
  for (const auto& error : errors)
    if (error) return *error;
  return {};
}

}  // namespace weir::sim
