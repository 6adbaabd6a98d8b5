#include "sim/fast/estimate.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace weir::sim {
namespace {

using ByClass = std::array<double, kSizeClasses>;  // report only
/// Mean, p50 and p99.
using Statistics = std::array<double, 3>;              // report only
constexpr std::array<double, 3> kRanks{0, 0.5, 0.99};  // report only: of the latter two

struct Sums {
  ByClass full{};
  ByClass model{};

  void add(const Sums& other, double sign) {  // report only
    for (std::size_t c = 0; c < kSizeClasses; ++c) {
      full[c] += sign * other.full[c];
      model[c] += sign * other.model[c];
    }
  }
  /// How much longer flows take than in the model; 1 where there are none of the class.
  [[nodiscard]] ByClass ratios() const {
    ByClass out{};
    for (std::size_t c = 0; c < kSizeClasses; ++c)
      out[c] = model[c] > 0 && full[c] > 0 ? full[c] / model[c] : 1;
    return out;
  }
};

/// The ratios of all windows together, and of all but one each.
struct Ratios {
  ByClass all{};
  std::vector<ByClass> without;

  /// Jackknife: the variance of something that each set of windows gives, from its values.
  [[nodiscard]] double weight() const {                      // report only
    const auto count = static_cast<double>(without.size());  // report only
    return (count - 1) / count;
  }
};

Ratios ratios_of(const std::vector<std::vector<PairedTime>>& windows) {
  Sums all;
  std::vector<Sums> each;
  for (const auto& window : windows) {
    Sums& sums = each.emplace_back();
    for (const PairedTime& pair : window) {
      sums.full[pair.size_class] += pair.full;
      sums.model[pair.size_class] += pair.model;
    }
    all.add(sums, 1);
  }
  Ratios out{all.ratios(), {}};
  for (const Sums& sums : each) {
    Sums rest = all;
    rest.add(sums, -1);
    out.without.push_back(rest.ratios());
  }
  return out;
}

/// A ratio that differs from 1 by no more than it varies between windows shows nothing. So it is
/// applied by the positive part of 1 - variance / difference^2.
ByClass worth_applying(const Ratios& ratios) {
  ByClass out{};
  for (std::size_t c = 0; c < kSizeClasses; ++c) {
    const double difference = ratios.all[c] - 1;  // report only
    double variance = 0;                          // report only
    for (const ByClass& without : ratios.without)
      variance += ratios.weight() * std::pow(without[c] - ratios.all[c], 2);
    const double square = difference * difference;  // report only
    out[c] = square > variance ? 1 + difference * (1 - variance / square) : 1;
  }
  return out;
}

/// The value that `share` of all do not exceed (nearest rank, as CompletionTimes).
double value_at(const std::vector<double>& sorted, double share) {  // report only
  const auto count = static_cast<double>(sorted.size());            // report only
  const auto rank = static_cast<std::ptrdiff_t>(std::ceil(share * count - 1e-9)) - 1;
  const auto last = static_cast<std::ptrdiff_t>(sorted.size()) - 1;
  return sorted[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(rank, 0, last))];
}

std::vector<double> corrected(const std::vector<ModelTime>& run, const ByClass& ratios) {
  std::vector<double> out;  // report only
  out.reserve(run.size());
  for (const ModelTime& flow : run)
    out.push_back(flow.time * ratios[flow.size_class]);
  std::sort(out.begin(), out.end());
  return out;
}

Statistics statistics_of(const std::vector<double>& sorted) {  // report only
  double sum = 0;                                              // report only
  for (const double value : sorted)                            // report only
    sum += value;
  return {sum / static_cast<double>(sorted.size()), value_at(sorted, kRanks[1]),
          value_at(sorted, kRanks[2])};
}

/// Spread of the logarithm of full over model, by time: what chance does to single flows in both.
double spread_of(const std::vector<std::vector<PairedTime>>& windows) {  // report only
  double squares = 0;                                                    // report only
  double weights = 0;                                                    // report only
  for (const auto& window : windows)
    for (const PairedTime& pair : window) {
      squares += pair.model * std::pow(std::log(pair.full / pair.model), 2);
      weights += pair.model;
    }
  return weights > 0 ? std::sqrt(squares / weights) : 0;
}

