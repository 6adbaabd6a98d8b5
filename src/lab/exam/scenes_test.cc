// The two scenes of the sources, played in a lab.

#include "base/testing.h"
#include "lab/fabric/test_labs.h"

namespace weir::lab {
namespace {

/// What `weir apply` does on one NIC of the design, by hand.
void set_up_lossless(const Lab& lab, const std::string& name, const design::NicIntent& nic) {
  const auto host = must(lab.host(name));
  host::SetDscpMap map;
  std::copy(nic.dscp_to_priority.begin(), nic.dscp_to_priority.end(), map.priority.begin());
  PrioritySet three;
  three.insert(Priority::of(3));
  const std::vector<host::Change> changes = {host::SetGlobalPause{},
                                             host::SetTrust{evidence::TrustMode::kDscp},
                                             map,
                                             host::SetMtu{nic.mtu},
                                             host::SetEcn{three, three},
                                             host::SetPfc{three}};
  for (const host::Change& change : changes)
    must(host->perform({nic.device, change}));
}

void set_up_lossless(Lab& lab) {
  must(lab.begin());
  for (const design::HostIntent& host : lab.intent().hosts)
    for (const design::NicIntent& nic : host.nics)
      set_up_lossless(lab, host.name, nic);
  must(lab.commit());
}

std::uint64_t sum_of(const Lab& lab, std::string_view id,
                     std::optional<unsigned> number = std::nullopt) {
  std::uint64_t sum = 0;
  for (const std::string& name : lab.host_names())
    sum += counter(lab, name, id, number);
  return sum;
}

TEST(Scenes, TrustFlippedToDscpPfcAndEcnOnPriority3ThenCnpsClimbUnderLoad) {
  COVERS("G8", "D3");
  const TemporaryDirectory place;
  Lab lab = make_lab(place, pod16());
  set_up_lossless(lab);
  const auto seen = must(must(lab.host("gpu01"))->observe());
  EXPECT_TRUE(seen.nics[0].qos.trust.is(evidence::TrustMode::kDscp));
  EXPECT_TRUE(seen.nics[0].qos.pfc.is(PrioritySet::from_mask(8)));
  EXPECT_TRUE(seen.nics[0].ecn.np.is(PrioritySet::from_mask(8)));
  for (const std::string_view id :
       {"nic.np.cnp_sent.packets", "nic.rp.cnp_handled.packets", "nic.prio.tx.bytes"})
    EXPECT_EQ(sum_of(lab, id, id == "nic.prio.tx.bytes" ? std::optional(3U) : std::nullopt), 0U)
        << id;

  std::uint64_t before = 0;
  for (int round = 1; round <= 3; ++round) {
    const auto done = run(lab, "gpu02", "incast to=gpu01 size=1MB");
    EXPECT_EQ(done.exit_status, 0) << done.output << done.errors;
    const std::uint64_t sent = counter(lab, "gpu01", "nic.np.cnp_sent.packets");
    EXPECT_GT(sent, before) << "round " << round;
    before = sent;
  }
  EXPECT_EQ(sum_of(lab, "nic.rp.cnp_handled.packets"), before);  // the loop is closed
  EXPECT_EQ(sum_of(lab, "nic.req.seq_nak_received.packets"), 0U);
  EXPECT_GT(counter(lab, "gpu02", "nic.prio.tx.bytes", 3), 3'000'000U);
  EXPECT_EQ(counter(lab, "gpu02", "nic.prio.tx.bytes", 0), 0U);
}

TEST(Scenes, WithFactoryNicsTheSameLoadLeavesInPriority0AndNobodyObeysPauses) {
  const TemporaryDirectory place;
  const Lab lab = make_lab(place, pod16());
  (void)run(lab, "gpu02", "incast to=gpu01 size=1MB");
  EXPECT_FALSE(must(must(lab.host("gpu02"))->snapshot())
                   .nics[0]
                   .read("nic.prio.pause_rx.frames", 3U)
                   .has_value());
  EXPECT_EQ(counter(lab, "gpu02", "nic.prio.tx.bytes", 3), 0U);
  EXPECT_GT(counter(lab, "gpu02", "nic.prio.tx.bytes", 0), 1'000'000U);
}

/// Headroom drops of leaf2 by port.
std::map<std::string, std::uint64_t> headroom_drops(const Lab& lab) {
  std::map<std::string, std::uint64_t> out;
  const evidence::Evidence seen = must(lab.observe_switches());
  for (const counters::PortCounters& port : seen.snapshots.back().switch_ports) {
    const auto drops = port.read("switch.pg.drop_headroom.packets", 3U);
    if (port.device() == "leaf2" && drops.has_value() && drops.value() > 0)
      out[port.netdev()] = drops.value();
  }
  return out;
}

TEST(Scenes, TwoUplinksLoseInHeadroomUnderRoceBalancedAndNoneUnderRoceAggressive) {
  COVERS("F3", "G9");
  const TemporaryDirectory place;
  // Two uplinks per leaf, faster than a host; senders that do not slow down, so that every burst
  // ends in a pause; and headroom sized for a shorter cable.
  const std::string design =
      edited(edited(pod16(), "count: 8, speed: 100G", "count: 2, speed: 200G"), "trust: dscp\n",
             "trust: dscp\nbuffers:\n  profile: roce-balanced\n");
  Lab lab = make_lab(place, design);
  set_up_lossless(lab);
  must(lab.add_fault("headroom-too-small,at=leaf2,share=25%"));
  must(lab.add_fault("rp-off,at=gpu[01-08]"));
  EXPECT_EQ(must(lab.buffer_profile("leaf2")), "roce-balanced");
  const std::string load = "incast to=gpu09 size=4MB hosts=gpu[01-08]+gpu09";

  (void)run(lab, "gpu01", load);
  const auto bleeding = headroom_drops(lab);
  std::vector<std::string> ports;
  for (const auto& [port, drops] : bleeding)
    ports.push_back(port);
  EXPECT_EQ(ports, (std::vector<std::string>{"swp10", "swp9"}));

  must(lab.set_buffer_profile("leaf2", "roce-aggressive"));
  EXPECT_EQ(must(lab.buffer_profile("leaf2")), "roce-aggressive");
  EXPECT_EQ(must(lab.buffer_profile("leaf1")), "roce-balanced");
  const auto done = run(lab, "gpu01", load);
  EXPECT_EQ(done.exit_status, 0) << done.output;
  EXPECT_EQ(headroom_drops(lab), bleeding) << "the counters stay where they were: flat";
}

}  // namespace
}  // namespace weir::lab
