#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/testing.h"
#include "finding/catalog.h"
#include "preflight/bisect.h"
#include "preflight/gpu_loopback.h"
#include "preflight/measure.h"
#include "preflight/moments.h"
#include "preflight/report.h"
#include "preflight/schedule.h"
#include "preflight/suspects.h"
#include "units/rate_text.h"

namespace weir::preflight {
namespace {

// ---- the schedule ----

TEST(Circle, LetsEveryTwoHostsMeetOnceAndNobodyTwiceInARound) {
  COVERS("J1", "J2");
  for (std::uint32_t hosts = 2; hosts <= 33; ++hosts) {
    const std::vector<Round> rounds = circle_rounds(hosts);
    EXPECT_EQ(rounds.size(), hosts % 2 == 0 ? hosts - 1 : hosts) << hosts;
    std::set<std::pair<std::uint32_t, std::uint32_t>> met;
    for (const Round& round : rounds) {
      EXPECT_EQ(round.size(), hosts / 2) << hosts;
      std::set<std::uint32_t> busy;
      for (const HostPair& pair : round) {
        EXPECT_TRUE(busy.insert(pair.first).second && busy.insert(pair.second).second) << hosts;
        EXPECT_TRUE(met.insert(std::minmax(pair.first, pair.second)).second) << hosts;
      }
    }
    EXPECT_EQ(met.size(), hosts * (hosts - 1) / 2) << hosts;
  }
}

TEST(Circle, OfFewerThanTwoHostsIsEmpty) {
  EXPECT_TRUE(circle_rounds(0).empty());
  EXPECT_TRUE(circle_rounds(1).empty());
}

/// `count` hosts, `below` of them below each leaf.
std::vector<std::uint32_t> leaves_of(std::uint32_t count, std::uint32_t below) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < count; ++i)
    out.push_back(i / below);
  return out;
}

TEST(Rounds, AreAllPairsUpToAHundredAndTwentyEightHostsAndLinksBeyond) {
  EXPECT_EQ(rounds_for(leaves_of(128, 16), false).size(), 127U);
  EXPECT_EQ(rounds_for(leaves_of(256, 16), false).size(), 16U);  // 15 between leaves, 1 within
  EXPECT_EQ(rounds_for(leaves_of(128, 16), true).size(), kQuickRounds);
  EXPECT_EQ(rounds_for(leaves_of(256, 16), true).size(), kQuickRounds);
  EXPECT_EQ(rounds_for(leaves_of(3, 16), true).size(), 3U);
}

TEST(Rounds, OfLinksLetEveryTwoLeavesMeetAndNobodyTwiceInARound) {
  COVERS("J1");
  for (const std::uint32_t below : {1U, 7U, 16U, 300U}) {
    const std::vector<std::uint32_t> leaves = leaves_of(300, below);
    std::set<std::pair<std::uint32_t, std::uint32_t>> met;
    for (const Round& round : link_rounds(leaves)) {
      std::set<std::uint32_t> busy;
      for (const HostPair& pair : round) {
        EXPECT_TRUE(busy.insert(pair.first).second && busy.insert(pair.second).second) << below;
        met.insert(std::minmax(leaves[pair.first], leaves[pair.second]));
      }
    }
    const std::size_t groups = (300 + below - 1) / below;
    for (std::uint32_t a = 0; a < groups; ++a)
      for (std::uint32_t b = a + 1; b < groups; ++b)
        EXPECT_TRUE(met.contains({a, b})) << below << ": " << a << " " << b;
  }
}

TEST(Rounds, ThatCoverLetEveryHostTakePartAndRepeatNoRound) {
  COVERS("J1");
  for (const std::uint32_t hosts : {2U, 3U, 12U, 13U}) {
    std::set<std::uint32_t> had;
    std::size_t pairs = 0;
    for (const Round& round : covering_rounds(circle_rounds(hosts)))
      for (const HostPair& pair : round) {
        had.insert({pair.first, pair.second});
        ++pairs;
      }
    EXPECT_EQ(had.size(), hosts);
    EXPECT_EQ(pairs, (hosts + 1) / 2) << hosts;
  }
}

TEST(Growth, DoublesUntilAllTakePart) {
  EXPECT_EQ(growth(16), (std::vector<std::uint32_t>{2, 4, 8}));
  EXPECT_EQ(growth(20), (std::vector<std::uint32_t>{2, 4, 8, 16}));
  EXPECT_TRUE(growth(2).empty());
}

// ---- numbers ----

TEST(Distribution, TakesTheNearestRank) {
  std::vector<double> values;
  for (int i = 1000; i >= 1; --i)
    values.push_back(i);
  const Distribution all = distribution_of(values);
  EXPECT_EQ(all.count, 1000U);
  EXPECT_EQ(all.least, 1);
  EXPECT_EQ(all.p50, 500);
  EXPECT_EQ(all.p99, 990);
  EXPECT_EQ(all.p999, 999);
  EXPECT_EQ(all.most, 1000);
  EXPECT_EQ(distribution_of({7}).p999, 7);
  EXPECT_EQ(distribution_of({}).count, 0U);
}

