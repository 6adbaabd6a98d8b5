#include "sim/engine/shared_buffer.h"

#include "base/rng.h"
#include "base/testing.h"

namespace weir::sim {
namespace {

/// Books a frame where the buffer itself would put it. REQUIRES: it takes it.
void take(SharedBuffer& buffer, std::uint32_t in, std::uint32_t group, std::uint32_t out,
          std::uint32_t queue, std::int64_t charge) {
  const auto admission = buffer.check(buffer.account(in, group, out, queue), charge);
  ASSERT_FALSE(admission.is_refused());
  buffer.update(buffer.account(in, group, out, queue), charge, admission.place);
}

SwitchConfig one_lossless(Bytes buffer, Bytes reserved, Bytes headroom) {
  SwitchConfig config;
  config.buffer = buffer;
  config.groups[3].lossless = true;
  config.groups[3].reserved = reserved;
  config.groups[3].headroom = headroom;
  config.groups[3].alpha = Alpha::from_log2(0);
  config.groups[3].xon_offset = 2000_B;
  config.groups[0].alpha = Alpha::from_log2(-1);
  return config;
}

TEST(SharedBuffer, PausesWhenHeadroomBeginsToBeUsedAndLosesWhenItIsUsedUp) {
  COVERS("G2");
  SharedBuffer buffer(one_lossless(20'000_B, 1000_B, 3000_B), 2);
  EXPECT_EQ(buffer.shared_size(), 20'000 - 2 * (1000 + 3000));
  // Shared 12000, alpha 1: a lone group stops where used = 12000 - used, at 6000 beyond its
  // reserve.
  std::int64_t taken = 0;
  while (!buffer.should_pause(buffer.group(0, 3))) {
    take(buffer, 0, 3, 1, 3, 1000);
    taken += 1000;
  }
  EXPECT_EQ(taken, 8000) << "7000 up to XOFF, and the frame that crosses it is in headroom";
  EXPECT_EQ(buffer.group(0, 3).headroom_used, 1000);
  buffer.account(0, 3, 0, 0).in->paused = true;
  take(buffer, 0, 3, 1, 3, 1000);
  take(buffer, 0, 3, 1, 3, 1000);
  EXPECT_EQ(buffer.check(buffer.account(0, 3, 1, 3), 1).reason, DropReason::kHeadroom);
}

TEST(SharedBuffer, ResumesOnlyBelowXoffByTheOffset) {
  COVERS("G2");
  SwitchConfig config = one_lossless(40'000_B, 0_B, 5000_B);
  config.groups[3].alpha.reset();
  config.groups[3].static_threshold = 10'000_B;
  SharedBuffer buffer(config, 2);
  for (int i = 0; i < 11; ++i)
    take(buffer, 0, 3, 1, 3, 1000);
  ASSERT_TRUE(buffer.should_pause(buffer.group(0, 3)));
  buffer.account(0, 3, 0, 0).in->paused = true;
  int left = 11;
  while (!buffer.should_resume(buffer.group(0, 3))) {
    buffer.remove(buffer.account(0, 3, 1, 3), 1000);
    --left;
  }
  EXPECT_EQ(left, 8);
}

TEST(SharedBuffer, LossyGroupsDropAtTheirThresholdAndNeverTouchHeadroom) {
  COVERS("G2");
  SharedBuffer buffer(one_lossless(20'000_B, 0_B, 3000_B), 2);
  std::int64_t taken = 0;
  while (!buffer.check(buffer.account(0, 0, 1, 0), 500).is_refused()) {
    take(buffer, 0, 0, 1, 0, 500);
    taken += 500;
  }
  EXPECT_EQ(buffer.check(buffer.account(0, 0, 1, 0), 500).reason, DropReason::kIngressBuffer);
  EXPECT_LE(taken, 14'000 / 3 + 500);
  EXPECT_FALSE(buffer.should_pause(buffer.group(0, 0)));
}

TEST(SharedBuffer, ChargesWholeCellsWithTheDescriptorInTheFirst) {
  COVERS("G2");
  SwitchConfig config = one_lossless(1_MB, 0_B, 0_B);
  config.cell = 254_B;
  config.descriptor = 48_B;
  const SharedBuffer buffer(config, 2);
  EXPECT_EQ(buffer.charge_of(64), 254);
  EXPECT_EQ(buffer.charge_of(206), 254);
  EXPECT_EQ(buffer.charge_of(207), 508);
  EXPECT_EQ(buffer.charge_of(4158), 17 * 254);
}

TEST(SharedBuffer, AnOversubscribedHeadroomPoolHasADropReasonOfItsOwn) {
  COVERS("G2");
  SwitchConfig config = one_lossless(20'000_B, 0_B, 3000_B);
  config.headroom_pool = 4000_B;
  config.groups[3].alpha.reset();
  config.groups[3].static_threshold = 0_B;
  SharedBuffer buffer(config, 3);
  EXPECT_EQ(buffer.shared_size(), 16'000);
  for (std::uint32_t port = 0; port < 2; ++port)
    for (int i = 0; i < 2; ++i)
      take(buffer, port, 3, 2, 3, 1000);
  EXPECT_EQ(buffer.check(buffer.account(0, 3, 2, 3), 1).reason, DropReason::kHeadroomPool);
  // A lossless packet that it refuses is one of `lossless_drops`; one on a broken link is not.
  EXPECT_TRUE(is_buffer_shortage(DropReason::kHeadroomPool));
  EXPECT_FALSE(is_buffer_shortage(DropReason::kLinkDown));
}

TEST(SharedBuffer, NeverHoldsMoreThanTheBufferAndGivesEverythingBack) {
  COVERS("G2");
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, 0, 0);
    SharedBuffer buffer(one_lossless(60'000_B, 500_B, 3000_B), 4);
    struct Held {
      std::uint32_t in, group, out;
      std::int64_t charge;
    };
    std::vector<Held> held;
    for (int step = 0; step < 3000; ++step) {
      if (random.below(100) < 60) {
        const Held h{static_cast<std::uint32_t>(random.below(4)), random.below(2) == 0 ? 0U : 3U,
                     static_cast<std::uint32_t>(random.below(4)),
                     static_cast<std::int64_t>(64 + random.below(4000))};
        if (buffer.check(buffer.account(h.in, h.group, h.out, h.group), h.charge).is_refused())
          continue;
        take(buffer, h.in, h.group, h.out, h.group, h.charge);
        held.push_back(h);
      } else if (!held.empty()) {
        const Held h = held.back();
        held.pop_back();
        buffer.remove(buffer.account(h.in, h.group, h.out, h.group), h.charge);
      }
      ASSERT_LE(buffer.total_used(), 60'000);
      ASSERT_GE(buffer.shared_used(), 0);
    }
    for (const Held& h : held)
      buffer.remove(buffer.account(h.in, h.group, h.out, h.group), h.charge);
    EXPECT_EQ(buffer.total_used(), 0);
    EXPECT_EQ(buffer.shared_used(), 0);
  }
}

TEST(SharedBuffer, AFrameThatPassesAtOnceLeavesWhatTheLongWayLeaves) {
  COVERS("G2");
  std::uint64_t passed = 0;
  std::uint64_t declined = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, 1, 0);
    SwitchConfig config = one_lossless(40'000_B, 500_B, 3000_B);
    config.queues[0].alpha = Alpha::from_log2(-2);
    SharedBuffer quick(config, 4);
    SharedBuffer slow(config, 4);
    for (int step = 0; step < 500; ++step) {
      const auto in = static_cast<std::uint32_t>(random.below(4));
      const std::uint32_t group = random.below(2) == 0 ? 0 : 3;
      const auto out = static_cast<std::uint32_t>(random.below(4));
      const auto charge = static_cast<std::int64_t>(64 + random.below(1500));
      const auto admission = slow.check(slow.account(in, group, out, group), charge);
      if (random.below(2) == 0) {  // some frames stay
        if (admission.is_refused()) continue;
        take(quick, in, group, out, group, charge);
        take(slow, in, group, out, group, charge);
        continue;
      }
      if (!quick.pass(quick.account(in, group, out, group), charge)) {
        ++declined;
        continue;
      }
      ++passed;
      ASSERT_FALSE(admission.is_refused());
      take(slow, in, group, out, group, charge);
      EXPECT_FALSE(slow.should_pause(slow.group(in, group)));
      slow.remove(slow.account(in, group, out, group), charge);
      EXPECT_EQ(quick.total_used(), slow.total_used());
      EXPECT_EQ(quick.total_peak(), slow.total_peak());
      EXPECT_EQ(quick.shared_used(), slow.shared_used());
      EXPECT_EQ(quick.group(in, group).used, slow.group(in, group).used);
      EXPECT_EQ(quick.group(in, group).peak, slow.group(in, group).peak);
    }
  }
  EXPECT_GT(passed, 1000U);
  EXPECT_GT(declined, 1000U);
}

TEST(SharedBuffer, AFrameIsChargedInWholeCells) {
  COVERS("G2");
  for (const std::int64_t cell : {1, 80, 208, 254, 256, 384, 32'000}) {
    for (const std::int64_t descriptor : {0, 24, 64}) {
      SwitchConfig config = one_lossless(20'000_B, 1000_B, 3000_B);
      config.cell = Bytes::raw(cell);
      config.descriptor = Bytes::raw(descriptor);
      const SharedBuffer buffer(config, 2);
      for (std::int64_t size = 60; size <= kLargestFrame; size += 7)
        ASSERT_EQ(buffer.charge_of(static_cast<std::uint16_t>(size)),
                  (size + descriptor + cell - 1) / cell * cell);
    }
  }
}

}  // namespace
}  // namespace weir::sim
