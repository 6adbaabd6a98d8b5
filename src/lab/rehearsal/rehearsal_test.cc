#include "lab/rehearsal/rehearsal.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/testing.h"
#include "design/file/load.h"
#include "diagnose/core/diagnose.h"
#include "finding/catalog.h"
#include "lab/rehearsal/rehearsal_chances.h"
#include "lab/rehearsal/rehearsal_fit.h"
#include "lab/rehearsal/rehearsal_guesses.h"
#include "sim/results/simulate.h"

namespace weir::lab {
namespace {

// ---- the distance ----

Sign sign(std::string name, double value, std::string place = {}) {
  return {std::move(name), std::move(place), value, value, 0.1};
}

/// Two signs of a run; four runs around a mean, along a line with this slope.
std::vector<std::vector<Sign>> around(double x, double y, double slope) {
  std::vector<std::vector<Sign>> out;
  for (const double off : {-1.5, -0.5, 0.5, 1.5})
    out.push_back({sign("x", x + off), sign("y", y + slope * off)});
  return out;
}

TEST(RehearsalFit, TheNearestKindIsTheOneThatTheRunIsOf) {
  COVERS("D3");
  Fit fit({sign("x", 5), sign("y", 5)});
  fit.add(around(0, 0, 1));
  fit.add(around(5, 5, 1));
  const std::vector<double> distances = fit.distances();
  EXPECT_GT(distances[0], 5);
  EXPECT_LT(distances[1], 0.01);
  EXPECT_DOUBLE_EQ(fit.mean_count(1, 0), 5);
}

TEST(RehearsalFit, WhatGoesAgainstTheOthersCountsMore) {
  COVERS("D3");
  // Chance moves both signs together: two up is likely, one up and one down is not.
  Fit along({sign("x", 2), sign("y", 2)});
  Fit against({sign("x", 2), sign("y", -2)});
  along.add(around(0, 0, 1));
  against.add(around(0, 0, 1));
  EXPECT_GT(against.distances()[0], 4 * along.distances()[0]);
}

TEST(RehearsalFit, ADistanceWithOneSignIsTheSquareOfItsDeviation) {
  COVERS("D3");
  Fit fit({sign("x", 3)});
  std::vector<std::vector<Sign>> runs;
  for (const double value : {-1.0, 1.0})
    runs.push_back({sign("x", value)});
  fit.add(runs);
  // Variance 2, grain 0.1, and the mean of two runs has half a run's variance.
  EXPECT_NEAR(fit.distances()[0], 9 / (2 + 0.01) / 1.5, 1e-9);
  EXPECT_NEAR(*fit.deviation(0, 0), 3 / std::sqrt(2 + 0.01), 1e-9);
}

TEST(RehearsalFit, ASignThatARunLacksIsLeftOut) {
  COVERS("D3");
  Fit fit({sign("x", 0), sign("gone", 100)});
  fit.add(around(0, 0, 1));
  EXPECT_LT(fit.distances()[0], 0.01);
  EXPECT_FALSE(fit.deviation(0, 1).has_value());
}

TEST(RehearsalFit, PlacesAreAveraged) {
  COVERS("D3");
  const auto run = [](double first) {
    return std::vector<Sign>{sign("x", first, "leaf1"), sign("x", 0, "leaf2")};
  };
  Fit fit(run(0.2));
  fit.add(std::vector<std::vector<Sign>>{run(0), run(0)});
  // One of two places is two grains off: its square, half of it, and places weigh four.
  EXPECT_NEAR(fit.distances()[0], 4 * 4.0 / 2, 1e-9);
}

// ---- a fabric ----

constexpr std::string_view kDesign = R"(weir: 1
name: rehearsed
hosts:
  gpu: { names: 'gpu[1-5]', nic: connectx6dx, stack: ofed, rails: 1 }
switches:
  leaf: { names: 'leaf[1-1]', system: sonic, asic: spectrum3, tier: 1 }
links:
  - { from: gpu, to: leaf, wiring: block, speed: 25G, cable: dac, length: 3m }
)";

class Rehearsed : public ::testing::Test {
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

  /// Counters and cabling of a run with this fault, without any setting.
  std::vector<evidence::Evidence> observed(const std::string& fault) {
    sim::Experiment experiment;
    experiment.design = &design_;
    experiment.intent = intent_;
    experiment.workloads = load_.workloads;
    experiment.limit = 10_ms;
    if (!fault.empty()) experiment.faults.push_back(*sim::parse_fault(fault));
    const auto run = sim::simulate(experiment);
    EXPECT_TRUE(run.has_value());
    load_.took = run->results.totals.duration;
    std::vector<evidence::Evidence> out = run->results.hosts;
    out.push_back(run->results.switches);
    for (evidence::Evidence& one : out) {
      for (evidence::Nic& nic : one.nics) {
        nic.ecn = {};
        nic.qos = {};
      }
      for (evidence::Switch& device : one.switches) {
        device.dscp_to_tc = {};
        device.tc_to_queue = {};
        for (evidence::SwitchPort& port : device.ports)
          port.queues.clear();
      }
    }
    return out;
  }