TEST(Floor, FollowsFromSpeedMtuAndHeaders) {
  COVERS("J1");
  design::NicIntent nic;
  nic.speed = 400_Gbps;
  nic.rdma_mtu = 4096_B;
  nic.address = "10.0.0.1/16";
  // 4096 bytes in 4178 on the wire (62 of headers and CRC, 20 of preamble and gap): 98.0 %.
  EXPECT_NEAR(static_cast<double>(pair_floor(nic, nic, 1).raw()), 400e9 * 4096 / 4178, 1);
  design::NicIntent slow = nic;
  slow.speed = 100_Gbps;
  slow.rdma_mtu = 1024_B;
  EXPECT_NEAR(static_cast<double>(pair_floor(nic, slow, 1).raw()), 100e9 * 1024 / 1106, 1);
  EXPECT_NEAR(static_cast<double>(pair_floor(nic, nic, 0.5).raw()), 200e9 * 4096 / 4178, 1);
  nic.address = "fd00::1/64";
  nic.vlan = 100;
  EXPECT_NEAR(static_cast<double>(pair_floor(nic, nic, 1).raw()), 400e9 * 4096 / 4202, 1);
}

TEST(GpuLoopback, HasAFloorWhereAPcieSwitchJoinsNicAndGpu) {
  COVERS("J1");
  evidence::Pcie gen4;
  EXPECT_FALSE(pcie_rate(gen4));
  gen4.speed_mtps_max = evidence::Fact<unsigned>::of(16'000, "test");
  gen4.width_max = evidence::Fact<unsigned>::of(16, "test");
  gen4.width = evidence::Fact<unsigned>::of(4, "test");  // degraded: no lower floor for that
  EXPECT_NEAR(pcie_rate(gen4).value(), 256e9 * 128 / 130 * 128 / 152, 1e6);
  GpuTrial trial{
      .line_rate = 200e9, .distance = evidence::Distance::kPxb, .gpu_link = pcie_rate(gen4)};
  EXPECT_DOUBLE_EQ(gpu_floor(trial, 0.9).value(), 180e9);
  trial.line_rate = 400e9;  // the GPU's link is the slower one
  EXPECT_NEAR(gpu_floor(trial, 0.9).value(), 0.9 * 212.3e9, 0.1e9);
  trial.distance = evidence::Distance::kPhb;
  EXPECT_FALSE(gpu_floor(trial, 0.9));
  trial.distance = std::nullopt;
  EXPECT_FALSE(gpu_floor(trial, 0.9));
  trial.distance = evidence::Distance::kPix;
  trial.gpu_link = std::nullopt;
  EXPECT_FALSE(gpu_floor(trial, 0.9)) << "a PCIe link that is not shown";
}

TEST(GpuLoopback, WithoutAFloorIsComparedWithEnoughOfTheSameKindAlone) {
  std::vector<GpuTrial> trials(
      9, {.line_rate = 400e9, .rate = 240e9, .distance = evidence::Distance::kSys});
  trials[4].rate = 60e9;
  trials.push_back({.line_rate = 400e9, .rate = 90e9, .distance = evidence::Distance::kPhb});
  trials.push_back({.line_rate = 400e9, .rate = 0, .distance = evidence::Distance::kSys});
  const GpuComparison found = compare_gpu_trials(trials, {});
  ASSERT_EQ(found.outliers.size(), 1U);
  EXPECT_EQ(found.outliers.front().trial, 4U);
  EXPECT_DOUBLE_EQ(found.outliers.front().median, 240e9);
  EXPECT_EQ(found.compared, 9U);
  EXPECT_EQ(found.alone, 1U);
}

TEST(Rate, OfASlowLinkIsNotRoundedToNothing) {
  EXPECT_EQ(rate_text(392.14e9), "392.1 Gb/s");
  EXPECT_EQ(rate_text(3.72e6), "3.7 Mb/s");
  EXPECT_EQ(rate_text(0), "0.0 Gb/s");
}

TEST(RobustZ, FindsTheOneThatIsFarFromTheOthersAndNobodyAmongEquals) {
  COVERS("J3");
  std::vector<double> values(15, 1.0);
  values.push_back(0.1);
  const std::vector<double> z = robust_z(values, 0.01);
  EXPECT_LT(z.back(), -finding::Thresholds().outlier_z);
  EXPECT_EQ(z.front(), 0);
  for (const double each : robust_z(std::vector<double>(8, 0.97), 0.01))
    EXPECT_EQ(each, 0);
  EXPECT_TRUE(robust_z({}, 0.01).empty());
}

TEST(Jain, IsOneForEqualsAndOneOverNForTheLuckyOne) {
  COVERS("J3");
  EXPECT_DOUBLE_EQ(jain_index({3, 3, 3}), 1);
  EXPECT_DOUBLE_EQ(jain_index({1, 0, 0, 0}), 0.25);
  EXPECT_DOUBLE_EQ(jain_index({}), 1);
}

TEST(LineUp, CountsSlowMomentsAndWhatFlowControlDidInThem) {
  COVERS("J3");
  const LineUp found = line_up(
      {100, 100, 10, 20, 100, 0},
      {.pauses = {0, 5, 3, 0, 0, 9}, .cnps = {0, 0, 2, 2, 0, 0}, .marks = {7, 7, 0, 4}}, 0.5);
  EXPECT_EQ(found.samples, 5U);
  EXPECT_EQ(found.slow, 2U);
  EXPECT_EQ(found.with_pauses, 1U);
  EXPECT_EQ(found.with_cnps, 2U);
  EXPECT_EQ(found.with_marks, 1U);
  EXPECT_EQ(found.with_drops, 0U);
  EXPECT_EQ(found.unseen_pauses, 0U);
}

TEST(LineUp, SaysOfWhichSlowMomentsNobodyCountedAnything) {
  COVERS("J3");
  const LineUp found = line_up(
      {100, 10, 100, 10, 0, 100},
      {.pauses = {0, std::nullopt, 0, 3, 0, 0}, .cnps = {0, 0, 0, 0, 5, 0}, .marks = {}}, 0.5);
  EXPECT_EQ(found.samples, 6U);
  EXPECT_EQ(found.slow, 3U) << "nothing at all between moments of speed is slow";
  EXPECT_EQ(found.with_pauses, 1U);
  EXPECT_EQ(found.unseen_pauses, 1U);
  EXPECT_EQ(found.unseen_marks, 3U);
  EXPECT_EQ(line_up_text(found, "moments were slow"),
            "3 of 6 moments were slow; 1 of these coincide with pauses (counted in 2 of them), 1 "
            "with CNPs; not counted: marks");
}

// ---- moments of hosts ----

/// A ConnectX as it is looked at every 100 ms: bytes sent (and as many received) between looks, and
/// pauses; nothing else is shown.
std::vector<Look> looks_of(const std::vector<std::uint64_t>& moved,
                           const std::vector<std::uint64_t>& pauses) {
  std::vector<Look> out;
  std::uint64_t words = 0;
  std::uint64_t paused = 0;
  const auto look = [&](std::size_t i) {
    using counters::Place;
    using counters::Reading;
    out.push_back({100 + 0.1 * static_cast<double>(i),
                   {"mlx5_0",
                    "rail0",
                    "mlx5_core",
                    {{Place::kCounters, "port_xmit_data", Reading::of(words)},
                     {Place::kCounters, "port_rcv_data", Reading::of(words)},
                     {Place::kEthtool, "rx_prio3_pause", Reading::of(paused)}}}});
  };
  look(0);
  for (std::size_t i = 0; i < moved.size(); ++i) {
    words += moved[i] / 4;
    paused += i < pauses.size() ? pauses[i] : 0;
    look(i + 1);
  }
  return out;
}

constexpr double kHundredGigabit = 100e9;
constexpr std::uint64_t kFull = 1'200'000'000;  // bytes in 100 ms

TEST(Moments, OfANicAreThoseBetweenTheStartAndTheEndOfItsLoad) {
  COVERS("J3");
  const NicMoments seen = moments_of(
      looks_of({0, 0, kFull / 9, kFull, kFull, kFull / 10, kFull, 0, kFull, kFull, kFull / 3, 0},
               {0, 0, 9, 0, 0, 9, 0, 0}),
      kHundredGigabit, {});
  EXPECT_EQ(seen.seen, Seen::kMoments);
  EXPECT_NEAR(seen.interval, 0.1, 1e-9);
  EXPECT_EQ(seen.found.samples, 2 * 7U) << "both directions";
  EXPECT_EQ(seen.found.slow, 2 * 2U);
  EXPECT_EQ(seen.found.with_pauses, 2U);
  EXPECT_EQ(seen.found.unseen_pauses, 0U);
  EXPECT_EQ(seen.found.unseen_cnps, seen.found.slow) << "missing is not zero";
}

TEST(Moments, AreNotMadeOfCountersThatStandStillAndJump) {
  COVERS("J3");
  // Refreshed once a second.
  std::vector<std::uint64_t> rarely(30, 0);
  for (std::size_t i = 0; i < rarely.size(); i += 10)
    rarely[i] = 10 * kFull;
  EXPECT_EQ(moments_of(looks_of(rarely, {}), kHundredGigabit, {}).seen, Seen::kCoarse);
  // … every 200 ms: more than the link carries, after nothing.
  std::vector<std::uint64_t> often;
  for (int i = 0; i < 10; ++i)
    often.insert(often.end(), {2 * kFull, 0, 2 * kFull});
  EXPECT_EQ(moments_of(looks_of(often, {}), kHundredGigabit, {}).seen, Seen::kCoarse);
}

TEST(Moments, AreNoneWithoutBytesOrWithFewLooks) {
  COVERS("J3");
  EXPECT_EQ(moments_of({}, kHundredGigabit, {}).seen, Seen::kNoBytes);
  EXPECT_EQ(moments_of(looks_of({kFull, kFull}, {}), kHundredGigabit, {}).seen, Seen::kNoBytes);
  EXPECT_EQ(moments_of(looks_of(std::vector<std::uint64_t>(20, 0), {}), kHundredGigabit, {}).seen,
            Seen::kNoBytes);
  std::vector<Look> silent = looks_of(std::vector<std::uint64_t>(20, kFull), {});
  for (Look& look : silent)
    look.port = {"mlx5_0", "rail0", "mlx5_core", {}};
  EXPECT_EQ(moments_of(silent, kHundredGigabit, {}).seen, Seen::kNoBytes);
}

TEST(Moments, OfTwoNicsAreKnownWhereBothCountOrOneActed) {
  COVERS("J3");
  const Acted paused{.pauses = 3, .cnps = {}, .marks = {}, .drops = {}};
  const Acted silent;
  const Acted quiet{.pauses = 0, .cnps = 0, .marks = 0, .drops = 0};
  EXPECT_EQ(acted_at(paused, silent).pauses, 3);
  EXPECT_EQ(acted_at(quiet, silent).pauses, std::nullopt);
  EXPECT_EQ(acted_at(quiet, quiet).pauses, 0);
}

// ---- suspects ----

constexpr std::uint32_t kHosts = 16;

/// All pairs, each at its floor; what goes to `slow` at a tenth of it.
std::vector<Sample> with_slow_receiver(std::optional<std::uint32_t> slow) {
  std::vector<Sample> samples;
  const std::vector<Round> rounds = circle_rounds(kHosts);
  for (std::uint32_t round = 0; round < rounds.size(); ++round)
    for (const HostPair& pair : rounds[round])
      for (const auto& [from, to] :
           {std::pair(pair.first, pair.second), std::pair(pair.second, pair.first)})
        samples.push_back({.from = from,
                           .to = to,
                           .rail = 0,
                           .round = round,
                           .rate = slow == to ? 10e9 : 98e9,
                           .floor = 93e9});
  return samples;
}
const std::vector<std::uint32_t> kAlike(kHosts, 0);

std::vector<Suspect> suspects_in(const std::vector<Sample>& samples,
                                 const std::vector<std::uint32_t>& kinds = kAlike) {
  return suspects_among(samples, kinds, {}, {});
}

TEST(Suspects, AreNoneWhereEveryPairReachesItsFloor) {
  const std::vector<Sample> samples = with_slow_receiver(std::nullopt);
  EXPECT_TRUE(suspects_in(samples).empty());
  EXPECT_TRUE(slow_groups(samples, {}).empty());
  EXPECT_TRUE(suspect_pairs(samples, {}, 8).empty());
}

TEST(Suspects, AreTheHostWithWhichEveryPairIsSlowAndNotItsPartners) {
  COVERS("J2", "J3");
  const std::vector<Sample> samples = with_slow_receiver(4);
  const std::vector<Suspect> suspects = suspects_in(samples);
  ASSERT_EQ(suspects.size(), 1U);
  EXPECT_EQ(suspects.front().nic.host, 4U);
  EXPECT_TRUE(suspects.front().is_receiving);
  EXPECT_TRUE(suspects.front().is_outlier);
  EXPECT_LT(suspects.front().z, -finding::Thresholds().outlier_z);
  EXPECT_TRUE(suspect_pairs(samples, suspects, 8).empty());
  EXPECT_NE(healthy_partner({4, {0}}, 4, {samples, suspects, kAlike}), 4U);
}

/// All pairs on every rail; the rate that `rate_of` says.
template <class Rate>
std::vector<Sample> on_rails(std::uint32_t hosts, std::uint32_t rails, const Rate& rate_of) {
  std::vector<Sample> samples;
  const std::vector<Round> rounds = circle_rounds(hosts);
  for (std::uint32_t round = 0; round < rounds.size(); ++round)
    for (const HostPair& pair : rounds[round])
      for (const auto& [from, to] :
           {std::pair(pair.first, pair.second), std::pair(pair.second, pair.first)})
        for (std::uint32_t rail = 0; rail < rails; ++rail)
          samples.push_back({.from = from,
                             .to = to,
                             .rail = rail,
                             .round = round,
                             .rate = rate_of(NicId{from, rail}, NicId{to, rail}),
                             .floor = 93e9});
  return samples;
}

/// With the NICs of `slow`, either way.
std::vector<Sample> with_slow_nics(std::uint32_t hosts, std::uint32_t rails,
                                   const std::set<NicId>& slow) {
  return on_rails(hosts, rails, [&](const NicId& from, const NicId& to) {
    return slow.contains(from) || slow.contains(to) ? 24e9 : 98e9;
  });
}

TEST(Suspects, AreOneNicOfEightAndNotTheHostOrItsPaths) {
  COVERS("J2", "J3");
  for (const std::uint32_t hosts : {12U, 7U}) {
    const std::vector<Sample> samples = with_slow_nics(hosts, 8, {{4, 3}});
    const std::vector<Suspect> suspects = suspects_in(samples);
    ASSERT_EQ(suspects.size(), 1U) << hosts;
    EXPECT_EQ(suspects.front().nic, (NicId{4, 3}));
    EXPECT_EQ(suspect_hosts(suspects).front().rails, std::vector<std::uint32_t>{3});
    EXPECT_TRUE(suspect_pairs(samples, suspects, 4).empty())
        << "every slow pair has the slow NIC in it";
    EXPECT_TRUE(slow_groups(samples, {}).empty());
  }
}

TEST(Suspects, OfHalfOfAllHostsAreNotHiddenByTheirNumber) {
  COVERS("J3");
  std::set<NicId> slow;
  for (std::uint32_t host = 0; host < 6; ++host)
    slow.insert({host, 1});
  const std::vector<Sample> samples = with_slow_nics(12, 2, slow);
  const std::vector<Suspect> suspects = suspects_in(samples);
  // Who is slow with half of its partners is one too, behind those that are slow with all.
  ASSERT_GE(suspects.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_TRUE(slow.contains(suspects[i].nic)) << i;
  const std::uint32_t partner = healthy_partner({0, {1}}, 0, {samples, suspects, kAlike});
  EXPECT_GE(partner, 6U) << "one that was fast with a third";
}

TEST(Suspects, AreComparedWithHostsOfTheirKindAlone) {
  // Two hosts with NICs of half the speed have a floor of their own, and reach it.
  std::vector<Sample> samples = with_slow_receiver(std::nullopt);
  std::vector<std::uint32_t> kinds = kAlike;
  kinds[0] = 1;
  kinds[1] = 1;
  for (Sample& sample : samples)
    if (sample.from < 2 || sample.to < 2)
      sample = {sample.from, sample.to, 0, sample.round, 47e9, 46e9};
  EXPECT_TRUE(suspects_in(samples, kinds).empty());
  EXPECT_EQ(healthy_partner({0, {0}}, 0, {samples, {}, kinds}), 1U);
}

TEST(Suspects, WhereAllAreSlowNobodyStandsOut) {
  COVERS("J3");
  // An oversubscribed fabric: every pair gets about half, and all hosts are alike.
  std::vector<Sample> samples = with_slow_receiver(std::nullopt);
  for (Sample& sample : samples)
    sample.rate = 48e9 + 1e8 * ((sample.from + sample.to) % 5);
  const std::vector<SlowGroup> groups = slow_groups(samples, {});
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups.front().common, Common::kFabric);
  EXPECT_EQ(groups.front().nics.size(), kHosts);
  EXPECT_TRUE(suspects_among(samples, kAlike, groups, {}).empty());
  // One that is far below the others stands out all the same.
  for (Sample& sample : samples)
    if (sample.from == 3 || sample.to == 3) sample.rate = 5e9;
  const std::vector<Suspect> suspects =
      suspects_among(samples, kAlike, slow_groups(samples, {}), {});
  ASSERT_EQ(suspects.size(), 1U);
  EXPECT_EQ(suspects.front().nic.host, 3U);
}

TEST(Suspects, AmongFewHostsTheFloorAloneDecides) {
  std::vector<Sample> samples;
  for (std::uint32_t from = 0; from < 4; ++from)
    for (std::uint32_t to = 0; to < 4; ++to)
      if (from != to) samples.push_back({from, to, 0, 0, to == 2 ? 50e9 : 98e9, 93e9});
  const std::vector<Suspect> suspects = suspects_in(samples, {0, 0, 0, 0});
  ASSERT_EQ(suspects.size(), 1U);
  EXPECT_EQ(suspects.front().nic.host, 2U);
  EXPECT_EQ(suspects.front().z, 0);
}

TEST(Suspects, OfThreeHostsTheSlowOneComesFirstAndTheOthersAreItsPartners) {
  const std::vector<Sample> samples = with_slow_nics(3, 1, {{1, 0}});
  const std::vector<std::uint32_t> kinds = {0, 0, 0};
  const std::vector<Suspect> suspects = suspects_in(samples, kinds);
  ASSERT_FALSE(suspects.empty());
  EXPECT_EQ(suspects.front().nic.host, 1U);
  const std::uint32_t first = healthy_partner({1, {0}}, 1, {samples, suspects, kinds});
  const std::uint32_t second = healthy_partner({1, {0}}, first, {samples, suspects, kinds});
  EXPECT_EQ(first + second, 2U) << "hosts 0 and 2, which were fast with each other";
  // Without it nobody is slow.
  EXPECT_TRUE(suspects_in(without_nics({{1, 0}}, samples), kinds).empty());
}

TEST(SlowGroups, AreARailThatIsSlowOnAllHosts) {
  COVERS("J3");
  std::set<NicId> slow;
  std::map<NicId, std::uint32_t> leaves;
  for (std::uint32_t host = 0; host < 12; ++host) {
    slow.insert({host, 3});
    for (std::uint32_t rail = 0; rail < 8; ++rail)
      leaves[{host, rail}] = rail;
  }
  const std::vector<Sample> samples = with_slow_nics(12, 8, slow);
  const std::vector<SlowGroup> groups = slow_groups(samples, leaves);
  ASSERT_EQ(groups.size(), 1U) << "the leaf of that rail is the same";
  EXPECT_EQ(groups.front().common, Common::kRail);
  EXPECT_EQ(groups.front().number, 3U);
  EXPECT_EQ(groups.front().nics.size(), 12U);
  EXPECT_TRUE(suspects_among(samples, kAlike, groups, {}).empty());
  // What two hosts have in common may be chance.
  EXPECT_TRUE(slow_groups(with_slow_nics(2, 8, {{0, 3}, {1, 3}}), leaves).empty());
}

TEST(SlowGroups, AreALeafAllOfWhoseNicsAreSlow) {
  COVERS("J3");
  // Hosts 0 to 3 below leaf 0 of four: what leaves it is slow, what stays is not.
  std::map<NicId, std::uint32_t> leaves;
  for (std::uint32_t host = 0; host < kHosts; ++host)
    leaves[{host, 0}] = host / 4;
  const std::vector<Sample> samples = on_rails(kHosts, 1, [&](const NicId& from, const NicId& to) {
    return (from.host < 4) != (to.host < 4) ? 24e9 : 98e9;
  });
  const std::vector<SlowGroup> groups = slow_groups(samples, leaves);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups.front().common, Common::kLeaf);
  EXPECT_EQ(groups.front().number, 0U);
  EXPECT_EQ(groups.front().nics.size(), 4U);
}

