// The signs of the named moves, in the peer's semantics and in ours: what --explain says was
// measured can be measured again.
#include <cmath>

#include <fmt/format.h>

#include "base/file.h"
#include "sim/peer/hpcc.h"
#include "sim/peer/hpcc_native.h"
#include "tune/evaluation.h"
#include "tune/test_fabrics.h"

namespace weir::tune {
namespace {

std::string replaced_line(std::string text, const std::string& key, const std::string& value) {
  const std::size_t at = text.find(key + " ");
  EXPECT_NE(at, std::string::npos) << key;
  return text.replace(at, text.find('\n', at) - at, fmt::format("{} {}", key, value));
}

/// Pauses of the HPCC simulator's incast of 16 x 10 MB with 2 MiB of buffer.
std::uint64_t star_pauses(const std::string& key, const std::string& value, bool is_native) {
  const std::string folder = std::string(WEIR_TEST_DATA) + "/sim/hpcc";
  sim::HpccFiles files;
  files.config = read_file(folder + "/incast16_10MB_dcqcn_buf2/config.txt").value();
  files.topology = read_file(folder + "/inputs/star17.topo.txt").value();
  files.flows = read_file(folder + "/inputs/incast16_10MB.flow.txt").value();
  if (!key.empty()) files.config = replaced_line(files.config, key, value);
  auto run = sim::parse_hpcc(files);
  EXPECT_TRUE(run) << run.error().what;
  if (is_native) sim::make_native(run->network);
  auto made = sim::Sim::make(std::move(run->network));
  EXPECT_TRUE(made);
  sim::run(**made, {.end = run->stop});
  return sim::collect_flows(**made, run->stop).totals.pauses;
}

class MovesInBoth : public ::testing::TestWithParam<bool> {};

TEST_P(MovesInBoth, ALongerAlphaPeriodAndALowerKminPauseLessAHigherKmaxMore) {
  COVERS("H4");
  const std::uint64_t start = star_pauses("", "", GetParam());
  EXPECT_LT(star_pauses("ALPHA_RESUME_INTERVAL", "4", GetParam()), start / 2);
  EXPECT_LT(star_pauses("KMIN_MAP", "2 100000000000 100 400000000000 400", GetParam()), start);
  EXPECT_GT(star_pauses("KMAX_MAP", "2 100000000000 6400 400000000000 25600", GetParam()),
            start * 3 / 2);
}

INSTANTIATE_TEST_SUITE_P(Models, MovesInBoth, ::testing::Values(false, true));

/// Mean ln ratio of the mean completion time over three seeds.
double effect_on(const std::string& load, const std::string& setting) {
  static const design::Variant fabric = pod16();
  Evaluator evaluator(fabric.design, 1);
  std::vector<double> before;
  std::vector<double> after;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto runs =
        evaluator.run({{{}, {load}, {}, seed, 100_ms}, {{setting}, {load}, {}, seed, 100_ms}});
    EXPECT_TRUE(runs) << runs.error().what;
    before.push_back((*runs)[0].mean_us);
    after.push_back((*runs)[1].mean_us);
  }
  return change_of(log_ratios(before, after)).mean;
}

TEST(Moves, TheTimerAndTheCnpGapShortenAShortIncastAndAPermutation) {
  COVERS("H4");
  for (const char* load : {"incast,size=2MB", "permutation,size=4MB"}) {
    EXPECT_LT(effect_on(load, "dcqcn.rpg_time_reset=75us"), -0.05) << load;
    EXPECT_LT(effect_on(load, "dcqcn.min_time_between_cnps=50us"), -0.05) << load;
    EXPECT_GT(effect_on(load, "dcqcn.dce_tcp_rtt=100us"), 0.02) << load;
  }
}

TEST(Moves, AdditiveAndHyperIncreaseDoNothingForShortFlows) {
  COVERS("H4");
  for (const char* load : {"incast,size=2MB", "permutation,size=4MB", "all-to-all,size=256KB"}) {
    EXPECT_LT(std::abs(effect_on(load, "dcqcn.rpg_hai_rate=500Mbps")), 0.005) << load;
    EXPECT_LT(std::abs(effect_on(load, "dcqcn.rpg_ai_rate=20Mbps")), 0.005) << load;
  }
}

}  // namespace
}  // namespace weir::tune
