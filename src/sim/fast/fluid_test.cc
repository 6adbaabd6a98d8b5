#include "sim/fast/fluid.h"

#include "base/testing.h"
#include "sim/fabric/test_networks.h"
#include "sim/results/results.h"
#include "sim/workload/traffic.h"

namespace weir::sim {
namespace {

using test::add_flow;

Network plain_star(std::uint32_t nics) {
  return test::star(nics, 100_Gbps, 500_ns, test::lossless_switch(64_MB, 200_KB),
                    test::plain_nic(4096_B));
}

Network fabric_with_dcqcn() {
  SwitchConfig sw = test::lossless_switch(256_MB, 200_KB);
  sw.queues[3].wred = {true, 150_KB, 1500_KB, 10_percent};
  return test::leaf_spine(4, 4, 4, 100_Gbps, 500_ns, sw,
                          test::with_dcqcn(test::plain_nic(4096_B), DcqcnVariant::kConnectx));
}

void add_web_search(Network& network, std::uint32_t nics, Duration duration) {
  OpenLoop open;
  open.sizes = find_distribution("websearch");
  open.sources = nics;
  open.rate = 100_Gbps;
  open.load = 30_percent;
  open.duration = duration;
  for (const Arrival& flow : poisson_arrivals(open, network.seed, 1, 100'000))
    add_flow(network, flow.from, flow.to, flow.size, flow.at);
}

double mean_of(const std::vector<Duration>& times) {
  double sum = 0;
  for (const Duration time : times)
    sum += static_cast<double>(time.raw());
  return sum / static_cast<double>(times.size());
}

std::vector<Duration> completions_in_the_model(const Network& network) {
  FluidModel model(network);
  model.run(Time::at(1_s));
  std::vector<Duration> out;
  for (const MessageId m : network.messages.ids())
    out.push_back(model.completion(m).value());
  return out;
}

std::vector<Duration> completions_packet_by_packet(const Network& network) {
  auto sim = std::move(Sim::make(network)).value();
  sim->run();
  std::vector<Duration> out;
  for (const Flow& flow : collect_flows(*sim, Time::at(1_s)).flows)
    out.push_back(flow.completion);
  return out;
}

TEST(FluidModel, AFlowAloneTakesItsIdealTime) {
  Network network = plain_star(2);
  for (const Bytes size : {1_B, 4096_B, 100_KB, 10_MB})
    add_flow(network, 0, 1, size, Time::at(1_ms * static_cast<std::int64_t>(network.qps.size())));
  const std::vector<Duration> model = completions_in_the_model(network);
  const std::vector<Duration> full = completions_packet_by_packet(network);
  for (std::size_t i = 0; i < model.size(); ++i)
    EXPECT_NEAR(static_cast<double>(model[i].raw()), static_cast<double>(full[i].raw()),
                static_cast<double>(full[i].raw()) * 0.002)
        << i;
}

TEST(FluidModel, FlowsIntoOnePortShareIt) {
  Network network = plain_star(4);
  for (const std::uint32_t source : {1U, 2U, 3U})
    add_flow(network, source, 0, 10_MB);
  const std::vector<Duration> model = completions_in_the_model(network);
  const std::vector<Duration> full = completions_packet_by_packet(network);
  EXPECT_NEAR(mean_of(model), mean_of(full), mean_of(full) * 0.01);
}

TEST(FluidModel, WebSearchTakesAsLongAsPacketByPacket) {
  Network network = fabric_with_dcqcn();
  add_web_search(network, 16, 20_ms);
  ASSERT_GT(network.messages.size(), 500U);
  ASSERT_EQ(fluid_obstacle(network), "");
  const double model = mean_of(completions_in_the_model(network));
  const double full = mean_of(completions_packet_by_packet(network));
  EXPECT_NEAR(model, full, full * 0.05);
}

TEST(FluidModel, OneSeedGivesOneResultHoweverItIsRun) {
  Network network = fabric_with_dcqcn();
  add_web_search(network, 16, 3_ms);
  FluidModel at_once(network);
  at_once.run(Time::at(1_s));
  FluidModel in_parts(network);
  for (std::int64_t ms = 1; ms <= 1000; ms *= 2)
    in_parts.run(Time::at(1_ms * ms));
  EXPECT_EQ(at_once.digest(), in_parts.digest());
  network.replica = 1;
  FluidModel another(network);
  another.run(Time::at(1_s));
  EXPECT_NE(at_once.digest(), another.digest());
}

TEST(FluidModel, KnowsWhatHasArrivedAndWhatIsUnderWay) {
  Network network = plain_star(2);
  add_flow(network, 0, 1, 10_MB);
  FluidModel model(network);
  model.run(Time::at(400_us));
  EXPECT_EQ(model.under_way(), std::vector<MessageId>{MessageId{0}});
  const FluidModel::Arrived half = model.arrived(MessageId{0});
  EXPECT_NEAR(static_cast<double>(half.bytes.raw()), 4.9e6, 0.1e6);  // 400 us of 816
  EXPECT_FALSE(model.completion(MessageId{0}).has_value());
  model.run(Time::at(2_ms));
  EXPECT_EQ(model.under_way(), std::vector<MessageId>());
  EXPECT_EQ(model.arrived(MessageId{0}).bytes, 10_MB);
}

TEST(FluidModel, SaysWhatItCannotCarry) {
  Network network = plain_star(3);
  add_flow(network, 0, 1, 1_MB);
  EXPECT_EQ(fluid_obstacle(network), "");
  Network reads = network;
  reads.qps[QpId{0}].operation = Operation::kRead;
  EXPECT_EQ(fluid_obstacle(reads), "it has READs");
  Network sprays = network;
  sprays.switches[0].balancing = LoadBalancing::kSpray;
  EXPECT_NE(fluid_obstacle(sprays), "");
  Network classes = network;
  add_flow(classes, 1, 2, 1_MB);
  classes.qps[QpId{1}].tos = 0;
  EXPECT_EQ(fluid_obstacle(classes), "it has several traffic classes");
  Network loses = network;
  loses.links[LinkId{0}].error_threshold = 1;
  EXPECT_EQ(fluid_obstacle(loses), "a link loses frames");
}

}  // namespace
}  // namespace weir::sim