// ---- the verdict ----

Report passed() {
  Report report = empty_report();
  for (StageResult& stage : report.stages)
    stage.state = State::kPassed;
  return report;
}

/// A fabric of four leaves with four hosts each and two spines: link 2 * leaf + spine.
std::vector<std::uint32_t> sixteen_below_four() {
  std::vector<std::uint32_t> groups;
  for (std::uint32_t host = 0; host < 16; ++host)
    groups.push_back(host / 4);
  return groups;
}

TEST(Bisection, TriesOtherHostsOfTheSameTwoLeavesAndOfThirdOnes) {
  COVERS("J2");
  const auto groups = sixteen_below_four();
  const auto same = pairs_between({1, 6}, groups, 6);
  ASSERT_EQ(same.size(), 6U);
  EXPECT_EQ(same.front(), (HostPair{1, 6}));
  for (const HostPair& pair : same) {
    EXPECT_EQ(groups[pair.first], 0U);
    EXPECT_EQ(groups[pair.second], 1U);
    EXPECT_EQ(std::count(same.begin(), same.end(), pair), 1);
  }
  const auto elsewhere = pairs_elsewhere(1, 6, groups, 5);
  ASSERT_EQ(elsewhere.size(), 5U);
  for (const HostPair& pair : elsewhere) {
    EXPECT_EQ(groups[pair.first], 0U);
    EXPECT_GE(groups[pair.second], 2U);
  }
  EXPECT_TRUE(pairs_elsewhere(0, 2, {0, 0, 1, 1}, 5).empty()) << "there is no third leaf";
}

