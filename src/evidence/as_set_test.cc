#include "evidence/as_set.h"

#include "base/testing.h"
#include "design/file/load.h"
#include "design/file/templates.h"

namespace weir::evidence {
namespace {

design::SwitchIntent leaf() {
  const design::Loaded loaded = design::load_text(design::find_template("pod16")->text, "pod16");
  return design::derive(loaded.design).intent.switches.front();
}

TEST(AsSet, WhatNobodySaidStaysAsDesigned) {
  COVERS("C7");
  const design::SwitchIntent wanted = leaf();
  Switch silent;
  silent.name = wanted.name;
  const design::SwitchIntent out = as_set(wanted, silent);
  EXPECT_EQ(out.pfc, wanted.pfc);
  EXPECT_EQ(out.dscp_to_priority, wanted.dscp_to_priority);
  EXPECT_EQ(out.ports.front().headroom, wanted.ports.front().headroom);
  EXPECT_EQ(out.buffers.lossless_shared, wanted.buffers.lossless_shared);
}

TEST(AsSet, AClassThatPfcProtectsBearsThePriorityOfItsPauses) {
  COVERS("C7");
  // As NX-OS numbers them: class and queue 5, paused with CoS 3; class 3 is another, lossy one.
  Switch found;
  std::array<Queue, 8> queues{};
  std::array<Queue, 8> paused{};
  std::array<std::optional<TrafficClass>, 64> map{};
  map.fill(TrafficClass::of(0));
  map.at(26) = TrafficClass::of(5);
  map.at(48) = TrafficClass::of(3);
  for (unsigned i = 0; i < 8; ++i)
    queues.at(i) = paused.at(i) = Queue::of(i);
  paused.at(3) = Queue::of(5);
  found.tc_to_queue = Fact<std::array<Queue, 8>>::of(queues);
  found.pfc_to_queue = Fact<std::array<Queue, 8>>::of(paused);
  found.dscp_to_tc = Fact<std::array<std::optional<TrafficClass>, 64>>::of(map);
  SwitchPort port;
  port.name = "swp1";
  port.pfc = Fact<PrioritySet>::of(PrioritySet::from_mask(0b1000));
  found.ports.push_back(port);
  const auto number = priority_of_class(found);
  EXPECT_EQ(number.at(5).value(), 3U);
  EXPECT_NE(number.at(3).value(), 3U);
  const design::SwitchIntent out = as_set(leaf(), found);
  EXPECT_EQ(out.dscp_to_priority.at(26).value(), 3U);
  EXPECT_EQ(out.priority_to_queue.at(3).value(), 5U);
  EXPECT_NE(out.dscp_to_priority.at(48).value(), 3U);
  EXPECT_EQ(out.priority_to_queue.at(out.dscp_to_priority.at(48).value()).value(), 3U);
}

TEST(AsSet, WhatIsNegotiatedIsNotCountedOn) {
  COVERS("C7");
  Switch found;
  SwitchPort port;
  port.name = "swp1";
  port.pfc = Fact<PrioritySet>::of(PrioritySet::from_mask(0b1000));
  port.pfc_negotiated = Fact<bool>::of(true);
  found.ports.push_back(port);
  EXPECT_EQ(as_set(leaf(), found).pfc, PrioritySet());
  found.ports.front().pfc_active = Fact<PrioritySet>::of(PrioritySet::from_mask(0b1000));
  EXPECT_EQ(as_set(leaf(), found).pfc, PrioritySet::from_mask(0b1000));
}

TEST(AsSet, ACableReckonedShorterGivesLessHeadroom) {
  COVERS("C7", "F2");
  const design::SwitchIntent wanted = leaf();
  Switch found;
  SwitchPort port;
  port.name = wanted.ports.back().name;  // an uplink of 30 m
  GroupBuffer group;
  group.group = PriorityGroup::of(3);
  group.headroom_auto = Fact<bool>::of(true);
  port.groups.push_back(group);
  port.cable_length = Fact<Length>::of(10_m);
  found.ports.push_back(port);
  const design::SwitchIntent out = as_set(wanted, found);
  // 20 m there and back at 5 ns per metre and 100 Gb/s.
  EXPECT_EQ(wanted.ports.back().headroom - out.ports.back().headroom, 2'500_B);
}

}  // namespace
}  // namespace weir::evidence
