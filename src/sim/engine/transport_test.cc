#include <algorithm>

#include "base/testing.h"
#include "sim/engine/sim.h"
#include "sim/engine/test_sim.h"
#include "sim/fabric/test_networks.h"

namespace weir::sim {
namespace {

using test::add_flow;
using test::lossless_switch;
using test::made;
using test::plain_nic;
using test::star;

struct Lossy {
  BitRate rate;
  std::int64_t mtu;
  double loss;
  Recovery recovery = Recovery::kGoBackN;
  Duration nak_interval = 12_us;  // a little more than the round trip: one NAK a loss
  Duration timeout = 1_ms;
};

/// Goodput over what the line carries, one flow, RTT 10 us, losses on the sender's link.
double efficiency(const Lossy& c, Duration duration, std::int64_t message = 1 << 30) {
  NicConfig nic = plain_nic(Bytes::raw(c.mtu));
  nic.recovery = c.recovery;
  nic.nak_interval = c.nak_interval;
  nic.ack_timeout = c.timeout;
  nic.retries = 1000;
  Network network = star(2, c.rate, 2500_ns, lossless_switch(32_MB, 300_KB), nic);
  network.wire = {
      .data_header = 0, .reth = 0, .ack_frame = 60, .cnp_frame = 60, .pfc_frame = 64, .gap = 0};
  // Only data may be lost: the receiver's side of the sender's link is the switch's, so errors are
  // drawn there by frame; ACKs come in by the other end and are few bits.
  network.links[LinkId{0}].error_threshold = static_cast<std::uint64_t>(c.loss * 4294967296.0);
  network.links[LinkId{0}].errors_to_b_only = true;
  add_flow(network, 0, 1, Bytes::raw(message));
  for (int i = 0; i < 200; ++i)
    network.messages.push_back({QpId{0}, Bytes::raw(message), Time()});
  const auto sim = made(std::move(network));
  sim->run_until(Time::at(duration));
  EXPECT_TRUE(sim->audit().has_value());
  return static_cast<double>(sim->qp_delivered(QpId{0})) /
         static_cast<double>(bytes_in(duration, c.rate).raw());
}

TEST(Transport, GoBackNGoodputFollowsTheFormula) {
  COVERS("G4", "G3");
  // eta = (1 - p) / (1 - p + p W) with W = C * RTT / MTU: 40G, RTT 10 us, 1024 B.
  for (const auto& [rate, mtu] : {std::pair{40_Gbps, 1024}, std::pair{100_Gbps, 4096}}) {
    for (const double loss : {1e-3, 1e-2}) {
      const double window = static_cast<double>(rate.raw()) * 10e-6 / 8 / mtu;
      const double formula = (1 - loss) / (1 - loss + loss * window);
      const double seen = efficiency({.rate = rate, .mtu = mtu, .loss = loss}, 100_ms);
      EXPECT_NEAR(seen / formula, 1.0, loss < 5e-3 ? 0.03 : 0.10) << rate.raw() << " " << loss;
    }
  }
}

TEST(Transport, GoBack0NeverFinishesALongMessageAtOneLossIn256) {
  COVERS("G4", "G3");
  const Lossy zero{.rate = 40_Gbps, .mtu = 1024, .loss = 1.0 / 256, .recovery = Recovery::kGoBack0};
  EXPECT_LT(efficiency(zero, 50_ms, 4'096'000), 0.02);
  const Lossy n{.rate = 40_Gbps, .mtu = 1024, .loss = 1.0 / 256};
  EXPECT_GT(efficiency(n, 50_ms, 4'096'000), 0.6);
}

TEST(Transport, SelectiveRepeatResendsOnlyWhatWasLost) {
  COVERS("G3");
  const Lossy c{.rate = 100_Gbps, .mtu = 4096, .loss = 1e-2, .recovery = Recovery::kSelective};
  EXPECT_GT(efficiency(c, 20_ms), 0.9);
}

TEST(Transport, EveryMessageArrivesOnceWhateverIsLost) {
  COVERS("G3");
  for (const auto recovery : {Recovery::kGoBackN, Recovery::kGoBack0, Recovery::kSelective}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      SCOPED_TRACE(seed);
      NicConfig nic = plain_nic(1024_B);
      nic.recovery = recovery;
      nic.nak_interval = 20_us;
      nic.ack_timeout = 100_us;
      nic.retries = 255;
      nic.ack_every = 4;
      Network network = star(3, 100_Gbps, 500_ns, lossless_switch(32_MB, 300_KB), nic);
      network.seed = seed;
      for (Link& link : network.links)
        link.error_threshold = 4294967296 / 100;
      std::int64_t bytes = 0;
      for (std::uint32_t q = 0; q < 2; ++q) {
        add_flow(network, q, 2, 40'000_B);
        for (std::int64_t i = 0; i < 20; ++i) {
          const Bytes size = Bytes::raw(1 + i * 1777);
          network.messages.push_back({QpId{q}, size, Time()});
          bytes += q == 0 ? size.raw() : 0;
        }
      }
      const auto sim = made(std::move(network));
      sim->run(Time::at(1_s));
      EXPECT_EQ(sim->qp_delivered(QpId{0}), bytes + 40'000);
      for (const MessageRecord& message : sim->messages())
        EXPECT_EQ(message.state, MessageState::kDone);
      EXPECT_TRUE(sim->audit().has_value());
      EXPECT_GT(sim->drops(DropReason::kBitError), 0U);
    }
  }
}

TEST(Transport, RetriesAreExhaustedWhenNothingComesBack) {
  COVERS("G3");
  NicConfig nic = plain_nic(1024_B);
  nic.ack_timeout = 100_us;
  nic.retries = 7;
  Network network = star(2, 100_Gbps, 500_ns, lossless_switch(32_MB, 300_KB), nic);
  network.changes.push_back({Time::at(10_us), LinkId{1}, false, 0_ns});
  add_flow(network, 0, 1, 10_MB);
  const auto sim = made(std::move(network));
  sim->run(Time::at(1_s));
  EXPECT_EQ(sim->messages()[MessageId{0}].state, MessageState::kFailed);
  EXPECT_EQ(sim->nic_counters(NodeId{0}).local_ack_timeout, 8U);
  EXPECT_EQ(sim->nic_counters(NodeId{0}).retries_exhausted, 1U);
  EXPECT_TRUE(sim->qp_failed(QpId{0}));
}

TEST(Transport, SendWithoutAPostedReceiveIsAskedToWait) {
  COVERS("G3");
  NicConfig nic = plain_nic(4096_B);
  nic.rnr_delay = 100_us;
  Network network = star(2, 100_Gbps, 500_ns, lossless_switch(32_MB, 300_KB), nic);
  add_flow(network, 0, 1, 4096_B, Time(), Operation::kSend);
  network.messages.push_back({QpId{0}, 4096_B, Time()});
  network.qps[QpId{0}].receives = 1;
  network.qps[QpId{0}].receive_repost = 50_us;
  const auto sim = made(std::move(network));
  sim->run(Time::at(1_s));
  EXPECT_EQ(sim->nic_counters(NodeId{1}).out_of_buffer, 1U);
  EXPECT_EQ(sim->nic_counters(NodeId{0}).rnr_nak_received, 1U);
  EXPECT_GT(sim->messages()[MessageId{1}].done, (100_us).raw());
  EXPECT_LT(sim->messages()[MessageId{1}].done, (110_us).raw());
}

TEST(Transport, AReadTakesARequestAndTheDataBack) {
  COVERS("G3");
  Network network = star(2, 100_Gbps, 1_us, lossless_switch(32_MB, 300_KB), plain_nic(1000_B));
  add_flow(network, 0, 1, 1000_B, Time(), Operation::kRead);
  const auto sim = made(std::move(network));
  sim->run();
  const auto wire = [](std::int64_t frame) { return (frame + 20) * 80; };
  EXPECT_EQ(sim->messages()[MessageId{0}].done,
            2 * (wire(78) + 1'000'000) + 2 * (wire(1062) + 1'000'000));
}

TEST(Transport, ReadsSurviveLosses) {
  COVERS("G3");
  NicConfig nic = plain_nic(1024_B);
  nic.ack_timeout = 200_us;
  nic.retries = 255;
  Network network = star(2, 100_Gbps, 500_ns, lossless_switch(32_MB, 300_KB), nic);
  for (Link& link : network.links)
    link.error_threshold = 4294967296 / 200;
  add_flow(network, 0, 1, 1_MB, Time(), Operation::kRead);
  network.messages.push_back({QpId{0}, 300'001_B, Time()});
  const auto sim = made(std::move(network));
  sim->run(Time::at(1_s));
  EXPECT_EQ(sim->messages()[MessageId{0}].state, MessageState::kDone);
  EXPECT_EQ(sim->messages()[MessageId{1}].state, MessageState::kDone);
  EXPECT_EQ(sim->qp_delivered(QpId{0}), 1'300'001);
  EXPECT_GT(sim->nic_counters(NodeId{1}).implied_nak_seq_err, 0U);
}

TEST(Transport, AcksAreCoalesced) {
  COVERS("G3");
  for (const std::uint32_t every : {1U, 4U, 16U}) {
    NicConfig nic = plain_nic(1000_B);
    nic.ack_every = every;
    Network network = star(2, 100_Gbps, 1_us, lossless_switch(32_MB, 300_KB), nic);
    add_flow(network, 0, 1, 160'000_B);
    const auto sim = made(std::move(network));
    sim->run();
    EXPECT_EQ(sim->nic_counters(NodeId{1}).acks_sent, 160 / every);
  }
}

}  // namespace
}  // namespace weir::sim
