#include "tune/result.h"

#include "base/json.h"
#include "base/testing.h"

namespace weir::tune {
namespace {

TuneResult example() {
  TuneResult out;
  out.design = "pod16.yaml";
  out.objective = Objective::kP99;
  out.verdict = Verdict::kTuned;
  out.steps = {{"classify", StepState::kPassed, "RoCE is in its class.", {"priority 3: 98 %"}}};
  out.start = {{"wred.min", "25KB"}};
  out.chosen = {{"wred.min", "50KB"}};
  WorkloadOutcome load;
  load.workload = "incast,size=2MB";
  load.start.runs = 16;
  load.chosen.victim_slowdown = Spread{1.5, 1.25, 2};
  load.objective = {-0.25, -0.5, -0.125, 16, 0.01, 0.02};
  out.outcomes = {load};
  out.bought.emplace_back().knob = "wred.min";
  out.sensitivity.push_back({"wred.min", 0.5, 0.25, 0, false});
  out.tried.emplace_back().move = "lower-min-threshold";
  out.curve.emplace_back().settings = {{"wred.max", "1MB"}};
  out.failures.emplace_back().name = "link";
  out.target = {{"use", "incast", {TargetState::kMissed, "72 %"}, TargetSide{}}};
  out.proposed = out.chosen;
  out.peer.workloads.push_back({"incast", {}, {}, 0.5, true});
  out.notes = {"a note"};
  return out;
}

TEST(TuneResult, IsReadBackAsItWasWritten) {
  const Json written = to_json(example());
  const auto read = tune_result_from_json(written);
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(to_json(*read).dump(), written.dump());
  EXPECT_EQ(read->outcomes[0].chosen.victim_slowdown->most, 2);
  EXPECT_FALSE(read->outcomes[0].start.victim_slowdown);
  EXPECT_EQ(read->verdict, Verdict::kTuned);
}

TEST(TuneResult, ErrorsNameThePlace) {
  Json broken = to_json(example());
  broken["outcomes"][0]["start"]["runs"] = "many";
  const auto read = tune_result_from_json(broken);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().what.find("/outcomes/0/start/runs"), std::string::npos)
      << read.error().what;
  Json short_of = to_json(example());
  short_of.erase("gain");
  EXPECT_FALSE(tune_result_from_json(short_of));
  Json odd = to_json(example());
  odd["verdict"] = "splendid";
  EXPECT_FALSE(tune_result_from_json(odd));
  EXPECT_FALSE(tune_result_from_json(Json::array()));
}

TEST(TuneResult, MetricsAreReadBackExactly) {
  Metrics metrics;
  metrics.mean_us = 1.0 / 3;
  metrics.digest = 0xFFFFFFFFFFFFFFFFU;
  metrics.step_us = 12.5;
  const auto read = metrics_from_json(Json::parse(to_json(metrics).dump()));
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->mean_us, metrics.mean_us);
  EXPECT_EQ(read->digest, metrics.digest);
  EXPECT_EQ(read->step_us, 12.5);
  EXPECT_FALSE(read->bus_gbps);
}

TEST(Objective, Words) {
  EXPECT_EQ(parse_objective("p99").value(), Objective::kP99);
  EXPECT_EQ(to_text(Objective::kStepTime), "step-time");
  EXPECT_FALSE(parse_objective("P99"));
}

}  // namespace
}  // namespace weir::tune