TEST(Bisection, LeavesTheLinkThatCarriedEverySlowPairAndNoGoodOne) {
  COVERS("J2");
  // Leaf 0 by spine 1 is slow: link 1.
  std::vector<Trial> trials = {{.pair = {1, 6}, .is_slow = true, .links = {1, 3}}};
  EXPECT_EQ(suspect_links(trials), (std::vector<std::uint32_t>{1, 3}));
  trials.push_back({.pair = {9, 6}, .is_slow = false, .links = {3, 5}});
  EXPECT_EQ(suspect_links(trials), std::vector<std::uint32_t>{1});
  trials.push_back({.pair = {2, 14}, .is_slow = true, .links = {1, 7}});
  EXPECT_EQ(suspect_links(trials), std::vector<std::uint32_t>{1});
  // One that is good over it contradicts it: then no link is named.
  trials.push_back({.pair = {3, 10}, .is_slow = false, .links = {1, 5}});
  EXPECT_TRUE(suspect_links(trials).empty());
  EXPECT_TRUE(suspect_links({{.pair = {1, 6}, .is_slow = true}}).empty()) << "nobody counted";
  EXPECT_TRUE(suspect_links({{.pair = {1, 6}, .is_slow = false, .links = {1}}}).empty());
}

TEST(Bisection, NamesTheEndWhosePairsWithThirdLeavesAreSlow) {
  EXPECT_EQ(faulty_end({.tried = 8, .slow = 2}, {.tried = 8, .slow = 0}), End::kFirst);
  EXPECT_EQ(faulty_end({.tried = 8, .slow = 0}, {.tried = 8, .slow = 1}), End::kSecond);
  EXPECT_EQ(faulty_end({.tried = 8, .slow = 1}, {.tried = 8, .slow = 1}), End::kNotKnown);
  EXPECT_EQ(faulty_end({.tried = 8, .slow = 0}, {.tried = 8, .slow = 0}), End::kNotKnown);
}