  finding::Judgement answer(const std::string& fault, bool rehearses = true) {
    const std::vector<evidence::Evidence> pieces = observed(fault);
    diagnose::Case subject;
    subject.evidence = pieces;
    subject.intent = &intent_;
    finding::Judgement said = diagnose::diagnose(subject);
    if (!rehearses) return said;
    return Rehearsal(design_, intent_, load_).judge(subject, std::move(said));
  }

  design::Design design_;
  design::Intent intent_;
  KnownLoad load_;
};

TEST_F(Rehearsed, AFabricAsDesignedIsGivenNoGuess) {
  COVERS("D3", "I10");
  EXPECT_EQ(answer("").conclusion, finding::Conclusion::kHealthy);
}

TEST_F(Rehearsed, SendersThatComeBackTooSlowlyAreFoundByCountersAlone) {
  COVERS("D3", "I10");
  const std::string fault = "dcqcn-alpha-period,period=4ms";
  EXPECT_EQ(answer(fault, false).conclusion, finding::Conclusion::kHealthy);
  const finding::Judgement said = answer(fault);
  ASSERT_EQ(said.conclusion, finding::Conclusion::kFindings);
  const finding::Finding& first = said.findings.front();
  EXPECT_EQ(first.id, "dcqcn.too_conservative");
  EXPECT_EQ(first.confidence, finding::Confidence::kLow);  // a simulation is no fabric
  ASSERT_FALSE(first.evidence.empty());
  EXPECT_NE(first.evidence.front().line.find(" observed, "), std::string::npos);
  EXPECT_EQ(first.evidence.front().source, "rehearsal (simulated)");
}

TEST_F(Rehearsed, SendersThatComeBackTooFastAreAnotherAnswer) {
  COVERS("D3", "I6");
  const finding::Judgement said = answer("dcqcn-rate-ai,rate=3Gbps");
  ASSERT_EQ(said.conclusion, finding::Conclusion::kFindings);
  EXPECT_EQ(said.findings.front().id, "dcqcn.too_aggressive");
}

TEST_F(Rehearsed, ALoadThatDoesNotFitTheFabricIsAnError) {
  COVERS("D3");
  EXPECT_TRUE(Rehearsal(design_, intent_, load_).check().has_value());
  load_.workloads.front().to = "gpu9";
  const Status fits = Rehearsal(design_, intent_, load_).check();
  ASSERT_FALSE(fits.has_value());
  EXPECT_NE(fits.error().what.find("gpu9"), std::string::npos) << fits.error().what;
}

TEST_F(Rehearsed, WhatIsKnownStaysFirst) {
  COVERS("D3");
  const finding::Judgement said = answer("np-off,at=gpu1");
  ASSERT_FALSE(said.findings.empty());
  EXPECT_EQ(said.findings.front().id, "np.disabled");
}

TEST_F(Rehearsed, AnotherLoadThanToldIsNotCalledHealthy) {
  COVERS("D3");
  const std::vector<evidence::Evidence> pieces = observed("");
  load_.workloads = {*sim::parse_workload("incast,to=gpu1,senders=4,size=150KB")};
  diagnose::Case subject;
  subject.evidence = pieces;
  subject.intent = &intent_;
  finding::Judgement said = diagnose::diagnose(subject);
  ASSERT_EQ(said.conclusion, finding::Conclusion::kHealthy);
  said = Rehearsal(design_, intent_, load_).judge(subject, std::move(said));
  ASSERT_EQ(said.conclusion, finding::Conclusion::kInconclusive);
  ASSERT_FALSE(said.unknown.empty());
  EXPECT_NE(said.unknown.back().reason.find("looks very different"), std::string::npos);
}

TEST_F(Rehearsed, AGuessAtUnseenSwitchesIsTakenBackWhereAllIsOrdinary) {
  COVERS("D3");
  std::vector<evidence::Evidence> pieces = observed("");
  pieces.pop_back();  // the switches
  diagnose::Case subject;
  subject.evidence = pieces;
  subject.intent = &intent_;
  finding::Judgement guessed;
  guessed.conclusion = finding::Conclusion::kFindings;
  guessed.findings.push_back(finding::make_finding("buffer.too_small", "Hosts were paused.", {}));
  guessed.findings.back().confidence = finding::Confidence::kLow;
  const finding::Judgement said = Rehearsal(design_, intent_, load_).judge(subject, guessed);
  EXPECT_TRUE(said.findings.empty());
  EXPECT_EQ(said.conclusion, finding::Conclusion::kInconclusive);
}

// ---- chances ----

constexpr std::string_view kTwoTiers = R"(weir: 1
name: paths
hosts:
  gpu: { names: 'gpu[1-8]', nic: connectx6dx, stack: ofed, rails: 1 }
switches:
  leaf: { names: 'leaf[1-2]', system: sonic, asic: spectrum3, tier: 1 }
  spine: { names: 'spine[1-2]', system: sonic, asic: spectrum3, tier: 2 }
links:
  - { from: gpu, to: leaf, wiring: block, speed: 25G, cable: dac, length: 3m }
  - { from: leaf, to: spine, wiring: mesh, count: 2, speed: 25G, cable: fibre, length: 20m }
)";

