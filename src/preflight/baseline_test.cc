#include "preflight/baseline.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/testing.h"
#include "finding/shown.h"

namespace weir::preflight {
namespace {

Measure measure(std::string metric, std::string unit, Better better, double p50, double tail,
                std::uint64_t count = 200) {
  Measure out{.metric = std::move(metric), .unit = std::move(unit), .better = better};
  out.values = {.count = count,
                .least = better == Better::kMore ? tail : p50,
                .p50 = p50,
                .p95 = p50,
                .p99 = better == Better::kMore ? p50 : tail,
                .p999 = better == Better::kMore ? p50 : tail,
                .most = better == Better::kMore ? p50 : tail};
  return out;
}

/// Two hosts that exchange data at `rate`, with `latency` at the 99th percentile.
Report run_of(double rate, double latency = 2e-6, std::uint64_t pauses = 10) {
  Report run = empty_report();
  run.tool = "weir 0.1.0";
  run.started = "2026-08-01T08:00:00Z";
  run.ended = "2026-08-01T08:05:00Z";
  run.identity = {.design = "pod2",
                  .digest = "00112233aabbccdd",
                  .is_simulated = false,
                  .is_quick = false,
                  .hosts = 2,
                  .drivers = {"mlx5_core 24.10"},
                  .firmwares = {"28.43.1014"},
                  .kernels = {"6.1.0"},
                  .speeds = {"100Gbps"},
                  .mtus = {"9000B, RDMA 4096B"},
                  .switches = {"sonic 202311"},
                  .perftest = "",
                  .collective = "",
                  .thresholds = std::vector<std::string>()};
  run.settings = {{"trust", {"dscp"}}, {"PFC", {"3"}}};
  StageResult& idle = run.stages.at(number_of(StageId::kIdle));
  idle.state = State::kPassed;
  idle.totals = diagnose::Totals{.window = 2_s, .marks = 4};
  StageResult& pairs = run.stages.at(number_of(StageId::kPairs));
  pairs.state = State::kPassed;
  pairs.measures.push_back(measure("bandwidth", "bit/s", Better::kMore, rate, rate * 0.98));
  pairs.measures.push_back(measure("latency", "s", Better::kLess, latency / 2, latency));
  Measure pair = measure("pair_bandwidth", "bit/s", Better::kMore, rate, rate);
  pair.floor = 80e9;
  pairs.measures.push_back(pair);
  Measure nic = measure("bandwidth", "bit/s", Better::kMore, rate, rate * 0.98);
  nic.subject = "gpu02 rail 0";
  pairs.measures.push_back(nic);
  pairs.totals = diagnose::Totals{.window = 1_s, .pauses = pauses, .sent_bytes = 10'000'000'000};
  return run;
}

const ComparedValue& value_named(const Comparison& comparison, std::string_view metric,
                                 std::string_view quantile, std::string_view subject = "") {
  for (const ComparedValue& value : comparison.values)
    if (value.metric == metric && value.quantile == quantile && value.subject == subject)
      return value;
  ADD_FAILURE() << "no " << metric << " " << quantile;
  static const ComparedValue kNone;
  return kNone;
}

TEST(Baseline, HoldsDistributionsCountersPerByteAndIdleNoise) {
  COVERS("J4");
  const auto baseline = make_baseline("good", {run_of(96e9)});
  ASSERT_TRUE(baseline.has_value());
  EXPECT_EQ(baseline->runs, 1U);
  EXPECT_EQ(baseline->made, "2026-08-01T08:05:00Z");
  const BaselineStage* const idle = baseline->find(StageId::kIdle);
  ASSERT_NE(idle, nullptr);
  ASSERT_EQ(idle->counters.size(), 1U);
  EXPECT_EQ(idle->counters[0].name, "marked");
  EXPECT_DOUBLE_EQ(idle->counters[0].value, 2);  // per second
  const BaselineStage* const pairs = baseline->find(StageId::kPairs);
  ASSERT_NE(pairs, nullptr);
  EXPECT_EQ(pairs->measures.size(), 4U);
  EXPECT_DOUBLE_EQ(pairs->measures[0].measure.values.p50, 96e9);
  EXPECT_FALSE(pairs->measures[0].spread_p50.has_value());  // of one run nothing is known
  ASSERT_EQ(pairs->counters.size(), 1U);
  EXPECT_DOUBLE_EQ(pairs->counters[0].value, 1);  // 10 pauses in 10 GB
  EXPECT_EQ(baseline->find(StageId::kSoak), nullptr);
}

TEST(Baseline, OfSeveralRunsKnowsWhatVariesByItself) {
  const auto baseline = make_baseline("good", {run_of(90e9), run_of(96e9), run_of(102e9)});
  ASSERT_TRUE(baseline.has_value());
  const BaselineMeasure& bandwidth = baseline->find(StageId::kPairs)->measures[0];
  EXPECT_DOUBLE_EQ(bandwidth.measure.values.p50, 96e9);
  EXPECT_NEAR(bandwidth.spread_p50.value(), 6.0 / 96, 1e-12);
}

TEST(Baseline, IsNotMadeOfARunWithARedFlagNorOfTwoFabrics) {
  Report bad = run_of(96e9);
  bad.stages.at(number_of(StageId::kPath)).state = State::kFailed;
  const auto of_bad = make_baseline("good", {run_of(96e9), bad});
  ASSERT_FALSE(of_bad.has_value());
  EXPECT_EQ(of_bad.error().what,
            "run 2 has a red flag in stage 2 (path): what is not good is no baseline");
  Report without = run_of(96e9);
  without.lost = {{"gpu03", StageId::kPairs, "Connection refused"}};
  EXPECT_EQ(make_baseline("good", {without}).error().what,
            "run 1 lost gpu03 in stage 4 (pairs): its later stages are not of all hosts");
  Report other = run_of(96e9);
  other.identity.firmwares = {"28.44.2000"};
  const auto of_two = make_baseline("good", {run_of(96e9), other});
  ASSERT_FALSE(of_two.has_value());
  EXPECT_EQ(of_two.error().what,
            "run 2 is of another fabric than run 1: firmware was 28.43.1014, is 28.44.2000");
  EXPECT_FALSE(make_baseline("good", {empty_report()}).has_value());
}

TEST(Baseline, IsReadAsItWasWrittenAndRefusedWhereItWasChanged) {
  COVERS("J4");
  const auto baseline = make_baseline("good", {run_of(96e9), run_of(97e9)});
  ASSERT_TRUE(baseline.has_value());
  const std::string text = baseline_text(*baseline);
  const auto again = baseline_from_text(text);
  ASSERT_TRUE(again.has_value()) << again.error().what;
  EXPECT_EQ(baseline_text(*again), text);
  std::string changed = text;
  changed.replace(changed.find("28.43.1014"), 10, "28.43.1015");
  const auto refused = baseline_from_text(changed);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().what.find("it was changed after it was saved"), std::string::npos);
  for (const std::string_view wrong : {"", "[]", "{}", "{\"schema\":\"weir/baseline/2\"}"})
    EXPECT_FALSE(baseline_from_text(wrong).has_value()) << wrong;
}

TEST(Comparison, OfTheSameRunIsAsTheBaseline) {
  const auto baseline = make_baseline("good", {run_of(96e9)});
  const Comparison same = compare(*baseline, run_of(96e9), {});
  EXPECT_EQ(same.outcome(), Outcome::kAsBaseline);
  EXPECT_TRUE(same.judgement.findings.empty());
  EXPECT_TRUE(same.unlike.empty() && same.noted.empty() && same.missing.empty());
}

TEST(Comparison, RegressesBeyondFivePercentAndNotWithin) {
  COVERS("J4");
  const auto baseline = make_baseline("good", {run_of(96e9)});
  EXPECT_EQ(compare(*baseline, run_of(92e9), {}).outcome(), Outcome::kAsBaseline);  // 4.2 %
  const Comparison worse = compare(*baseline, run_of(90e9), {});                    // 6.3 %
  EXPECT_EQ(worse.outcome(), Outcome::kRegressed);
  EXPECT_NEAR(value_named(worse, "bandwidth", "p50").worse, 0.0625, 1e-9);
  EXPECT_TRUE(is_regression(value_named(worse, "bandwidth", "min", "gpu02 rail 0")));
  ASSERT_FALSE(worse.judgement.findings.empty());
  EXPECT_TRUE(finding::is_raised(worse.judgement.findings, "baseline.regressed"));
  const Comparison near = compare(*baseline, run_of(92e9), {});
  EXPECT_FALSE(finding::is_raised(near.judgement.findings, "baseline.regressed"));
  // A threshold that the user sets holds.
  finding::Thresholds lenient;
  lenient.baseline_change = 0.1;
  EXPECT_EQ(compare(*baseline, run_of(90e9), lenient).outcome(), Outcome::kAsBaseline);
  // Better is no regression, whatever it is of.
  EXPECT_EQ(compare(*baseline, run_of(120e9, 1e-6), {}).outcome(), Outcome::kAsBaseline);
  const Comparison slow = compare(*baseline, run_of(96e9, 2.2e-6), {});
  EXPECT_TRUE(is_regression(value_named(slow, "latency", "p99")));
}

TEST(Comparison, OfFewValuesLooksAtTheWorstAndSaysWhereTheRunStopped) {
  Report good = run_of(96e9);
  Report bad = run_of(96e9);
  for (Report* run : {&good, &bad}) {
    StageResult& path = run->stages.at(number_of(StageId::kPath));
    path.state = State::kPassed;
    path.measures.push_back(measure("message_time", "s", Better::kLess, 1e-5, 1.4e-5, 64));
  }
  const auto baseline = make_baseline("good", {good});
  StageResult& path = bad.stages.at(number_of(StageId::kPath));
  path.measures.front().values.most = 1e-4;
  path.state = State::kFailed;
  bad.stages.at(number_of(StageId::kPairs)).state = State::kNotRun;
  const Comparison found = compare(*baseline, bad, {});
  EXPECT_TRUE(is_regression(value_named(found, "message_time", "max")));
  ASSERT_EQ(found.judgement.unknown.size(), 1U);
  EXPECT_EQ(found.judgement.unknown.front().reason, "the run stopped in stage 2 (path)");
}

TEST(Comparison, AllowsThreeTimesWhatAValueVariesByItself) {
  const auto noisy = make_baseline("noisy", {run_of(90e9), run_of(96e9), run_of(102e9)});
  EXPECT_EQ(compare(*noisy, run_of(85e9), {}).outcome(), Outcome::kAsBaseline);  // 11 % of 19 %
  const Comparison worse = compare(*noisy, run_of(76e9), {});                    // 21 %
  EXPECT_TRUE(is_regression(value_named(worse, "bandwidth", "p50")));
}

TEST(Comparison, BelowTheFloorIsARegressionHoweverMuchItVaries) {
  const auto noisy = make_baseline("noisy", {run_of(60e9), run_of(96e9), run_of(130e9)});
  const Comparison below = compare(*noisy, run_of(79e9), {});
  EXPECT_EQ(value_named(below, "pair_bandwidth", "p50").change, Change::kBelowFloor);
  EXPECT_EQ(below.outcome(), Outcome::kRegressed);
}

TEST(Comparison, OfUnlikeFabricsIsNoneAndSaysEachField) {
  COVERS("J4");
  const auto baseline = make_baseline("good", {run_of(96e9)});
  Report other = run_of(40e9);
  other.identity.firmwares = {"28.44.2000"};
  other.identity.speeds = {"50Gbps"};
  other.identity.drivers.clear();
  other.identity.digest = "ffffffffffffffff";
  const Comparison unlike = compare(*baseline, other, {});
  EXPECT_EQ(unlike.outcome(), Outcome::kNotComparable);
  EXPECT_EQ(unlike.regressions(), 0U);
  EXPECT_TRUE(unlike.judgement.findings.empty());
  ASSERT_EQ(unlike.unlike.size(), 4U);
  EXPECT_EQ(unlike.unlike[0].field, "design");
  EXPECT_EQ(unlike.unlike[1].field, "speed");
  EXPECT_EQ(unlike.unlike[2].field, "driver");
  EXPECT_EQ(unlike.unlike[2].is, "not shown");
  EXPECT_EQ(unlike.unlike[3].field, "firmware");
}

TEST(Comparison, NotesSettingsAndTheToolAndNamesWhatIsMissing) {
  const auto baseline = make_baseline("good", {run_of(96e9)});
  Report other = run_of(96e9);
  other.tool = "weir 0.2.0";
  other.settings = {{"trust", {"pcp"}}, {"PFC", {"3"}}};
  other.stages.at(number_of(StageId::kIdle)).state = State::kNotRun;
  std::erase_if(other.stages.at(number_of(StageId::kPairs)).measures,
                [](const Measure& each) { return each.metric == "latency"; });
  const Comparison found = compare(*baseline, other, {});
  EXPECT_EQ(found.outcome(), Outcome::kAsBaseline);
  ASSERT_EQ(found.noted.size(), 2U);
  EXPECT_EQ(found.noted[0].is, "pcp");
  EXPECT_EQ(found.missing,
            (std::vector<std::string>{"stage 1 (idle)", "stage 4 (pairs): latency"}));
}

TEST(Comparison, JudgesCountersWhereThreeRunsSayHowMuchTheyVary) {
  const auto once = make_baseline("once", {run_of(96e9)});
  const Comparison shown = compare(*once, run_of(96e9, 2e-6, 1000), {});
  EXPECT_EQ(value_named(shown, "pauses", "count").change, Change::kWorse);
  EXPECT_FALSE(value_named(shown, "pauses", "count").is_judged);
  EXPECT_EQ(shown.outcome(), Outcome::kAsBaseline);
  const auto thrice = make_baseline(
      "thrice", {run_of(96e9, 2e-6, 10), run_of(96e9, 2e-6, 11), run_of(96e9, 2e-6, 12)});
  EXPECT_EQ(compare(*thrice, run_of(96e9, 2e-6, 13), {}).outcome(), Outcome::kAsBaseline);
  EXPECT_EQ(compare(*thrice, run_of(96e9, 2e-6, 1000), {}).outcome(), Outcome::kRegressed);
}

Report told(double rate, std::string perftest) {
  Report run = run_of(rate);
  run.identity.perftest = std::move(perftest);
  return run;
}

/// As a file of an earlier version says it.
Report silent(double rate) {
  Report run = run_of(rate);
  run.identity.perftest.reset();
  run.identity.collective.reset();
  run.identity.thresholds.reset();
  return run;
}

TEST(Comparison, OfRunsWithOtherLoadsOrThresholdsIsNoRegression) {
  COVERS("J4", "K3");
  const Baseline baseline = make_baseline("good", {told(98e9, "")}).value();
  const Comparison loads = compare(baseline, told(50e9, "-q 1 -s 8192"), {});
  EXPECT_EQ(loads.outcome(), Outcome::kNotComparable);
  ASSERT_EQ(loads.unlike.size(), 1U);
  EXPECT_EQ(loads.unlike.front().field, "options of perftest");
  EXPECT_EQ(loads.unlike.front().was, "none");
  EXPECT_EQ(loads.unlike.front().is, "-q 1 -s 8192");
  Report other = told(50e9, "");
  other.identity.collective = "all_reduce_perf -b 1M";
  EXPECT_EQ(compare(baseline, other, {}).outcome(), Outcome::kNotComparable);
  Report stricter = told(98e9, "");
  stricter.identity.thresholds = {"pair_floor=99%"};
  EXPECT_EQ(compare(baseline, stricter, {}).unlike.front().was, "the defaults");
  EXPECT_FALSE(make_baseline("bad", {told(98e9, ""), stricter}).has_value());
}

TEST(Comparison, WithAFileThatDoesNotSayItsLoadsIsMadeAndSaysSo) {
  COVERS("K3");
  const Baseline old = make_baseline("good", {silent(98e9)}).value();
  const std::string text = baseline_text(old);
  EXPECT_EQ(text.find("perftest"), std::string::npos) << "its digest is that of its version";
  EXPECT_EQ(digest_of(baseline_from_text(text).value()), digest_of(old));
  const Comparison comparison = compare(old, told(98e9, "-u 18"), {});
  EXPECT_EQ(comparison.outcome(), Outcome::kAsBaseline);
  ASSERT_GE(comparison.noted.size(), 3U);
  EXPECT_EQ(comparison.noted[0].field, "options of perftest");
  EXPECT_EQ(comparison.noted[0].was, "not known: of an earlier version");
  EXPECT_EQ(comparison.noted[0].is, "-u 18");
  // Of several runs the one that does not say decides.
  EXPECT_FALSE(make_baseline("b", {told(98e9, ""), silent(98e9)}).value().identity.perftest);
}

}  // namespace
}  // namespace weir::preflight
