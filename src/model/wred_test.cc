#include "model/wred.h"

#include "base/testing.h"
#include "units/format.h"

namespace weir::model {
namespace {

constexpr WredCurve kCurve = {100_KB, 1500_KB, 10_percent};

TEST(Wred, IsSilentThenARampThenEverything) {
  COVERS("G1", "F4");
  EXPECT_EQ(mark_probability(kCurve, 0_B), 0);
  EXPECT_EQ(mark_probability(kCurve, 100_KB), 0);
  EXPECT_DOUBLE_EQ(mark_probability(kCurve, 800_KB), 0.05);
  EXPECT_DOUBLE_EQ(mark_probability(kCurve, 1500_KB), 0.10);
  EXPECT_EQ(mark_probability(kCurve, 1'500'001_B), 1) << "a step from Pmax to 1, not a ramp";
}

TEST(Wred, TheIntegerThresholdIsTheSameCurve) {
  COVERS("G1");
  constexpr double kWhole = 4294967296.0;
  for (std::int64_t q = 0; q < 1'700'000; q += 997) {
    const double exact = mark_probability(kCurve, Bytes::raw(q)) * kWhole;
    const double threshold = static_cast<double>(mark_threshold_32(kCurve, Bytes::raw(q)));
    EXPECT_LE(threshold, exact + 1e-3);
    EXPECT_GT(threshold, exact - 1 - 1e-3);
  }
  EXPECT_EQ(mark_threshold_32(kCurve, 2_MB), std::uint64_t{1} << 32U);
}

TEST(Wred, ARampOfNoWidthIsAStep) {
  const WredCurve step = {300_KB, 300_KB, 100_percent};
  EXPECT_TRUE(validate(step));
  EXPECT_EQ(mark_probability(step, 300_KB), 0);
  EXPECT_EQ(mark_probability(step, 300'001_B), 1);
}

TEST(Wred, StartingValuesFollowTheSpeed) {
  COVERS("F4");
  EXPECT_EQ(wred_start(400_Gbps).curve, kCurve);
  EXPECT_EQ(wred_start(800_Gbps).curve, (WredCurve{200_KB, 3_MB, 10_percent}));
  EXPECT_EQ(wred_start(200_Gbps).curve, (WredCurve{50_KB, 750_KB, 10_percent}));
  EXPECT_EQ(wred_start(100_Gbps).curve, (WredCurve{25_KB, 375_KB, 10_percent}));
  EXPECT_EQ(wred_start(25_Gbps).curve, (WredCurve{6250_B, 93'750_B, 10_percent}));
  EXPECT_EQ(wred_start(BitRate::raw(1'600'000'000'000)).curve,
            (WredCurve{400_KB, 6_MB, 10_percent}));
  EXPECT_NE(wred_start(25_Gbps).why.find("less than two large frames"), std::string::npos);
}

TEST(Wred, PublishedAlternativesAreOfferedBySpeedWithTheirStanding) {
  COVERS("F4");
  EXPECT_GE(published_wred().size(), 14U);
  const auto at_400 = published_wred_at(400_Gbps);
  EXPECT_GE(at_400.size(), 5U);
  for (const PublishedWred& row : published_wred()) {
    EXPECT_FALSE(row.who.empty() || row.tag.empty());
    EXPECT_LE(row.slowest, row.fastest);
    if (row.min && row.max && row.max_share) {
      EXPECT_TRUE(validate(WredCurve{*row.min, *row.max, *row.max_share})) << row.who;
    }
  }
  for (const PublishedWred& row : published_wred_at(25_Gbps))
    EXPECT_NE(row.who, "Arista EOS");
}

TEST(Wred, RefusesACurveThatIsNone) {
  EXPECT_EQ(validate(WredCurve{2_MB, 1_MB, 10_percent}).error().what,
            "expected 0B < min <= max, found min 2MB and max 1MB");
  EXPECT_FALSE(validate(WredCurve{1_MB, 2_MB, 0_percent}));
  EXPECT_FALSE(validate(WredCurve{1_MB, 2_MB, 101_percent}));
}

}  // namespace
}  // namespace weir::model