class Chosen : public ::testing::Test {
 protected:
  void SetUp() override {
    design_ = design::load_text(std::string(kTwoTiers), "test").design;
    intent_ = design::derive(design_).intent;
  }

  struct Played {
    LinkLoads loads;
    std::vector<std::int64_t> bytes;
  };
  Played play(std::uint64_t luck, std::vector<std::uint16_t> ports = {}) {
    sim::Experiment experiment;
    experiment.design = &design_;
    experiment.intent = intent_;
    experiment.workloads = workloads_;
    experiment.luck = luck;
    experiment.source_ports = std::move(ports);
    const auto run = sim::simulate(experiment);
    EXPECT_TRUE(run.has_value());
    Played out;
    out.bytes.assign(run->sim->network().qps.size(), 0);
    for (const sim::MessageRecord& message : run->sim->messages())
      out.bytes[message.qp] += message.size;
    const std::vector<evidence::Evidence> pieces = {run->results.switches};
    diagnose::Case seen;
    seen.evidence = pieces;
    seen.intent = &intent_;
    out.loads = link_loads(diagnose::View(seen));
    return out;
  }
  sim::Fabric fabric(std::uint64_t luck) {
    auto out = sim::build_network(design_, intent_, {1, luck});
    EXPECT_TRUE(out.has_value() && sim::Workloads::add(*out, workloads_).has_value());
    return std::move(*out);
  }
  /// Root of the mean square, as a share.
  static double off(const LinkLoads& one, const LinkLoads& other) {
    double error = 0;
    double all = 0;
    for (std::size_t i = 0; i < one.size(); ++i) {
      if (!one[i]) continue;
      error += (*one[i] - *other[i]) * (*one[i] - *other[i]);
      all += *one[i] * *one[i];
    }
    return std::sqrt(error / all);
  }

  design::Design design_;
  design::Intent intent_;
  std::vector<sim::WorkloadSpec> workloads_ = {
      *sim::parse_workload("all-to-all,size=20KB"),
      *sim::parse_workload("incast,to=gpu1,senders=6,size=400KB")};
};

TEST_F(Chosen, PortsLeadALoadOverTheLinksThatCarriedIt) {
  COVERS("D3");
  const Played observed = play(1);
  ASSERT_FALSE(observed.loads.empty());
  constexpr std::uint64_t kOther = 2;
  EXPECT_GT(off(observed.loads, play(kOther).loads), 0.2) << "chance alone";
  const Ports ports = ports_for(fabric(kOther).network, observed.bytes, observed.loads, kOther);
  EXPECT_LT(ports.off, 0.06);
  // The simulator has the last word.
  EXPECT_LT(off(observed.loads, play(kOther, ports.of_qps).loads), 0.08);
}

TEST_F(Chosen, WhereNothingHashesNoPathIsChosen) {
  COVERS("D3");
  for (design::SwitchIntent& one : intent_.switches)
    one.load_balancing = design::LoadBalancing::kSpray;
  EXPECT_TRUE(play(1).loads.empty());
}

TEST_F(Chosen, NicsSendAndReceiveWhatIsPosted) {
  COVERS("D3");
  workloads_ = {*sim::parse_workload("flows,sizes=64KB,load=40%,duration=100us")};
  const sim::Fabric drawn = fabric(3);
  const NicLoads posted = posted_loads(drawn);
  ASSERT_EQ(posted.size(), 8U);
  double sent = 0;
  double received = 0;
  for (const auto& nic : posted) {
    sent += nic->sent;
    received += nic->received;
  }
  EXPECT_DOUBLE_EQ(sent, static_cast<double>(drawn.network.messages.size()) * 64'000);
  EXPECT_DOUBLE_EQ(received, sent);
  EXPECT_DOUBLE_EQ(difference(posted, posted), 0);
  NicLoads twice = posted;
  twice[0]->sent = 2 * (posted[0]->sent + 20'000) - 20'000;  // with what counts as nothing
  EXPECT_NEAR(difference(twice, posted), std::log(2) * std::log(2), 1e-9);
}

TEST(RehearsalGuesses, AFindingGivesItsFaultInTheSizesItMayHave) {
  COVERS("D3");
  const design::Loaded loaded = design::load_text(std::string(kDesign), "test");
  const design::Derived derived = design::derive(loaded.design);
  finding::Finding finding;
  finding.id = "receiver.slow";
  finding.where.host = "gpu2";
  const auto sizes = faults_behind(finding, derived.intent);
  ASSERT_EQ(sizes.size(), 5U);
  for (const std::string& fault : sizes)
    EXPECT_TRUE(sim::parse_fault(fault).has_value()) << fault;
  EXPECT_EQ(sizes.front(), "slow-receiver,at=gpu2,rate=6250Mbps");
  finding.id = "link.flapping";
  EXPECT_TRUE(faults_behind(finding, derived.intent).empty());
}

}  // namespace
}  // namespace weir::lab
