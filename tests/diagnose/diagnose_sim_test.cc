// Simulated runs, diagnosed: every fault of the first twelve rows under every load and several
// seeds is named first and placed right, and a healthy fabric is called healthy whatever runs on
// it.
//
// Two fabrics: pod16 as it is delivered, whose buffers swallow most mistakes, so that the settings
// decide; and one with small buffers and thin uplinks, where the counters alone must show what the
// settings are not allowed to tell.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "../tight_fabric.h"
#include "base/testing.h"
#include "design/file/load.h"
#include "diagnose/core/diagnose.h"
#include "diagnose/validate/validate.h"
#include "finding/catalog.h"
#include "sim/results/simulate.h"

namespace weir::diagnose {
namespace {

struct Fabric {
  design::Design design;
  design::Intent intent;
};

Fabric fabric_of(design::Loaded loaded) {
  EXPECT_TRUE(loaded.is_good()) << design::to_text(loaded);
  design::Derived derived = design::derive(loaded.design);
  EXPECT_TRUE(derived.errors.empty());
  return {std::move(loaded.design), std::move(derived.intent)};
}

const Fabric& pod16() {
  static const Fabric fabric = fabric_of(design::load_file(WEIR_DESIGNS "/pod16.yaml").value());
  return fabric;
}

const Fabric& tight() {
  static const Fabric fabric = fabric_of(design::load_text(test::kTightFabric, "tight"));
  return fabric;
}

// gpu01 receives in every load, gpu05 sends in every load.
constexpr std::string_view kLoads[] = {
    "incast,to=gpu01,size=2MB,qps=2",
    "permutation,size=4MB,qps=4",
    "all-to-all,size=500KB,qps=2",
    "all-reduce,size=8MB,qps=2",
    "training,collective=all-to-all,size=300KB,compute=50us,steps=2,qps=2",
    "flows,load=60%,duration=1ms,sizes=1MB",
};

constexpr std::string_view kMoreLoads[] = {
    "all-reduce,algo=tree,size=8MB",
    "all-gather,size=4MB",
    "reduce-scatter,size=4MB",
    "pair,size=16MB,from=gpu05,to=gpu01",
    "storage",
    "lossy",
    "flows,load=90%,duration=2ms",
};

constexpr std::uint64_t kSeeds = 2;

sim::Outcome simulate(const Fabric& fabric, std::string_view load, std::string_view fault,
                      std::uint64_t seed) {
  sim::Experiment experiment;
  experiment.design = &fabric.design;
  experiment.intent = fabric.intent;
  experiment.limit = 8_ms;
  experiment.seed = seed;
  experiment.workloads.push_back(sim::parse_workload(load).value());
  if (!fault.empty()) experiment.faults.push_back(sim::parse_fault(fault).value());
  auto outcome = sim::simulate(experiment);
  EXPECT_TRUE(outcome.has_value()) << (outcome ? "" : outcome.error().what);
  return std::move(*outcome);
}

std::vector<evidence::Evidence> simulated(const Fabric& fabric, std::string_view load,
                                          std::string_view fault, std::uint64_t seed) {
  sim::Outcome outcome = simulate(fabric, load, fault, seed);
  std::vector<evidence::Evidence> evidence = std::move(outcome.results.hosts);
  evidence.push_back(std::move(outcome.results.switches));
  return evidence;
}

/// Counters and nothing else.
std::vector<evidence::Evidence> without_facts(std::vector<evidence::Evidence> evidence) {
  for (evidence::Evidence& item : evidence) {
    item.nics.clear();
    item.switches.clear();
  }
  return evidence;
}

std::string said(const finding::Judgement& judgement) {
  return judgement.conclusion == finding::Conclusion::kFindings
             ? judgement.findings.front().id
             : std::string(finding::to_text(judgement.conclusion));
}

struct Expected {
  std::string_view fault;
  std::vector<std::string_view> ids;  // the first is said with settings, any with counters alone
  std::string_view place;             // host or switch; empty: everywhere
};

const std::vector<Expected>& faults() {
  static const std::vector<Expected> all = {
      {"slow-receiver,at=gpu01", {"receiver.slow"}, "gpu01"},
      {"nic-pause-storm,at=gpu01,from=20us", {"pfc.storm"}, "gpu01"},
      {"ecn-too-low", {"ecn.thresholds_too_low"}, ""},
      {"ecn-too-low,at=leaf1", {"ecn.thresholds_too_low"}, "leaf1"},
      {"dcqcn-alpha-period", {"dcqcn.too_conservative"}, ""},
      {"headroom-too-small", {"headroom.too_small"}, ""},
      {"headroom-too-small,at=leaf1,share=50%", {"headroom.too_small"}, "leaf1"},
      {"pool-too-small", {"buffer.too_small"}, ""},
      {"np-off,at=gpu01", {"np.disabled"}, "gpu01"},
      {"rp-off,at=gpu05", {"rp.disabled"}, "gpu05"},
      {"wrong-trust,at=gpu05", {"trust.not_dscp"}, "gpu05"},
      {"wrong-dscp,at=gpu05", {"dscp.unmarked"}, "gpu05"},
      {"wrong-tc,at=gpu05", {"dscp.tos_confusion", "dscp.unmarked"}, "gpu05"},
      {"wrong-nic-map,at=gpu05", {"dscp.nic_map_wrong", "trust.not_dscp"}, "gpu05"},
      {"switch-wrong-map,at=leaf1", {"dscp.unmapped_hop"}, "leaf1"},
      {"wrong-pfc-priority,at=gpu05", {"pfc.wrong_priority"}, "gpu05"},
      {"wrong-mtu,at=gpu01", {"mtu.mismatch"}, "gpu01"},
      {"ecn-too-high", {"ecn.thresholds_too_high"}, ""},
      {"pfc-too-wide", {"pfc.multiple_priorities"}, ""},
  };
  return all;
}

bool is_placed(const Expected& expected, const finding::Where& where) {
  return expected.place.empty() || where.host == expected.place ||
         where.switch_name == expected.place;
}

TEST(DiagnoseSimulation, AHealthyFabricIsHealthyUnderEveryLoad) {
  COVERS("I8", "G8");
  std::vector<std::string_view> loads(std::begin(kLoads), std::end(kLoads));
  loads.insert(loads.end(), std::begin(kMoreLoads), std::end(kMoreLoads));
  for (const Fabric* fabric : {&pod16(), &tight()}) {
    for (const std::string_view load : loads) {
      for (std::uint64_t seed = 1; seed <= 3 * kSeeds; ++seed) {
        SCOPED_TRACE(fmt::format("{} {} seed {}", *fabric->design.name, load, seed));
        const auto evidence = simulated(*fabric, load, "", seed);
        const finding::Judgement judgement = diagnose({evidence, &fabric->intent, {}});
        EXPECT_EQ(said(judgement), "healthy");
        EXPECT_TRUE(judgement.unknown.empty());
        EXPECT_EQ(said(diagnose({evidence, nullptr, {}})), "healthy") << "without the design";
        EXPECT_EQ(validate(evidence, fabric->intent).conclusion, finding::Conclusion::kHealthy);
      }
    }
  }
}

TEST(DiagnoseSimulation, EveryFaultIsNamedFirstAndPlacedUnderEveryLoad) {
  COVERS("I1", "I2", "I3", "I8", "I10", "I11", "I12", "I14", "I15", "I16", "I22", "I25");
  for (const Fabric* fabric : {&pod16(), &tight()}) {
    for (const Expected& expected : faults()) {
      for (const std::string_view load : kLoads) {
        for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
          SCOPED_TRACE(fmt::format("{} {} under {} seed {}", *fabric->design.name, expected.fault,
                                   load, seed));
          const auto evidence = simulated(*fabric, load, expected.fault, seed);
          const finding::Judgement judgement = diagnose({evidence, &fabric->intent, {}});
          EXPECT_EQ(said(judgement), expected.ids.front());
          if (judgement.findings.empty()) continue;
          const finding::Finding& first = judgement.findings.front();
          EXPECT_TRUE(is_placed(expected, first.where)) << finding::to_text(first.where);
          EXPECT_FALSE(finding::fixes_of(first).empty());
          EXPECT_FALSE(first.evidence.empty());
        }
      }
    }
  }
}

/// With counters alone a fault that moved none of them cannot be seen; what is said must be right,
/// and must be said often enough.
TEST(DiagnoseSimulation, CountersAloneNeverAccuseTheWrongOne) {
  COVERS("I1", "I2", "I3", "I8", "I11", "I12", "I14", "I15", "I16", "I22", "I25");
  const Fabric& fabric = tight();
  std::size_t runs = 0;
  std::size_t right = 0;
  for (const Expected& expected : faults()) {
    if (expected.fault == "dcqcn-alpha-period") continue;  // nothing but the setting tells
    for (const std::string_view load : kLoads) {
      for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        const auto evidence = without_facts(simulated(fabric, load, expected.fault, seed));
        const finding::Judgement judgement = diagnose({evidence, &fabric.intent, {}});
        ++runs;
        if (judgement.conclusion != finding::Conclusion::kFindings) continue;
        const finding::Finding& first = judgement.findings.front();
        const bool is_right =
            std::find(expected.ids.begin(), expected.ids.end(), first.id) != expected.ids.end() &&
            is_placed(expected, first.where);
        if (is_right) ++right;
        const bool is_confident = first.confidence >= finding::Confidence::kHigh;
        EXPECT_TRUE(is_right || !is_confident)
            << expected.fault << " under " << load << " seed " << seed << ": " << first.verdict;
      }
    }
  }
  EXPECT_GE(right * 100, runs * 80) << right << " of " << runs;
  RecordProperty("right", static_cast<int>(right));
  RecordProperty("runs", static_cast<int>(runs));
}

