#pragma once
// Least squares without derivatives (NLopt), and what a Jacobian can tell (Eigen): the two
// libraries behind the fit, and nothing else of them.
#include <functional>
#include <vector>

namespace weir::tune {

struct Minimum {
  std::vector<double> at;
  double value = 0;
};
/// The smallest value of `function` seen from `start`, within bounds, after at most `points` calls.
/// The function returns false to stop early. One unknown: Nelder and Mead's method, more: BOBYQA.
[[nodiscard]] Minimum minimise(
    const std::vector<double>& start, const std::vector<double>& low,
    const std::vector<double>& high, double step, int points,
    const std::function<bool(const std::vector<double>& at, double& value)>& function);

/// Rows: statistics, columns: unknowns.
using Matrix = std::vector<std::vector<double>>;

struct Directions {
  std::vector<double> singular_values;       // the largest first
  std::vector<std::vector<double>> vectors;  // of the columns, one per singular value
};
/// REQUIRES: at least one row and one column.
[[nodiscard]] Directions directions_of(const Matrix& jacobian);

/// Standard deviation of each unknown where the residuals have that of 1, from all directions.
/// A direction that nothing shows counts with `unseen`.
[[nodiscard]] std::vector<double> deviations_of(const Directions& directions, double unseen);

/// How the columns move where another is held `1` away from its best: least squares.
[[nodiscard]] std::vector<double> response_of(const Matrix& columns,
                                              const std::vector<double>& held);

}  // namespace weir::tune
