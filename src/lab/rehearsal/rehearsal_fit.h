#pragma once
// Which of several kinds of run an observed one is most like.
//
// Each kind is known by a few runs that differ by chance. The distance is Mahalanobis's, with the
// covariance that all kinds have within them (linear discriminant analysis, Fisher 1936): signs
// that chance moves together count once, and one that goes against the others counts more. Signs
// of single places are too many for a covariance; they are averaged.
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "lab/rehearsal/rehearsal_signs.h"

namespace weir::lab {

class Fit {
 public:
  explicit Fit(std::vector<Sign> observed) : observed_(std::move(observed)) {}

  /// A kind and its runs; gives its number. REQUIRES: at least two runs.
  std::size_t add(std::span<const std::vector<Sign>> runs);
  /// Other runs for a kind that is there.
  void replace(std::size_t kind, std::span<const std::vector<Sign>> runs);

  /// The squared distance of the observed run from each kind, by all runs added so far. Signs that
  /// a run of any kind lacks are left out.
  [[nodiscard]] std::vector<double> distances() const;

  [[nodiscard]] const std::vector<Sign>& observed() const { return observed_; }
  /// Standard deviations between the observed sign and a kind; nullopt where that has no such sign.
  [[nodiscard]] std::optional<double> deviation(std::size_t kind, std::size_t sign) const;
  /// The mean of a sign, as counted. REQUIRES: deviation() has a value.
  [[nodiscard]] double mean_count(std::size_t kind, std::size_t sign) const;

 private:
  struct Kind {
    std::size_t runs = 0;
    std::vector<std::size_t> seen;                // by sign: in how many runs it is
    std::vector<double> counts;                   // means
    std::vector<double> values;                   // means
    std::vector<double> variances;                // of values
    std::vector<std::vector<double>> deviations;  // by run and sign, from the mean
  };
  [[nodiscard]] Kind kind_of(std::span<const std::vector<Sign>> runs) const;
  [[nodiscard]] std::vector<std::size_t> usable(bool is_of_places) const;
  [[nodiscard]] double distance_of_places(const Kind& kind,
                                          const std::vector<std::size_t>& signs) const;

  std::vector<Sign> observed_;
  std::vector<Kind> kinds_;
};

}  // namespace weir::lab
