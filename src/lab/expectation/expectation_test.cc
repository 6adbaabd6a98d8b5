#include "lab/expectation/expectation.h"

#include <gtest/gtest.h>

#include "base/testing.h"
#include "design/file/load.h"
#include "sim/results/simulate.h"

namespace weir::lab {
namespace {

constexpr std::string_view kDesign = R"(weir: 1
name: expected
hosts:
  gpu: { names: 'gpu[1-5]', nic: connectx6dx, stack: ofed, rails: 1 }
switches:
  leaf: { names: 'leaf[1-1]', system: sonic, asic: spectrum3, tier: 1 }
links:
  - { from: gpu, to: leaf, wiring: block, speed: 25G, cable: dac, length: 3m }
)";

class Expected : public ::testing::Test {
 protected:
  void SetUp() override {
    design::Loaded loaded = design::load_text(std::string(kDesign), "test");
    ASSERT_TRUE(loaded.is_good());
    design_ = std::move(loaded.design);
    design::Derived derived = design::derive(design_);
    ASSERT_TRUE(derived.errors.empty());
    intent_ = std::move(derived.intent);
    load_.workloads.push_back(*sim::parse_workload("incast,to=gpu1,senders=4,size=1500KB"));
  }

  /// Evidence of a run with this fault: all hosts, then the switches.
  std::vector<evidence::Evidence> run(const std::string& fault) {
    sim::Experiment experiment;
    experiment.design = &design_;
    experiment.intent = intent_;
    experiment.workloads = load_.workloads;
    experiment.limit = 100_ms;
    if (!fault.empty()) experiment.faults.push_back(*sim::parse_fault(fault));
    const auto outcome = sim::simulate(experiment);
    EXPECT_TRUE(outcome.has_value());
    load_.took = outcome->results.totals.duration;
    std::vector<evidence::Evidence> out = outcome->results.hosts;
    out.push_back(outcome->results.switches);
    return out;
  }

  Expectation compare(const std::vector<evidence::Evidence>& pieces, unsigned jobs = 1) {
    const auto replicas = Replicas::play(design_, intent_, load_, jobs);
    EXPECT_TRUE(replicas.has_value());
    diagnose::Case observed;
    observed.evidence = pieces;
    observed.intent = &intent_;
    return replicas->compare(diagnose::View(observed));
  }

  static const Deviation* find(const Expectation& in, std::string_view what,
                               std::string_view where = {}) {
    for (const Deviation& item : in.outside)
      if (item.what == what && item.where == where) return &item;
    return nullptr;
  }

