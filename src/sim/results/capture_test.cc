#include "sim/results/capture.h"

#include <cstdio>

#include "base/testing.h"
#include "design/file/load.h"
#include "design/file/templates.h"
#include "sim/results/simulate.h"
#include "wire/analysis.h"
#include "wire/capture_reader.h"

namespace weir::sim {
namespace {

struct Seen {
  Outcome outcome;
  std::unique_ptr<wire::Analysis> analysis;
  wire::Address address;
  std::uint64_t plain_digest = 0;
  NodeId node{0};
  PortId port{0};
};

struct Pod {
  design::Design design;
  design::Intent intent;
};

Pod pod16() {
  design::Loaded loaded = design::load_text(design::find_template("pod16")->text, "fabric.yaml");
  design::Derived derived = design::derive(loaded.design);
  return {std::move(loaded.design), std::move(derived.intent)};
}

/// A run with a capture at `at`, read back; and the same run without it.
Seen seen_at(std::string_view at, std::string_view workload,
             const std::vector<std::string>& faults = {}) {
  const Pod pod = pod16();
  Experiment experiment;
  experiment.design = &pod.design;
  experiment.intent = pod.intent;
  experiment.workloads.push_back(parse_workload(workload).value());
  for (const std::string& fault : faults)
    experiment.faults.push_back(parse_fault(fault).value());
  Seen seen;
  seen.plain_digest = simulate(experiment).value().sim->digest();
  const std::string path = testing::TempDir() + "weir_capture_test.pcap";
  const PortPlace place = find_port(pod.intent, at).value();
  CaptureTap tap(wire::CaptureWriter::open(path).value(), place, pod.intent);
  experiment.observer = &tap;
  experiment.on_made = [&](const Sim& sim) { tap.watch(sim); };
  seen.outcome = simulate(experiment).value();
  EXPECT_TRUE(tap.close().has_value());
  seen.node = place.node;
  seen.port = seen.outcome.sim->port_of(place.node, place.local);
  seen.analysis = std::make_unique<wire::Analysis>();
  auto reader = wire::CaptureReader::open(path).value();
  wire::Record record;
  while (reader.next(record) == wire::Next::kFrame)
    seen.analysis->add(record);
  EXPECT_EQ(reader.damage(), "");
  seen.analysis->finish();
  if (to_index(place.node) < pod.intent.hosts.size())  // one NIC per host
    seen.address = wire::ipv4_address(0x0A000000 + to_index(place.node) + 1);
  std::remove(path.c_str());
  return seen;
}

/// Sums over the flows that leave (or reach) the port's own NIC.
struct Sums {
  std::uint64_t cnps = 0;
  std::uint64_t ce_data = 0;
  std::uint64_t again = 0;
  std::uint64_t sequence_naks = 0;
  std::uint64_t rnr = 0;
};
Sums sum(const Seen& seen, bool leaves) {
  Sums sums;
  for (const wire::Flow& flow : seen.analysis->flows()) {
    if ((flow.key.source == seen.address) != leaves) continue;
    sums.cnps += flow.by_role[static_cast<std::size_t>(wire::Role::kCnp)];
    sums.ce_data += flow.tos[static_cast<std::size_t>(wire::Role::kData)].with_ecn(3);
    sums.again += flow.retransmitted();
    sums.sequence_naks += flow.naks.sequence;
    sums.rnr += flow.naks.rnr;
  }
  return sums;
}

void expect_port_counters(const Seen& seen) {
  const PortCounters& port = seen.outcome.sim->port_counters(seen.port);
  const wire::Totals& totals = seen.analysis->totals();
  const auto dropped = [&](DropReason reason) {
    return port.drops[static_cast<std::size_t>(reason)];
  };
  const std::uint64_t broken = dropped(DropReason::kBitError) + dropped(DropReason::kLinkDown);
  EXPECT_EQ(totals.packets,
            port.tx_frames + port.rx_frames - broken + port.pfc_tx_frames + port.pfc_rx_frames);
  EXPECT_EQ(totals.pfc, port.pfc_tx_frames + port.pfc_rx_frames);
  EXPECT_EQ(totals.icrc_good, totals.roce_packets);
  EXPECT_EQ(totals.malformed + totals.cut + totals.flow_overflow + totals.unordered_time, 0U);
  if (broken > 0) return;
  // On the wire and not in the engine: padding, and the AETH of READ responses. The other way
  // round: the FCS, which no capture has.
  const std::uint64_t aeth = 4 * (totals.opcodes[13] + totals.opcodes[15] + totals.opcodes[16]);
  const std::uint64_t fcs = 4;
  EXPECT_EQ(totals.bytes - totals.padding - aeth + fcs * totals.packets,
            port.tx_bytes + port.rx_bytes + 64 * totals.pfc);
}

void expect_nic_counters(const Seen& seen) {
  const NicCounters& nic = seen.outcome.sim->nic_counters(seen.node);
  const Sums out = sum(seen, true);
  const Sums in = sum(seen, false);
  EXPECT_EQ(out.cnps, nic.cnp_sent);
  EXPECT_EQ(in.cnps, nic.cnp_handled + nic.cnp_ignored);
  EXPECT_EQ(in.ce_data, nic.ce_received);
  EXPECT_EQ(out.again, nic.retransmitted);
  EXPECT_EQ(in.sequence_naks, nic.packet_seq_err);
  EXPECT_EQ(in.rnr, nic.rnr_nak_received);
}

TEST(CaptureTap, AgreesWithTheCountersOfTheReceiver) {
  COVERS("E3", "G8");
  const Seen seen = seen_at("gpu01", "incast,to=gpu01,senders=8,size=400KB");
  EXPECT_GT(seen.analysis->totals().ce, 0U);
  EXPECT_GT(seen.analysis->totals().cnps(), 0U);
  expect_port_counters(seen);
  expect_nic_counters(seen);
  EXPECT_EQ(seen.outcome.sim->digest(), seen.plain_digest);
}

TEST(CaptureTap, AgreesWithTheCountersOfALossySender) {
  COVERS("E3", "G8");
  // Everybody sends to gpu02, whose cable is bad: gpu01 sends again what was lost.
  const Seen seen = seen_at("gpu01", "incast,to=gpu02,senders=15,size=400KB",
                            {"degraded-link,at=gpu02,ber=3e-7"});
  EXPECT_GT(sum(seen, true).again, 0U);
  expect_port_counters(seen);
  expect_nic_counters(seen);
  EXPECT_EQ(seen.outcome.sim->digest(), seen.plain_digest);
}

TEST(CaptureTap, FramesBrokenOnTheCableAreNotSeen) {
  COVERS("E3");
  const Seen seen =
      seen_at("gpu02", "incast,to=gpu02,senders=4,size=400KB", {"degraded-link,at=gpu02,ber=3e-7"});
  const PortCounters& port = seen.outcome.sim->port_counters(seen.port);
  EXPECT_GT(port.drops[static_cast<std::size_t>(DropReason::kBitError)], 0U);
  expect_port_counters(seen);
  EXPECT_GT(seen.analysis->totals().lost, 0U);
  EXPECT_EQ(seen.analysis->totals().out_of_order, 0U);
}

TEST(CaptureTap, ReorderingIsToldFromLoss_ToThePacket) {
  COVERS("E3", "I17");
  const Seen seen =
      seen_at("gpu09", "incast,to=gpu09,senders=4,size=400KB", {"reordering,at=leaf1"});
  const wire::Totals& totals = seen.analysis->totals();
  EXPECT_GT(totals.out_of_order, 0U);
  EXPECT_EQ(totals.lost, 0U);
  std::uint64_t again = 0;
  for (const NodeId node : IdRange<NodeId>(NodeId{0}, NodeId{16}))
    again += seen.outcome.sim->nic_counters(node).retransmitted;
  EXPECT_EQ(totals.retransmitted, again);
}

TEST(CaptureTap, PausesOfASlowReceiverAreThere_OnBothSidesOfTheCable) {
  COVERS("E3", "G2");
  for (const char* const at : {"gpu01", "leaf1:swp1"}) {
    SCOPED_TRACE(at);
    const Seen seen =
        seen_at(at, "incast,to=gpu01,senders=4,size=1MB", {"slow-receiver,at=gpu01,rate=20G"});
    EXPECT_GT(seen.analysis->totals().pfc, 0U);
    expect_port_counters(seen);
  }
}

TEST(CaptureTap, APortThatIsNotThereIsNamedWithOneThatIs) {
  const Pod pod = pod16();
  EXPECT_TRUE(find_port(pod.intent, "gpu16:mlx5_0").has_value());
  const auto wrong = find_port(pod.intent, "leaf1:swp999");
  ASSERT_FALSE(wrong.has_value());
  EXPECT_NE(wrong.error().what.find("did you mean"), std::string::npos) << wrong.error().what;
}

}  // namespace
}  // namespace weir::sim