TEST(Bisection, BeginsWithTheSlowestPairOfEveryTwoLeaves) {
  const auto groups = sixteen_below_four();
  const std::vector<Sample> samples = {
      {.from = 0, .to = 1, .rate = 1, .floor = 90},    // below one leaf
      {.from = 0, .to = 4, .rate = 50, .floor = 90},   //
      {.from = 5, .to = 2, .rate = 10, .floor = 90},   // the same two leaves, and slower
      {.from = 8, .to = 12, .rate = 30, .floor = 90},  //
      {.from = 9, .to = 13, .rate = 95, .floor = 90},
  };
  const auto slow = slow_between_groups(samples, groups, 5);
  ASSERT_EQ(slow.size(), 2U);
  EXPECT_EQ(slow[0], (HostPair{5, 2}));
  EXPECT_EQ(slow[1], (HostPair{8, 12}));
  EXPECT_EQ(slow_between_groups(samples, groups, 1).size(), 1U);
}

TEST(Bisection, SuspectsLinksOfEveryTierThatCarriedThePair) {
  COVERS("J2");
  // Leaves 0 to 2, spines 3 and 4, core 5. Leaf 0 and leaf 1 exchange data by both spines and the
  // core; leaf 2 is another rail's, by the same spine.
  const std::set<std::uint32_t> leaves = {0, 1, 2};
  const std::vector<Carried> carried = {
      {.link = 10, .lower = 0, .upper = 3, .bytes = 1000},
      {.link = 11, .lower = 3, .upper = 5, .bytes = 1000},
      {.link = 12, .lower = 4, .upper = 5, .bytes = 1000},
      {.link = 13, .lower = 1, .upper = 4, .bytes = 1000},
      {.link = 14, .lower = 0, .upper = 4, .bytes = 20},  // acknowledgements
      {.link = 15, .lower = 2, .upper = 3, .bytes = 9000},
      {.link = 16, .lower = 6, .upper = 7, .bytes = 9000},  // elsewhere
      {.link = 17, .lower = 4, .upper = 5, .bytes = 0},
  };
  EXPECT_EQ(links_between(carried, {0, 1}, leaves, 0.1),
            (std::vector<std::uint32_t>{10, 11, 12, 13}));
  EXPECT_EQ(links_between(carried, {0, 1}, leaves, std::nullopt),
            (std::vector<std::uint32_t>{10, 11, 12, 13, 14}));
  EXPECT_TRUE(links_between({}, {0, 1}, leaves, 0.1).empty());
}

