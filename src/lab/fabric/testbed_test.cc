#include "lab/fabric/testbed.h"

#include "base/json.h"
#include "base/testing.h"
#include "lab/fabric/port_counts.h"
#include "lab/fabric/run_record_json.h"
#include "lab/fabric/test_labs.h"

namespace weir::lab {
namespace {

/// A lab's files, read as its verbs read them.
struct OpenLab {
  Blueprint blueprint;
  State state;
  Profiles profiles;
};

OpenLab open_lab(const TemporaryDirectory& place, const std::vector<std::string>& faults) {
  Lab lab = make_lab(place, pod16(), {.factory_hosts = false});
  for (const std::string& fault : faults)
    must(lab.add_fault(fault));
  OpenLab out;
  out.blueprint = must(load_blueprint(place.file("lab"), place.file("fabric.yaml")));
  out.state = must(read_state(out.blueprint));
  return out;
}

Load load_of(const std::string& command, Duration limit) {
  Load load;
  load.command = command;
  load.workloads.push_back(must(sim::parse_workload(command)));
  load.limit = limit;
  return load;
}

/// All that a load leaves behind: curves, counters of every port, flows.
void expect_same(const TestbedRun& a, const TestbedRun& b, const std::string& command) {
  SCOPED_TRACE(command);
  EXPECT_EQ(a.end, b.end);
  EXPECT_EQ(to_json(a.record).dump(), to_json(b.record).dump());
  EXPECT_EQ(a.outcome.is_finished, b.outcome.is_finished);
  EXPECT_EQ(a.outcome.flows, b.outcome.flows);
  EXPECT_EQ(a.outcome.ends, b.outcome.ends);
  EXPECT_EQ(a.outcome.deliveries, b.outcome.deliveries);
  EXPECT_EQ(a.outcome.totals.slowdown_mean, b.outcome.totals.slowdown_mean);
  EXPECT_EQ(a.outcome.totals.jain, b.outcome.totals.jain);
  ASSERT_EQ(a.outcome.workloads.size(), b.outcome.workloads.size());
  for (std::size_t w = 0; w < a.outcome.workloads.size(); ++w)
    EXPECT_EQ(a.outcome.workloads[w].steps, b.outcome.workloads[w].steps);
  EXPECT_EQ(a.bed.sim->digest(), b.bed.sim->digest());
  sim::LayoutsByNames layouts;
  const auto left = count_ports(a.bed, a.end, layouts);
  const auto right = count_ports(b.bed, b.end, layouts);
  ASSERT_EQ(left.size(), right.size());
  for (std::size_t i = 0; i < left.size(); ++i)
    EXPECT_EQ(counters::to_json(left[i]), counters::to_json(right[i]));
}

constexpr Duration kLimit = 10_s;

/// Runs it with replay on one thread and on three, and with neither; the first.
TestbedRun same_in_every_way(OpenLab& lab, const std::string& command, Duration limit = kLimit) {
  const Load load = load_of(command, limit);
  const auto with = [&](Speed speed) {
    return must(run(lab.blueprint, lab.state, lab.profiles, load, {}, speed));
  };
  const TestbedRun plain = with({1, false});
  EXPECT_EQ(plain.replayed, 0U);
  expect_same(with({3, true}), plain, command + ", three threads");
  TestbedRun replayed = with({1, true});
  expect_same(replayed, plain, command);
  return replayed;
}

TEST(Testbed, ALoadWithReplayAndThreadsLeavesTheSameCurvesAndCounters) {
  COVERS("G8");
  const TemporaryDirectory place;
  OpenLab lab = open_lab(place, {});
  // Few samples, all at their first interval; many, thinned out while steps repeat.
  const TestbedRun few =
      same_in_every_way(lab, "training,compute=37us,overlap=30%,size=64KB,steps=9,qps=1");
  EXPECT_EQ(few.replayed, 7U);  // one to see that it repeats, one for the looks
  const TestbedRun many =
      same_in_every_way(lab, "training,compute=101us,size=64KB,steps=150,qps=1");
  EXPECT_EQ(many.replayed, 148U);
  EXPECT_GT(many.record.times.size(), 100U);
  // A graph of tasks, which one thread simulates.
  const TestbedRun graph =
      same_in_every_way(lab,
                        "model,layers=2,hidden=256,seq=128,tp=1,pp=2,microbatches=2,flops=10T,"
                        "steps=9,hosts=gpu[01-02]+gpu[09-10]");
  EXPECT_EQ(graph.replayed, 7U);
  // Congested, so that no step repeats; without steps; cut off.
  EXPECT_EQ(same_in_every_way(lab, "training,compute=50us,size=2MB,steps=3,collective=all-to-all")
                .replayed,
            0U);
  EXPECT_EQ(same_in_every_way(lab, "all-to-all,size=256KB").replayed, 0U);
  EXPECT_EQ(
      same_in_every_way(lab, "training,compute=100us,size=64KB,steps=50,qps=1", 2_ms).replayed, 0U);
}

TEST(Testbed, ALoadUnderAFaultThatBeginsIsSimulatedStepByStep) {
  COVERS("G8");
  const TemporaryDirectory place;
  OpenLab lab = open_lab(place, {"slow-receiver,at=gpu03,rate=40G,from=300us,until=500us"});
  EXPECT_EQ(same_in_every_way(lab, "training,compute=101us,size=64KB,steps=9,qps=1").replayed, 0U);
}

}  // namespace
}  // namespace weir::lab
