#include "sim/results/replay.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/testing.h"
#include "design/file/load.h"
#include "design/file/templates.h"
#include "sim/fabric/drawn_fabric.h"
#include "sim/results/simulate.h"

namespace weir::sim {
namespace {

struct ReplayFabric {
  design::Design design;
  design::Intent intent;
};

ReplayFabric replay_fabric(std::string_view text) {
  design::Loaded loaded = design::load_text(text, "fabric.yaml");
  EXPECT_TRUE(loaded.is_good()) << design::to_text(loaded);
  design::Derived derived = design::derive(loaded.design);
  return {std::move(loaded.design), std::move(derived.intent)};
}

const ReplayFabric& replay_pod() {
  static const ReplayFabric pod = replay_fabric(design::find_template("pod16")->text);
  return pod;
}

Experiment training(const ReplayFabric& fabric, const std::vector<std::string>& workloads,
                    bool replays) {
  Experiment experiment;
  experiment.design = &fabric.design;
  experiment.intent = fabric.intent;
  experiment.limit = 1000_s;
  experiment.replays = replays;
  for (const std::string& workload : workloads)
    experiment.workloads.push_back(parse_workload(workload).value());
  return experiment;
}

Outcome outcome_of(const Experiment& experiment) {
  auto outcome = simulate(experiment);
  EXPECT_TRUE(outcome.has_value()) << (outcome ? "" : outcome.error().what);
  return std::move(outcome).value();
}

constexpr Duration kLongEnough = 1000_s;

/// Runs both ways; the run with replay.
Outcome same_both_ways(const ReplayFabric& fabric, const std::vector<std::string>& workloads,
                       Duration limit = kLongEnough, const std::vector<std::string>& faults = {}) {
  Experiment experiment = training(fabric, workloads, true);
  experiment.limit = limit;
  for (const std::string& fault : faults)
    experiment.faults.push_back(parse_fault(fault).value());
  Outcome with = outcome_of(experiment);
  experiment.threads = 3;
  const Outcome threads = outcome_of(experiment);
  EXPECT_EQ(difference(with, threads), "") << workloads.front() << ", three threads";
  EXPECT_EQ(with.replay.steady_hops, threads.replay.steady_hops) << workloads.front();
  experiment.replays = false;
  EXPECT_EQ(difference(with, outcome_of(experiment)), "") << workloads.front() << ", no replay";
  experiment.threads = 1;
  const Outcome without = outcome_of(experiment);
  EXPECT_EQ(difference(with, without), "") << workloads.front();
  EXPECT_EQ(without.replay.steps, 0U);
  EXPECT_EQ(without.replay.region_steps, 0U);
  return with;
}

// ---- what is drawn

/// Computing that is short, or about as long as the time-out of the NICs (1.05 ms): that is where
/// timers of one step are still pending in the next.
std::string drawn_training(test::Draw& draw, bool is_quiet) {
  const std::uint64_t compute = draw.coin() ? draw.between(20, 200) : draw.between(900, 1200);
  const std::uint64_t size = is_quiet ? draw.between(1, 20'000) : draw.between(20'000, 300'000);
  const auto op =
      draw.of(std::array<std::string_view, 5>{"write", "write", "write", "send", "read"});
  const auto collective = draw.of(std::array<std::string_view, 5>{
      "all-reduce", "all-reduce", "all-gather", "reduce-scatter", "all-to-all"});
  return fmt::format(
      "training,compute={}us,overlap={}%,size={}B,steps={},collective={},op={},qps={}", compute,
      draw.between(0, 3) * 30, size, draw.between(2, 9), collective, op, draw.between(1, 3));
}

std::string with(std::string text, std::string_view to, std::string_view from) {
  if (const auto at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

TEST(Replay, HundredDrawnTrainingRunsComeToTheSameWithAndWithout) {
  COVERS("G7");
  std::uint64_t repeated = 0;
  std::uint64_t steps = 0;
  std::uint64_t region_steps = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    // Every second with rails that share nothing, and on most of those one NIC is slow.
    const std::uint64_t rails = seed % 2 == 0 ? 2 + seed % 3 : 0;
    const std::vector<std::string> faults =
        rails > 0 && seed % 10 > 0
            ? std::vector<std::string>{fmt::format("slow-receiver,at=h02/{},rate=5G", seed % rails)}
            : std::vector<std::string>{};
    test::DrawnFabric drawn = test::draw_fabric(seed, rails);
    test::Draw draw(seed ^ 0x5EED);
    const bool is_quiet = draw.between(0, 3) > 0;
    drawn.workloads = {drawn_training(draw, is_quiet)};
    if (draw.between(0, 3) == 0) drawn.workloads.push_back(drawn_training(draw, is_quiet));
    if (draw.between(0, 7) == 0)
      drawn.workloads.push_back(
          fmt::format("flows,sizes={}B,load=30%,duration=40us", draw.between(1, 20'000)));
    if (rails > 0) {  // nothing that keeps every rail from being replayed
      drawn.workloads = {with(drawn_training(draw, seed % 4 == 0), "op=write", "op=read")};
      drawn.text = with(drawn.text, "mode: ecmp", "mode: spray");
    }
    const ReplayFabric fabric = replay_fabric(drawn.text);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, drawn.text));
    const Duration limit = draw.between(0, 4) == 0 ? 3_ms : 1000_s;
    const Outcome outcome = same_both_ways(fabric, drawn.workloads, limit, faults);
    repeated += outcome.replay.steps > 0 ? 1 : 0;
    steps += outcome.replay.steps;
    region_steps += outcome.replay.region_steps;
  }
  // The rest is congested, sprays, reads, or overlaps without a pause.
  EXPECT_GE(repeated, 25U);
  EXPECT_GE(steps, 100U);
  EXPECT_GE(region_steps, 40U);
}

// ---- steady state

/// Long messages of one pair, of many that share no port, or that meet (and are then congested).
std::string drawn_long_load(test::Draw& draw) {
  const std::uint64_t size = draw.between(1'000'000, 12'000'000);
  const std::string common = fmt::format("size={}B,qps={},op={}", size, draw.between(1, 3),
                                         draw.coin() ? "write" : "send");
  switch (draw.between(0, 3)) {
    case 0: return "pair,from=h01,to=h02," + common;
    case 1: return "pair,from=h02,to=h03,iterations=2,depth=2," + common;
    case 2: return fmt::format("permutation,shift={},", draw.between(1, 2)) + common;
    default: return "training,compute=30us,steps=2," + common;
  }
}

TEST(Replay, SixtyDrawnRunsOfLongMessagesComeToTheSameWithAndWithout) {
  COVERS("G7");
  std::uint64_t steady = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    test::DrawnFabric drawn = test::draw_fabric(seed, seed % 3 == 0 ? 2 : 0);
    test::Draw draw(seed ^ 0x57EAD7);
    drawn.workloads = {drawn_long_load(draw)};
    if (draw.between(0, 3) == 0)
      drawn.workloads.push_back(
          fmt::format("flows,sizes={}B,load=10%,duration=300us", draw.between(1000, 100'000)));
    drawn.text = with(drawn.text, "mode: ecmp", "mode: spray");
    const ReplayFabric fabric = replay_fabric(drawn.text);
    SCOPED_TRACE(fmt::format("seed {} {}\n{}", seed, drawn.workloads[0], drawn.text));
    const Duration limit = draw.between(0, 4) == 0 ? 700_us : kLongEnough;
    const Outcome outcome = same_both_ways(fabric, drawn.workloads, limit);
    steady += outcome.replay.steady_hops > outcome.perf.hops / 4 ? 1 : 0;
  }
  EXPECT_GE(steady, 12U);
}

TEST(Replay, OfAFlowInASteadyStateOnlyTheEndsAreSimulated) {
  COVERS("G7");
  const Outcome alone = same_both_ways(replay_pod(), {"pair,size=200MB,qps=1"});
  EXPECT_GT(alone.replay.steady_hops, alone.perf.hops / 10 * 8);
  // Two ports into one: there are marks, and congestion control acts.
  const Outcome congested = same_both_ways(replay_pod(), {"incast,senders=2,size=10MB,qps=1"});
  EXPECT_EQ(congested.replay.steady_hops, 0U);
}

// ---- single cases

TEST(Replay, OneStepIsSimulatedAndTheOthersFollow) {
  COVERS("G7");
  const Outcome outcome =
      same_both_ways(replay_pod(), {"training,compute=200us,overlap=50%,size=1MB,steps=20,qps=1"});
  EXPECT_EQ(outcome.replay.steps, 19U);
  EXPECT_EQ(outcome.workloads[0].steps.size(), 20U);
  EXPECT_EQ(outcome.replay.hops, outcome.perf.hops / 20 * 19);
  EXPECT_EQ(outcome.replay.why_not, "");
  EXPECT_TRUE(outcome.is_finished);
}

TEST(Replay, ACongestedRailDoesNotKeepTheOthersFromBeingReplayed) {
  COVERS("G7");
  const ReplayFabric rails = replay_fabric(test::draw_fabric(7, 4).text);
  const std::string load = "training,compute=50us,size=200KB,qps=2,steps=12,op=write";
  const Outcome quiet = same_both_ways(rails, {load});
  EXPECT_EQ(quiet.replay.steps, 11U);
  EXPECT_EQ(quiet.replay.region_steps, 0U);
  const Outcome slow =
      same_both_ways(rails, {load}, kLongEnough, {"slow-receiver,at=h02/1,rate=5G"});
  EXPECT_EQ(slow.replay.steps, 0U);
  EXPECT_EQ(slow.replay.region_steps, 3U * 11);  // every step of three rails but the first
  EXPECT_NE(slow.replay.why_not, "");
  EXPECT_GT(slow.replay.hops, slow.perf.hops / 2);
  EXPECT_GT(slow.results.totals.pauses, 0U);
}

TEST(Replay, ARunThatIsCutOffIsSimulated) {
  COVERS("G7");
  const std::vector<std::string> load{"training,compute=200us,size=1MB,steps=50,qps=1"};
  const Outcome whole = same_both_ways(replay_pod(), load);
  EXPECT_EQ(whole.replay.steps, 49U);
  const std::vector<StepResult>& steps = whole.workloads[0].steps;
  for (const Duration after : {Duration(), 1_us, 150_us, 201_us, 215_us, 230_us}) {
    const Outcome cut = same_both_ways(replay_pod(), load, steps[9].begin.since_start() + after);
    EXPECT_FALSE(cut.is_finished);
    EXPECT_EQ(cut.replay.steps, 0U);
    EXPECT_EQ(cut.replay.why_not,
              "the run is cut off before its last step; give it a longer --duration");
  }
}

TEST(Replay, WhatIsRandomOrWatchedIsSimulatedAndSaysSo) {
  COVERS("G7");
  const std::string load = "training,compute=200us,size=1MB,steps=5,qps=1";
  Experiment sampled = training(replay_pod(), {load}, true);
  sampled.sample_every = 10_us;
  EXPECT_EQ(outcome_of(sampled).replay.steps, 0U);
  EXPECT_EQ(outcome_of(sampled).replay.why_not, "time series are sampled");
  EXPECT_EQ(same_both_ways(replay_pod(), {load + ",op=read"}).replay.why_not,
            "a workload uses RDMA READ");
  const Outcome congested = same_both_ways(
      replay_pod(), {"training,compute=200us,size=4MB,steps=4,collective=all-to-all"});
  EXPECT_EQ(congested.replay.steps, 0U);
  EXPECT_NE(congested.replay.why_not, "");
  EXPECT_GT(congested.results.totals.marked, 0U);
}

TEST(Replay, MoreMessagesThanARunCanKeepAreCountedExactly) {
  COVERS("G7");
  const std::string load = "training,compute=200us,size=64KB,qps=4,steps=";
  const Outcome few = outcome_of(training(replay_pod(), {load + "10"}, true));
  const Outcome many = outcome_of(training(replay_pod(), {load + "100000"}, true));
  ASSERT_EQ(many.workloads[0].steps.size(), 100'000U);
  EXPECT_GT(many.results.totals.flows, kMostMessages);
  EXPECT_EQ(many.results.totals.flows, few.results.totals.flows * 10'000);
  EXPECT_EQ(many.results.totals.finished, many.results.totals.flows);
  EXPECT_EQ(many.results.totals.completion.mean, few.results.totals.completion.mean);
  EXPECT_EQ(many.results.totals.completion.p99, few.results.totals.completion.p99);
  EXPECT_EQ(many.perf.hops, few.perf.hops * 10'000);
  EXPECT_EQ(many.workloads[0].steps.back().time(), few.workloads[0].steps.back().time());
  EXPECT_EQ(many.workloads[0].steps.back().end - many.workloads[0].steps.front().end,
            (few.workloads[0].steps[1].end - few.workloads[0].steps[0].end) * 99'999);
  EXPECT_FALSE(simulate(training(replay_pod(), {load + "100000"}, false)).has_value());
}

}  // namespace
}  // namespace weir::sim