/// Half of the distance between the values that flows which change places by chance may bring to
/// the rank of `share`, relative to the value there.
double error_of_rank(const std::vector<double>& sorted, double share,
                     double spread) {         // report only
  const double at = value_at(sorted, share);  // report only
  if (spread <= 0 || at <= 0) return 0;
  double variance = 0;  // report only: of the number of flows beyond `at`, in one of the two runs
  for (const double value : sorted) {                                       // report only
    const double beyond = 0.5 * std::erfc(-std::log(value / at) / spread);  // report only
    variance += beyond * (1 - beyond);
  }
  const double ranks = std::sqrt(2 * variance) / static_cast<double>(sorted.size());  // report only
  return (value_at(sorted, std::min(share + ranks, 1.0)) -
          value_at(sorted, std::max(share - ranks, 0.0))) /
         2 / at;
}

/// Relative standard errors that chance in single flows leaves in the difference of two runs.
Statistics chance_of(const std::vector<double>& sorted, double spread) {  // report only
  double sum = 0;                                                         // report only
  double squares = 0;                                                     // report only
  for (const double value : sorted) {                                     // report only
    sum += value;
    squares += value * value;
  }
  return {sum > 0 ? spread * std::sqrt(squares) / sum : 0, error_of_rank(sorted, kRanks[1], spread),
          error_of_rank(sorted, kRanks[2], spread)};
}

Estimate estimate_of(double value, double bound) {  // report only
  return {Duration::raw(static_cast<std::int64_t>(std::llround(value))), bound};
}

}  // namespace

double student_t95(std::size_t freedom) {  // report only
  constexpr std::array kTable{12.706, 4.303, 3.182, 2.776, 2.571};
  WEIR_CHECK(freedom >= 1 && freedom <= kTable.size());
  return kTable[freedom - 1];
}

bool show_every_class(const std::vector<ModelTime>& run,
                      const std::vector<std::vector<PairedTime>>& windows) {
  std::array<std::size_t, kSizeClasses> seen{};  // windows with such a flow
  for (const auto& window : windows)
    for (std::size_t c = 0; c < kSizeClasses; ++c)
      if (std::any_of(window.begin(), window.end(),
                      [&](const PairedTime& pair) { return pair.size_class == c; }))
        ++seen[c];
  return std::all_of(run.begin(), run.end(),
                     [&](const ModelTime& flow) { return seen[flow.size_class] >= 2; });
}

FastTimes correct_by_windows(const std::vector<ModelTime>& run,
                             const std::vector<std::vector<PairedTime>>& windows) {
  WEIR_CHECK(!run.empty() && show_every_class(run, windows));
  const Ratios ratios = ratios_of(windows);
  const std::vector<double> values = corrected(run, worth_applying(ratios));  // report only
  const Statistics shown = statistics_of(values);
  const Statistics whole = statistics_of(corrected(run, ratios.all));
  const Statistics chance = chance_of(values, spread_of(windows));
  Statistics variance{};
  for (const ByClass& without : ratios.without) {
    const Statistics other = statistics_of(corrected(run, without));
    for (std::size_t i = 0; i < variance.size(); ++i)
      variance[i] += ratios.weight() * std::pow((other[i] - whole[i]) / shown[i], 2);
  }
  const double t = student_t95(windows.size() - 1);  // report only
  const auto estimate = [&](std::size_t i) {
    const double error = std::sqrt(variance[i] + chance[i] * chance[i]);  // report only
    return estimate_of(shown[i], std::abs(whole[i] / shown[i] - 1) + t * error);
  };
  return {estimate(0), estimate(1), estimate(2)};
}

Line line_through(const std::array<Duration, 3>& times) {
  const auto at = [&](std::size_t i) { return static_cast<double>(times[i].raw()); };
  const double slope = (at(2) - at(1)) / 2;  // report only
  return {at(2), slope, std::abs(slope - (at(1) - at(0)))};
}

Estimate follow(const Line& line, double windows, double bound) {  // report only
  const double rest = (windows - 4) * line.slope;                  // report only
  return estimate_of(line.at_four + rest, bound * rest / (line.at_four + rest));
}

}  // namespace weir::sim
