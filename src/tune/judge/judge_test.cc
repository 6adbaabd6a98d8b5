#include "tune/judge/judge.h"

#include <functional>

#include "base/testing.h"
#include "tune/judge/criteria.h"

namespace weir::tune {
namespace {

// Noise of a percent, the same every time.
constexpr double kNoise[] = {0.004, -0.007, 0.009, -0.002, 0.006, -0.009, 0.001, -0.004,
                             0.008, -0.003, 0.005, -0.008, 0.002, -0.006, 0.007, -0.001};

diagnose::Totals quiet(std::size_t i) {
  diagnose::Totals out;
  out.window = Duration::raw(300'000'000'000'000);  // 300 s
  out.pauses = 0;
  out.pause_share = 0;
  out.marks = 1000 + i;
  out.cnps = 500 + i;
  out.sent_bytes = 1'000'000'000'000 + i;
  out.dropped = out.loss_signs = out.disordered = out.timeouts = out.watchdog = 0;
  return out;
}

/// `count` pairs; with the change the step takes `factor` times as long.
std::vector<BlockPair> steps(std::size_t count, double factor) {
  std::vector<BlockPair> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    out[i].before = {.name = "A" + std::to_string(i), .step_us = 1000 * (1 + kNoise[i % 16])};
    out[i].after = {.name = "B" + std::to_string(i),
                    .step_us = 1000 * factor * (1 + kNoise[(i + 5) % 16])};
    out[i].before.totals = quiet(i);
    out[i].after.totals = quiet(100 + i);
  }
  return out;
}

const Criterion& criterion(const Judged& judged, std::string_view id) {
  for (const Criterion& entry : judged.criteria)
    if (entry.id == id) return entry;
  ADD_FAILURE() << id;
  return judged.criteria.front();
}

Judged judged(std::span<const BlockPair> pairs, const JudgeOptions& options = {}) {
  auto out = judge(pairs, options);
  EXPECT_TRUE(out) << out.error().what;
  return out ? std::move(out).value() : Judged();
}

TEST(TuneJudge, KeepsWhatIsShownAndOnlyThat) {
  EXPECT_EQ(judged(steps(8, 0.95)).verdict, JudgeVerdict::kKeep);
  EXPECT_EQ(judged(steps(8, 1.001)).verdict, JudgeVerdict::kNotProven);
  EXPECT_EQ(judged(steps(8, 0.999)).verdict, JudgeVerdict::kNotProven);
  EXPECT_EQ(judged(steps(8, 1.02)).verdict, JudgeVerdict::kRemove);
  const Judged none = judged(steps(8, 1.0));
  ASSERT_TRUE(none.find(Metric::kStepTime)->pairs_needed);
  EXPECT_GE(*none.find(Metric::kStepTime)->pairs_needed, kLeastPairs);
  EXPECT_TRUE(none.is_loss_checked());
}

TEST(TuneJudge, ABandwidthIsBetterWhenItRises) {
  auto pairs = steps(8, 1);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    pairs[i].before.bus_gbytes = 100 * (1 + kNoise[i]);
    pairs[i].after.bus_gbytes = 106 * (1 + kNoise[i + 4]);
    pairs[i].before.step_us.reset();
    pairs[i].after.step_us.reset();
  }
  const Judged out = judged(pairs);
  EXPECT_EQ(out.goal, Metric::kBusBandwidth);
  EXPECT_EQ(out.verdict, JudgeVerdict::kKeep);
}

TEST(TuneJudge, RefusesTooFewPairsAndSaysHowManyAreMissing) {
  const auto out = judge(steps(5, 0.8), {});
  ASSERT_FALSE(out);
  EXPECT_NE(out.error().what.find("5 pairs"), std::string::npos) << out.error().what;
  EXPECT_NE(out.error().what.find("3 more"), std::string::npos) << out.error().what;
  EXPECT_FALSE(judge({}, {}));
  // Eight pairs, but the metric that decides is in six of them.
  auto pairs = steps(8, 0.9);
  pairs[0].after.step_us.reset();
  pairs[7].before.step_us.reset();
  EXPECT_FALSE(judge(pairs, {.goal = Metric::kStepTime, .prediction = {}}));
}

TEST(TuneJudge, RefusesWithoutAMetricToDecideBy) {
  auto pairs = steps(8, 0.9);
  EXPECT_FALSE(judge(pairs, {.goal = Metric::kP99, .prediction = {}}));
  for (BlockPair& pair : pairs)
    pair.before = {.name = "A"};
  EXPECT_FALSE(judge(pairs, {}));
}

