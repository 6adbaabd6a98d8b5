// Configurations of switches in a lab: they take effect in the simulator, and stay.
#include "base/testing.h"
#include "lab/fabric/lab.h"
#include "lab/fabric/test_labs.h"

namespace weir::lab {
namespace {

/// A switch that says of every port that nothing is paused.
evidence::Switch without_pfc(const Lab& lab, const std::string& name) {
  evidence::Switch out;
  out.name = name;
  for (const design::SwitchIntent& node : lab.intent().switches) {
    if (node.name != name) continue;
    for (const design::SwitchPortIntent& port : node.ports) {
      evidence::SwitchPort item;
      item.name = port.name;
      item.pfc = evidence::Fact<PrioritySet>::of(PrioritySet(), "leaf1.cfg:7");
      item.mtu = evidence::Fact<Bytes>::of(port.mtu, "leaf1.cfg:8");
      out.ports.push_back(item);
    }
  }
  return out;
}

bool pauses(const Lab& lab, std::string_view name) {
  const evidence::Evidence seen = must(lab.observe_switches());
  return seen.find_switch(name)->ports.front().pfc->count() > 0;
}

TEST(LabLoadsSwitches, AConfigurationTakesEffectAndOutlivesTheProcess) {
  COVERS("C7", "F1", "G8");
  const TemporaryDirectory place;
  {
    Lab lab = make_lab(place, pod16(), {.factory_hosts = false});
    EXPECT_TRUE(pauses(lab, "leaf1"));
    must(lab.load_switch(without_pfc(lab, "leaf1")));
  }
  Lab lab = must(Lab::open(place.file("lab")));
  EXPECT_FALSE(pauses(lab, "leaf1"));
  EXPECT_TRUE(pauses(lab, "leaf2"));
  EXPECT_EQ(must(lab.buffer_profile("leaf1")), "loaded");
  EXPECT_FALSE(lab.set_buffer_profile("leaf1", "vendor"));
  must(lab.set_factory("leaf1", false));
  EXPECT_TRUE(pauses(lab, "leaf1"));
}

TEST(LabLoadsSwitches, WhatIsNotPausedAnyMoreIsDropped) {
  COVERS("C7", "F1", "G8");
  const auto drops = [](bool with_pfc) {
    const TemporaryDirectory place;
    // A buffer that an incast fills.
    Lab lab = make_lab(place,
                       edited(pod16(), "    asic: spectrum3           # weir explain asics",
                              "    asic: spectrum3\n    buffer: 4MB"),
                       {.factory_hosts = false});
    if (!with_pfc) must(lab.load_switch(without_pfc(lab, "leaf1")));
    (void)run(lab, "gpu02", "incast to=gpu01 size=4MB hosts=gpu[01-08]");
    const evidence::Evidence seen = must(lab.observe_switches());
    std::uint64_t sum = 0;
    for (const counters::PortCounters& port : seen.snapshots.back().switch_ports) {
      const counters::Reading reading = port.read("switch.port.drop.packets");
      if (port.device() == "leaf1" && reading.has_value()) sum += reading.value();
    }
    return sum;
  };
  EXPECT_EQ(drops(true), 0U);
  EXPECT_GT(drops(false), 0U);
}

TEST(LabLoadsSwitches, ASwitchThatTheLabDoesNotHaveIsRefused) {
  COVERS("C7");
  const TemporaryDirectory place;
  Lab lab = make_lab(place, pod16());
  evidence::Switch unknown_switch;
  unknown_switch.name = "leaf9";
  EXPECT_FALSE(lab.load_switch(unknown_switch));
}

}  // namespace
}  // namespace weir::lab
