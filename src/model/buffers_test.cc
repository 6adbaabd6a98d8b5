#include "model/buffers.h"

#include "base/testing.h"
#include "model/headroom.h"
#include "units/format.h"

namespace weir::model {
namespace {

constexpr Alpha kOne = Alpha::from_log2(0);

TEST(EcnBound, EqualsTheDcqcnPapersSwitch) {
  COVERS("F3", "A2");
  // 12 MB, 32 ports, 8 priorities, 22.4 KB in flight each; beta = 8 is A = 1.
  const Bytes all_priorities = 12_MB - 22'400_B * 8 * 32;
  const EcnBound paper = ecn_bound_dynamic(all_priorities, kOne, 32, 8);
  EXPECT_NEAR(paper.bytes(), 21'755.56, 0.01);
  EXPECT_EQ(paper.largest_min_threshold, 21'755_B);
  const EcnBound one_class = ecn_bound_dynamic(12_MB - 32 * 22'400_B, kOne, 32, 1);
  EXPECT_NEAR(one_class.bytes(), 176'300, 1);
  EXPECT_EQ(largest_static_xoff(all_priorities, 32, 8), 24'475_B);
}

TEST(EcnBound, TheStaticBranchIsLessThanOnePacketOnThePapersSwitch) {
  COVERS("F3", "A2");
  const EcnBound bound = ecn_bound_static(24'475_B, 32);
  EXPECT_NEAR(bound.bytes(), 764.8, 0.1);
  EXPECT_LT(bound.largest_min_threshold, 1000_B);
  EXPECT_NE(bound.formula.find("XOFF/n"), std::string::npos);
}

TEST(EcnBound, IsStrict) {
  const EcnBound whole = ecn_bound_static(3200_B, 32);
  EXPECT_EQ(whole.largest_min_threshold, 99_B);
  EXPECT_EQ(ecn_bound_static(0_B, 32).largest_min_threshold, 0_B);
}

TEST(EcnBound, TheWorstCaseMarksBeforeItPauses) {
  COVERS("F3");
  // Fill n egress queues of each of k classes to t: XOFF = A*(B' - s) must not be reached by the
  // one ingress that holds n*t of a class.
  for (const int log2 : {-4, -3, 0, 3}) {
    const Alpha alpha = Alpha::from_log2(log2);
    for (const int ports : {1, 8, 64}) {
      for (const int classes : {1, 2, 8}) {
        const Bytes shared = 64_MB;
        const EcnBound bound = ecn_bound_dynamic(shared, alpha, ports, classes);
        const auto pauses = [&](Bytes t) {
          const Bytes used = t * ports * classes;
          return alpha.value() * static_cast<double>((shared - used).raw()) <=
                 static_cast<double>((t * ports).raw());
        };
        EXPECT_FALSE(pauses(bound.largest_min_threshold));
        EXPECT_TRUE(pauses(bound.largest_min_threshold + 1_B));
      }
    }
  }
}

TEST(DynamicThreshold, EqualsTheTomahawk5Row) {
  COVERS("F3");
  const Bytes pool = find_vendor_pool("tomahawk5")->shared;
  const std::vector<std::pair<int, double>> expected = {{1, 80.6}, {2, 53.7}, {4, 32.2}, {8, 17.9},
                                                        {16, 9.5}, {32, 4.9}, {64, 2.5}};
  for (const auto& [congested, megabytes] : expected) {
    EXPECT_NEAR(static_cast<double>(dynamic_threshold(pool, kOne, congested).raw()) / 1e6,
                megabytes, 0.05);
  }
  EXPECT_EQ(most_congested_groups(pool, kOne, 1500_KB), 106);
}

TEST(DynamicThreshold, TheMostCongestedGroupsAreTheLastThatFit) {
  for (const int log2 : {-5, -1, 0, 2}) {
    const Alpha alpha = Alpha::from_log2(log2);
    const std::int64_t n = most_congested_groups(60_MB, alpha, 300_KB);
    ASSERT_GE(n, 1);
    EXPECT_GE(dynamic_threshold(60_MB, alpha, n), 300_KB);
    EXPECT_LT(dynamic_threshold(60_MB, alpha, n + 1), 300_KB);
  }
  EXPECT_EQ(most_congested_groups(60_MB, kOne, 40_MB), 0);
}

TEST(BufferProfiles, LieWithinTheUsualSharesAndAddUp) {
  COVERS("F3");
  for (const std::string_view name : {"roce-balanced", "roce-aggressive"}) {
    const Result<BufferProfile> profile = find_buffer_profile(name);
    ASSERT_TRUE(profile);
    EXPECT_EQ(profile->shares.sum(), 100_percent);
    const Share shares[] = {profile->shares.lossless, profile->shares.lossy,
                            profile->shares.storage, profile->shares.reserved};
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_GE(shares[i], usual_share_ranges()[i].low) << name;
      EXPECT_LE(shares[i], usual_share_ranges()[i].high) << name;
    }
  }
  const BufferProfile balanced = *find_buffer_profile("roce-balanced");
  const BufferProfile aggressive = *find_buffer_profile("roce-aggressive");
  EXPECT_GT(aggressive.shares.lossless, balanced.shares.lossless);
  EXPECT_GT(aggressive.headroom_margin, balanced.headroom_margin);
  const Result<BufferProfile> typo = find_buffer_profile("roce-balnced");
  ASSERT_FALSE(typo);
  EXPECT_NE(typo.error().what.find("did you mean 'roce-balanced'?"), std::string::npos);
}

BufferInput tomahawk5() {
  BufferInput in;
  in.total = 173'268'640_B;
  in.shares = {50_percent, 15_percent, 20_percent, 15_percent};
  in.alpha = Alpha::from_log2(-3);
  in.headroom = {{.ports = 128, .lossless_priorities = 1, .per_group = 307'848_B}};
  in.reserved_per_group = 9216_B;
  in.ports = 128;
  in.groups_per_port = 2;
  return in;
}

TEST(BufferPlan, EveryByteOfTheBufferIsAccountedFor) {
  COVERS("F3");
  const BufferPlan plan = *plan_buffers(tomahawk5());
  EXPECT_EQ(plan.lossless_pool + plan.lossy_pool + plan.storage_pool + plan.reserved_pool +
                plan.unassigned,
            173'268'640_B);
  EXPECT_EQ(plan.headroom, 39'404'544_B);  // 128 x 400G: 23 % of the memory
  EXPECT_EQ(plan.lossless_shared, plan.lossless_pool - plan.headroom);
  EXPECT_TRUE(plan.fits());
  Bytes rest;
  for (const Term& term : plan.terms)
    rest += term.bytes;
  EXPECT_EQ(rest, plan.lossless_shared);
  EXPECT_GT(plan.xoff_one, plan.xoff_all);
  ASSERT_TRUE(plan.ecn_bound);
  EXPECT_LT(plan.ecn_bound->largest_min_threshold, plan.xoff_one);
}

TEST(BufferPlan, ASharedHeadroomPoolGivesTheRestBack) {
  COVERS("F3");
  BufferInput in = tomahawk5();
  const BufferPlan own = *plan_buffers(in);
  in.headroom_oversubscription = 2;
  const BufferPlan shared = *plan_buffers(in);
  EXPECT_EQ(shared.headroom, own.headroom / 2);
  EXPECT_EQ(shared.headroom_sum, own.headroom_sum);
  EXPECT_EQ(shared.lossless_shared - own.lossless_shared, own.headroom / 2);
}

TEST(BufferPlan, HeadroomBeyondThePoolDoesNotFit) {
  COVERS("F3", "A2");
  BufferInput in = tomahawk5();
  in.headroom.front().lossless_priorities = 3;
  const BufferPlan plan = *plan_buffers(in);
  EXPECT_FALSE(plan.fits());
  EXPECT_LT(plan.lossless_shared, 0_B);
  EXPECT_FALSE(plan.ecn_bound);
}

TEST(BufferPlan, GuaranteesComeOutOfTheReservedPool) {
  BufferInput in = tomahawk5();
  const BufferPlan plan = *plan_buffers(in);
  EXPECT_EQ(plan.reserved_used, 9216_B * 256);
  EXPECT_EQ(plan.reserved_left, plan.reserved_pool - plan.reserved_used);
  in.reserved_per_group = 1_MB;
  EXPECT_FALSE(plan_buffers(in)->fits());
  in = tomahawk5();
  in.is_single_pool = true;
  const BufferPlan single = *plan_buffers(in);
  EXPECT_EQ(single.lossless_shared, in.total - single.headroom - single.reserved_used);
  EXPECT_EQ(single.lossy_pool, 0_B);
}

TEST(BufferPlan, PoolsOverAHundredPercentAreRefusedWithTheirSum) {
  COVERS("F3", "A2");
  BufferInput in = tomahawk5();
  in.shares.lossless = 60_percent;
  const Result<BufferPlan> plan = plan_buffers(in);
  ASSERT_FALSE(plan);
  EXPECT_EQ(
      plan.error().what,
      "the pools add up to 110% (lossless 60%, lossy 15%, storage 20%, reserved 15%); at most 100% "
      "can be given");
}

TEST(BufferPlan, AMarginEnlargesHeadroomOnly) {
  BufferInput in = tomahawk5();
  const BufferPlan plain = *plan_buffers(in);
  in.headroom_margin = 150_percent;
  const BufferPlan more = *plan_buffers(in);
  EXPECT_EQ(more.headroom, plain.headroom / 2 * 3);
  EXPECT_EQ(more.lossless_pool, plain.lossless_pool);
}

}  // namespace
}  // namespace weir::model