TEST(TuneJudge, OneRunGivenTwiceIsNoSecondBlock) {
  auto pairs = steps(8, 0.9);
  pairs[3].before = pairs[2].before;
  const auto out = judge(pairs, {});
  ASSERT_FALSE(out);
  EXPECT_NE(out.error().what.find("given twice"), std::string::npos) << out.error().what;
  // Idle blocks, or tools that print few digits, may agree by chance.
  for (BlockPair& pair : pairs)
    pair.before.totals = pair.after.totals = std::nullopt;
  EXPECT_TRUE(judge(pairs, {}));
}

using Edit = std::function<void(std::vector<BlockPair>&)>;

TEST(TuneJudge, EveryRuleOfRemovalIsNamed) {
  const std::vector<std::pair<std::string, Edit>> cases = {
      {"lossless-drop", [](auto& pairs) { pairs[6].after.totals->dropped = 1; }},
      {"lossless-drop", [](auto& pairs) { pairs[6].after.totals->loss_signs = 3; }},
      {"timeout", [](auto& pairs) { pairs[2].after.totals->timeouts = 1; }},
      {"load", [](auto& pairs) { pairs[2].after.failure = "status 12"; }},
      {"watchdog", [](auto& pairs) { pairs[0].after.totals->watchdog = 2; }},
      {"pause-share", [](auto& pairs) { pairs[1].after.totals->pause_share = 0.051; }},
      {"pause-growth", [](auto& pairs) { pairs[1].after.totals->pause_share = 0.011; }},
      {"p99",
       [](auto& pairs) {
         for (BlockPair& pair : pairs)
           pair.before.p99_us = pair.after.p99_us = 10;
         pairs[4].after.p99_us = 15.1;
       }},
      {"step-time",
       [](auto& pairs) {
         for (const std::size_t i : {3U, 4U, 5U})
           pairs[i].after.step_us = *pairs[i].before.step_us * 1.031;
       }},
  };
  for (const auto& [id, edit] : cases) {
    SCOPED_TRACE(id);
    auto pairs = steps(8, 0.95);
    edit(pairs);
    const Judged out = judged(pairs);
    EXPECT_EQ(out.verdict, JudgeVerdict::kRemove);
    EXPECT_EQ(criterion(out, id).state, CriterionState::kMet);
    EXPECT_NE(out.reason.find(criterion(out, id).rule), std::string::npos) << out.reason;
  }
}

TEST(TuneJudge, AThresholdOfTheUserHoldsForTheRuleAndItsWords) {
  auto pairs = steps(8, 0.95);
  for (BlockPair& pair : pairs)
    pair.before.totals->pause_share = pair.after.totals->pause_share = 0.08;
  for (const std::size_t i : {3U, 4U, 5U})
    pairs[i].after.step_us = *pairs[i].before.step_us * 1.031;
  const Judged usual = judged(pairs);
  EXPECT_EQ(criterion(usual, "pause-share").state, CriterionState::kMet);
  EXPECT_EQ(criterion(usual, "step-time").state, CriterionState::kMet);
  JudgeOptions options;
  options.thresholds.pause_error = 0.1;
  options.thresholds.rollout_slower = 0.04;
  options.thresholds.rollout_pause_window = 600;
  const Judged wide = judged(pairs, options);
  EXPECT_EQ(criterion(wide, "pause-share").state, CriterionState::kNotMet);
  EXPECT_EQ(criterion(wide, "pause-share").rule, "paused > 10 % of the time");
  EXPECT_EQ(criterion(wide, "step-time").state, CriterionState::kNotMet);
  EXPECT_EQ(criterion(wide, "step-time").rule, "step time > +4 %, 3 blocks");
  EXPECT_EQ(criterion(wide, "pause-growth").state, CriterionState::kNotChecked) << "300 s";
  EXPECT_EQ(criterion(wide, "pause-growth").rule, "paused > 2 times before, 600 s");
}

TEST(TuneJudge, WhatIsNearARuleIsNotRemoved) {
  const std::vector<std::pair<std::string, Edit>> cases = {
      // Routing that reorders shows sequence errors with the change and without it.
      {"reordering",
       [](auto& pairs) {
         pairs[0].before.totals->loss_signs = 2;
         pairs[6].after.totals->loss_signs = 3;
       }},
      {"5 %",
       [](auto& pairs) {
         for (BlockPair& pair : pairs)
           pair.before.totals->pause_share = pair.after.totals->pause_share = 0.05;
       }},
      {"twice",
       [](auto& pairs) {
         pairs[5].before.totals->pause_share = 0.01;
         pairs[1].after.totals->pause_share = 0.02;
       }},
      {"a first pause", [](auto& pairs) { pairs[1].after.totals->pause_share = 0.0001; }},
      {"a tail that jumps by itself",
       [](auto& pairs) {
         for (BlockPair& pair : pairs)
           pair.before.p99_us = pair.after.p99_us = 10;
         pairs[0].before.p99_us = 30;
         pairs[4].after.p99_us = 20;
       }},
      {"two blocks in a row",
       [](auto& pairs) {
         for (const std::size_t i : {3U, 4U, 6U})
           pairs[i].after.step_us = *pairs[i].before.step_us * 1.031;
       }},
      {"drops without the change only", [](auto& pairs) { pairs[6].before.totals->dropped = 4; }},
  };
  for (const auto& [name, edit] : cases) {
    SCOPED_TRACE(name);
    auto pairs = steps(8, 0.95);
    edit(pairs);
    EXPECT_NE(judged(pairs).verdict, JudgeVerdict::kRemove) << judged(pairs).reason;
  }
}

