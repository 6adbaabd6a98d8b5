#include "tune/statistics/statistics.h"

#include <cmath>

#include "base/testing.h"

namespace weir::tune {
namespace {

// ---- a count and its bound ----

TEST(Counts, FiftyNineCleanSeedsBoundARateBelowFivePercent) {
  // 1 - 0.05^(1/n) in closed form.
  EXPECT_NEAR(upper_bound(0, 59), 1 - std::pow(0.05, 1.0 / 59), 1e-12);
  EXPECT_LT(upper_bound(0, 59), 0.05);
  EXPECT_GT(upper_bound(0, 58), 0.05);
  EXPECT_LT(upper_bound(0, 149), 0.02);
  EXPECT_GT(upper_bound(0, 148), 0.02);
}

TEST(Counts, BoundsOfEverythingAndNothing) {
  EXPECT_EQ(upper_bound(0, 0), 1);
  EXPECT_EQ(upper_bound(16, 16), 1);
  EXPECT_EQ(lower_bound(0, 16), 0);
  EXPECT_NEAR(lower_bound(16, 16), std::pow(0.05, 1.0 / 16), 1e-12);
  // One of n: the upper bound solves (1-p)^n + n p (1-p)^(n-1) = 0.05.
  const double p = upper_bound(1, 20);
  EXPECT_NEAR(std::pow(1 - p, 20) + 20 * p * std::pow(1 - p, 19), 0.05, 1e-9);
}

TEST(Counts, SevenOfSixteenAgainstNoneIsNoChance) {
  EXPECT_NEAR(fisher_p(7, 16, 0, 16), 2 * 11440.0 / 3365856, 1e-9);  // 2 C(16,7) / C(32,7)
  EXPECT_NEAR(fisher_p(0, 16, 7, 16), 0.0068, 5e-5);
  EXPECT_NEAR(fisher_p(3, 4, 1, 4), 34.0 / 70, 1e-12);  // the lady tasting tea
  EXPECT_EQ(fisher_p(0, 16, 0, 16), 1);
  EXPECT_EQ(fisher_p(16, 16, 16, 16), 1);
  EXPECT_GT(fisher_p(2, 16, 0, 16), 0.05);
}

// ---- Wilcoxon ----

TEST(Wilcoxon, AllOfOneSignIsTwoInTwoToTheN) {
  for (int n = 1; n <= 12; ++n) {
    std::vector<double> differences;
    for (int i = 1; i <= n; ++i)
      differences.push_back(i);
    EXPECT_NEAR(wilcoxon_p(differences), std::min(1.0, 2 / std::pow(2.0, n)), 1e-12) << n;
  }
}

TEST(Wilcoxon, ExactTableOfEight) {
  // Rank sum of the negatives 3 ({3} or {1,2}): 5 of 256 ways give 3 or less, two-sided 10/256.
  const std::vector<double> differences = {1, 2, -3, 4, 5, 6, 7, 8};
  EXPECT_NEAR(wilcoxon_p(differences), 10.0 / 256, 1e-12);
}

TEST(Wilcoxon, ZerosAndTies) {
  EXPECT_EQ(wilcoxon_p(std::vector<double>{0, 0, 0}), 1);
  EXPECT_EQ(wilcoxon_p(std::vector<double>{}), 1);
  EXPECT_NEAR(wilcoxon_p(std::vector<double>{0, 1, 1, 1, 1}), 2.0 / 16, 1e-12);
  EXPECT_EQ(wilcoxon_p(std::vector<double>{1, -1}), 1);
}

// ---- changes ----

TEST(Changes, StudentsIntervalOfThreePairs) {
  // Mean 0.1, deviation 0.1 of {0, 0.1, 0.2}: t(0.975, 2) = 4.302653 and 0.1/sqrt(3).
  const std::vector<double> ratios = {0, 0.1, 0.2};
  const Change change = change_of(ratios);
  EXPECT_EQ(change.pairs, 3U);
  EXPECT_NEAR(change.mean, std::exp(0.1) - 1, 1e-12);
  const double width = 4.302652729911275 * 0.1 / std::sqrt(3.0);
  EXPECT_NEAR(change.low, std::exp(0.1 - width) - 1, 1e-9);
  EXPECT_NEAR(change.high, std::exp(0.1 + width) - 1, 1e-9);
  // t = sqrt(3) with 2 degrees: p = 1 - t / sqrt(2 + t²).
  EXPECT_NEAR(change.p_t, 1 - std::sqrt(3.0) / std::sqrt(5.0), 1e-9);
  EXPECT_FALSE(change.is_more());
}

TEST(Changes, EqualPairsAreNoChangeAndACertainOne) {
  const Change none = change_of(std::vector<double>(8, 0.0));
  EXPECT_EQ(none.mean, 0);
  EXPECT_EQ(none.low, 0);
  EXPECT_EQ(none.high, 0);
  EXPECT_EQ(none.p(), 1);
  EXPECT_FALSE(none.is_less());
  const Change certain = change_of(std::vector<double>(8, std::log(0.5)));
  EXPECT_NEAR(certain.mean, -0.5, 1e-12);
  EXPECT_TRUE(certain.is_less());
  EXPECT_NEAR(certain.p(), 2.0 / 256, 1e-12);  // Wilcoxon's, the worse
}

TEST(Changes, OnePairIsNoEvidence) {
  const Change change = change_of(std::vector<double>{-1});
  EXPECT_FALSE(change.is_less());
  EXPECT_EQ(change.low, -1);
  EXPECT_EQ(change.p(), 1);
}

TEST(Changes, RatiosOfPairs) {
  const std::vector<double> before = {1, 2, 4};
  const std::vector<double> after = {2, 4, 8};
  for (const double ratio : log_ratios(before, after))
    EXPECT_NEAR(ratio, std::log(2), 1e-12);
}

}  // namespace
}  // namespace weir::tune
