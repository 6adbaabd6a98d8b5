#include "sim/shared_buffer.h"

#include "base/rng.h"
#include "base/testing.h"

namespace weir::sim {
namespace {

/// Books a frame where the buffer itself would put it. REQUIRES: it takes it.
void take(SharedBuffer& buffer, std::uint32_t in, std::uint32_t group, std::uint32_t out,
          std::uint32_t queue, std::int64_t charge) {
  const auto admission = buffer.check(in, group, out, queue, charge);
  ASSERT_FALSE(admission.is_refused());
  buffer.update(in, group, out, queue, charge, admission.place);
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
  SharedBuffer buffer(one_lossless(20'000_B, 1000_B, 3000_B), 2, Model::kNative);
  EXPECT_EQ(buffer.shared_size(), 20'000 - 2 * (1000 + 3000));
  // Shared 12000, alpha 1: a lone group stops where used = 12000 - used, at 6000 beyond its
  // reserve.
  std::int64_t taken = 0;
  while (!buffer.should_pause(0, 3)) {
    take(buffer, 0, 3, 1, 3, 1000);
    taken += 1000;
  }
  EXPECT_EQ(taken, 8000) << "7000 up to XOFF, and the frame that crosses it is in headroom";
  EXPECT_EQ(buffer.group(0, 3).headroom_used, 1000);
  buffer.set_paused(0, 3, true);
  take(buffer, 0, 3, 1, 3, 1000);
  take(buffer, 0, 3, 1, 3, 1000);
  EXPECT_EQ(buffer.check(0, 3, 1, 3, 1).reason, DropReason::kHeadroom);
}

TEST(SharedBuffer, ResumesOnlyBelowXoffByTheOffset) {
  COVERS("G2");
  SwitchConfig config = one_lossless(40'000_B, 0_B, 5000_B);
  config.groups[3].alpha.reset();
  config.groups[3].static_threshold = 10'000_B;
  SharedBuffer buffer(config, 2, Model::kNative);
  for (int i = 0; i < 11; ++i)
    take(buffer, 0, 3, 1, 3, 1000);
  ASSERT_TRUE(buffer.should_pause(0, 3));
  buffer.set_paused(0, 3, true);
  int left = 11;
  while (!buffer.should_resume(0, 3)) {
    buffer.remove(0, 3, 1, 3, 1000);
    --left;
  }
  EXPECT_EQ(left, 8);
}

TEST(SharedBuffer, LossyGroupsDropAtTheirThresholdAndNeverTouchHeadroom) {
  COVERS("G2");
  SharedBuffer buffer(one_lossless(20'000_B, 0_B, 3000_B), 2, Model::kNative);
  std::int64_t taken = 0;
  while (!buffer.check(0, 0, 1, 0, 500).is_refused()) {
    take(buffer, 0, 0, 1, 0, 500);
    taken += 500;
  }
  EXPECT_EQ(buffer.check(0, 0, 1, 0, 500).reason, DropReason::kIngressBuffer);
  EXPECT_LE(taken, 14'000 / 3 + 500);
  EXPECT_FALSE(buffer.should_pause(0, 0));
}

TEST(SharedBuffer, ChargesWholeCellsWithTheDescriptorInTheFirst) {
  COVERS("G2");
  SwitchConfig config = one_lossless(1_MB, 0_B, 0_B);
  config.cell = 254_B;
  config.descriptor = 48_B;
  const SharedBuffer buffer(config, 2, Model::kNative);
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
  SharedBuffer buffer(config, 3, Model::kNative);
  EXPECT_EQ(buffer.shared_size(), 16'000);
  for (std::uint32_t port = 0; port < 2; ++port)
    for (int i = 0; i < 2; ++i)
      take(buffer, port, 3, 2, 3, 1000);
  EXPECT_EQ(buffer.check(0, 3, 2, 3, 1).reason, DropReason::kHeadroomPool);
}

TEST(SharedBuffer, NeverHoldsMoreThanTheBufferAndGivesEverythingBack) {
  COVERS("G2");
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, 0, 0);
    SharedBuffer buffer(one_lossless(60'000_B, 500_B, 3000_B), 4, Model::kNative);
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
        if (buffer.check(h.in, h.group, h.out, h.group, h.charge).is_refused()) continue;
        take(buffer, h.in, h.group, h.out, h.group, h.charge);
        held.push_back(h);
      } else if (!held.empty()) {
        const Held h = held.back();
        held.pop_back();
        buffer.remove(h.in, h.group, h.out, h.group, h.charge);
      }
      ASSERT_LE(buffer.total_used(), 60'000);
      ASSERT_GE(buffer.shared_used(), 0);
    }
    for (const Held& h : held)
      buffer.remove(h.in, h.group, h.out, h.group, h.charge);
    EXPECT_EQ(buffer.total_used(), 0);
    EXPECT_EQ(buffer.shared_used(), 0);
  }
}

}  // namespace
}  // namespace weir::sim