TEST(Bisection, SamplesOfASlowHostSayNothingOfLinks) {
  COVERS("J2");
  const std::vector<Sample> samples = {{.from = 0, .to = 4, .rate = 50, .floor = 90},
                                       {.from = 4, .to = 0, .rate = 50, .floor = 90},
                                       {.from = 1, .to = 5, .rate = 95, .floor = 90}};
  const auto left = samples_without({4}, samples);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left.front().from, 1U);
  EXPECT_EQ(samples_without({}, samples).size(), 3U);
}

TEST(Verdict, IsGoOnlyWhereEveryStagePassedOrDoesNotApply) {
  COVERS("J1");
  Report report = passed();
  EXPECT_EQ(report.verdict(), Verdict::kGo);
  report.stages.at(number_of(StageId::kLoopback)).state = State::kNotApplicable;
  report.stages.at(number_of(StageId::kSoak)).state = State::kNotRun;
  EXPECT_EQ(report.verdict(), Verdict::kGo);
  report.unseen = {"gpu03: no answer"};
  EXPECT_EQ(report.verdict(), Verdict::kCannotTell) << "of a host that was not seen";
  EXPECT_EQ(unseen_names(report), std::vector<std::string>{"gpu03"});
  EXPECT_TRUE(whole_judgement(report).is_partial());
  report.unseen.clear();
  report.stages.at(number_of(StageId::kOverload)).state = State::kOpen;
  EXPECT_EQ(report.verdict(), Verdict::kCannotTell);
  report.stages.at(number_of(StageId::kOverload)).state = State::kNotRun;
  EXPECT_EQ(report.verdict(), Verdict::kCannotTell);
  report.stages.at(number_of(StageId::kPairs)).state = State::kFailed;
  EXPECT_EQ(report.verdict(), Verdict::kNoGo);
  EXPECT_EQ(report.failed()->id, StageId::kPairs);
}