TEST(TuneJudge, ADropIsEnoughAfterOneBlock) {
  auto pairs = steps(1, 0.9);
  pairs[0].after.totals->dropped = 7;
  EXPECT_EQ(judged(pairs).verdict, JudgeVerdict::kRemove);
}

TEST(TuneJudge, AMissingCounterIsNotZero) {
  auto pairs = steps(8, 0.9);
  pairs[3].after.totals->dropped.reset();
  pairs[3].after.totals->loss_signs.reset();
  Judged out = judged(pairs);
  EXPECT_EQ(out.verdict, JudgeVerdict::kKeep);
  EXPECT_EQ(criterion(out, "lossless-drop").state, CriterionState::kNotChecked);
  EXPECT_FALSE(out.is_loss_checked());
  for (BlockPair& pair : pairs)
    pair.before.totals = pair.after.totals = std::nullopt;
  out = judged(pairs);
  for (const std::string_view id : {"lossless-drop", "timeout", "watchdog", "pause-share", "p99"})
    EXPECT_EQ(criterion(out, id).state, CriterionState::kNotChecked) << id;
  EXPECT_EQ(out.find(Metric::kPauseShare), nullptr);
}

TEST(TuneJudge, ShortBlocksCannotShowThatPausesGrew) {
  auto pairs = steps(8, 0.95);
  for (BlockPair& pair : pairs)
    pair.after.totals->window = Duration::raw(59'000'000'000'000);
  pairs[1].after.totals->pause_share = 0.02;
  EXPECT_EQ(criterion(judged(pairs), "pause-growth").state, CriterionState::kNotChecked);
}

TEST(TuneJudge, BlocksThatPauseAreCountedNotAveraged) {
  auto pairs = steps(8, 1);
  for (std::size_t i = 0; i < 7; ++i)
    pairs[i].before.totals->pause_share = 0.004;
  const Judged out = judged(pairs, {.goal = Metric::kPauseShare, .prediction = {}});
  EXPECT_EQ(out.verdict, JudgeVerdict::kKeep) << out.reason;
  EXPECT_FALSE(out.find(Metric::kPauseShare)->change);
  pairs[7].after.totals->pause_share = 0.004;
  for (std::size_t i = 0; i < 4; ++i)
    pairs[i].before.totals->pause_share = 0;
  EXPECT_EQ(judged(pairs, {.goal = Metric::kPauseShare, .prediction = {}}).verdict,
            JudgeVerdict::kNotProven);
}

TEST(TuneJudge, NamesThePriceOfAChangeThatIsKept) {
  auto pairs = steps(8, 0.95);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    pairs[i].before.p99_us = 10 * (1 + kNoise[i]);
    pairs[i].after.p99_us = 12 * (1 + kNoise[i + 3]);
  }
  const Judged out = judged(pairs);
  EXPECT_EQ(out.verdict, JudgeVerdict::kKeep);
  ASSERT_EQ(out.notes.size(), 1U);
  EXPECT_NE(out.notes[0].find("p99"), std::string::npos);
}

TEST(TuneJudge, AGainThatWasNotPredictedStopsTheRollOut) {
  const auto pairs = steps(8, 0.90);
  const auto told = [](double low, double high, Objective objective) {
    Change change;
    change.mean = (low + high) / 2;
    change.low = low;
    change.high = high;
    return JudgeOptions{.goal = {}, .prediction = Prediction{change, objective, "tuned"}};
  };
  EXPECT_EQ(judged(pairs, told(-0.12, -0.08, Objective::kStepTime)).verdict, JudgeVerdict::kKeep);
  const Judged other = judged(pairs, told(-0.05, -0.02, Objective::kStepTime));
  EXPECT_EQ(other.verdict, JudgeVerdict::kNotProven);
  EXPECT_EQ(other.is_as_predicted, false);
  // A prediction of something else is not compared.
  const Judged unlike = judged(pairs, told(-0.05, -0.02, Objective::kP99));
  EXPECT_EQ(unlike.verdict, JudgeVerdict::kKeep);
  EXPECT_FALSE(unlike.is_as_predicted);
  EXPECT_EQ(unlike.notes.size(), 1U);
}

}  // namespace
}  // namespace weir::tune
