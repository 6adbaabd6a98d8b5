// The knobs and the moves: every row can be turned, printed and read back.
#include <algorithm>

#include "base/testing.h"
#include "design/file/load.h"
#include "design/file/templates.h"
#include "tune/table/knobs.h"
#include "tune/table/moves.h"

namespace weir::tune {
namespace {

struct Pod {
  design::Design design;
  design::Intent intent;
};

Pod pod(std::string_view more = {}) {
  std::string text;
  for (const design::Template& entry : design::templates())
    if (entry.name == "pod16") text = entry.text;
  design::Loaded loaded = design::load_text(text + std::string(more), "pod16.yaml");
  EXPECT_TRUE(loaded.is_good()) << to_text(loaded);
  design::Derived derived = design::derive(loaded.design);
  EXPECT_TRUE(derived.errors.empty());
  return {std::move(loaded.design), std::move(derived.intent)};
}

TEST(Knobs, EveryValueOfEveryGridIsOneThatTheDesignTakes) {
  COVERS("H2");
  const Pod start = pod();
  for (const Knob& knob : knobs()) {
    const std::int64_t from = start_value(knob, start.design, start.intent);
    const std::vector<std::int64_t> grid = grid_of(knob, from, start.intent);
    EXPECT_GE(grid.size(), 2U) << knob.id;
    EXPECT_TRUE(std::binary_search(grid.begin(), grid.end(), from)) << knob.id;
    EXPECT_FALSE(why_fixed(knob, start.design, start.intent)) << knob.id;
    for (const std::int64_t value : grid) {
      design::Design changed = start.design;
      const std::string text = value_text(knob, value);
      const Status set = design::set_value(changed, knob.id, text);
      ASSERT_TRUE(set) << knob.id << " " << text << ": " << set.error().what;
      const design::Derived derived = design::derive(changed);
      ASSERT_TRUE(derived.errors.empty()) << knob.id << " " << text;
      EXPECT_EQ(start_value(knob, changed, derived.intent), value) << knob.id << " " << text;
    }
  }
}

TEST(Knobs, GridsAreShortAndPositionsAscend) {
  const Pod start = pod();
  for (const Knob& knob : knobs()) {
    const auto grid = grid_of(knob, start_value(knob, start.design, start.intent), start.intent);
    EXPECT_LE(grid.size(), 11U) << knob.id;
    const bool is_memory = knob.range == KnobRange::kMemory;
    for (std::size_t i = 1; i < grid.size(); ++i) {
      const double step = position(knob, grid[i]) - position(knob, grid[i - 1]);
      EXPECT_TRUE(is_memory ? step < 0 : step > 0) << knob.id << " " << grid[i];
    }
  }
}

TEST(Knobs, ValuesOfATimerAreRound) {
  const Pod start = pod();
  const Knob& timer = *find_knob("dcqcn.rpg_time_reset");
  const std::vector<std::int64_t> grid = grid_of(timer, 300, start.intent);
  EXPECT_EQ(grid, (std::vector<std::int64_t>{25, 41, 66, 110, 170, 280, 300, 460, 740, 1200}));
  EXPECT_EQ(value_text(timer, 75), "75us");
  EXPECT_EQ(value_text(*find_knob("buffers.alpha"), -3), "1/8");
  EXPECT_EQ(value_text(*find_knob("wred.probability"), 20'000), "2%");
}

TEST(Knobs, WhatADesignFixesIsSaid) {
  const Pod off = pod("\ndcqcn:\n  reaction_point: off\n");
  EXPECT_EQ(why_fixed(*find_knob("dcqcn.rpg_time_reset"), off.design, off.intent),
            "dcqcn.reaction_point is off");
  EXPECT_FALSE(why_fixed(*find_knob("wred.min"), off.design, off.intent));
  Pod own = pod();
  ASSERT_TRUE(design::set_value(own.design, "switches.leaf.wred.min", "50KB"));
  EXPECT_EQ(why_fixed(*find_knob("wred.min"), own.design, own.intent),
            "switches.leaf.wred.min has a value of its own");
  EXPECT_FALSE(why_fixed(*find_knob("wred.max"), own.design, own.intent));
  Pod broadcom = pod();
  ASSERT_TRUE(design::set_value(broadcom.design, "hosts.gpu.nic", "thor2"))
      << "a NIC of another maker";
  const design::Derived derived = design::derive(broadcom.design);
  EXPECT_TRUE(why_fixed(*find_knob("dcqcn.rpg_ai_rate"), broadcom.design, derived.intent));
}

TEST(Knobs, Globs) {
  EXPECT_TRUE(matches("*", "wred.min"));
  EXPECT_TRUE(matches("dcqcn.*", "dcqcn.rpg_ai_rate"));
  EXPECT_TRUE(matches("*_rate", "dcqcn.rpg_ai_rate"));
  EXPECT_TRUE(matches("*rpg*rate", "dcqcn.rpg_ai_rate"));
  EXPECT_TRUE(matches("wred.min", "wred.min"));
  EXPECT_FALSE(matches("wred.mi", "wred.min"));
  EXPECT_FALSE(matches("*.max", "wred.min"));
  EXPECT_FALSE(matches("", "wred.min"));
  EXPECT_FALSE(matches(std::string(200, '*') + "x", "dcqcn.rate_reduce_monitor_period"));
}

// ---- moves ----

TEST(Moves, EveryMoveHasItsConditionPriceAndMeasurement) {
  COVERS("H4");
  for (const Move& move : moves()) {
    EXPECT_FALSE(move.symptom.empty()) << move.name;
    EXPECT_FALSE(move.condition.empty()) << move.name;
    EXPECT_FALSE(move.price.empty()) << move.name;
    EXPECT_FALSE(move.measured.empty()) << move.name;
    EXPECT_EQ(find_move(move.name), &move);
    EXPECT_TRUE(move.knob.empty() || find_knob(move.knob) != nullptr) << move.name;
    // What is taught and not simply right must say where it is wrong.
    if (!move.taught.empty() && move.verdict == MoveVerdict::kBackwards)
      EXPECT_FALSE(move.wrong.empty()) << move.name;
  }
  EXPECT_EQ(find_move("no-such-move"), nullptr);
}

TEST(Moves, OfTheShippedValuesTwoCannotBeMade) {
  EXPECT_TRUE(values_of(*find_move("fewer-fast-recovery-steps"), 1).empty());
  EXPECT_TRUE(values_of(*find_move("shorter-alpha-period"), 1).empty());
  EXPECT_EQ(values_of(*find_move("fewer-fast-recovery-steps"), 5), std::vector<std::int64_t>{3});
  EXPECT_EQ(values_of(*find_move("shorter-alpha-period"), 100),
            (std::vector<std::int64_t>{50, 25}));
  EXPECT_TRUE(values_of(*find_move("larger-headroom"), 1).empty());
}

TEST(Moves, StepsOfTheOthers) {
  EXPECT_EQ(values_of(*find_move("shorter-increase-timer"), 300),
            (std::vector<std::int64_t>{150, 75}));
  EXPECT_EQ(values_of(*find_move("longer-cnp-gap"), 4), (std::vector<std::int64_t>{10, 50}));
  EXPECT_EQ(values_of(*find_move("longer-cnp-gap"), 0), std::vector<std::int64_t>{});
  EXPECT_EQ(values_of(*find_move("smaller-buffer-alpha"), 0), (std::vector<std::int64_t>{-1, -3}));
  EXPECT_EQ(values_of(*find_move("gentler-cuts"), 50), (std::vector<std::int64_t>{70, 90}));
  EXPECT_EQ(values_of(*find_move("gentler-cuts"), 95), std::vector<std::int64_t>{});
}

TEST(Moves, AreExplainedWithinTheWidth) {
  for (const Move& move : moves()) {
    const std::string text = explain(move, 80);
    std::size_t begin = 0;
    while (begin < text.size()) {
      const std::size_t end = text.find('\n', begin);
      EXPECT_LE(end - begin, 80U) << move.name;
      begin = end + 1;
    }
  }
}

}  // namespace
}  // namespace weir::tune
