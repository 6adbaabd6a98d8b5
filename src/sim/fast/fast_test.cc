#include "sim/fast/fast.h"

#include <cmath>

#include "base/testing.h"
#include "design/file/load.h"
#include "design/file/templates.h"
#include "sim/fast/estimate.h"

namespace weir::sim {
namespace {

struct SmallPod {
  design::Design design;
  design::Intent intent;
};

const SmallPod& small_pod() {
  static const SmallPod pod = [] {
    design::Loaded loaded = design::load_text(design::find_template("pod16")->text, "fabric.yaml");
    design::Derived derived = design::derive(loaded.design);
    return SmallPod{std::move(loaded.design), std::move(derived.intent)};
  }();
  return pod;
}

Experiment experiment_of(std::string_view workload) {
  Experiment experiment;
  experiment.design = &small_pod().design;
  experiment.intent = small_pod().intent;
  experiment.limit = 1_s;
  experiment.workloads.push_back(parse_workload(workload).value());
  return experiment;
}

std::string refusal(const Experiment& experiment) {
  const auto out = simulate_fast(experiment);
  return out ? "" : out.error().what;
}

void expect_within(const Estimate& estimate, Duration truth, double most) {
  const auto value = static_cast<double>(estimate.value.raw());
  const double off = std::abs(static_cast<double>(truth.raw()) - value) / value;
  EXPECT_LE(off, estimate.bound);
  EXPECT_LE(estimate.bound, most);
}

TEST(Fast, FlowsThatArriveByThemselvesAreWithinTheBound) {
  const Experiment experiment = experiment_of("flows,load=30%,duration=15ms");
  const auto fast = simulate_fast(experiment);
  ASSERT_TRUE(fast.has_value()) << fast.error().what;
  EXPECT_EQ(fast->method, "flow-level");
  EXPECT_EQ(fast->checked, 4U);
  EXPECT_EQ(fast->windows, 16U);
  EXPECT_EQ(fast->finished, fast->flows);
  const auto full = simulate(experiment);
  ASSERT_TRUE(full.has_value());
  EXPECT_EQ(fast->flows, full->results.totals.flows);
  const CompletionTimes& truth = full->results.totals.completion;
  expect_within(fast->completion.mean, truth.mean, 0.4);
  expect_within(fast->completion.p50, truth.p50, 0.4);
  expect_within(fast->completion.p99, truth.p99, 0.8);
  EXPECT_EQ(simulate_fast(experiment).value().digest, fast->digest);
}

TEST(Fast, ACollectiveIsWithinTheBound) {
  const Experiment experiment = experiment_of("all-to-all,size=8MB,qps=1,hosts=gpu[01-04]");
  const auto fast = simulate_fast(experiment);
  ASSERT_TRUE(fast.has_value()) << fast.error().what;
  EXPECT_EQ(fast->method, "size");
  EXPECT_EQ(fast->checked, 7U);
  EXPECT_EQ(fast->flows, 12U);
  const auto full = simulate(experiment);
  ASSERT_TRUE(full.has_value());
  expect_within(fast->completion.mean, full->results.totals.completion.mean, 0.1);
  ASSERT_TRUE(fast->workloads[0].round.has_value());
  expect_within(*fast->workloads[0].round, full->workloads[0].steps[0].time(), 0.1);
  EXPECT_LT(fast->seen.hops * 15, full->perf.hops);
}

TEST(Fast, RefusesWhatWasNeverComparedWithRunsInFull) {
  EXPECT_NE(refusal(experiment_of("incast,size=64MB,to=gpu01,senders=3")), "");
  EXPECT_NE(refusal(experiment_of("storage,load=40%,duration=20ms")), "");
  EXPECT_NE(refusal(experiment_of("flows,sizes=64KB,load=30%,duration=20ms")), "");
  EXPECT_NE(refusal(experiment_of("flows,sizes=hadoop,load=30%,duration=20ms")), "");
}

TEST(Fast, RefusesWindowsThatSawNothing) {
  const std::string why = refusal(experiment_of("flows,load=0.3%,duration=20ms"));
  EXPECT_NE(why.find("saw too few flows"), std::string::npos) << why;
}

TEST(Fast, EveryRoundMustFinishInTime) {
  Experiment rounds = experiment_of("all-to-all,size=8MB,qps=1,hosts=gpu[01-04],iterations=4");
  rounds.limit = 5_ms;  // a round takes 2
  EXPECT_NE(refusal(rounds), "");
  rounds.limit = 20_ms;
  EXPECT_EQ(refusal(rounds), "");
}

TEST(Fast, RefusesWhatItCannotKnow) {
  Experiment faulty = experiment_of("all-to-all,size=64MB");
  faulty.faults.push_back(parse_fault("np-off,at=gpu03").value());
  EXPECT_EQ(refusal(faulty), "--fast: a run with faults is simulated in full; leave out --fast");
  Experiment sampled = experiment_of("all-to-all,size=64MB");
  sampled.sample_every = 10_us;
  EXPECT_NE(refusal(sampled), "");
  EXPECT_NE(refusal(experiment_of("training,compute=1ms,size=64MB,steps=3")), "");
  EXPECT_NE(refusal(experiment_of("all-to-all,size=64KB")), "");
  EXPECT_NE(refusal(experiment_of("flows,load=30%,duration=1ms")), "");
  EXPECT_NE(refusal(experiment_of("flows,load=30%,duration=20ms,op=read")), "");
  Experiment both = experiment_of("all-to-all,size=64MB");
  both.workloads.push_back(parse_workload("flows,load=30%,duration=20ms").value());
  EXPECT_NE(refusal(both), "");
  Experiment cut_off = experiment_of("all-to-all,size=64MB,qps=1,hosts=gpu[01-04]");
  cut_off.limit = 10_ms;  // it takes 16
  EXPECT_NE(refusal(cut_off), "");
}

TEST(Estimates, AStraightLineIsFollowed) {
  const Line straight = line_through({10_us, 12_us, 16_us});
  EXPECT_EQ(straight.bend, 0);
  EXPECT_EQ(follow(straight, 100, 0.01).value, 208_us);
  EXPECT_NEAR(follow(straight, 100, 0.01).bound, 0.01 * 192 / 208, 1e-9);
  const Line bent = line_through({10_us, 13_us, 17_us});
  EXPECT_EQ(bent.slope, 2e6);
  EXPECT_EQ(bent.bend, 1e6);
}

TEST(Estimates, WhatAllWindowsShowCorrectsTheModel) {
  std::vector<ModelTime> run;
  for (int i = 0; i < 1000; ++i)
    run.push_back({static_cast<std::size_t>(i % 3), 1e6});
  std::vector<std::vector<PairedTime>> windows(4);
  for (auto& window : windows)
    for (std::size_t c = 0; c < kSizeClasses; ++c)
      window.push_back({c, c == 2 ? 1.3e6 : 1e6, 1e6});
  const FastTimes times = correct_by_windows(run, windows);
  EXPECT_NEAR(static_cast<double>(times.mean.value.raw()), 1.1e6, 1e3);
  EXPECT_EQ(times.p50.value, 1_us);
  EXPECT_EQ(times.p99.value, 1300_ns);
}

TEST(Estimates, WindowsThatDisagreeWidenTheBoundAndCorrectNothing) {
  const std::vector<ModelTime> run(1000, ModelTime{1, 1e6});
  std::vector<std::vector<PairedTime>> windows;
  for (const double ratio : {0.9, 1.1, 0.95, 1.05})
    windows.push_back({{1, ratio * 1e6, 1e6}});
  const FastTimes times = correct_by_windows(run, windows);
  EXPECT_EQ(times.mean.value, 1_us);
  // Standard error of the mean of four: 0.0456; Student's t for 3: 3.18.
  EXPECT_GT(times.mean.bound, 0.145);
  EXPECT_LT(times.mean.bound, 0.16);
}

}  // namespace
}  // namespace weir::sim