TEST(DiagnoseSimulation, SwitchesThatHashAlikeAreNamedByTheirSeedsOrByTheirFullLinks) {
  COVERS("I4", "I7");
  const Fabric& fabric = tight();
  std::size_t by_links = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    auto evidence = simulated(fabric, "incast,to=gpu01,size=2MB,qps=2", "same-hash-seed", seed);
    EXPECT_EQ(said(diagnose({evidence, &fabric.intent, {}})), "ecmp.same_seed") << seed;
    for (evidence::Evidence& item : evidence)
      for (evidence::Switch& device : item.switches)
        device.ecmp_seed = {};
    const finding::Judgement judgement = diagnose({evidence, &fabric.intent, {}});
    if (said(judgement) != "ecmp.polarised") continue;
    ++by_links;
    EXPECT_FALSE(judgement.findings.front().evidence.empty());
  }
  EXPECT_GE(by_links, 8U);
}

/// Three leaves of four hosts; leaf3 has a quarter of the others' way up.
constexpr std::string_view kThinLeaf = R"(
weir: 1
name: thin
hosts:
  gpu: { names: "gpu[01-08]", nic: connectx6dx, stack: ofed }
  far: { names: "far[1-4]", nic: connectx6dx, stack: ofed }
switches:
  leaf: { names: "leaf[1-2]", system: cumulus, asic: spectrum3, tier: 1 }
  thin: { names: "leaf3", system: cumulus, asic: spectrum3, tier: 1 }
  spine: { names: "spine[1-2]", system: cumulus, asic: spectrum3, tier: 2 }
