#pragma once
// The live page: looks again and again and keeps what it saw for whoever watches.
//
// A lab's load runs at the interval. Hosts are looked at at the interval only while someone
// watches, else every 15 s: a page that nobody sees costs next to nothing. A fleet is looked at in
// rounds of its own (ops/watch/rounds.h): the page has a frame when a round is over, and
// while hosts answer one per second or fewer.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ops/watch/live_lab.h"
#include "ops/watch/replay.h"
#include "ops/watch/watch.h"
#include "serve/page/api.h"
#include "serve/page/feed.h"

namespace weir::serve {

class LivePage {
 public:
  static constexpr int kMostStreams = 48;

  /// `load` runs between two looks; `lab` names a lab whose faults can be switched.
  LivePage(ops::Watch watch, PageInfo info, std::optional<ops::LiveLab> load,
           const std::string& lab_directory);
  /// A recording: everything is there at once.
  LivePage(const ops::Replay& replay, PageInfo info);

  /// Looks until told to stop. From one thread.
  void run(const std::atomic<bool>& is_over);
  /// True once after a lab was changed and a load has run with it: worth judging now.
  [[nodiscard]] bool takes_judging() { return wants_judging_.exchange(false); }

  [[nodiscard]] Feed& feed() { return feed_; }
  [[nodiscard]] Api& api() { return api_; }

  /// A place for a stream while it lives; false: all are taken.
  [[nodiscard]] bool open_stream();
  void close_stream() { --streams_; }

 private:
  void look();
  void run_load();
  void look_at_fleet(const ops::FleetRounds& rounds);
  void note_hosts(const ops::Observation& seen);
  void note_faults(const std::vector<std::string>& now);
  void set_clock(const ops::LabStep& step);
  [[nodiscard]] LabControl control_of(const std::string& directory);

  Feed feed_;
  std::optional<ops::Watch> watch_;
  std::optional<ops::LiveLab> load_;
  ops::PortWatch ports_;
  std::string clock_;
  std::string trouble_;  // the last failure, said once
  double slowness_ = 0;  // of a lab: real time over simulated time, of late
  std::chrono::steady_clock::time_point last_step_;
  std::uint64_t rounds_ = 0;                             // of a fleet, that the page has
  std::uint64_t changes_ = 0;                            // the same, of answers of its hosts
  std::chrono::steady_clock::time_point next_in_round_;  // no frame of a part of a round before
  std::vector<std::string> unseen_;   // "gpu03: why", of the last look at a fleet
  std::uint64_t judged_changes_ = 0;  // of a lab, up to which they were given to the judge
  std::mutex faults_mutex_;
  std::vector<std::string> faults_;  // that are on
  std::atomic<int> streams_ = 0;
  std::atomic<bool> wants_judging_ = false;
  Api api_;
};

}  // namespace weir::serve
