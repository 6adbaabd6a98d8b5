// Finding, fix, and the trouble is gone: every fault that sits in a setting, played in a lab. What
// the diagnosis names is set as the fix says, by the operations that weir apply performs or the
// configuration that weir render writes, and the same load is then judged healthy.
#include "base/testing.h"
#include "diagnose/diagnose.h"
#include "diagnose/join.h"
#include "finding/catalog.h"
#include "lab/test_labs.h"

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

struct Scene {
  std::string_view fault;
  std::string_view id;  // of the first finding
  std::string_view at;  // the host or switch that it names
  Repair repair;
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
};

TEST(Repairs, EachFindingNamesTheFaultAndItsFixEndsIt) {
  COVERS("I2", "I3", "I8", "I11", "I12", "I14", "I15", "I16", "I21", "I22", "G9");
  constexpr std::string_view kLoad = "incast to=gpu01 size=200KB hosts=gpu[01-06]";
  for (const Scene& scene : kScenes) {
    SCOPED_TRACE(scene.fault);
    const TemporaryDirectory place;
    Lab lab = make_lab(place, pod16(), {.factory_hosts = false});
    must(lab.add_fault(std::string(scene.fault)));
    (void)run(lab, "gpu02", kLoad);
    const finding::Judgement ill = judged(lab);
    ASSERT_EQ(ill.conclusion, finding::Conclusion::kFindings);
    EXPECT_EQ(ill.findings.front().id, scene.id) << ill.findings.front().verdict;
    EXPECT_FALSE(finding::fixes_of(ill.findings.front()).empty());
    const finding::Where& where = ill.findings.front().where;
    EXPECT_TRUE(where.host == scene.at || where.switch_name == scene.at) << finding::to_text(where);

    scene.repair(lab, std::string(scene.at));
    const auto done = run(lab, "gpu02", kLoad);
    EXPECT_EQ(done.exit_status, 0) << done.output;
    const finding::Judgement well = judged(lab);
    EXPECT_EQ(well.conclusion, finding::Conclusion::kHealthy)
        << (well.findings.empty() ? "" : well.findings.front().verdict);
    EXPECT_TRUE(lab.faults().empty()) << lab.faults().front().text;
  }
}

}  // namespace
}  // namespace weir::lab