links:
  - { from: gpu, to: leaf, wiring: block, speed: 100G, cable: dac, length: 3m }
  - { from: far, to: thin, wiring: block, speed: 100G, cable: dac, length: 3m }
  - { from: leaf, to: spine, wiring: mesh, count: 2, speed: 100G, cable: aoc, length: 30m }
  - { from: thin, to: spine, wiring: mesh, count: 1, speed: 50G, cable: aoc, length: 30m }
classes:
  rdma: { dscp: [26, 24-31], priority: 3, lossless: on, minimum: 50% }
  cnp: { dscp: [48, 49-55], priority: 6, scheduling: strict }
  management: { dscp: 16-23, priority: 2, minimum: 5% }
  best_effort: { priority: 0, minimum: 10% }
)";

TEST(DiagnoseSimulation, ALeafWithLessWayUpIsNamedAndItsTailsAreLongAcrossLeavesOnly) {
  COVERS("I26");
  const Fabric fabric = fabric_of(design::load_text(kThinLeaf, "thin"));
  const auto p99_us = [&](std::string_view hosts) {
    const auto outcome =
        simulate(fabric, fmt::format("all-to-all,size=500KB,hosts={}", hosts), "", 1);
    return static_cast<double>(outcome.workloads.front().completion.p99.raw()) / 1e6;
  };
  const double across = p99_us("gpu[01-08]");
  EXPECT_GT(p99_us("gpu[01-04]+far[1-4]"), 2 * across) << "two leaves each, one of them thin";
  EXPECT_NEAR(p99_us("far[1-4]") / p99_us("gpu[01-04]"), 1.0, 0.1) << "inside a leaf all is well";

  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const auto evidence = simulated(fabric, "all-to-all,size=500KB", "", seed);
    for (const bool has_design : {true, false}) {
      const finding::Judgement judgement =
          diagnose({evidence, has_design ? &fabric.intent : nullptr, {}});
      EXPECT_EQ(said(judgement), "leaf.uplink_bottleneck") << seed;
      if (judgement.findings.empty()) continue;
      EXPECT_EQ(judgement.findings.front().where.switch_name, "leaf3");
    }
  }
}

