#include "sim/results/results.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "base/testing.h"
#include "base/text.h"
#include "design/file/load.h"
#include "design/file/templates.h"
#include "evidence/json.h"
#include "sim/fabric/test_networks.h"
#include "sim/results/simulate.h"

namespace weir::sim {
namespace {

struct Pod {
  design::Design design;
  design::Intent intent;
};

const Pod& pod16() {
  static const Pod pod = [] {
    design::Loaded loaded = design::load_text(design::find_template("pod16")->text, "fabric.yaml");
    design::Derived derived = design::derive(loaded.design);
    return Pod{std::move(loaded.design), std::move(derived.intent)};
  }();
  return pod;
}

Outcome simulated(std::string_view workload, const std::vector<std::string>& faults = {},
                  Duration sample_every = {}, Duration limit = {}) {
  Experiment experiment;
  experiment.design = &pod16().design;
  experiment.intent = pod16().intent;
  experiment.limit = limit == Duration() ? 5_ms : limit;
  experiment.sample_every = sample_every;
  experiment.workloads.push_back(parse_workload(workload).value());
  for (const std::string& fault : faults)
    experiment.faults.push_back(parse_fault(fault).value());
  auto outcome = simulate(experiment);
  EXPECT_TRUE(outcome.has_value()) << (outcome ? "" : outcome.error().what);
  return std::move(outcome).value();
}

const counters::PortCounters& nic_of(const Outcome& outcome, std::size_t host) {
  return outcome.results.hosts[host].snapshots.back().nics.at(0);
}

std::uint64_t value_of(const Outcome& outcome, std::size_t host, std::string_view key) {
  const counters::Match match = counters::find_key(counters::Driver::kMlx5, key);
  const auto reading =
      nic_of(outcome, host)
          .read(*counters::place_of(key.substr(0, key.find('/'))), key.substr(key.find('/') + 1));
  EXPECT_TRUE(match) << key;
  EXPECT_TRUE(reading.has_value()) << key;
  return reading.has_value() ? reading.value() : 0;
}

TEST(CompletionTimes, AreNearestRankAndExact) {
  COVERS("G8");
  std::vector<Duration> times;
  for (std::int64_t i = 1000; i >= 1; --i)
    times.push_back(Duration::raw(i));
  const CompletionTimes done = completion_times(times);
  EXPECT_EQ(done.mean.raw(), 500);
  EXPECT_EQ(done.p50.raw(), 500);
  EXPECT_EQ(done.p99.raw(), 990);
  EXPECT_EQ(done.p999.raw(), 999);
  EXPECT_EQ(done.max.raw(), 1000);
  EXPECT_EQ(completion_times({7_ns}).p999, 7_ns);
  EXPECT_EQ(completion_times({}).max, 0_ns);
}

TEST(Results, AFlowAloneTakesItsIdealTime) {
  COVERS("G8");
  Network network = test::star(2, 100_Gbps, 500_ns, test::lossless_switch(32_MiB, 100_KB),
                               test::plain_nic(4096_B));
  test::add_flow(network, 0, 1, 1_MB);
  auto sim = Sim::make(std::move(network));
  ASSERT_TRUE(sim.has_value());
  (*sim)->run();
  const Results results = collect_flows(**sim, Time::at(Duration::raw((*sim)->now())));
  ASSERT_EQ(results.flows.size(), 1U);
  EXPECT_EQ(results.totals.finished, 1U);
  EXPECT_NEAR(results.totals.slowdown_mean, 1, 0.01);
  EXPECT_NEAR(results.totals.utilisation, 1, 0.03);
  EXPECT_EQ(results.totals.jain, 1);
}

TEST(Results, AHostShowsCountersUnderTheNamesOfItsDriver) {
  COVERS("G8", "D1");
  const Outcome outcome = simulated("incast,to=gpu01,size=500KB");
  EXPECT_GT(value_of(outcome, 0, "hw_counters/np_cnp_sent"), 0U);
  EXPECT_GT(value_of(outcome, 0, "hw_counters/np_ecn_marked_roce_packets"), 0U);
  EXPECT_GT(value_of(outcome, 0, "ethtool/rx_prio3_bytes"), 15U * 500'000U);
  EXPECT_GT(value_of(outcome, 1, "hw_counters/rp_cnp_handled"), 0U);
  EXPECT_GT(value_of(outcome, 1, "ethtool/tx_prio3_packets"), 120U);
  EXPECT_EQ(value_of(outcome, 1, "hw_counters/out_of_sequence"), 0U);
  EXPECT_EQ(value_of(outcome, 1, "ethtool/rx_crc_errors_phy"), 0U);
  // PFC is on for priority 3 alone: the others have no pause counters.
  EXPECT_TRUE(nic_of(outcome, 1).shows(counters::Place::kEthtool, "rx_prio3_pause"));
  EXPECT_FALSE(nic_of(outcome, 1).shows(counters::Place::kEthtool, "rx_prio0_pause"));
}

TEST(Results, ANicCountsAsRdmaWhatIsNoSockets) {
  COVERS("G8");
  const Outcome rdma = simulated("pair,from=gpu01,to=gpu02,size=1MB");
  const std::uint64_t sent = value_of(rdma, 0, "ethtool/tx_vport_rdma_unicast_bytes");
  EXPECT_EQ(sent, value_of(rdma, 0, "ethtool/tx_prio3_bytes"));
  EXPECT_EQ(sent, value_of(rdma, 1, "ethtool/rx_vport_rdma_unicast_bytes"));
  EXPECT_GT(value_of(rdma, 1, "ethtool/tx_vport_rdma_unicast_packets"), 0U) << "acknowledgements";
  const Outcome sockets = simulated("lossy,duration=200us");
  std::uint64_t others = 0;
  for (std::size_t host = 0; host < sockets.results.hosts.size(); ++host) {
    others += value_of(sockets, host, "ethtool/tx_prio0_bytes");
    for (const std::string_view way : {"rx", "tx"})
      EXPECT_EQ(value_of(sockets, host, fmt::format("ethtool/{}_vport_rdma_unicast_bytes", way)),
                0U);
  }
  EXPECT_GT(others, 1'000'000U);
}

TEST(Results, EveryCounterIsOneOfTheCatalogue) {
  COVERS("G8", "D1");
  const Outcome outcome = simulated("pair,size=100KB");
  for (const counters::ShownSample& sample : nic_of(outcome, 0).samples())
    EXPECT_TRUE(sample.match) << sample.key();
  for (const counters::PortCounters& port : outcome.results.switches.snapshots.back().switch_ports)
    for (const counters::ShownSample& sample : port.samples())
      EXPECT_TRUE(sample.match) << sample.key();
}

TEST(Results, ANicShowsEveryFileThatMlx5HasUnderInfiniband) {
  COVERS("G8", "D1");
  const Outcome outcome = simulated("pair,size=100KB");
  unsigned files = 0;
  for (const counters::Counter& counter : counters::catalog()) {
    for (const counters::RawName& name : counters::names_of(counter)) {
      const bool is_mlx5 =
          name.driver == counters::Driver::kMlx5 || name.driver == counters::Driver::kAny;
      const bool is_file =
          name.place == counters::Place::kHwCounters || name.place == counters::Place::kCounters;
      // Optional counters are there only once root has asked for them.
      if (!is_mlx5 || !is_file || name.condition.find("optional-counters") != name.condition.npos)
        continue;
      ++files;
      EXPECT_TRUE(nic_of(outcome, 0).shows(name.place, name.pattern)) << name.pattern;
    }
  }
  EXPECT_EQ(files, 53U);  // 31 of hw_counters/ and lifespan, 21 of counters/
}

TEST(Results, RequestsAndDataAreCountedWhereADriverCountsThem) {
  COVERS("G8", "D1");
  const Outcome write = simulated("pair,from=gpu01,to=gpu02,size=1MB");
  EXPECT_GT(value_of(write, 1, "hw_counters/rx_write_requests"), 0U);
  EXPECT_EQ(value_of(write, 0, "hw_counters/rx_write_requests"), 0U);
  EXPECT_EQ(value_of(write, 1, "hw_counters/rx_read_requests"), 0U);
  EXPECT_EQ(value_of(write, 0, "counters/port_xmit_data"),
            value_of(write, 0, "ethtool/tx_vport_rdma_unicast_bytes") / 4);
  EXPECT_EQ(value_of(write, 1, "counters/port_rcv_data"),
            value_of(write, 1, "ethtool/rx_vport_rdma_unicast_bytes") / 4);
  EXPECT_EQ(value_of(write, 0, "counters/unicast_xmit_packets"),
            value_of(write, 0, "ethtool/tx_vport_rdma_unicast_packets"));
  EXPECT_EQ(value_of(write, 0, "counters/port_xmit_packets"),
            value_of(write, 0, "counters/unicast_xmit_packets"));
  EXPECT_EQ(value_of(write, 0, "counters/port_xmit_wait"), 0U);
  // A setting: the same before and after.
  for (const counters::Snapshot& snapshot : write.results.hosts[0].snapshots)
    EXPECT_EQ(snapshot.nics[0].read(counters::Place::kHwCounters, "lifespan").value(), 10U);
  const Outcome sockets = simulated("lossy,duration=200us");
  EXPECT_EQ(value_of(sockets, 1, "hw_counters/rx_write_requests"), 0U);
  EXPECT_EQ(value_of(sockets, 1, "counters/port_rcv_data"), 0U);
}

TEST(Results, ABrokenQueuePairIsOneErrorAndTheRestIsFlushed) {
  COVERS("G8", "D1");
  const Outcome outcome = simulated("pair,from=gpu01,to=gpu02,size=100KB,iterations=4,depth=3",
                                    {"link-down,at=gpu02"}, {}, 60_s);
  const std::uint64_t broken = value_of(outcome, 0, "hw_counters/req_transport_retries_exceeded");
  ASSERT_GT(broken, 0U);
  EXPECT_EQ(value_of(outcome, 0, "hw_counters/req_cqe_error"), broken);
  EXPECT_EQ(value_of(outcome, 0, "hw_counters/req_cqe_flush_error"), 2 * broken);
  EXPECT_EQ(value_of(outcome, 1, "hw_counters/req_cqe_error"), 0U);
}

TEST(Results, WhatACableDeliversWasSentAtItsOtherEnd) {
  COVERS("G8");
  const Outcome outcome = simulated("all-to-all,size=50KB");
  const auto& ports = outcome.results.switches.snapshots.back().switch_ports;
  const counters::PortCounters& leaf = ports.front();  // leaf1 swp1, the cable of gpu01
  EXPECT_EQ(leaf.device(), "leaf1");
  EXPECT_EQ(leaf.read("switch.port.rx.bytes").value(),
            value_of(outcome, 0, "ethtool/tx_bytes_phy"));
  EXPECT_EQ(leaf.read("switch.port.tx.packets").value(),
            value_of(outcome, 0, "ethtool/rx_packets_phy"));
}

TEST(Results, FactsShowWhatAHostIsSetToAndNotWhatItSuffersFrom) {
  COVERS("G8", "C1");
  const Outcome outcome =
      simulated("pair,size=100KB", {"wrong-trust,at=gpu03", "np-off,at=gpu04",
                                    "slow-receiver,at=gpu05,rate=10G", "wrong-mtu,at=gpu06"});
  const auto& hosts = outcome.results.hosts;
  EXPECT_TRUE(hosts[2].nics[0].qos.trust.is(evidence::TrustMode::kPcp));
  EXPECT_TRUE(hosts[1].nics[0].qos.trust.is(evidence::TrustMode::kDscp));
  EXPECT_EQ(hosts[3].nics[0].ecn.np->count(), 0);
  EXPECT_GT(hosts[1].nics[0].ecn.np->count(), 0);
  EXPECT_TRUE(hosts[5].nics[0].link.active_mtu.is(1024_B));
  EXPECT_EQ(hosts[4].nics[0].qos, hosts[1].nics[0].qos);
  EXPECT_TRUE(hosts[0].provenance.simulated);
  const auto again = evidence::evidence_from_json(evidence::to_json(hosts[2]));
  ASSERT_TRUE(again.has_value()) << (again ? "" : again.error().what);
  EXPECT_EQ(*again, hosts[2]);
  const auto switches = evidence::evidence_from_json(evidence::to_json(outcome.results.switches));
  ASSERT_TRUE(switches.has_value()) << (switches ? "" : switches.error().what);
  EXPECT_EQ(*switches, outcome.results.switches);
}

TEST(Results, TheObjectHasTheFieldsThatProgramsRelyOn) {
  COVERS("G8");
  const Outcome outcome = simulated("pair,size=100KB");
  Json object;
  add_json(object, outcome.results);
  for (const char* pointer :
       {"/flows/count", "/flows/finished", "/flows/fct_us/mean", "/flows/fct_us/p50",
        "/flows/fct_us/p99", "/flows/fct_us/p999", "/flows/fct_us/max", "/drops", "/lossless_drops",
        "/pfc/pauses", "/pfc/pause_us", "/ecn/marked", "/ecn/share", "/cnp/sent", "/cnp/handled",
        "/utilisation", "/jain", "/ports/0/counters", "/hosts/0/nics/0/device"})
    EXPECT_TRUE(object.contains(Json::json_pointer(pointer))) << pointer;
}

TEST(Sampler, LooksWithoutTouching) {
  COVERS("G8");
  const Outcome plain = simulated("incast,to=gpu01,size=200KB");
  const Outcome sampled = simulated("incast,to=gpu01,size=200KB", {}, 1_us);
  EXPECT_EQ(plain.results.digest, sampled.results.digest);
  ASSERT_TRUE(sampled.samples.has_value());
  EXPECT_GT(sampled.samples->size(), 100U);
  EXPECT_LT(sampled.samples->size(), Sampler::kMostSamples);
  const std::string csv = sampled.samples->ports_csv(*sampled.sim);
  EXPECT_NE(csv.find("leaf1,0,"), std::string::npos);
}

TEST(Sampler, AFaultOfTheWholeRunEqualsOneFromItsFirstInstant) {
  COVERS("G9");
  const Outcome whole = simulated("incast,to=gpu01,size=200KB", {"np-off,at=gpu01"});
  const Outcome timed = simulated("incast,to=gpu01,size=200KB", {"np-off,at=gpu01,until=4900us"});
  EXPECT_EQ(whole.results.totals.cnp_sent, 0U);
  EXPECT_EQ(timed.results.totals.cnp_sent, 0U);
  EXPECT_EQ(whole.results.digest, timed.results.digest);
}

TEST(Faults, APauseStormEndsWhenItsTimeIsOver) {
  COVERS("G9", "G2");
  const Outcome stuck = simulated("incast,to=gpu01,size=200KB", {"nic-pause-storm,at=gpu01"});
  EXPECT_FALSE(stuck.is_finished);
  EXPECT_GT(value_of(stuck, 0, "ethtool/tx_prio3_pause_duration"), 4000U);
  const Outcome passing =
      simulated("incast,to=gpu01,size=200KB", {"nic-pause-storm,at=gpu01,from=20us,until=300us"});
  EXPECT_TRUE(passing.is_finished);
  const std::uint64_t paused = value_of(passing, 0, "ethtool/tx_prio3_pause_duration");
  EXPECT_GT(paused, 250U);
  EXPECT_LT(paused, 310U);
}

}  // namespace
}  // namespace weir::sim
