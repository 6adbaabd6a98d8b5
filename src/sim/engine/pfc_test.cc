// Pause and buffers end to end: headroom to the byte, fair shares under PFC, quanta, the watchdog.
#include <algorithm>

#include "base/testing.h"
#include "model/pause_loop.h"
#include "sim/engine/sim.h"
#include "sim/engine/test_sim.h"
#include "sim/fabric/test_networks.h"
#include "sim/results/fidelity.h"

namespace weir::sim {
namespace {

using test::add_flow;
using test::lossless_switch;
using test::made;
using test::plain_nic;
using test::star;

struct WorstCase {
  BitRate rate;
  Duration cable;
  std::int64_t mtu;
  Duration reaction;
  Duration pipeline;
  std::int64_t cell;
};

model::PauseLoop loop_of(const WorstCase& c) {
  model::PauseLoop loop;
  loop.rate = c.rate;
  loop.propagation = c.cable;
  loop.max_frame = loop.smallest_frame = loop.max_reverse_frame = Bytes::raw(c.mtu + 62);
  loop.peer_reaction = c.reaction;
  loop.cell = Bytes::raw(c.cell);
  loop.pause_wins_ties = true;
  return loop;
}

/// NIC 0 sends at line rate to NIC 1, which never drains, so that port 1 of the switch is paused
/// and the ingress of port 0 fills up past XOFF. NIC 2 keeps the way back to NIC 0 busy with frames
/// as large, `phase` apart from the others: one has just begun when the pause must go out.
struct Overrun {
  std::int64_t headroom_peak;
  std::uint64_t lossless_drops;
};
Overrun overrun(const WorstCase& c, Bytes headroom, Duration phase) {
  SwitchConfig sw = lossless_switch(8_MB, headroom);
  sw.cell = Bytes::raw(c.cell);
  sw.pipeline = c.pipeline;
  sw.groups[3].alpha.reset();
  sw.groups[3].static_threshold = 40'000_B;
  NicConfig nic = plain_nic(Bytes::raw(c.mtu));
  nic.pfc_reaction = c.reaction;
  nic.ack_every = 1'000'000;
  Network network = star(3, c.rate, c.cable, sw, nic);
  network.wire.reth = 0;
  NicConfig stuck = nic;
  stuck.receive_buffer = 1_MB;
  stuck.receive_xoff = 5000_B;
  network.nics.push_back(stuck);
  network.nodes[NodeId{1}].config = 1;
  add_flow(network, 0, 1, 4_MB);
  add_flow(network, 2, 0, 4_MB, Time::at(phase));
  network.qps[QpId{1}].tos = 2;  // a lossy class of its own
  const auto sim = made(std::move(network));
  sim->run_until(Time::at(200_us));
  EXPECT_TRUE(sim->audit().has_value());
  return {sim->buffer_of(NodeId{3}).group(0, 3).headroom_peak, sim->lossless_drops()};
}

TEST(Pfc, HeadroomOfTheExactNeedLosesNothingAndOneCellLessLosesAPacket) {
  COVERS("G2");
  for (const WorstCase& c : {WorstCase{100_Gbps, 500_ns, 4096, 2_us, 0_ns, 1},
                             WorstCase{400_Gbps, 150_ns, 4096, 700_ns, 300_ns, 254},
                             WorstCase{40_Gbps, 1_us, 1024, 0_ns, 0_ns, 208},
                             WorstCase{200_Gbps, 15_ns, 9000, 1160_ns, 450_ns, 192}}) {
    const Bytes need = model::exact_headroom_need(loop_of(c));
    SCOPED_TRACE(need.raw());
    const Duration frame = serialization_time(Bytes::raw(c.mtu + 82), c.rate);
    std::int64_t worst = 0;
    Duration worst_phase;
    constexpr int kPhases = 211;
    for (int i = 0; i < kPhases; ++i) {
      const Duration phase = frame * i / kPhases;
      const Overrun seen = overrun(c, need, phase);
      EXPECT_EQ(seen.lossless_drops, 0U) << i;
      if (seen.headroom_peak <= worst) continue;
      worst = seen.headroom_peak;
      worst_phase = phase;
    }
    EXPECT_EQ(worst, need.raw()) << "the constructed worst case needs all of it";
    EXPECT_GT(overrun(c, need - Bytes::raw(c.cell), worst_phase).lossless_drops, 0U);
  }
}

TEST(Pfc, UnderPauseAloneIngressPortsShareEquallyAndFlowsShareTheirPort) {
  COVERS("G2");
  // Ports 0 (two flows), 1 and 2 towards 3: k = 3, flows 2 + 1 + 1 -> 6.7 6.7 13.3 13.3 of 40 Gb/s.
  SwitchConfig sw = lossless_switch(4_MB, 60_KB);
  Network network = star(4, 40_Gbps, 500_ns, sw, plain_nic(1024_B));
  for (const std::uint32_t source : {0U, 0U, 1U, 2U})
    add_flow(network, source, 3, 1000_MB);
  const auto sim = made(std::move(network));
  sim->run_until(Time::at(4_ms));
  std::vector<std::int64_t> before;
  for (std::uint32_t q = 0; q < 4; ++q)
    before.push_back(sim->qp_delivered(QpId{q}));
  sim->run_until(Time::at(24_ms));
  const double goodput = 40.0 * 1024 / 1106;
  for (std::uint32_t q = 0; q < 4; ++q) {
    const double gbps =
        static_cast<double>(sim->qp_delivered(QpId{q}) - before[q]) * 8 / 20e-3 / 1e9;
    const double expected = goodput / 3 / (q < 2 ? 2 : 1);
    EXPECT_NEAR(gbps, expected, 0.05 * expected) << q;
  }
  EXPECT_EQ(sim->lossless_drops(), 0U);
  EXPECT_GT(sim->port_counters(sim->port_of(NodeId{4}, 0)).pause_tx[3], 10U);
}

TEST(Pfc, APauseIsRefreshedWhileItLastsAndExpiresWhenItIsNot) {
  COVERS("G2");
  SwitchConfig sw = lossless_switch(8_MB, 100_KB);
  sw.pause_quanta = 1000;  // 5.12 us at 100G
  NicConfig nic = plain_nic(4096_B);
  nic.pause_quanta = 1000;
  Network network = star(2, 100_Gbps, 100_ns, sw, nic);
  NicConfig stuck = nic;
  stuck.receive_buffer = 1_MB;
  stuck.receive_xoff = 20'000_B;
  network.nics.push_back(stuck);
  network.nodes[NodeId{1}].config = 1;
  add_flow(network, 0, 1, 100_MB);
  const auto sim = made(std::move(network));
  sim->run_until(Time::at(1_ms));
  const PortCounters& stuck_port = sim->port_counters(sim->port_of(NodeId{1}, 0));
  const PortCounters& towards_it = sim->port_counters(sim->port_of(NodeId{2}, 1));
  EXPECT_EQ(stuck_port.pause_tx[3], 1U) << "one XOFF …";
  EXPECT_NEAR(static_cast<double>(stuck_port.pfc_tx_frames), 1000 / 2.56, 3) << "… said again";
  EXPECT_EQ(sim->paused_now(sim->port_of(NodeId{2}, 1)), 1U << 3U);
  EXPECT_LE(towards_it.tx_bytes, 60'000U) << "held for the whole millisecond";
  EXPECT_EQ(sim->lossless_drops(), 0U);
  EXPECT_TRUE(sim->audit().has_value());
}

TEST(Pfc, TheWatchdogFreesAQueueThatAStuckNicHolds) {
  COVERS("G2");
  for (const auto action : {WatchdogAction::kDrop, WatchdogAction::kForward}) {
    SwitchConfig sw = lossless_switch(2_MB, 100_KB);
    sw.watchdog = {200_us, 200_us, action};
    Network network = star(4, 100_Gbps, 100_ns, sw, plain_nic(4096_B));
    NicConfig stuck = plain_nic(4096_B);
    stuck.receive_buffer = 1_MB;
    stuck.receive_xoff = 20'000_B;
    network.nics.push_back(stuck);
    network.nodes[NodeId{1}].config = 1;
    add_flow(network, 0, 1, 100_MB);  // to the stuck NIC
    add_flow(network, 0, 2, 100_MB);  // a victim of the same sender
    const auto sim = made(std::move(network));
    sim->run_until(Time::at(190_us));
    const std::int64_t victim_stalled = sim->qp_delivered(QpId{1});
    sim->run_until(Time::at(1_ms));
    EXPECT_GE(sim->port_counters(sim->port_of(NodeId{4}, 1)).watchdog_trips, 1U);
    EXPECT_GT(sim->qp_delivered(QpId{1}), victim_stalled + 3'000'000) << "the victim runs again";
    EXPECT_EQ(sim->lossless_drops(),
              action == WatchdogAction::kDrop ? 0U : sim->drops(DropReason::kReceiverBuffer));
    EXPECT_TRUE(sim->audit().has_value());
  }
}

TEST(Pfc, ASlowReceiverPausesItsSwitchAndLosesNothing) {
  COVERS("G2", "G4");
  SwitchConfig sw = lossless_switch(8_MB, 100_KB);
  NicConfig nic = plain_nic(4096_B);
  NicConfig slow = nic;
  slow.receive_buffer = 200_KB;
  slow.receive_xoff = 100_KB;
  slow.receive_xon = 80_KB;
  slow.drain = 50_Gbps;
  Network network = star(2, 100_Gbps, 200_ns, sw, nic);
  network.nics.push_back(slow);
  network.nodes[NodeId{1}].config = 1;
  add_flow(network, 0, 1, 10_MB);
  const auto sim = made(std::move(network));
  sim->run();
  EXPECT_EQ(sim->lossless_drops(), 0U);
  EXPECT_EQ(sim->messages()[MessageId{0}].state, MessageState::kDone);
  const double us = static_cast<double>(sim->messages()[MessageId{0}].done) / 1e6;
  EXPECT_NEAR(us, 10e6 * 8 / 50e9 * 1e6 * 4158 / 4096, 40);
  EXPECT_GT(sim->port_counters(sim->port_of(NodeId{1}, 0)).pause_tx[3], 10U);
  EXPECT_TRUE(sim->audit().has_value());
}

}  // namespace
}  // namespace weir::sim
