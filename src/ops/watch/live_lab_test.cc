#include "ops/watch/live_lab.h"

#include <cmath>

#include <gtest/gtest.h>

#include "lab/fabric/test_labs.h"

namespace weir::ops {
namespace {

using lab::edited;
using lab::make_lab;
using lab::must;
using lab::pod16;
using lab::TemporaryDirectory;

lab::CreateOptions as_designed() {
  lab::CreateOptions options;
  options.factory_hosts = false;
  return options;
}

void expect_same(const char* what, std::optional<double> live, std::optional<double> read,
                 double close) {
  ASSERT_EQ(live.has_value(), read.has_value()) << what;
  // The window of the counters has whole nanoseconds.
  EXPECT_NEAR(live.value_or(0), read.value_or(0), close + 1e-5 * read.value_or(0)) << what;
}

/// What the page draws of a running load is what its counters show, which other verbs read.
void expect_as_evidence(const std::string& design, const std::string& fault) {
  SCOPED_TRACE(fault);
  const TemporaryDirectory place;
  lab::Lab made = make_lab(place, design, as_designed());
  if (!fault.empty()) must(made.add_fault(fault));
  LabStep step;
  {
    auto live = LiveLab::open(place.file("lab"), "incast,to=gpu03,size=1MB", 100_ms);
    ASSERT_TRUE(live.has_value()) << live.error().what;
    auto done = live->step();
    ASSERT_TRUE(done.has_value());
    step = std::move(*done);
    ASSERT_GT(step.simulated, Duration());
  }  // what was counted is saved
  const lab::Lab after = must(lab::Lab::open(place.file("lab")));
  ASSERT_TRUE(after.last_run().has_value());
  EXPECT_EQ(after.last_run()->elapsed, step.simulated);
  const auto read = watched_ports(must(after.observe_last_run()), &after.intent());
  ASSERT_EQ(step.ports.size(), read.size());
  const double seconds = static_cast<double>(step.simulated.raw()) / 1e12;
  for (std::size_t i = 0; i < read.size(); ++i) {
    const WatchedPort& drawn = step.ports[i];
    SCOPED_TRACE(read[i].device + " " + read[i].name);
    EXPECT_EQ(drawn.device, read[i].device);
    EXPECT_EQ(drawn.name, read[i].name);
    EXPECT_EQ(drawn.tier, read[i].tier);
    EXPECT_EQ(drawn.rail, read[i].rail);
    EXPECT_EQ(drawn.peer, read[i].peer);
    EXPECT_EQ(drawn.up, read[i].up);
    EXPECT_EQ(drawn.speed, read[i].speed);
    expect_same("sent", drawn.sent, read[i].sent, 8 * 8 / seconds);  // counted in words
    expect_same("received", drawn.received, read[i].received, 8 * 8 / seconds);
    // The counter has whole microseconds.
    expect_same("paused", drawn.paused, read[i].paused, 2e-6 / seconds);
    expect_same("pausing", drawn.pausing, read[i].pausing, 2e-6 / seconds);
    expect_same("marks", drawn.marks, read[i].marks, 1e-6);
    expect_same("cnps", drawn.cnps, read[i].cnps, 1e-6);
    expect_same("losses", drawn.losses, read[i].losses, 1e-6);
  }
}

// COVERS K2
TEST(LiveLab, DrawsWhatTheCountersShow) {
  expect_as_evidence(pod16(), "");
  expect_as_evidence(pod16(), "slow-receiver,at=gpu03");
  expect_as_evidence(pod16(), "wrong-pfc-priority,at=gpu03");
}

/// Drivers that lack counters: what they do not show is not drawn either.
TEST(LiveLab, DrawsNoMoreThanADriverShows) {
  for (const char* const nic : {"thor2", "e810", "pollara"}) {
    SCOPED_TRACE(nic);
    const std::string design = edited(pod16(), "nic: connectx6dx", std::string("nic: ") + nic);
    expect_as_evidence(edited(design, "stack: ofed ", "stack: inbox"), "");
  }
}

// COVERS K2
TEST(LiveLab, TakesOverWhatOthersChangeAndKeepsCounting) {
  const TemporaryDirectory place;
  lab::Lab made = make_lab(place, pod16(), as_designed());
  auto live = LiveLab::open(place.file("lab"), "incast,to=gpu03,size=64KB", 30_ms);
  ASSERT_TRUE(live.has_value()) << live.error().what;
  auto step = live->step();
  ASSERT_TRUE(step.has_value());
  EXPECT_TRUE(step->faults.empty());
  const std::uint64_t changes = step->changes;
  must(made.add_fault("slow-receiver,at=gpu03"));
  // A load may be over in a step: it begins again, and the lab's clock never goes back.
  Duration clock = step->clock;
  for (int i = 0; i < 2000 && step->shown_changes <= changes; ++i) {
    step = live->step();
    ASSERT_TRUE(step.has_value()) << step.error().what;
    EXPECT_GE(step->clock, clock);
    clock = step->clock;
  }
  EXPECT_EQ(step->changes, changes + 1);
  EXPECT_EQ(step->shown_changes, changes + 1) << "a load with the fault is in the files";
  EXPECT_EQ(step->faults, std::vector<std::string>{"slow-receiver,at=gpu03"});
  std::filesystem::remove_all(place.file("lab"));
  auto gone = live->step();
  for (int i = 0; i < 200 && gone.has_value(); ++i)
    gone = live->step();
  ASSERT_FALSE(gone.has_value());
}

TEST(LiveLab, ALoadOfManyHostsHasFewMessages) {
  EXPECT_EQ(LiveLab::usual_load(16), "all-to-all,size=1MB");
  EXPECT_EQ(LiveLab::usual_load(1024), "permutation,size=64MB");
}

}  // namespace
}  // namespace weir::ops
