#include "lab/rehearsal/rehearsal_fit.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace weir::lab {
namespace {

using Matrix = std::vector<std::vector<double>>;

/// What a few runs say of how signs move together is believed this much.
constexpr double kBelieved = 0.8;
/// How much all places together weigh, as single signs.
constexpr double kWeightOfPlaces = 4;
/// Beyond six standard deviations it makes no difference.
constexpr double kMost = 36;

/// The lower triangle whose product with its transpose is `of`. REQUIRES: positive definite.
Matrix cholesky(const Matrix& of) {
  Matrix out(of.size(), std::vector<double>(of.size(), 0));
  for (std::size_t i = 0; i < of.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double rest = of[i][j];
      for (std::size_t k = 0; k < j; ++k)
        rest -= out[i][k] * out[j][k];
      WEIR_CHECK(i != j || rest > 0);
      out[i][j] = i == j ? std::sqrt(rest) : rest / out[j][j];
    }
  }
  return out;
}

/// Of the difference, in units of the covariance behind `triangle`.
double squared_length(const Matrix& triangle, const std::vector<double>& difference) {
  std::vector<double> solved(difference.size(), 0);
  double sum = 0;
  for (std::size_t i = 0; i < difference.size(); ++i) {
    double rest = difference[i];
    for (std::size_t k = 0; k < i; ++k)
      rest -= triangle[i][k] * solved[k];
    solved[i] = rest / triangle[i][i];
    sum += solved[i] * solved[i];
  }
  return sum;
}

const Sign* find(const std::vector<Sign>& run, const Sign& like) {
  for (const Sign& one : run)
    if (one.name == like.name && one.place == like.place) return &one;
  return nullptr;
}

}  // namespace

std::size_t Fit::add(std::span<const std::vector<Sign>> runs) {
  kinds_.push_back(kind_of(runs));
  return kinds_.size() - 1;
}

void Fit::replace(std::size_t kind, std::span<const std::vector<Sign>> runs) {
  kinds_.at(kind) = kind_of(runs);
}

Fit::Kind Fit::kind_of(std::span<const std::vector<Sign>> runs) const {
  WEIR_CHECK(runs.size() >= 2);
  const std::size_t signs = observed_.size();
  const auto count = static_cast<double>(runs.size());
  Kind kind;
  kind.runs = runs.size();
  kind.seen.assign(signs, 0);
  kind.counts.assign(signs, 0);
  kind.values.assign(signs, 0);
  kind.variances.assign(signs, 0);
  kind.deviations.assign(runs.size(), std::vector<double>(signs, 0));
  for (std::size_t s = 0; s < signs; ++s) {
    for (std::size_t r = 0; r < runs.size(); ++r) {
      const Sign* sign = find(runs[r], observed_[s]);
      if (sign == nullptr) continue;
      ++kind.seen[s];
      kind.counts[s] += sign->count / count;
      kind.values[s] += sign->value / count;
      kind.deviations[r][s] = sign->value;
    }
    for (std::vector<double>& run : kind.deviations) {
      run[s] -= kind.values[s];
      kind.variances[s] += run[s] * run[s] / (count - 1);
    }
  }
  return kind;
}

std::vector<std::size_t> Fit::usable(bool is_of_places) const {
  std::vector<std::size_t> out;
  for (std::size_t s = 0; s < observed_.size(); ++s) {
    const bool is_everywhere = std::all_of(
        kinds_.begin(), kinds_.end(), [&](const Kind& kind) { return kind.seen[s] == kind.runs; });
    if (is_everywhere && observed_[s].place.empty() != is_of_places) out.push_back(s);
  }
  return out;
}

double Fit::distance_of_places(const Kind& kind, const std::vector<std::size_t>& signs) const {
  if (signs.empty()) return 0;
  double sum = 0;
  for (const std::size_t s : signs) {
    const double grain = observed_[s].grain;
    const double spread = (kind.variances[s] + kinds_.front().variances[s]) / 2 + grain * grain;
    const double off = observed_[s].value - kind.values[s];
    sum += std::min(off * off / spread, kMost);
  }
  return kWeightOfPlaces * sum / static_cast<double>(signs.size());
}

std::vector<double> Fit::distances() const {
  const std::vector<std::size_t> signs = usable(false);
  const std::vector<std::size_t> places = usable(true);
  Matrix covariance(signs.size(), std::vector<double>(signs.size(), 0));
  std::size_t freedom = 0;
  for (const Kind& kind : kinds_)
    freedom += kind.runs - 1;
  for (std::size_t i = 0; i < signs.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (const Kind& kind : kinds_)
        for (const std::vector<double>& run : kind.deviations)
          sum += run[signs[i]] * run[signs[j]];
      const double grain = observed_[signs[i]].grain;
      covariance[i][j] = sum / static_cast<double>(freedom) * (i == j ? 1 : kBelieved) +
                         (i == j ? grain * grain : 0);
    }
  }
  const Matrix triangle = cholesky(covariance);
  std::vector<double> out;
  for (const Kind& kind : kinds_) {
    std::vector<double> off;
    for (const std::size_t s : signs)
      off.push_back(observed_[s].value - kind.values[s]);
    // The mean of a few runs has a chance of its own.
    const double surer = 1 + 1 / static_cast<double>(kind.runs);
    out.push_back(squared_length(triangle, off) / surer + distance_of_places(kind, places));
  }
  return out;
}

std::optional<double> Fit::deviation(std::size_t kind, std::size_t sign) const {
  const Kind& of = kinds_.at(kind);
  if (of.seen.at(sign) != of.runs) return std::nullopt;
  const double grain = observed_[sign].grain;
  return (observed_[sign].value - of.values[sign]) / std::sqrt(of.variances[sign] + grain * grain);
}

double Fit::mean_count(std::size_t kind, std::size_t sign) const {
  return kinds_.at(kind).counts.at(sign);
}

}  // namespace weir::lab
