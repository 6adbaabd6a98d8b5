// The tuner as a whole, on fabrics small enough to be tuned in a second.
#include "tune/tune.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "tune/evaluation.h"
#include "tune/loads.h"
#include "tune/peer.h"
#include "tune/plan.h"
#include "tune/search.h"
#include "tune/steps.h"
#include "tune/target.h"
#include "tune/test_fabrics.h"

namespace weir::tune {
namespace {

TuneRequest small_request(std::uint64_t seed = 1) {
  TuneRequest request;
  request.loads = {"incast,size=300KB"};
  request.knobs = {"dcqcn.rpg_time_reset", "dcqcn.min_time_between_cnps", "dcqcn.rpg_hai_rate"};
  request.budget = {200, 0};
  request.seed = seed;
  return request;
}

// ---- runs ----

TEST(Evaluation, ASeedIsTheSameLoadUnderEverySetting) {
  const design::Variant fabric = star(6);
  Evaluator evaluator(fabric.design, 1);
  std::vector<RunOrder> orders;
  for (const char* gap : {"4us", "50us"})
    orders.push_back({{fmt::format("dcqcn.min_time_between_cnps={}", gap)},
                      {"flows,sizes=64KB,load=5%,duration=300us"},
                      {},
                      7,
                      100_ms});
  const auto runs = evaluator.run(orders);
  ASSERT_TRUE(runs) << runs.error().what;
  // Too little load for marks: the same flows take the same time to the picosecond.
  EXPECT_EQ((*runs)[0].marked, 0U);
  EXPECT_EQ((*runs)[0].digest, (*runs)[1].digest);
}

TEST(Evaluation, AnOrderIsRunOnceAndKept) {
  const design::Variant fabric = star(4);
  const std::string path = ::testing::TempDir() + "/weir_tune_results.jsonl";
  const std::vector<RunOrder> orders = {{{}, {"incast,size=50KB"}, {}, 1, 100_ms},
                                        {{}, {"incast,size=50KB"}, {}, 2, 100_ms},
                                        {{}, {"incast,size=50KB"}, {}, 1, 100_ms}};
  std::string first;
  {
    Evaluator evaluator(fabric.design, 1);
    ASSERT_TRUE(evaluator.keep_results(path, false));
    const auto runs = evaluator.run(orders);
    ASSERT_TRUE(runs);
    EXPECT_EQ((*runs)[0].digest, (*runs)[2].digest);
    EXPECT_EQ(evaluator.runs(), 2U);
    EXPECT_EQ(evaluator.made(), 2U);
  }
  first = read_file(path).value();
  // Cut in the middle of the second line, as a kill would.
  ASSERT_TRUE(write_file_atomic(path, first.substr(0, first.size() - 40)));
  {
    Evaluator evaluator(fabric.design, 1);
    ASSERT_TRUE(evaluator.keep_results(path, true));
    ASSERT_TRUE(evaluator.run(orders));
    EXPECT_EQ(evaluator.runs(), 2U);
    EXPECT_EQ(evaluator.made(), 1U);  // what the cut line held
  }
  const std::string again = read_file(path).value();
  EXPECT_EQ(again.substr(0, again.find('\n')), first.substr(0, first.find('\n')));
  EXPECT_EQ(std::count(again.begin(), again.end(), '\n'), 2);
  const design::Variant other = star(5);
  Evaluator wrong(other.design, 1);
  const Status refused = wrong.keep_results(path, true);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().what.find("another design"), std::string::npos);
  ASSERT_TRUE(write_file_atomic(path, "{\"key\": 1}\n"));
  Evaluator damaged(fabric.design, 1);
  EXPECT_FALSE(damaged.keep_results(path, true));
  // Deep enough to end a process that frees it level by level.
  constexpr std::size_t kDeep = 300'000;
  ASSERT_TRUE(write_file_atomic(path, std::string(kDeep, '[') + std::string(kDeep, ']') + "\n"));
  Evaluator deep(fabric.design, 1);
  const Status too_deep = deep.keep_results(path, true);
  ASSERT_FALSE(too_deep);
  EXPECT_EQ(too_deep.error().code, ErrorCode::kParse);
  EXPECT_NE(too_deep.error().what.find(":1: JSON deeper than 64 levels"), std::string::npos);
  std::remove(path.c_str());
}

TEST(Evaluation, AResultFileThatIsALinkIsLeftAlone) {
  const design::Variant fabric = star(4);
  const std::string path = ::testing::TempDir() + "/weir_tune_link.jsonl";
  const std::string others = ::testing::TempDir() + "/weir_tune_others";
  for (const bool is_resumed : {false, true}) {
    for (const auto& link : {::symlink, ::link}) {
      ASSERT_TRUE(write_file_atomic(others, is_resumed ? "" : "of another\n"));
      std::remove(path.c_str());
      ASSERT_EQ(link(others.c_str(), path.c_str()), 0);
      Evaluator evaluator(fabric.design, 1);
      const Status refused = evaluator.keep_results(path, is_resumed);
      ASSERT_FALSE(refused);
      EXPECT_NE(refused.error().what.find("weir_tune_link.jsonl"), std::string::npos);
      EXPECT_EQ(read_file(others).value(), is_resumed ? "" : "of another\n");
    }
  }
  std::remove(path.c_str());
  std::remove(others.c_str());
}

TEST(Evaluation, VictimsAreFlowsBesideAHotReceiver) {
  const design::Variant fabric = star(8);
  Evaluator evaluator(fabric.design, 1);
  const auto runs = evaluator.run(
      {{{}, {"incast,size=300KB"}, {}, 1, 100_ms},
       {{}, {"incast,size=300KB", "pair,from=gpu7,to=gpu8,size=100KB"}, {}, 1, 100_ms}});
  ASSERT_TRUE(runs) << runs.error().what;
  EXPECT_FALSE((*runs)[0].victim_slowdown);
  ASSERT_TRUE((*runs)[1].victim_slowdown);
  EXPECT_GE(*(*runs)[1].victim_slowdown, 1);
}

// ---- plans, loads, seeds ----

TEST(Plan, IsTheRichestWithinTheBudgetAndSaysWhatTheLeastIs) {
  const Problem problem{14, 5, 5, 20, 5};
  const auto small = plan_for(problem, 2000);
  const auto large = plan_for(problem, 20'000);
  ASSERT_TRUE(small);
  ASSERT_TRUE(large);
  EXPECT_LT(small->report_seeds, large->report_seeds);
  EXPECT_LE(small->most_runs(problem), 2000U);
  const auto none = plan_for(problem, 10);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().what.find("need at least"), std::string::npos);
}

TEST(Plan, Budgets) {
  EXPECT_EQ(parse_budget("2000runs")->runs, 2000U);
  EXPECT_EQ(parse_budget("10min")->minutes, 10);
  EXPECT_EQ(parse_budget("90s")->minutes, 1.5);
  for (const char* wrong : {"", "10", "min", "0runs", "10 min", "-5runs", "1e3runs", "10minutes"})
    EXPECT_FALSE(parse_budget(wrong)) << wrong;
}

TEST(Loads, NeighboursAreOtherLoadsThatParse) {
  const design::Variant fabric = pod16();
  for (const std::string& text : usual_loads(fabric.intent)) {
    const auto other = held_out_of(parse_load(text).value(), fabric.intent);
    ASSERT_TRUE(other) << text;
    EXPECT_NE(*other, text);
    EXPECT_TRUE(parse_load(*other)) << *other;
  }
  EXPECT_EQ(held_out_of(parse_load("incast,size=2MB").value(), fabric.intent),
            "incast,size=2MB,senders=8,to=gpu16");
  EXPECT_EQ(held_out_of(parse_load("incast,to=gpu03,senders=6").value(), fabric.intent),
            "incast,to=gpu03,senders=3");
  EXPECT_EQ(
      held_out_of(parse_load("all-reduce,hosts=gpu[01-04]+gpu12,algo=tree").value(), fabric.intent),
      "all-reduce,hosts=gpu[01-04]+gpu12,algo=ring");
  EXPECT_FALSE(held_out_of(parse_load("trace,file=x.csv").value(), fabric.intent));
}

TEST(Seeds, SetsAndTuningsAreDisjoint) {
  EXPECT_NE(seed_of(1, SeedSet::kSearch, 999'999), seed_of(1, SeedSet::kSelection, 0));
  EXPECT_LT(seed_of(1, SeedSet::kReport, 999'999), seed_of(2, SeedSet::kSearch, 0));
}

// ---- the steps before the search ----

TEST(Steps, TheBurstIsSizedByCalculation) {
  COVERS("H1");
  const design::Variant fabric = pod16();
  const Burst burst = burst_of(fabric.intent);
  EXPECT_EQ(burst.senders, 15U);
  EXPECT_EQ(burst.ingresses, 15U);  // 7 hosts of the leaf, 8 uplinks
  // Measured: none up to 15 x 3 MB, the first at 15 x 4 MB.
  EXPECT_LT(burst.silent, 3_MB);
  EXPECT_GT(burst.size, 4_MB);
  Evaluator evaluator(fabric.design, 1);
  const auto groundwork = check_groundwork(fabric, 1, evaluator);
  ASSERT_TRUE(groundwork) << groundwork.error().what;
  EXPECT_TRUE(groundwork->holds()) << groundwork->pfc.text;
  EXPECT_EQ(evaluator.runs(), 2U);
}

TEST(Steps, OneSenderCannotFillAQueueSoThatNoPauseIsNoFault) {
  COVERS("H1");
  const design::Variant fabric = star(2);
  EXPECT_FALSE(burst_of(fabric.intent).can_wait);
  TuneRequest request = small_request();
  request.loads = {"pair,size=1MB"};
  const auto result = tune(fabric, request);
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_EQ(result->steps[1].state, StepState::kPassed) << result->steps[1].text;
  EXPECT_NE(result->steps[1].text.find("none is possible"), std::string::npos);
  EXPECT_EQ(result->verdict, Verdict::kNothingToTune) << result->reason;
}

TEST(Steps, AMisclassifiedDesignIsRefusedWithItsCause) {
  COVERS("H1");
  const design::Variant fabric = star(4, "pfc:\n  priorities: [4]\n");
  const auto result = tune(fabric, small_request());
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_EQ(result->verdict, Verdict::kRefused);
  EXPECT_EQ(result->steps[0].state, StepState::kFailed);
  EXPECT_EQ(result->steps[2].state, StepState::kNotRun);
  EXPECT_NE(result->reason.find("not sound"), std::string::npos) << result->reason;
  EXPECT_TRUE(result->chosen.empty());
}

// ---- the order of finalists ----

TEST(Ranking, StagesAreAnOrderWhereTolerancesAreNone) {
  COVERS("H2");
  const auto gains = [](double gain, double side, std::size_t changes) {
    Contender out;
    out.score.gain = gain;
    out.score.side = side;
    out.changes = changes;
    return out;
  };
  // a equals b and b equals c within 1 %, and yet a is better than c: the best of what is left is
  // found among those that equal the best.
  const std::vector<Contender> near = {gains(-0.100, 0.3, 1), gains(-0.094, 0.2, 1),
                                       gains(-0.088, 0.1, 1)};
  EXPECT_EQ(rank_in_stages(near, 0.01), (std::vector<std::size_t>{1, 0, 2}));
  std::vector<Contender> bad = {gains(-0.2, 0, 1), gains(0.1, 0, 1), gains(0.0, 0, 2),
                                gains(0.0, 0, 1)};
  bad[0].score.bad = 1;
  bad[1].is_slower = true;
  EXPECT_EQ(rank_in_stages(bad, 0.01), (std::vector<std::size_t>{3, 2, 1, 0}));
  EXPECT_TRUE(rank_in_stages({}, 0.01).empty());
}

// ---- whole tunings ----

TEST(Tune, ARingAloneHasNothingToTune) {
  COVERS("H2");
  TuneRequest request = small_request();
  request.loads = {"all-reduce,size=1MB"};
  request.knobs = {"*"};
  request.budget = {2000, 0};
  const auto result = tune(star(4), request);
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_EQ(result->verdict, Verdict::kNothingToTune) << result->reason;
  EXPECT_TRUE(result->chosen.empty());
  EXPECT_LT(result->runs, 20U);
}

TEST(Tune, TheAnswerIsTheSameForAnyNumberOfJobs) {
  const design::Variant fabric = star(6);
  TuneRequest request = small_request();
  const auto alone = tune(fabric, request);
  request.jobs = 3;
  const auto together = tune(fabric, request);
  ASSERT_TRUE(alone && together);
  EXPECT_EQ(to_json(*alone).dump(), to_json(*together).dump());
}

TEST(Tune, FindsTheTimersAndSaysWhatEachBought) {
  COVERS("H2", "H3");
  const auto result = tune(star(6), small_request());
  ASSERT_TRUE(result) << result.error().what;
  ASSERT_EQ(result->verdict, Verdict::kTuned) << result->reason;
  EXPECT_TRUE(result->gain.is_less());
  EXPECT_EQ(result->bought.size(), result->chosen.size());
  EXPECT_EQ(result->outcomes.size(), 2U);  // the load and its held-out neighbour
  EXPECT_TRUE(result->outcomes[1].is_held_out);
  for (const Sensitivity& row : result->sensitivity)
    EXPECT_EQ(row.is_inert, row.knob == "dcqcn.rpg_hai_rate") << row.knob;
  for (const StepOutcome& step : result->steps)
    EXPECT_EQ(step.state, StepState::kPassed) << step.name;
  EXPECT_LE(result->runs, result->budget_runs);
  EXPECT_EQ(to_json(*result)["proposed"], to_json(*result)["chosen"]);
  ASSERT_EQ(result->target.size(), 6U);
  for (const TargetRow& row : result->target)
    EXPECT_TRUE(row.chosen) << row.goal;
}

TEST(Tune, KnobsThatDoNothingGiveNoGain) {
  // Ten tunings of knobs that do nothing for flows this short.
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    TuneRequest request = small_request(seed);
    request.knobs = {"dcqcn.rpg_hai_rate", "dcqcn.rpg_threshold", "buffers.xon_offset"};
    const auto result = tune(star(5), request);
    ASSERT_TRUE(result) << result.error().what;
    EXPECT_NE(result->verdict, Verdict::kTuned) << seed << ": " << result->reason;
  }
}

TEST(Tune, RequestsThatMakeNoSenseAreErrors) {
  const design::Variant fabric = star(4);
  TuneRequest request = small_request();
  request.knobs = {"dcqcn.no_such_thing"};
  EXPECT_FALSE(tune(fabric, request));
  request = small_request();
  request.loads = {"incats"};
  EXPECT_FALSE(tune(fabric, request));
  request = small_request();
  request.budget = {5, 0};
  EXPECT_FALSE(tune(fabric, request));
  request = small_request();
  request.keep = {"dcqcn.*"};
  const auto kept = tune(fabric, request);
  ASSERT_TRUE(kept) << kept.error().what;
  EXPECT_EQ(kept->verdict, Verdict::kNothingToTune);
  EXPECT_EQ(kept->fixed.size(), 3U);
}

// ---- the target ----

Metrics good_run() {
  Metrics run;
  run.finished = true;
  run.mean_us = 100;
  run.max_us = 110;
  run.marked = 50;
  run.mark_share = 0.02;
  run.utilisation = 0.9;
  return run;
}

std::string states_of(const std::vector<TargetRow>& rows) {
  std::string out;
  for (const TargetRow& row : rows)
    out += fmt::format("{}{}={}", out.empty() ? "" : " ", row.goal, to_text(row.start.state));
  return out;
}

TEST(Target, EachPartIsMissedByItsOwnFault) {
  COVERS("H3");
  const Load incast = parse_load("incast,size=2MB").value();
  const auto judged = [&](const Metrics& run) {
    return states_of(judge_target(incast, {good_run(), run}, nullptr, 0.01));
  };
  EXPECT_EQ(judged(good_run()), "marks=met pauses=met drops=met use=met tails=met");
  Metrics run = good_run();
  run.marked = 0;
  run.pauses = 7;
  EXPECT_EQ(judged(run), "marks=missed pauses=met drops=met use=met tails=met");
  run = good_run();
  run.pauses = 200;  // more than both runs' marks
  run.pause_share = 0.02;
  EXPECT_EQ(judged(run), "marks=missed pauses=missed drops=met use=met tails=met");
  run = good_run();
  run.retransmitted = 1;
  EXPECT_EQ(judged(run), "marks=met pauses=met drops=missed use=met tails=met");
  run = good_run();
  run.utilisation = 0.5;  // 70 % over both
  EXPECT_EQ(judged(run), "marks=met pauses=met drops=met use=missed tails=met");
  run = good_run();
  run.max_us = 200;
  EXPECT_EQ(judged(run), "marks=met pauses=met drops=met use=met tails=missed");
  run = good_run();
  run.mean_us = 300;  // even within the run, but three times the other
  run.max_us = 310;
  EXPECT_EQ(judged(run), "marks=met pauses=met drops=met use=met tails=missed");
}

TEST(Target, WhatALoadCannotShowIsNotJudged) {
  COVERS("H3");
  Metrics quiet = good_run();
  quiet.marked = 0;
  const Load ring = parse_load("all-reduce,size=1MB").value();
  EXPECT_EQ(states_of(judge_target(ring, {quiet}, nullptr, 0.01)),
            "marks=not judged pauses=met drops=met use=met tails=met");
  const Load flows = parse_load("flows,sizes=websearch,load=60%").value();
  EXPECT_EQ(states_of(judge_target(flows, {good_run()}, nullptr, 0.01)),
            "marks=met pauses=met drops=met use=not judged tails=not judged");
}

TEST(Target, RareIsABoundNotACount) {
  COVERS("H3");
  const Load incast = parse_load("incast,size=2MB").value();
  std::vector<Metrics> runs(200, good_run());
  runs[3].pause_share = 0.5;
  EXPECT_EQ(judge_target(incast, runs, nullptr, 0.01)[1].start.state, TargetState::kMet);
  runs.resize(20);
  EXPECT_EQ(judge_target(incast, runs, nullptr, 0.01)[1].start.state, TargetState::kMissed);
  EXPECT_EQ(judge_idle(good_run(), nullptr).start.state, TargetState::kMissed);
}

// ---- the other simulator ----

TEST(Peer, AgreementIsSignAndHalfTheSize) {
  EXPECT_TRUE(does_peer_agree(-0.10, -0.06));
  EXPECT_FALSE(does_peer_agree(-0.10, -0.04));
  EXPECT_FALSE(does_peer_agree(-0.10, 0.06));
  EXPECT_TRUE(does_peer_agree(-0.01, 0.02));
  EXPECT_FALSE(does_peer_agree(-0.01, 0.05));
  EXPECT_FALSE(does_peer_agree(0.02, 0.78));
  EXPECT_TRUE(does_peer_agree(-0.02, -0.3));
}

}  // namespace
}  // namespace weir::tune
