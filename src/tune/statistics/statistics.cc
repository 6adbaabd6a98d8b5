#include "tune/statistics/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

// Without this Boost computes constants in long double before main; under valgrind, whose long
// double is a double, that overflows and ends the program.
#define BOOST_MATH_PROMOTE_DOUBLE_POLICY false
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/hypergeometric.hpp>
#include <boost/math/distributions/students_t.hpp>

#include "base/check.h"

namespace weir::tune {
namespace {

struct Moments {
  double mean = 0;
  double deviation = 0;  // of the sample
};

Moments moments_of(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  Moments out;
  for (const double value : values)
    out.mean += value / n;
  double squares = 0;
  for (const double value : values)
    squares += (value - out.mean) * (value - out.mean);
  if (values.size() > 1) out.deviation = std::sqrt(squares / (n - 1));
  return out;
}

/// Twice the mid-rank of each magnitude, so that ties stay whole numbers; in the order of `values`.
std::vector<std::size_t> doubled_ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(values[a]) < std::abs(values[b]);
  });
  std::vector<std::size_t> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && std::abs(values[order[end]]) == std::abs(values[order[begin]]))
      ++end;
    for (std::size_t i = begin; i < end; ++i)
      ranks[order[i]] = begin + 1 + end;  // twice the mean of begin + 1 … end
    begin = end;
  }
  return ranks;
}

}  // namespace

std::vector<double> log_ratios(std::span<const double> before, std::span<const double> after) {
  WEIR_CHECK(before.size() == after.size());
  std::vector<double> ratios;
  for (std::size_t i = 0; i < before.size(); ++i) {
    WEIR_CHECK(before[i] > 0 && after[i] > 0);
    ratios.push_back(std::log(after[i] / before[i]));
  }
  return ratios;
}

Change change_of(std::span<const double> log_ratios, double confidence) {
  Change out;
  out.pairs = log_ratios.size();
  const Moments moments = moments_of(log_ratios);
  out.mean = std::expm1(moments.mean);
  if (log_ratios.size() < 2) {
    out.low = -1;
    out.high = kUnbounded;
    return out;
  }
  out.low = out.high = out.mean;
  out.p_wilcoxon = wilcoxon_p(log_ratios);
  const double error = moments.deviation / std::sqrt(static_cast<double>(log_ratios.size()));
  if (error == 0) {  // all equal: no chance is at work
    out.p_t = moments.mean == 0 ? 1 : 0;
    return out;
  }
  const boost::math::students_t student(static_cast<double>(log_ratios.size() - 1));
  const double width = boost::math::quantile(student, (1 + confidence) / 2) * error;
  out.low = std::expm1(moments.mean - width);
  out.high = std::expm1(moments.mean + width);
  out.p_t = 2 * boost::math::cdf(boost::math::complement(student, std::abs(moments.mean) / error));
  return out;
}

double student_quantile(std::size_t degrees, double confidence) {
  WEIR_CHECK(degrees > 0);
  const boost::math::students_t student(static_cast<double>(degrees));
  return boost::math::quantile(student, (1 + confidence) / 2);
}

double wilcoxon_p(std::span<const double> differences) {
  std::vector<double> values;
  for (const double difference : differences)
    if (difference != 0) values.push_back(difference);
  if (values.empty()) return 1;
  const std::vector<std::size_t> ranks = doubled_ranks(values);
  const std::size_t total = std::accumulate(ranks.begin(), ranks.end(), std::size_t{0});
  std::size_t positive = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] > 0) positive += ranks[i];
  // The share of the 2^n ways to give signs that leaves each sum of positive ranks.
  std::vector<double> share(total + 1, 0);
  share[0] = 1;
  std::size_t reached = 0;
  for (const std::size_t rank : ranks) {
    reached += rank;
    for (std::size_t sum = reached + 1; sum-- > 0;)
      share[sum] = share[sum] / 2 + (sum >= rank ? share[sum - rank] / 2 : 0);
  }
  const std::size_t smaller = std::min(positive, total - positive);
  double tail = 0;
  for (std::size_t sum = 0; sum <= smaller; ++sum)
    tail += share[sum];
  return std::min(1.0, 2 * tail);
}

double fisher_p(std::uint64_t first, std::uint64_t first_of, std::uint64_t second,
                std::uint64_t second_of) {
  WEIR_CHECK(first <= first_of && second <= second_of);
  const std::uint64_t marked = first + second;
  const std::uint64_t all = first_of + second_of;
  if (first_of == 0 || second_of == 0 || marked == 0 || marked == all) return 1;
  const boost::math::hypergeometric tables(
      static_cast<unsigned>(marked), static_cast<unsigned>(first_of), static_cast<unsigned>(all));
  const double seen = boost::math::pdf(tables, static_cast<double>(first));
  constexpr double kRounding = 1 + 1e-7;  // tables that are equally likely count, whatever rounding
  double sum = 0;
  const std::uint64_t least = marked > second_of ? marked - second_of : 0;
  for (std::uint64_t k = least; k <= std::min(marked, first_of); ++k) {
    const double likely = boost::math::pdf(tables, static_cast<double>(k));
    if (likely <= seen * kRounding) sum += likely;
  }
  return std::min(1.0, sum);
}

double upper_bound(std::uint64_t count, std::uint64_t trials, double confidence) {
  WEIR_CHECK(count <= trials);
  if (count == trials) return 1;
  return boost::math::quantile(
      boost::math::beta_distribution<>(static_cast<double>(count) + 1,
                                       static_cast<double>(trials - count)),
      confidence);
}

double lower_bound(std::uint64_t count, std::uint64_t trials, double confidence) {
  WEIR_CHECK(count <= trials);
  if (count == 0) return 0;
  return boost::math::quantile(
      boost::math::beta_distribution<>(static_cast<double>(count),
                                       static_cast<double>(trials - count) + 1),
      1 - confidence);
}

}  // namespace weir::tune
