#include "sim/engine/sim.h"

#include "base/testing.h"
#include "sim/engine/test_sim.h"
#include "sim/fabric/test_networks.h"

namespace weir::sim {
namespace {

using test::add_flow;
using test::lossless_switch;
using test::made;
using test::plain_nic;
using test::star;

/// Completion of one WRITE through `hops` equal store-and-forward switches, frame by frame.
Ps closed_form(std::int64_t bytes, std::int64_t mtu, BitRate rate, Ps cable, Ps pipeline,
               int switches) {
  const auto wire = [&](std::int64_t frame) {
    return serialization_time(Bytes::raw(frame + 20), rate).raw();
  };
  const std::int64_t packets = (bytes + mtu - 1) / mtu;
  std::vector<Ps> ready(static_cast<std::size_t>(packets), 0);
  for (int link = 0; link <= switches; ++link) {
    Ps free = 0;
    for (std::int64_t i = 0; i < packets; ++i) {
      const std::int64_t payload = std::min(mtu, bytes - i * mtu);
      Ps& at = ready[static_cast<std::size_t>(i)];
      const Ps start = std::max(at, free);
      free = start + wire(payload + 62 + (i == 0 ? 16 : 0));
      at = free + cable + (link < switches ? pipeline : 0);
    }
  }
  return ready.back() + (switches + 1) * (wire(66) + cable) + switches * pipeline;
}

struct Single {
  std::int64_t bytes;
  std::int64_t mtu;
  BitRate rate;
  Duration cable;
  Duration pipeline;
};

TEST(Sim, SingleFlowCompletesAtTheClosedFormToThePicosecond) {
  COVERS("G1", "G5");
  for (const Single& c :
       {Single{1, 4096, 400_Gbps, 50_ns, 0_ns}, Single{4096, 4096, 400_Gbps, 50_ns, 600_ns},
        Single{10'000'000, 1000, 100_Gbps, 1_us, 0_ns},
        Single{10'000'000, 4096, 100_Gbps, 500_ns, 450_ns},
        Single{123'457, 1024, 56_Gbps, 333_ns, 7_ns},
        Single{3'000'001, 2048, 800_Gbps, 15_ns, 1_us}}) {
    SwitchConfig sw = lossless_switch(32_MiB, 100_KB);
    sw.pipeline = c.pipeline;
    Network network = star(2, c.rate, c.cable, sw, plain_nic(Bytes::raw(c.mtu)));
    add_flow(network, 0, 1, Bytes::raw(c.bytes));
    const auto sim = made(std::move(network));
    sim->run();
    EXPECT_EQ(sim->messages()[MessageId{0}].done,
              closed_form(c.bytes, c.mtu, c.rate, c.cable.raw(), c.pipeline.raw(), 1))
        << c.bytes;
    EXPECT_TRUE(sim->audit().has_value());
    EXPECT_EQ(sim->live_frames(), 0U);
  }
}

TEST(Sim, TenMegabytesOverOneSwitchTakeEightHundredSixtyNinePointSevenMicroseconds) {
  COVERS("G1");
  Network network = star(2, 100_Gbps, 1_us, lossless_switch(32_MiB, 100_KB), plain_nic(1000_B));
  network.wire.reth = 0;
  add_flow(network, 0, 1, 10_MB);
  const auto sim = made(std::move(network));
  sim->run();
  EXPECT_EQ(sim->messages()[MessageId{0}].done, 869'700'320);
}

Network busy_fabric(std::uint64_t seed) {
  SwitchConfig sw = lossless_switch(800_KB, 60_KB);
  sw.queues[3].wred = {true, 30_KB, 150_KB, 10_percent};
  NicConfig nic = plain_nic(1024_B);
  nic = test::with_dcqcn(nic, DcqcnVariant::kConnectx);
  Network network = test::leaf_spine(3, 4, 2, 100_Gbps, 400_ns, sw, nic);
  network.seed = seed;
  for (std::uint32_t a = 0; a < 12; ++a)
    for (std::uint32_t b = 0; b < 12; ++b)
      if (a != b) add_flow(network, a, b, 100_KB);
  return network;
}

TEST(Sim, SameSeedGivesTheSameDigestAndAnotherSeedAnother) {
  COVERS("G1", "G3");
  std::vector<std::uint64_t> digests;
  for (const std::uint64_t seed : {7U, 7U, 8U}) {
    const auto sim = made(busy_fabric(seed));
    sim->run();
    digests.push_back(sim->digest());
    EXPECT_EQ(sim->lossless_drops(), 0U);
  }
  EXPECT_EQ(digests[0], digests[1]);
  EXPECT_NE(digests[0], digests[2]);
}

TEST(Sim, LookingOftenChangesNothing) {
  COVERS("G1");
  const auto once = made(busy_fabric(3));
  once->run();
  const auto often = made(busy_fabric(3));
  while (often->open_messages() > 0) {
    often->run(Time::at(Duration::raw(often->now()) + 1_us));
    ASSERT_TRUE(often->audit().has_value());
    (void)often->queue_watch();
    (void)often->qp_rate(QpId{0});
  }
  often->run();
  EXPECT_EQ(once->digest(), often->digest());
}

TEST(Sim, BuffersDrainAndEveryPauseIsTakenBack) {
  COVERS("G1", "G2");
  const auto sim = made(busy_fabric(5));
  sim->run();
  ASSERT_TRUE(sim->audit().has_value());
  sim->run_until(Time::at(Duration::raw(sim->now()) + 1_ms));
  std::uint64_t pauses = 0;
  std::uint64_t resumes = 0;
  for (std::uint32_t p = 0; p < sim->port_count(); ++p) {
    pauses += sim->port_counters(PortId{p}).pause_tx[3];
    resumes += sim->port_counters(PortId{p}).resume_tx[3];
  }
  EXPECT_GT(pauses, 0U);
  EXPECT_EQ(pauses, resumes);
  for (std::uint32_t node = 12; node < 17; ++node)
    EXPECT_EQ(sim->buffer_of(NodeId{node}).total_used(), 0);
}

TEST(Sim, WredMarksFollowTheRamp) {
  COVERS("G2");
  // A queue held at a level by arrivals at the line rate: the share of marks is the ramp's value.
  for (const std::int64_t level : {60'000, 100'000, 180'000}) {
    SwitchConfig sw = lossless_switch(32_MB, 100_KB);
    sw.queues[3].wred = {true, 50_KB, 250_KB, 20_percent};
    NicConfig nic = plain_nic(1000_B);
    Network network = star(3, 100_Gbps, 1_us, sw, nic);
    network.wire.reth = 0;
    add_flow(network, 0, 2, 200_MB);
    add_flow(network, 1, 2, Bytes::raw(level / 1062 * 1000));
    const auto sim = made(std::move(network));
    sim->run_until(Time::at(14_ms));
    const PortCounters& port = sim->port_counters(sim->port_of(NodeId{3}, 2));
    const auto held = static_cast<double>(level / 1062 * 1062);
    const double expected = 0.2 * (held - 50'000) / 200'000;
    EXPECT_NEAR(static_cast<double>(port.marked) / static_cast<double>(port.tx_frames), expected,
                0.02 * expected + 0.002);
  }
}

TEST(Sim, CutThroughSavesASerialisationAtEverySwitch) {
  COVERS("G2");
  SwitchConfig sw = lossless_switch(32_MB, 100_KB);
  sw.forwarding = Forwarding::kCutThrough;
  sw.pipeline = 300_ns;
  Network network = star(2, 100_Gbps, 1_us, sw, plain_nic(4096_B));
  add_flow(network, 0, 1, 4096_B);
  const auto sim = made(std::move(network));
  sim->run();
  const auto wire = [](std::int64_t frame) { return (frame + 20) * 80; };
  const Ps header = 64 * 80;
  EXPECT_EQ(sim->messages()[MessageId{0}].delivered,
            header + 1'000'000 + 300'000 + wire(4174) + 1'000'000);
  EXPECT_EQ(sim->messages()[MessageId{0}].done, sim->messages()[MessageId{0}].delivered + header +
                                                    1'000'000 + 300'000 + wire(66) + 1'000'000);
}

TEST(Sim, WeightedQueuesShareByWeightAndStrictOnesGoFirst) {
  COVERS("G2");
  SwitchConfig sw = lossless_switch(32_MB, 100_KB);
  sw.dscp_to_class[10] = 1;
  sw.dscp_to_class[12] = 2;
  sw.queues[1].weight = 1;
  sw.queues[2].weight = 3;
  for (const std::size_t group : {1U, 2U}) {
    sw.groups[group].lossless = true;
    sw.groups[group].headroom = 100_KB;
  }
  sw.pfc = PrioritySet::from_mask(0b1110);
  NicConfig nic = plain_nic(1000_B);
  nic.dscp_to_priority[10] = 1;
  nic.dscp_to_priority[12] = 2;
  nic.pfc = PrioritySet::from_mask(0b1110);
  Network network = star(4, 100_Gbps, 1_us, sw, nic);
  add_flow(network, 0, 2, 100_MB);
  add_flow(network, 1, 2, 100_MB);
  network.qps[QpId{0}].tos = (10U << 2U) | 2U;
  network.qps[QpId{1}].tos = (12U << 2U) | 2U;
  const auto sim = made(std::move(network));
  sim->run_until(Time::at(2_ms));
  const double ratio = static_cast<double>(sim->qp_delivered(QpId{1})) /
                       static_cast<double>(sim->qp_delivered(QpId{0}));
  EXPECT_NEAR(ratio, 3.0, 0.1);
  EXPECT_EQ(sim->lossless_drops(), 0U);
}

TEST(Sim, TooLargeFramesAndLoopsAreDroppedWithTheirReason) {
  COVERS("G2");
  SwitchConfig sw = lossless_switch(32_MB, 100_KB);
  sw.mtu = 1500_B;
  NicConfig nic = plain_nic(4096_B);
  nic.ack_timeout = 50_us;
  nic.retries = 1;
  Network network = star(2, 100_Gbps, 1_us, sw, nic);
  add_flow(network, 0, 1, 8192_B);
  const auto sim = made(std::move(network));
  sim->run();
  EXPECT_EQ(sim->drops(DropReason::kMtu), 4U);
  EXPECT_EQ(sim->messages()[MessageId{0}].state, MessageState::kFailed);
}

}  // namespace
}  // namespace weir::sim