Report with_a_red_flag() {
  Report report = passed();
  report.identity = {.design = "pod16", .digest = "0123", .is_simulated = true, .hosts = 16};
  report.identity.drivers = {"mlx5_core 24.10"};
  report.tool = "weir 0.1.0";
  StageResult& pairs = report.stages.at(number_of(StageId::kPairs));
  pairs.state = State::kFailed;
  pairs.why = "gpu05 is slow";
  pairs.took = 300_us;
  pairs.notes = {"a note"};
  pairs.measures.push_back({.metric = "bandwidth",
                            .unit = "bit/s",
                            .better = Better::kMore,
                            .values = distribution_of({1e9, 2e9, 3e9}),
                            .floor = 9.3e10});
  pairs.judgement.findings.push_back(
      finding::make_finding("host.straggler", "gpu05 is slow.", {.host = "gpu05", .rail = "0"}));
  pairs.judgement.findings.front().severity = finding::Severity::kError;
  pairs.judgement.findings.push_back(finding::make_finding(
      "receiver.slow", "gpu05 is slow to receive.", {.switch_name = "leaf1", .port = "swp5"}));
  pairs.judgement.findings.back().severity = finding::Severity::kError;
  finding::settle(pairs.judgement);
  return report;
}

TEST(Failing, NamesHostsRailsSwitchesAndLinksOnce) {
  const Failing failing = failing_of(with_a_red_flag());
  EXPECT_EQ(failing.hosts, std::vector<std::string>{"gpu05"});
  EXPECT_EQ(failing.rails, std::vector<std::string>{"0"});
  EXPECT_EQ(failing.switches, std::vector<std::string>{"leaf1"});
  EXPECT_EQ(failing.links, std::vector<std::string>{"leaf1 swp5"});
  EXPECT_TRUE(failing_of(passed()).hosts.empty());
}

