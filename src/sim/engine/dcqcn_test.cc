#include "sim/engine/dcqcn.h"

#include <cmath>

#include "base/testing.h"

namespace weir::sim {
namespace {

constexpr std::int64_t kGiga = 1'000'000'000;
constexpr std::int64_t us(std::int64_t n) {
  return n * 1'000'000;
}

double of_one(std::int64_t alpha) {
  return static_cast<double>(alpha) / static_cast<double>(kAlphaOne);
}

TEST(Dcqcn, U1PaperHalvesOnTheFirstCnpAndRecoversByHalves) {
  COVERS("G3");
  const DcqcnConfig config = dcqcn_defaults(DcqcnVariant::kPaper);
  ReactionPoint rp(config);
  rp.start(40 * kGiga, 0);
  rp.on_cnp(us(100));
  EXPECT_EQ(rp.target(), 40 * kGiga);
  EXPECT_EQ(rp.rate(), 20 * kGiga);
  EXPECT_EQ(rp.alpha_at(us(100)), kAlphaOne);
  std::int64_t at = us(100);
  for (const std::int64_t expected :
       {30'000'000'000, 35'000'000'000, 37'500'000'000, 38'750'000'000, 39'375'000'000}) {
    at += us(55);
    EXPECT_EQ(rp.rate(at), expected);
  }
  EXPECT_EQ(rp.target(), 40 * kGiga) << "additive steps stay capped at the line rate";
}

TEST(Dcqcn, U2TextCutsWithTheOldAlphaAndTheAuthorsSimulatorWithTheNew) {
  COVERS("G3");
  for (const auto variant : {DcqcnVariant::kPaper, DcqcnVariant::kPaperNs3}) {
    DcqcnConfig config = dcqcn_defaults(variant);
    config.initial_alpha = kAlphaOne / 2;
    ReactionPoint rp(config);
    rp.start(40 * kGiga, 10 * kGiga);
    rp.on_cnp(0);
    EXPECT_EQ(rp.rate(), variant == DcqcnVariant::kPaper ? 7'500'000'000 : 7'490'234'375);
    EXPECT_DOUBLE_EQ(of_one(rp.alpha_at(0)), 0.501953125);
  }
}

TEST(Dcqcn, U3AlphaDecaysByItsGain) {
  COVERS("G3");
  const DcqcnConfig paper = dcqcn_defaults(DcqcnVariant::kPaper);
  ReactionPoint rp(paper);
  rp.start(40 * kGiga, 0);
  rp.on_cnp(0);
  for (const int k : {1, 10, 177, 178}) {
    const double expected = std::pow(255.0 / 256.0, k);
    EXPECT_NEAR(of_one(rp.alpha_at(k * us(55))), expected, 2e-7) << k;
  }
  EXPECT_GT(of_one(rp.alpha_at(177 * us(55))), 0.5);  // half at k = 177.1: 9.74 ms
  EXPECT_LT(of_one(rp.alpha_at(178 * us(55))), 0.5);

  const DcqcnConfig connectx = dcqcn_defaults(DcqcnVariant::kConnectx);
  ReactionPoint nic(connectx);
  nic.start(40 * kGiga, 0);
  nic.on_cnp(0);
  const double first = of_one(nic.alpha_at(us(1)));
  EXPECT_NEAR(of_one(nic.alpha_at(us(142))), first * std::pow(1019.0 / 1024.0, 141), 1e-6);
  EXPECT_GT(of_one(nic.alpha_at(us(142))), first / 2);  // half at k = 141.6
  EXPECT_LT(of_one(nic.alpha_at(us(143))), first / 2);
}

TEST(Dcqcn, U4IntegerAlphaFallsAsPublishedWithALinearTail) {
  COVERS("G3");
  DcqcnConfig config = dcqcn_defaults(DcqcnVariant::kConnectx);
  config.alpha_extra_bits = 0;
  ReactionPoint rp(config);
  rp.start(100 * kGiga, 0);
  rp.on_cnp(0);
  const auto alpha = [&](std::int64_t tick) { return rp.alpha_at(us(tick)) / (kAlphaOne / 1024); };
  EXPECT_EQ(alpha(1), 1023) << "the tick that saw the CNP adds what it takes away";
  EXPECT_EQ(alpha(2), 1018);
  EXPECT_EQ(alpha(3), 1013);
  EXPECT_EQ(alpha(4), 1008);
  for (std::int64_t tick = 2; tick < 1000; ++tick)
    if (alpha(tick) < 204 && alpha(tick) > 0) {
      EXPECT_EQ(alpha(tick + 1), alpha(tick) - 1);
    }
}

std::int64_t climb(const DcqcnConfig& config, std::int64_t line, std::int64_t from_ps,
                   std::int64_t to_ps, std::int64_t bytes_per_us) {
  ReactionPoint rp(config);
  rp.start(line, line / 4);
  rp.on_cnp(0);
  std::int64_t first = 0;
  for (std::int64_t at = us(1); at <= to_ps; at += us(1)) {
    rp.on_sent(bytes_per_us, at);
    if (at == from_ps) first = rp.target();
  }
  return rp.target() - first;
}

TEST(Dcqcn, U5TargetClimbsAtThePublishedSlopes) {
  COVERS("G3");
  // paper: 40 Mb/s each 55 us = 727 Gb/s per second.
  EXPECT_EQ(climb(dcqcn_defaults(DcqcnVariant::kPaper), 40 * kGiga, us(550), us(1650), 0),
            20 * 40'000'000);
  const DcqcnConfig connectx = dcqcn_defaults(DcqcnVariant::kConnectx);
  // additive: 5 Mb/s each 300 us = 16.7 Gb/s per second (no byte clock: bytes stay below 2.097 MB)
  EXPECT_EQ(climb(connectx, 100 * kGiga, us(3000), us(6000), 0), 10 * 5'000'000);
  // hyper: both clocks past the threshold; at 400G the byte clock fires each 41.9 us.
  const std::int64_t gained = climb(connectx, 400 * kGiga, us(3000), us(4000), 50'000);
  EXPECT_NEAR(static_cast<double>(gained) / 1e6, (1000 / 41.94 + 1000.0 / 300) * 50, 100);
}

TEST(Dcqcn, U6ClockCrossoverIsWhereBytesOutrunTheTimer) {
  COVERS("G3");
  const auto crossover = [](const DcqcnConfig& c) {
    return static_cast<double>(c.byte_reset) * 8 * 1e12 /
           static_cast<double>(c.increase_period.raw());
  };
  EXPECT_NEAR(crossover(dcqcn_defaults(DcqcnVariant::kPaper)), 1.4545e12, 1e9);
  EXPECT_NEAR(crossover(dcqcn_defaults(DcqcnVariant::kConnectx)), 55.9e9, 0.1e9);
}

TEST(Dcqcn, U7TenMegabytesAreThirtySixTimerPeriods) {
  COVERS("G3");
  const DcqcnConfig config = dcqcn_defaults(DcqcnVariant::kPaper);
  const Duration time = serialization_time(Bytes::raw(config.byte_reset), 40_Gbps);
  EXPECT_EQ(time, 2_ms);
  EXPECT_EQ(time.raw() / config.increase_period.raw(), 36);
  EXPECT_EQ(bytes_in(50_us, 40_Gbps).raw() / 1500, 166);
}

TEST(Dcqcn, ConnectXCutsOncePerWindowHoweverManyCnpsArrive) {
  COVERS("G3");
  const DcqcnConfig config = dcqcn_defaults(DcqcnVariant::kConnectx);
  ReactionPoint rp(config);
  rp.start(100 * kGiga, 0);
  for (std::int64_t at = 0; at < us(4); at += us(1) / 4)
    rp.on_cnp(at);
  EXPECT_EQ(rp.rate(us(4) - 1), 100 * kGiga) << "nothing before the window ends";
  const std::int64_t cut = rp.rate(us(4));
  EXPECT_EQ(rp.cuts(), 1U);
  EXPECT_NEAR(static_cast<double>(cut), 50e9, 0.1e9);
  EXPECT_GE(cut, 50 * kGiga) << "rpg_min_dec_fac 50: never below half";
}

TEST(Dcqcn, ResultDoesNotDependOnHowOftenItIsAsked) {
  COVERS("G1", "G3");
  for (const auto variant : {DcqcnVariant::kPaper, DcqcnVariant::kPaperNs3, DcqcnVariant::kConnectx,
                             DcqcnVariant::kHpccNs3}) {
    const DcqcnConfig config = dcqcn_defaults(variant);
    ReactionPoint often(config);
    ReactionPoint rarely(config);
    often.start(100 * kGiga, 0);
    rarely.start(100 * kGiga, 0);
    for (std::int64_t at = us(1); at < us(5000); at += us(1)) {
      if (at % us(333) == 0) {
        often.on_cnp(at);
        rarely.on_cnp(at);
      }
      (void)often.rate(at);
      (void)often.alpha_at(at);
    }
    EXPECT_EQ(often.rate(us(5000)), rarely.rate(us(5000)));
    EXPECT_EQ(often.alpha_at(us(5000)), rarely.alpha_at(us(5000)));
  }
}

TEST(Dcqcn, ConnectXDefaultsAreTheDocumentedOnes) {
  COVERS("G3");
  const DcqcnConfig c = dcqcn_defaults(DcqcnVariant::kConnectx);
  EXPECT_EQ(c.g, (1024 - 1019) * (kAlphaOne / 1024));  // dce_tcp_g 1019
  EXPECT_EQ(c.alpha_period, 1_us);                     // dce_tcp_rtt
  EXPECT_EQ(c.initial_alpha, 1023 * (kAlphaOne / 1024));
  EXPECT_EQ(c.gd, 11U);
  EXPECT_EQ(c.min_dec_percent, 50);
  EXPECT_EQ(c.cut_period, 4_us);
  EXPECT_EQ(c.first_cnp_rate, 0);
  EXPECT_EQ(c.min_rate, 1'000'000);
  EXPECT_EQ(c.max_rate, 0);
  EXPECT_EQ(c.increase_period, 300_us);
  EXPECT_EQ(c.byte_reset, 2'097'088);
  EXPECT_EQ(c.threshold, 1U);
  EXPECT_EQ(c.ai_rate, 5'000'000);
  EXPECT_EQ(c.hai_rate, 50'000'000);
  EXPECT_FALSE(c.clamp_target);
  EXPECT_TRUE(c.clamp_after_timer);
}

}  // namespace
}  // namespace weir::sim
