// Finding, fix, and the trouble is gone: every fault, played in a lab. What the diagnosis names is
// set as the fix says, by the operations that weir apply performs or the configuration that weir
// render writes, and the same load is then judged healthy. What no setting repairs (a cable, a
// slow PCIe, an application, a route) the lab repairs by taking the fault away, as whoever
// replaces the cable would.
#include <algorithm>

#include "base/testing.h"
#include "diagnose/core/diagnose.h"
#include "diagnose/core/join.h"
#include "finding/catalog.h"
#include "lab/fabric/test_labs.h"
#include "sim/fault/fault.h"

namespace weir::lab {
namespace {

finding::Judgement judged(const Lab& lab) {
  const std::vector<evidence::Evidence> seen = diagnose::join_windows(must(lab.observe_last_run()));
  diagnose::Case subject;
  subject.evidence = seen;
  subject.intent = &lab.intent();
  return diagnose::diagnose(subject);
}

using Repair = void (*)(Lab& lab, const std::string& name);

void perform(const Lab& lab, const std::string& name, const host::Change& change) {
  must(must(lab.host(name))->perform({"mlx5_0", change}));
}

PrioritySet rdma() {
  return PrioritySet::from_mask(8);
}

const design::NicIntent& wanted(const Lab& lab, const std::string& name) {
  for (const design::HostIntent& host : lab.intent().hosts)
    if (host.name == name) return host.nics.front();
  return lab.intent().hosts.front().nics.front();
}

void as_designed(Lab& lab, const std::string& name) {
  must(lab.set_factory(name, false));
}

void set_knob(const Lab& lab, const std::string& name, const std::string& knob) {
  perform(lab, name, host::SetKnob{knob, lab.intent().dcqcn.at(knob)});
}

/// Every switch: what two tiers share is wrong at both.
void all_as_designed(Lab& lab, const std::string&) {
  for (const design::SwitchIntent& device : lab.intent().switches)
    must(lab.set_factory(device.name, false));
}

void taken_away(Lab& lab, const std::string&) {
  (void)must(lab.clear_all_faults());
}

/// Four leaves under two spines: traffic can only go down and up again where there are others.
std::string four_leaves() {
  return edited(
      edited(edited(pod16(), "leaf[1-2]", "leaf[1-4]"), "names: spine1", "names: spine[1-2]"),
      "count: 8", "count: 2");
}

constexpr std::string_view kIncast = "incast to=gpu01 size=200KB hosts=gpu[01-06]";
constexpr std::string_view kMessages = "incast to=gpu01 size=60KB iterations=4 hosts=gpu[01-04]";
constexpr std::string_view kAcross = "all-to-all size=100KB hosts=gpu[01-16]";

struct Scene {
  std::string_view fault;
  std::string_view id;  // of the first finding
  std::string_view at;  // the host or switch that it names; empty = everywhere
  Repair repair;
  std::string_view load = kIncast;
  std::string (*design)() = pod16;
};

const Scene kScenes[] = {
    {"wrong-trust,at=gpu02", "trust.not_dscp", "gpu02",
     [](Lab& lab, const std::string& name) {
       perform(lab, name, host::SetTrust{evidence::TrustMode::kDscp});
       host::SetDscpMap map;
       const auto& want = wanted(lab, name).dscp_to_priority;
       std::copy(want.begin(), want.end(), map.priority.begin());
       perform(lab, name, map);
     }},
    {"wrong-tc,at=gpu02", "dscp.tos_confusion", "gpu02",
     [](Lab& lab, const std::string& name) {
       perform(lab, name, host::SetTrafficClass{wanted(lab, name).traffic_class});
     }},
    {"wrong-nic-map,at=gpu02", "dscp.nic_map_wrong", "gpu02",
     [](Lab& lab, const std::string& name) {
       host::SetDscpMap map;
       const auto& want = wanted(lab, name).dscp_to_priority;
       std::copy(want.begin(), want.end(), map.priority.begin());
       perform(lab, name, map);
     }},
    {"wrong-pfc-priority,at=gpu02", "pfc.wrong_priority", "gpu02",
     [](Lab& lab, const std::string& name) { perform(lab, name, host::SetPfc{rdma()}); }},
    {"wrong-mtu,at=gpu01", "mtu.mismatch", "gpu01",
     [](Lab& lab, const std::string& name) {
       perform(lab, name, host::SetMtu{wanted(lab, name).mtu});
     }},
    {"np-off,at=gpu01", "np.disabled", "gpu01",
     [](Lab& lab, const std::string& name) {
       perform(lab, name, host::SetEcn{rdma(), rdma()});
     }},
    {"rp-off,at=gpu02", "rp.disabled", "gpu02",
     [](Lab& lab, const std::string& name) {
       perform(lab, name, host::SetEcn{rdma(), rdma()});
     }},
    {"dcqcn-rate-ai,at=gpu02", "dcqcn.too_aggressive", "gpu02",
     [](Lab& lab, const std::string& name) { set_knob(lab, name, "rpg_ai_rate"); }},
    {"dcqcn-alpha-period,at=gpu02", "dcqcn.too_conservative", "gpu02",
     [](Lab& lab, const std::string& name) { set_knob(lab, name, "dce_tcp_rtt"); }},
    {"switch-wrong-map,at=leaf1", "dscp.unmapped_hop", "leaf1", as_designed},
    {"headroom-too-small,at=leaf1", "headroom.too_small", "leaf1", as_designed},
    {"pool-too-small,at=leaf1", "buffer.too_small", "leaf1", as_designed},
    {"ecn-too-low,at=leaf1", "ecn.thresholds_too_low", "leaf1", as_designed},
    {"ecn-too-high,at=leaf1", "ecn.thresholds_too_high", "leaf1", as_designed},
    {"wrong-dscp,at=gpu02", "dscp.unmarked", "gpu02",
     [](Lab& lab, const std::string& name) {
       perform(lab, name, host::SetTrafficClass{wanted(lab, name).traffic_class});
     }},
    {"pfc-too-wide,at=leaf1", "pfc.multiple_priorities", "",
     [](Lab& lab, const std::string&) {
       must(lab.set_factory("leaf1", false));
       for (const std::string& name : lab.host_names())
         perform(lab, name, host::SetPfc{rdma()});
     }},
    {"shared-queue,at=leaf1", "cnp.shares_rdma_priority", "leaf1", as_designed},
    {"same-hash-seed", "ecmp.same_seed", "", all_as_designed, kAcross},
    {"reordering,at=leaf1", "path.reordering", "leaf1", as_designed, kAcross},
    {"tcp-fallback,at=gpu02", "nccl.socket_fallback", "gpu02", taken_away, kAcross},
    {"few-receives,at=gpu01", "app.receives_too_few", "gpu01", taken_away, kMessages},
    {"slow-receiver,at=gpu01", "receiver.slow", "gpu01", taken_away},
    {"nic-pause-storm,at=gpu01", "pfc.storm", "gpu01", taken_away},
    {"degraded-link,at=gpu02", "link.physical_errors", "leaf1", taken_away},
    {"link-down,at=leaf1/swp9,from=5us", "link.flapping", "leaf1", taken_away, kAcross},
    {"switch-down,at=spine1,from=5us", "link.flapping", "", taken_away, kAcross, four_leaves},
    {"routing-loop,at=leaf1", "routing.loop", "leaf1", taken_away, kAcross},
    {"bounce-routing,at=leaf1", "routing.cyclic_buffer_dependency", "leaf1", taken_away, kAcross,
     four_leaves},
};

void play(const Scene& scene) {
  const TemporaryDirectory place;
  Lab lab = make_lab(place, scene.design(), {.factory_hosts = false});
  must(lab.add_fault(std::string(scene.fault)));
  (void)run(lab, "gpu02", scene.load);
  const finding::Judgement ill = judged(lab);
  ASSERT_EQ(ill.conclusion, finding::Conclusion::kFindings);
  EXPECT_EQ(ill.findings.front().id, scene.id) << ill.findings.front().verdict;
  EXPECT_FALSE(finding::fixes_of(ill.findings.front()).empty());
  const finding::Where& where = ill.findings.front().where;
  EXPECT_TRUE(scene.at.empty() || where.host == scene.at || where.switch_name == scene.at)
      << finding::to_text(where);

  scene.repair(lab, std::string(scene.at));
  const auto done = run(lab, "gpu02", scene.load);
  EXPECT_EQ(done.exit_status, 0) << done.output << done.errors;
  const finding::Judgement well = judged(lab);
  EXPECT_EQ(well.conclusion, finding::Conclusion::kHealthy)
      << (well.findings.empty() ? "" : well.findings.front().verdict);
  EXPECT_TRUE(lab.faults().empty()) << lab.faults().front().text;
}

TEST(Repairs, EachFindingNamesTheFaultAndItsFixEndsIt) {
  COVERS("I1", "I2", "I3", "I4", "I5", "I8", "I11", "I12", "I14", "I15", "I16", "I17", "I18", "I19",
         "I21", "I22", "I23", "I24", "I25", "G9");
  for (const Scene& scene : kScenes) {
    SCOPED_TRACE(scene.fault);
    play(scene);
  }
}

TEST(Repairs, NoFaultIsWithoutOneAndTheManualNamesEach) {
  COVERS("G9");
  const std::string manual =
      must(read_file(std::string(WEIR_TEST_DATA) + "/../../docs/diagnosis.md"));
  const std::string table = manual.substr(manual.find("<!-- proofs -->"));
  for (const sim::FaultType& type : sim::fault_types()) {
    const auto is_played = [&](const Scene& scene) {
      return scene.fault.substr(0, scene.fault.find(',')) == type.name;
    };
    EXPECT_EQ(std::count_if(std::begin(kScenes), std::end(kScenes), is_played), 1) << type.name;
    EXPECT_LT(table.find("`" + std::string(type.name) + "`"), table.find("<!-- end of proofs -->"))
        << type.name;
  }
}

}  // namespace
}  // namespace weir::lab
