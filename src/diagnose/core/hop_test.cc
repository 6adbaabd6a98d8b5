#include "diagnose/core/hop.h"

#include "base/testing.h"
#include "design/file/load.h"
#include "design/file/templates.h"

namespace weir::diagnose {
namespace {

using evidence::Fact;

struct Made {
  design::Design design;
  design::Intent intent;
};

Made pair() {
  const design::Loaded loaded =
      design::load_text(design::find_template("pair")->text, "fabric.yaml");
  EXPECT_TRUE(loaded.is_good());
  return {loaded.design, design::derive(loaded.design).intent};
}

/// What a reader of configurations would say of a switch that is as designed.
evidence::Switch as_designed(const design::SwitchIntent& wanted) {
  evidence::Switch out;
  out.name = wanted.name;
  std::array<std::optional<TrafficClass>, 64> map{};
  for (unsigned d = 0; d < 64; ++d)
    map.at(d) = TrafficClass::of(wanted.dscp_to_priority.at(d).value());
  out.dscp_to_tc = Fact<std::array<std::optional<TrafficClass>, 64>>::of(map);
  out.tc_to_queue = Fact<std::array<Queue, 8>>::of(wanted.priority_to_queue);
  out.pfc_to_queue = Fact<std::array<Queue, 8>>::of(wanted.priority_to_queue);
  out.tc_to_group = Fact<std::array<PriorityGroup, 8>>::of(wanted.priority_to_pg);
  for (const design::SwitchPortIntent& port : wanted.ports) {
    evidence::SwitchPort& known = out.ports.emplace_back();
    known.name = port.name;
    known.trust = Fact<evidence::TrustMode>::of(evidence::TrustMode::kBoth);
    known.pfc = Fact<PrioritySet>::of(wanted.pfc);
    evidence::GroupBuffer& group = known.groups.emplace_back();
    group.group = PriorityGroup::of(3);
    group.headroom = Fact<Bytes>::of(port.headroom);
    for (const unsigned q : {0U, 3U, 6U}) {
      evidence::EgressQueue& queue = known.queues.emplace_back();
      queue.queue = Queue::of(q);
      queue.ecn = Fact<bool>::of(q == 3);
      queue.scheduler = Fact<evidence::Scheduler>::of(q == 6 ? evidence::Scheduler::kStrict
                                                             : evidence::Scheduler::kWeighted);
      queue.weight = Fact<unsigned>::of(50);
    }
  }
  return out;
}

std::string first_break(const Made& made, const evidence::Switch& state) {
  const design::Hop hop = hop_of(state, made.intent.switches.front(), "leaf1.cfg");
  const design::Proof proof = design::prove(made.design, made.intent, {&hop, 1});
  for (const design::Chain& item : proof.chains) {
    if (item.proven == design::Proven::kUnknown) return "unknown: " + item.reason;
    if (item.proven == design::Proven::kBroken) return item.id;
  }
  return proof.holds() ? "holds" : "nothing";
}

TEST(Hop, AConfigurationIsJudgedByWhatItSays) {
  COVERS("A2", "C7");
  const Made made = pair();
  const evidence::Switch good = as_designed(made.intent.switches.front());
  EXPECT_EQ(first_break(made, good), "holds");

  evidence::Switch stock = good;  // SONiC's stock map: DSCP 26 in class 1
  auto map = *stock.dscp_to_tc;
  map.at(26) = TrafficClass::of(1);
  stock.dscp_to_tc = Fact<std::array<std::optional<TrafficClass>, 64>>::of(map);
  EXPECT_EQ(first_break(made, stock), "dscp.unmapped_hop");

  evidence::Switch no_headroom = good;
  no_headroom.ports[0].groups[0].headroom = Fact<Bytes>::of(Bytes());
  EXPECT_EQ(first_break(made, no_headroom), "headroom.too_small");

  evidence::Switch no_ecn = good;
  no_ecn.ports[1].queues[1].ecn = Fact<bool>::of(false);
  EXPECT_EQ(first_break(made, no_ecn), "ecn.off_on_lossless");

  evidence::Switch untrusting = good;
  untrusting.ports[0].trust = Fact<evidence::TrustMode>::of(evidence::TrustMode::kNone);
  EXPECT_EQ(first_break(made, untrusting), "trust.mixed");
}

TEST(Hop, WhatDcbxDecidesAndWhatWasNotReadIsUnknown) {
  COVERS("A2");
  const Made made = pair();
  const evidence::Switch good = as_designed(made.intent.switches.front());
  evidence::Switch negotiated = good;  // NX-OS mode auto
  negotiated.ports[0].pfc_negotiated = Fact<bool>::of(true);
  EXPECT_EQ(first_break(made, negotiated), "unknown: PFC of leaf1 swp1");
  negotiated.ports[0].pfc_active = Fact<PrioritySet>::of(PrioritySet());
  EXPECT_EQ(first_break(made, negotiated), "pfc.off");
  evidence::Switch portless = good;
  portless.ports.erase(portless.ports.begin());
  EXPECT_EQ(first_break(made, portless), "unknown: trust of leaf1 swp1");
}

}  // namespace
}  // namespace weir::diagnose
