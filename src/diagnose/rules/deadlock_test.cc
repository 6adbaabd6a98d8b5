#include "base/testing.h"
#include "base/text.h"
#include "diagnose/core/diagnose.h"

namespace weir::diagnose {
namespace {

struct StuckLink {
  std::string from;
  std::string to;
  std::uint64_t paused_us;  // of a window of 10,000
};

/// Three switches in a triangle; each link's ports are named after the switch at its other end.
std::vector<evidence::Evidence> triangle(const std::vector<StuckLink>& links) {
  evidence::Evidence out;
  out.snapshots.resize(2);
  out.snapshots[0].clock_ns = 1'000'000'000;
  out.snapshots[1].clock_ns = 1'010'000'000;
  const std::vector<std::string> names = {"leaf1", "leaf2", "spine1"};
  for (const std::string& name : names) {
    evidence::Switch& device = out.switches.emplace_back();
    device.name = name;
    for (const std::string& other : names) {
      if (other == name) continue;
      evidence::SwitchPort& port = device.ports.emplace_back();
      port.name = "to-" + other;
      port.neighbour = evidence::Fact<evidence::Neighbour>::of({other, "to-" + name});
      port.speed = evidence::Fact<BitRate>::of(100_Gbps);
      port.pfc = evidence::Fact<PrioritySet>::of(PrioritySet::from_mask(8));
      std::uint64_t paused = 0;
      for (const StuckLink& link : links)
        if (link.from == name && link.to == other) paused = link.paused_us;
      for (int moment = 0; moment < 2; ++moment) {
        const auto sample = [&](const char* key, std::uint64_t value) {
          return counters::Sample{counters::Place::kSwitch, key,
                                  counters::Reading::of(moment == 0 ? 0 : value)};
        };
        out.snapshots[static_cast<std::size_t>(moment)].switch_ports.emplace_back(
            name, port.name, "switch",
            std::vector<counters::Sample>{
                sample("prio3.pause_rx.microseconds", paused),
                sample("prio3.pause_rx.frames", paused / 10), sample("prio3.pause_tx.frames", 0),
                sample("queue3.tx.bytes", paused > 9000 ? 0 : 50'000'000)});
      }
    }
  }
  return {out};
}

finding::Judgement judge(const std::vector<evidence::Evidence>& item) {
  Case subject;
  subject.evidence = item;
  return diagnose(subject);
}

TEST(Deadlock, SwitchesThatWaitForEachOtherAreNamedAsACircle) {
  COVERS("I5");
  const auto judgement = judge(triangle(
      {{"leaf1", "spine1", 10'000}, {"spine1", "leaf2", 10'000}, {"leaf2", "leaf1", 9'990}}));
  ASSERT_FALSE(judgement.findings.empty());
  const finding::Finding& first = judgement.findings.front();
  EXPECT_EQ(first.id, "pfc.deadlock") << first.verdict;
  EXPECT_EQ(first.where.link, "leaf1 > spine1 > leaf2 > leaf1");
  EXPECT_EQ(first.evidence.size(), 3U);
}

TEST(Deadlock, AChainOfWaitingThatEndsIsNone) {
  COVERS("I5");
  const auto judgement = judge(triangle(
      {{"leaf1", "spine1", 10'000}, {"spine1", "leaf2", 10'000}, {"leaf2", "leaf1", 400}}));
  for (const finding::Finding& finding : judgement.findings)
    EXPECT_NE(finding.id, "pfc.deadlock") << finding.verdict;
}

TEST(Deadlock, QueuesThatTheWatchdogHoldsCount) {
  COVERS("I5");
  auto evidence = triangle({});
  for (evidence::Switch& item : evidence[0].switches) {
    for (evidence::SwitchPort& port : item.ports) {
      if (port.name == "to-leaf1" && item.name == "spine1") continue;
      evidence::EgressQueue& queue = port.queues.emplace_back();
      queue.queue = Queue::of(3);
      queue.stuck = evidence::Fact<bool>::of(true);
    }
  }
  const auto judgement = judge(evidence);
  ASSERT_FALSE(judgement.findings.empty());
  EXPECT_EQ(judgement.findings.front().id, "pfc.deadlock");
}

TEST(Deadlock, OneQueueThatTheWatchdogFoundStuckIsAStormBehindThatPort) {
  COVERS("I1");
  auto evidence = triangle({});
  evidence::EgressQueue& queue = evidence[0].switches[0].ports[0].queues.emplace_back();
  queue.queue = Queue::of(3);
  queue.stuck = evidence::Fact<bool>::of(true);
  const auto judgement = judge(evidence);
  ASSERT_FALSE(judgement.findings.empty());
  EXPECT_EQ(judgement.findings.front().id, "pfc.storm");
  EXPECT_EQ(judgement.findings.front().where.port, "to-leaf2");
}

}  // namespace
}  // namespace weir::diagnose