TEST(Report, WithALostHostIsNoGoOrCannotTellAndNamesItAndItsStage) {
  COVERS("J1");
  Report report = empty_report();
  for (StageResult& stage : report.stages)
    stage.state = State::kPassed;
  ASSERT_EQ(report.verdict(), Verdict::kGo);
  report.lost = {{"gpu03", StageId::kPairs, "Connection refused"}};
  EXPECT_EQ(report.verdict(), Verdict::kCannotTell);
  const finding::Judgement judgement = whole_judgement(report);
  ASSERT_EQ(judgement.unknown.size(), 1U);
  EXPECT_EQ(judgement.unknown.front().reason,
            "gpu03 was lost in stage 4 (pairs) and left out from there on: Connection refused");
  report.stages[5].state = State::kFailed;
  EXPECT_EQ(report.verdict(), Verdict::kNoGo);
}

TEST(Report, SurvivesAFile) {
  Report report = with_a_red_flag();
  report.lost = {{"gpu03", StageId::kPairs, "Connection refused"}};
  const Json written = to_json(report);
  const auto read = report_from_json(JsonCursor(written));
  ASSERT_TRUE(read.has_value()) << read.error().what;
  EXPECT_EQ(read->identity, report.identity);
  EXPECT_EQ(read->lost, report.lost);
  EXPECT_EQ(to_json(*read), written);
}

TEST(Report, SaysWhatTheLoadsWereToldUnlessItsFileIsOfAnEarlierVersion) {
  Report report = with_a_red_flag();
  report.identity.perftest = "-u 18";
  report.identity.collective = "";
  report.identity.thresholds = {"pair_floor=90%"};
  const Json written = to_json(report);
  EXPECT_EQ(report_from_json(JsonCursor(written)).value().identity, report.identity);
  Json before = written;
  for (const char* const key : {"perftest", "collective", "thresholds"})
    before["identity"].erase(key);
  const auto read = report_from_json(JsonCursor(before));
  ASSERT_TRUE(read.has_value()) << read.error().what;
  EXPECT_FALSE(read->identity.perftest || read->identity.collective || read->identity.thresholds);
  EXPECT_EQ(to_json(*read)["identity"], before["identity"]);
}

TEST(Report, NamesThePlaceOfWhatIsWrongInAFile) {
  Json written = to_json(with_a_red_flag());
  written["stages"][4]["measures"][0]["p99"] = "much";
  const auto read = report_from_json(JsonCursor(written));
  ASSERT_FALSE(read.has_value());
  EXPECT_NE(read.error().what.find("/stages/4/measures/0/p99"), std::string::npos)
      << read.error().what;
  written = to_json(with_a_red_flag());
  written["stages"][0]["state"] = "fine";
  EXPECT_FALSE(report_from_json(JsonCursor(written)).has_value());
  EXPECT_FALSE(report_from_json(JsonCursor(Json::array())).has_value());
}

TEST(Stage, IsFoundByNumberAndByName) {
  EXPECT_EQ(parse_stage("4").value(), StageId::kPairs);
  EXPECT_EQ(parse_stage("soak").value(), StageId::kSoak);
  const auto wrong = parse_stage("pair");
  ASSERT_FALSE(wrong.has_value());
  EXPECT_NE(wrong.error().what.find("pairs"), std::string::npos);
}

TEST(Judgement, OfTheWholeSaysAFaultOnce) {
  Report report = with_a_red_flag();
  report.stages.at(number_of(StageId::kPath)).judgement =
      report.stages.at(number_of(StageId::kPairs)).judgement;
  EXPECT_EQ(whole_judgement(report).findings.size(), 2U);
  Report open = passed();
  open.stages.at(2).state = State::kOpen;
  EXPECT_EQ(whole_judgement(open).conclusion, finding::Conclusion::kInconclusive);
}

}  // namespace
}  // namespace weir::preflight
