#include "diagnose/core/pause_tree.h"

#include <gtest/gtest.h>

#include "base/testing.h"

namespace weir::diagnose {
namespace {

constexpr finding::Thresholds kLimits;

/// Two leaves with two hosts each, one spine. Ports come in pairs, the lower end first.
class PauseTreeTest : public ::testing::Test {
 protected:
  std::size_t cable(const std::string& lower, int tier, const std::string& upper) {
    const std::size_t at = ports_.size();
    ports_.push_back({lower, tier, at + 1, 0.0, 0.0, 0.0, 0.5});
    ports_.push_back({upper, tier + 1, at, 0.0, 0.0, 0.0, 0.5});
    return at;
  }
  /// The end at `port` is stopped by the other one.
  void stop(std::size_t port, double share) {
    ports_[port].paused = share;
    if (ports_[port].peer) ports_[*ports_[port].peer].pausing = share;
  }
  [[nodiscard]] PauseTree follow(std::size_t from) const {
    const auto tree = follow_pause(ports_, from, kLimits);
    EXPECT_TRUE(tree.has_value());
    return tree.value_or(PauseTree{});
  }

  std::vector<PausePort> ports_;
  std::size_t a_ = cable("hostA", 0, "leaf1");
  std::size_t b_ = cable("hostB", 0, "leaf1");
  std::size_t c_ = cable("hostC", 0, "leaf2");
  std::size_t d_ = cable("hostD", 0, "leaf2");
  std::size_t up1_ = cable("leaf1", 1, "spine1");
  std::size_t up2_ = cable("leaf2", 1, "spine1");
};

TEST_F(PauseTreeTest, ASlowHostBehindTwoSwitchesIsTheRoot) {
  COVERS("K2");
  stop(c_ + 1, 0.8);    // leaf2 to hostC, by hostC
  stop(up2_ + 1, 0.6);  // spine1 to leaf2
  stop(up1_, 0.5);      // leaf1 to spine1
  stop(a_, 0.4);        // hostA to leaf1
  stop(d_, 0.3);        // hostD to leaf2
  const PauseTree tree = follow(a_);
  ASSERT_EQ(tree.roots.size(), 1U);
  EXPECT_EQ(tree.roots[0], (PauseRoot{PauseEnd::kHost, c_, false}));
  EXPECT_EQ(tree.first.by, a_ + 1);
  ASSERT_EQ(tree.first.because.size(), 1U);
  EXPECT_EQ(tree.first.because[0].port, up1_);
  EXPECT_EQ(tree.first.because[0].because.at(0).because.at(0).port, c_ + 1);
  EXPECT_EQ(tree.victims, (std::vector<std::size_t>{c_ + 1, up2_ + 1, up1_, a_, d_}))
      << "the longest first; hostB and its port are not paused";
}

TEST_F(PauseTreeTest, APauseMuchShorterThanTheLongestPassesByUnlessTheUserAsksForIt) {
  stop(a_, 0.4);       // hostA to leaf1
  stop(up1_, 0.5);     // leaf1 to spine1
  stop(b_ + 1, 0.05);  // leaf1 to hostB
  EXPECT_EQ(follow(a_).first.because.size(), 1U);
  finding::Thresholds all;
  all.pause_branch = 0.05;
  const auto tree = follow_pause(ports_, a_, all);
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->first.because.size(), 2U);
}

TEST_F(PauseTreeTest, WhereNoPortOfTheSwitchIsPausedItsFullestQueueIsTheRoot) {
  stop(a_, 0.2);
  ports_[b_ + 1].marks = 5000;
  ports_[up1_].used = 0.9;
  EXPECT_EQ(follow(a_).roots.at(0), (PauseRoot{PauseEnd::kQueue, b_ + 1, false}));
  ports_[b_ + 1].marks = 0;
  EXPECT_EQ(follow(a_).roots.at(0).port, up1_) << "none marks: the one that sends most";
}

TEST_F(PauseTreeTest, WhatCameDownIsNotTakenUpAgain) {
  stop(up2_ + 1, 0.5);  // spine1 to leaf2: by leaf2
  stop(up2_, 0.5);      // leaf2 to spine1, for another reason
  ports_[d_ + 1].marks = 10;
  stop(c_ + 1, 0.0);
  const PauseTree tree = follow(up2_ + 1);
  EXPECT_NE(tree.roots.at(0).kind, PauseEnd::kHost);
}

TEST_F(PauseTreeTest, ACircleOfPausesEndsTheWalk) {
  std::vector<PausePort> ring;
  for (std::size_t i = 0; i < 3; ++i) {  // port 2i of switch i, its other end at the next switch
    ring.push_back({"s" + std::to_string(i), 1, 2 * i + 1, 1.0, 0.0, {}, {}});
    ring.push_back({"s" + std::to_string((i + 1) % 3), 1, 2 * i, 0.0, 1.0, {}, {}});
  }
  const auto tree = follow_pause(ring, 0, kLimits);
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->roots.at(0).kind, PauseEnd::kCircle);
}

TEST_F(PauseTreeTest, WithoutSwitchesHostsThatSendPausesAreNamedAsInferred) {
  std::vector<PausePort> hosts = {{"hostA", 0, std::nullopt, 0.3, 0.0, {}, {}},
                                  {"hostB", 0, std::nullopt, 0.0, 0.7, {}, {}},
                                  {"hostC", 0, std::nullopt, std::nullopt, std::nullopt, {}, {}}};
  const auto tree = follow_pause(hosts, 0, kLimits);
  ASSERT_TRUE(tree);
  ASSERT_EQ(tree->roots.size(), 2U);
  EXPECT_EQ(tree->roots[0], (PauseRoot{PauseEnd::kHost, 1, true}));
  EXPECT_EQ(tree->roots[1].kind, PauseEnd::kUnseen);
}

TEST_F(PauseTreeTest, APortThatIsNotPausedHasNoTree) {
  EXPECT_FALSE(follow_pause(ports_, a_, kLimits));
  ports_[a_].paused = std::nullopt;
  EXPECT_FALSE(follow_pause(ports_, a_, kLimits)) << "not counted is not paused";
  EXPECT_FALSE(follow_pause(ports_, 999, kLimits));
}

}  // namespace
}  // namespace weir::diagnose
