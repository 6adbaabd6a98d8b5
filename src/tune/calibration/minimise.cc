#include "tune/calibration/minimise.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/SVD>
#include <nlopt.h>

#include "base/check.h"

namespace weir::tune {
namespace {

struct Called {
  const std::function<bool(const std::vector<double>&, double&)>* function = nullptr;
  nlopt_opt optimiser = nullptr;
  Minimum best;
};

double call(unsigned count, const double* at, double* /*gradient*/, void* data) {
  auto& called = *static_cast<Called*>(data);
  const std::vector<double> point(at, at + count);
  double value = std::numeric_limits<double>::max();
  if (!(*called.function)(point, value)) {
    nlopt_force_stop(called.optimiser);
    return value;
  }
  if (value < called.best.value) called.best = {point, value};
  return value;
}

}  // namespace

Minimum minimise(
    const std::vector<double>& start, const std::vector<double>& low,
    const std::vector<double>& high, double step, int points,
    const std::function<bool(const std::vector<double>& at, double& value)>& function) {
  WEIR_CHECK(!start.empty() && low.size() == start.size() && high.size() == start.size());
  const auto count = static_cast<unsigned>(start.size());
  Called called{&function, nullptr, {start, std::numeric_limits<double>::max()}};
  called.optimiser = nlopt_create(count == 1 ? NLOPT_LN_NELDERMEAD : NLOPT_LN_BOBYQA, count);
  WEIR_CHECK(called.optimiser != nullptr);
  nlopt_set_lower_bounds(called.optimiser, low.data());
  nlopt_set_upper_bounds(called.optimiser, high.data());
  nlopt_set_min_objective(called.optimiser, call, &called);
  nlopt_set_initial_step1(called.optimiser, step);
  nlopt_set_xtol_abs1(called.optimiser, 0.002);
  nlopt_set_maxeval(called.optimiser, points);
  std::vector<double> at = start;
  double value = 0;
  // Ends by the number of points, by the tolerance, or by rounding: the best point is kept in
  // every case.
  nlopt_optimize(called.optimiser, at.data(), &value);
  nlopt_destroy(called.optimiser);
  return called.best;
}

Directions directions_of(const Matrix& jacobian) {
  WEIR_CHECK(!jacobian.empty() && !jacobian.front().empty());
  const auto rows = static_cast<Eigen::Index>(jacobian.size());
  const auto columns = static_cast<Eigen::Index>(jacobian.front().size());
  // As many rows as columns at least, so that there is a direction for every column.
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(std::max(rows, columns), columns);
  for (Eigen::Index r = 0; r < rows; ++r)
    for (Eigen::Index c = 0; c < columns; ++c)
      matrix(r, c) = jacobian[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)];
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(matrix, Eigen::ComputeThinV);
  Directions out;
  for (Eigen::Index i = 0; i < columns; ++i) {
    out.singular_values.push_back(svd.singularValues()(i));
    std::vector<double> vector;
    for (Eigen::Index c = 0; c < columns; ++c)
      vector.push_back(svd.matrixV()(c, i));
    out.vectors.push_back(std::move(vector));
  }
  return out;
}

std::vector<double> response_of(const Matrix& columns, const std::vector<double>& held) {
  WEIR_CHECK(!columns.empty() && columns.size() == held.size());
  const auto rows = static_cast<Eigen::Index>(columns.size());
  const auto count = static_cast<Eigen::Index>(columns.front().size());
  if (count == 0) return {};
  Eigen::MatrixXd matrix(rows, count);
  Eigen::VectorXd target(rows);
  for (Eigen::Index r = 0; r < rows; ++r) {
    target(r) = -held[static_cast<std::size_t>(r)];
    for (Eigen::Index c = 0; c < count; ++c)
      matrix(r, c) = columns[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)];
  }
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(matrix, Eigen::ComputeThinU | Eigen::ComputeThinV);
  const Eigen::VectorXd found = svd.solve(target);
  return {found.data(), found.data() + found.size()};
}

std::vector<double> deviations_of(const Directions& directions, double unseen) {
  std::vector<double> out(directions.singular_values.size(), 0);
  for (std::size_t i = 0; i < directions.singular_values.size(); ++i) {
    const double deviation = std::min(unseen, 1 / std::max(directions.singular_values[i], 1e-12));
    for (std::size_t c = 0; c < out.size(); ++c)
      out[c] += directions.vectors[i][c] * directions.vectors[i][c] * deviation * deviation;
  }
  for (double& variance : out)
    variance = std::sqrt(variance);
  return out;
}

}  // namespace weir::tune
