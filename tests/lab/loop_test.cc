// The loop closed in a lab: set up as designed, load, healthy; break it; the diagnosis names the
// fault, its place and what to do; do that, at the place it named; healthy again.
//
// Two fabrics: pod16 as it is delivered, whose buffers swallow most mistakes, and one with small
// buffers and thin uplinks.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "../tight_fabric.h"
#include "base/testing.h"
#include "diagnose/core/diagnose.h"
#include "diagnose/validate/validate.h"
#include "finding/catalog.h"
#include "host/change/apply.h"
#include "lab/fabric/test_labs.h"

namespace weir::lab {
namespace {

std::vector<std::string> fabrics() {
  return {pod16(), std::string(test::kTightFabric)};
}

// ---- the verbs of a person at the lab ----

/// weir apply: one host.
void apply_to(const Lab& lab, const std::string& name) {
  const auto& hosts = lab.intent().hosts;
  const auto wanted = std::find_if(hosts.begin(), hosts.end(), [&](const design::HostIntent& host) {
    return host.name == name;
  });
  ASSERT_NE(wanted, hosts.end()) << name;
  const auto io = must(lab.host(name));
  const host::HostPlan plan = host::plan_host(must(io->observe()), *wanted, lab.intent());
  EXPECT_TRUE(plan.left.empty()) << name << ": " << plan.left.front().reason;
  EXPECT_TRUE(host::apply_plan(*io, plan).is_done()) << name;
}

void apply_everywhere(Lab& lab) {
  must(lab.begin());
  for (const std::string& name : lab.host_names())
    apply_to(lab, name);
  must(lab.commit());
}

/// A lab as `weir lab up` and `weir apply` leave it.
Lab applied_lab(const TemporaryDirectory& place, const std::string& design) {
  Lab lab = make_lab(place, design);
  apply_everywhere(lab);
  return lab;
}

void load(Lab& lab, const std::string& workload) {
  Load what;
  what.command = workload;
  what.workloads.push_back(must(sim::parse_workload(workload)));
  what.limit = 8_ms;
  (void)must(lab.run_load(what));
}

/// weir diagnose --lab: the last load.
finding::Judgement diagnosis(const Lab& lab) {
  const auto evidence = must(lab.observe_last_run());
  return diagnose::diagnose({evidence, &lab.intent(), {}});
}

std::string said(const finding::Judgement& judgement) {
  return judgement.conclusion == finding::Conclusion::kFindings
             ? judgement.findings.front().id
             : std::string(finding::to_text(judgement.conclusion));
}

void expect_healthy(const Lab& lab, std::string_view when) {
  const finding::Judgement judgement = diagnosis(lab);
  EXPECT_EQ(said(judgement), "healthy")
      << when << ": " << (judgement.findings.empty() ? "" : judgement.findings.front().verdict);
  EXPECT_TRUE(judgement.unknown.empty()) << when << ": " << judgement.unknown.front().check;
  const finding::Judgement valid = diagnose::validate(must(lab.observe_last_run()), lab.intent());
  EXPECT_EQ(said(valid), "healthy") << when << ", validated";
}

// ---- healthy ----

/// One of every kind, the trace from `place`.
std::vector<std::string> every_workload(const TemporaryDirectory& place) {
  const std::string trace = place.file("trace.csv");
  must(write_file_atomic(trace,
                         "start_us,source,target,bytes\n0,gpu02,gpu01,2000000\n"
                         "10,gpu03,gpu01,2000000\n20,gpu05,gpu09,4000000\n"));
  const std::string jobs = std::string(WEIR_TEST_DATA) + "/../golden/sim-jobs/";
  return {
      "pair,size=16MB,from=gpu05,to=gpu01",
      "incast,to=gpu01,size=2MB,qps=2",
      "permutation,size=4MB,qps=4",
      "all-to-all,size=500KB,qps=2",
      "all-reduce,size=8MB,qps=2",
      "all-reduce,algo=tree,size=8MB",
      "all-gather,size=4MB",
      "reduce-scatter,size=4MB",
      "training,collective=all-to-all,size=300KB,compute=50us,steps=2,qps=2",
      "flows,load=60%,duration=1ms,sizes=1MB",
      "flows,load=90%,duration=2ms",
      "storage",
      "lossy",
      "trace,file=" + trace,
      "model,layers=2,hidden=512,seq=512,tp=1,pp=2,microbatches=2,flops=200T,hosts=gpu[01-04]",
      "chakra,hosts=gpu[01-02],file=" + jobs + "pair",
      "simai,hosts=gpu[01-16],file=" + jobs + "two_hosts.simai.txt",
      "nccl-tests,hosts=gpu[01-16],file=" + jobs + "list.nccl",
  };
}

TEST(Loop, AHealthyLabIsHealthyUnderEveryWorkload) {
  COVERS("G8", "I8");
  std::set<sim::WorkloadKind> seen;
  for (const std::string& design : fabrics()) {
    const TemporaryDirectory place;
    Lab lab = applied_lab(place, design);
    for (const std::string& workload : every_workload(place)) {
      const bool is_of_16 = workload.find("gpu[01-16]") != std::string::npos;
      if (is_of_16 && lab.intent().hosts.size() < 16) continue;
      SCOPED_TRACE(fmt::format("{} under {}", *lab.design().name, workload));
      load(lab, workload);
      expect_healthy(lab, "as designed");
      seen.insert(lab::must(sim::parse_workload(workload)).kind);
    }
  }
  EXPECT_EQ(seen.size(), sim::workload_table().size());
}

// ---- broken and repaired ----

/// What its fix is in the lab.
enum class Repair : std::uint8_t {
  kApply,         // settings of a host: weir apply
  kConfigure,     // settings of a switch: weir lab switch NAME set config designed
  kConfigureAll,  // the same on each
  kBoth,          // of all hosts and switches
  kReplace,       // a part: weir lab fault clear
};

struct Break {
  std::string_view row;  // of the mission
  std::string fault;
  std::string_view id;
  std::string_view place;  // host or switch; empty: everywhere
  Repair repair;
};

// gpu01 receives, gpu05 sends.
constexpr std::string_view kLoad = "incast,to=gpu01,size=2MB,qps=2";

const std::vector<Break>& breaks() {
  static const std::vector<Break> all = {
      {"I1", "slow-receiver,at=gpu01", "receiver.slow", "gpu01", Repair::kReplace},
      {"I1", "nic-pause-storm,at=gpu01,from=20us", "pfc.storm", "gpu01", Repair::kReplace},
      {"I2", "ecn-too-low", "ecn.thresholds_too_low", "", Repair::kConfigure},
      {"I2", "ecn-too-low,at=leaf1", "ecn.thresholds_too_low", "leaf1", Repair::kConfigure},
      {"I2", "dcqcn-alpha-period", "dcqcn.too_conservative", "", Repair::kApply},
      {"I3", "headroom-too-small", "headroom.too_small", "", Repair::kConfigure},
      {"I3", "headroom-too-small,at=leaf1,share=50%", "headroom.too_small", "leaf1",
       Repair::kConfigure},
      {"I8", "pool-too-small", "buffer.too_small", "", Repair::kConfigure},
      {"I11", "np-off,at=gpu01", "np.disabled", "gpu01", Repair::kApply},
      {"I12", "rp-off,at=gpu05", "rp.disabled", "gpu05", Repair::kApply},
      {"I14", "wrong-trust,at=gpu05", "trust.not_dscp", "gpu05", Repair::kApply},
      {"I14", "wrong-dscp,at=gpu05", "dscp.unmarked", "gpu05", Repair::kApply},
      {"I14", "wrong-tc,at=gpu05", "dscp.tos_confusion", "gpu05", Repair::kApply},
      {"I14", "wrong-nic-map,at=gpu05", "dscp.nic_map_wrong", "gpu05", Repair::kApply},
      {"I14", "switch-wrong-map,at=leaf1", "dscp.unmapped_hop", "leaf1", Repair::kConfigure},
      {"I15", "wrong-pfc-priority,at=gpu05", "pfc.wrong_priority", "gpu05", Repair::kApply},
      {"I16", "wrong-mtu,at=gpu01", "mtu.mismatch", "gpu01", Repair::kApply},
      {"I22", "ecn-too-high", "ecn.thresholds_too_high", "", Repair::kConfigure},
      {"I25", "pfc-too-wide", "pfc.multiple_priorities", "", Repair::kBoth},
  };
  return all;
}

void expect_advice(const finding::Judgement& judgement) {
  for (const finding::Finding& finding : judgement.findings) {
    const auto fixes = finding::fixes_of(finding);
    EXPECT_TRUE(std::any_of(fixes.begin(), fixes.end(),
                            [](const finding::Fix& fix) { return !fix.commands.empty(); }))
        << finding.id << " says nothing to type";
  }
}

void configure(Lab& lab, const std::string& name) {
  for (const design::SwitchIntent& switch_intent : lab.intent().switches)
    if (name.empty() || switch_intent.name == name)
      must(lab.set_factory(switch_intent.name, false));
}

/// At the place that the finding names and nowhere else: a wrong place repairs nothing.
void repair(Lab& lab, const Break& broken, const finding::Where& where) {
  switch (broken.repair) {
    case Repair::kApply: {
      EXPECT_TRUE(where.switch_name.empty()) << finding::to_text(where);
      return where.host.empty() ? apply_everywhere(lab) : apply_to(lab, where.host);
    }
    case Repair::kConfigure: return configure(lab, where.switch_name);
    case Repair::kConfigureAll: return configure(lab, "");
    case Repair::kBoth: apply_everywhere(lab); return configure(lab, "");
    case Repair::kReplace: {
      EXPECT_EQ(where.host, broken.place);
      EXPECT_EQ(must(lab.clear_fault(broken.fault)), 1U);
    }
  }
}

void break_and_repair(const std::string& design, const Break& broken, const std::string& workload) {
  const TemporaryDirectory place;
  Lab lab = applied_lab(place, design);
  SCOPED_TRACE(fmt::format("{} {} on {}", broken.row, broken.fault, *lab.design().name));
  load(lab, workload);
  expect_healthy(lab, "before");

  must(lab.add_fault(broken.fault));
  load(lab, workload);
  const finding::Judgement judgement = diagnosis(lab);
  EXPECT_EQ(said(judgement), broken.id);
  if (judgement.findings.empty()) return;
  const finding::Where& where = judgement.findings.front().where;
  EXPECT_TRUE(where.host == broken.place || where.switch_name == broken.place)
      << finding::to_text(where);
  expect_advice(judgement);

  for (const finding::Finding& finding : judgement.findings)
    if (finding.id == broken.id) repair(lab, broken, finding.where);
  EXPECT_TRUE(lab.faults().empty()) << "the fix leaves the fault";
  load(lab, workload);
  expect_healthy(lab, "after");
}

TEST(Loop, EveryFaultIsNamedPlacedAndRepairedByItsFix) {
  COVERS("I1", "I2", "I3", "I8", "I11", "I12", "I14", "I15", "I16", "I22", "I25", "G9");
  for (const std::string& design : fabrics())
    for (const Break& broken : breaks())
      break_and_repair(design, broken, std::string(kLoad));
}

// pod16 has an uplink for every host: nothing collides there.
TEST(Loop, SwitchesThatHashAlikeAreNamedAndRepairedByTheirFix) {
  COVERS("I4", "G9");
  break_and_repair(std::string(test::kTightFabric),
                   {"I4", "same-hash-seed", "ecmp.same_seed", "", Repair::kConfigureAll},
                   std::string(kLoad));
}

}  // namespace
}  // namespace weir::lab