TEST(DiagnoseSimulation, ALineHalfEmptyWithoutErrorsIsPutDownToDcqcn) {
  COVERS("I10");
  constexpr std::string_view kLoad = "incast,to=gpu01,senders=2,size=16MB";
  constexpr double kLine = 100e9;
  const Fabric& fabric = pod16();
  const auto use = [&](const sim::Outcome& outcome) {
    const sim::WorkloadResult& load = outcome.workloads.front();
    const double seconds = static_cast<double>(load.completion.max.raw()) / 1e12;
    return static_cast<double>(load.bytes.raw()) * 8 / seconds / kLine;
  };
  EXPECT_GT(use(simulate(fabric, kLoad, "", 1)), 0.8);
  sim::Outcome slow = simulate(fabric, kLoad, "dcqcn-alpha-period,period=50ms", 1);
  EXPECT_LT(use(slow), 0.6);
  EXPECT_EQ(slow.results.totals.lossless_drops, 0U);
  EXPECT_EQ(slow.results.totals.pauses, 0U);

  std::vector<evidence::Evidence> evidence = std::move(slow.results.hosts);
  evidence.push_back(std::move(slow.results.switches));
  const finding::Judgement judgement = diagnose({evidence, &fabric.intent, {}});
  ASSERT_FALSE(judgement.findings.empty());
  const finding::Finding& first = judgement.findings.front();
  EXPECT_EQ(first.id, "dcqcn.too_conservative");
  EXPECT_EQ(first.confidence, finding::Confidence::kCertain);
  EXPECT_NE(first.verdict.find("dce_tcp_rtt"), std::string::npos) << first.verdict;
  // Counters alone give the same as a guess at most, and in a window this short as a note.
  const auto counted = without_facts(std::move(evidence));
  const finding::Judgement by_counters = diagnose({counted, &fabric.intent, {}});
  for (const finding::Finding& finding : by_counters.findings)
    EXPECT_EQ(finding.id, "dcqcn.too_conservative") << finding.verdict;
}

}  // namespace
}  // namespace weir::diagnose
