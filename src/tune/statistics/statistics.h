#pragma once
// What can be said of runs that differ by chance: a change with its interval, and a count with its
// bound.
//
// Two settings are compared on the same seeds. A seed fixes arrivals, sizes and paths, so that the
// ratio of the two results varies far less than either; ratios multiply, hence logarithms. The t
// test and Wilcoxon's are both made and the worse of the two is believed: the one assumes normal
// differences, the other none. What has two modes (a run pauses or it does not) is counted and
// never averaged: Fisher's exact test compares two counts, Clopper and Pearson bound one.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weir::tune {

/// Relative: -0.12 is 12 % less. `mean` is the geometric mean of the ratios, less 1.
struct Change {
  double mean = 0;
  double low = 0;  // ends of the two-sided interval
  double high = 0;
  std::uint64_t pairs = 0;
  double p_t = 1;
  double p_wilcoxon = 1;

  /// The worse of the two tests.
  [[nodiscard]] double p() const { return p_t > p_wilcoxon ? p_t : p_wilcoxon; }
  [[nodiscard]] bool is_less() const { return pairs >= 2 && high < 0; }
  [[nodiscard]] bool is_more() const { return pairs >= 2 && low > 0; }
};

inline constexpr double kConfidence = 0.95;
inline constexpr double kUnbounded = 1e9;  // the end of an interval that has none

/// ln(after / before) of each pair. REQUIRES: equal lengths, all values positive.
[[nodiscard]] std::vector<double> log_ratios(std::span<const double> before,
                                             std::span<const double> after);

/// Of log ratios. Fewer than two give no interval: low is -1, high is kUnbounded, p is 1.
[[nodiscard]] Change change_of(std::span<const double> log_ratios, double confidence = kConfidence);

/// Student's quantile of a two-sided interval: 12.7 for one degree of freedom, 1.96 for very many.
/// REQUIRES: degrees > 0.
[[nodiscard]] double student_quantile(std::size_t degrees, double confidence = kConfidence);

/// Two-sided p of Wilcoxon's signed-rank test, exact with ties (mid-ranks); zeros are left out, and
/// where nothing is left p is 1.
[[nodiscard]] double wilcoxon_p(std::span<const double> differences);

/// Two-sided p of Fisher's exact test: the sum of all tables that are no more likely than this one.
/// REQUIRES: first <= first_of, second <= second_of.
[[nodiscard]] double fisher_p(std::uint64_t first, std::uint64_t first_of, std::uint64_t second,
                              std::uint64_t second_of);

/// The largest rate that `count` of `trials` does not exclude (Clopper and Pearson, one-sided).
/// 1 where there were no trials. REQUIRES: count <= trials.
[[nodiscard]] double upper_bound(std::uint64_t count, std::uint64_t trials,
                                 double confidence = kConfidence);
/// The smallest such rate.
[[nodiscard]] double lower_bound(std::uint64_t count, std::uint64_t trials,
                                 double confidence = kConfidence);

}  // namespace weir::tune
