#include "sim/sim.h"

#include "base/testing.h"
#include "sim/test_networks.h"

namespace weir::sim {
namespace {

using test::add_flow;
using test::lossless_switch;
using test::plain_nic;
using test::star;

std::unique_ptr<Sim> made(Network network) {
  auto sim = Sim::make(std::move(network));
  EXPECT_TRUE(sim.has_value()) << (sim ? "" : sim.error().what);
  return std::move(sim).value();
}

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
    EXPECT_EQ(sim->messages()[0].done,
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
  EXPECT_EQ(sim->messages()[0].done, 869'700'320);
}

}  // namespace
}  // namespace weir::sim