  design::Design design_;
  design::Intent intent_;
  KnownLoad load_;
};

TEST_F(Expected, NothingOfARunAsDesignedIsOutside) {
  COVERS("D3", "I10");
  const Expectation seen = compare(run(""));
  EXPECT_EQ(seen.replicas, Replicas::kCount);
  EXPECT_GT(seen.compared, 30U);
  EXPECT_TRUE(seen.outside.empty()) << seen.outside.front().what;
}

TEST_F(Expected, SendersThatRecoverTooSlowlyAreMarkedLessThanInAnyReplica) {
  COVERS("D3", "I10");
  const Expectation seen = compare(run("dcqcn-alpha-period,period=4ms"));
  const Deviation* cnps = find(seen, "CNPs handled by senders");
  ASSERT_NE(cnps, nullptr);
  EXPECT_LT(cnps->measured, cnps->low);
  EXPECT_LE(cnps->low, cnps->high);
}

TEST_F(Expected, ALoadThatTookTwiceAsLongAsAnyReplicaIsOutside) {
  COVERS("D3", "I10");
  const std::vector<evidence::Evidence> pieces = run("");
  load_.took = *load_.took * 2;
  const Expectation seen = compare(pieces);
  ASSERT_EQ(seen.outside.size(), 1U);
  const Deviation& time = seen.outside.front();
  EXPECT_EQ(time.what, "time of the load");
  EXPECT_EQ(time.unit, "us");
  EXPECT_DOUBLE_EQ(time.measured, static_cast<double>(load_.took->raw()) / 1e6);
  EXPECT_NEAR(time.measured / time.high, 2, 0.2);
}

TEST_F(Expected, SendersThatRecoverTooFastAreMarkedMoreThanInAnyReplica) {
  COVERS("D3", "I6");
  const Expectation seen = compare(run("dcqcn-rate-ai,rate=3Gbps"));
  const Deviation* marks = find(seen, "ECN-marked packets received");
  ASSERT_NE(marks, nullptr);
  EXPECT_EQ(marks->counter, "nic.np.ecn_marked.packets");
  EXPECT_GT(marks->measured, marks->high);
}

TEST_F(Expected, APlaceIsNamedAfterTheTotals) {
  COVERS("D3");
  const Expectation seen = compare(run("np-off,at=gpu1"));
  ASSERT_FALSE(seen.outside.empty());
  EXPECT_NE(find(seen, "CNPs handled by senders", "gpu2"), nullptr);
  bool has_place = false;
  for (const Deviation& item : seen.outside) {
    EXPECT_TRUE(!has_place || !item.where.empty()) << item.what;
    has_place = !item.where.empty();
  }
}

TEST_F(Expected, WhatWasNotObservedIsNotCompared) {
  COVERS("D3");
  std::vector<evidence::Evidence> pieces = run("");
  const std::size_t all = compare(pieces).compared;
  pieces.resize(1);  // gpu1 alone
  load_.took.reset();
  const Expectation one_host = compare(pieces);
  EXPECT_LT(one_host.compared, all);
  EXPECT_GT(one_host.compared, 0U);
  EXPECT_TRUE(one_host.outside.empty());
}

TEST_F(Expected, ALoadOtherThanStatedIsOutside) {
  COVERS("D3");
  const std::vector<evidence::Evidence> pieces = run("");
  load_.workloads = {*sim::parse_workload("incast,to=gpu1,senders=4,size=150KB")};
  const Expectation seen = compare(pieces);
  const Deviation* sent = find(seen, "RDMA packets sent");
  ASSERT_NE(sent, nullptr);
  EXPECT_NEAR(sent->measured / sent->high, 10, 1);
}

TEST_F(Expected, TheNumberOfThreadsChangesNothing) {
  COVERS("D3");
  const std::vector<evidence::Evidence> pieces = run("dcqcn-rate-ai,rate=3Gbps");
  const Expectation expectation = compare(pieces, 1);
  const Expectation three = compare(pieces, 3);
  ASSERT_EQ(expectation.outside.size(), three.outside.size());
  for (std::size_t i = 0; i < expectation.outside.size(); ++i) {
    EXPECT_EQ(expectation.outside[i].what, three.outside[i].what);
    EXPECT_EQ(expectation.outside[i].low, three.outside[i].low);
    EXPECT_EQ(expectation.outside[i].high, three.outside[i].high);
  }
}

TEST_F(Expected, ALoadThatDoesNotFitTheFabricIsAnError) {
  COVERS("D3");
  load_.workloads.front().to = "gpu9";
  const auto fits = Replicas::play(design_, intent_, load_);
  ASSERT_FALSE(fits.has_value());
  EXPECT_NE(fits.error().what.find("gpu9"), std::string::npos) << fits.error().what;
}

TEST_F(Expected, ALoadThatDoesNotFinishInTimeIsAnError) {
  COVERS("D3");
  load_.limit = 10_us;
  const auto ends = Replicas::play(design_, intent_, load_);
  ASSERT_FALSE(ends.has_value());
  EXPECT_NE(ends.error().what.find("does not finish within 10us"), std::string::npos)
      << ends.error().what;
}

}  // namespace
}  // namespace weir::lab
