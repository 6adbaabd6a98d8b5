#pragma once
// What a preflight runs its loads on: the simulated hosts of a lab, or real ones. The stages are
// the same code on both; only what a load is, and what can be measured of it, differs. Internal to
// this folder.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ops/preflight/preflight.h"
#include "ops/verify/verify.h"
#include "preflight/schedule.h"
#include "preflight/suspects.h"

namespace weir::ops {

class Bench;

/// A load that ended.
struct LoadRun {
  Duration elapsed;
  bool is_finished = false;
  std::size_t transfers = 0;                                  // messages, or streams
  std::vector<std::pair<std::uint32_t, std::uint32_t>> open;  // pairs of hosts that did not finish
  std::vector<preflight::Measure> measures;
  std::vector<double> rates = {};  // bit/s of each stream, where it is one of streams; 0: failed
  std::string summary = {};        // "in 318us", "92.1 Gb/s in the median"
  std::vector<std::string> notes = {};
};

/// Small messages, one after the other.
struct Latencies {
  std::vector<double> seconds;  // as many as could be had
  // Of each pair and rail, where single messages are not shown.
  std::vector<double> p99 = {};
  std::vector<double> p999 = {};
  std::vector<double> jitter = {};      // p99 less the median
  std::vector<std::string> notes = {};  // which pairs gave none, and why
};

/// A load before, during and after a failure.
struct FailureRun {
  std::string failure;  // what failed
  finding::Judgement judgement;
  std::vector<std::pair<std::string, Duration>> phases;  // "before", …
  diagnose::Totals totals;                               // of the last
};

class Rig {
 public:
  Rig() = default;
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;
  virtual ~Rig() = default;

  /// What each stage will do, in words with numbers, and which do not apply.
  virtual void plan(preflight::Report& report) const = 0;
  /// Nothing is sent for as long as a stage is: the time.
  [[nodiscard]] virtual Result<Duration> rest() = 0;
  /// Full-size packets from every NIC to the next host's.
  [[nodiscard]] virtual Result<LoadRun> neighbours(finding::Judgement& judgement) = 0;
  /// Each NIC with itself, and with its GPU.
  [[nodiscard]] virtual Result<LoadRun> loopback(finding::Judgement& judgement) = 0;
  /// Every pair at once, both ways, on every rail that both hosts have.
  [[nodiscard]] virtual Result<std::vector<preflight::Sample>> exchange(
      const preflight::Round& round, std::uint32_t number) = 0;
  /// What a stream of an exchange has under way at most: over a longer path it is slow by design.
  [[nodiscard]] virtual Bytes window() const = 0;
  /// On every rail that both hosts have.
  [[nodiscard]] virtual Result<Latencies> latencies(const preflight::Round& round) = 0;
  /// All others to this host.
  [[nodiscard]] virtual Result<LoadRun> incast(const std::string& receiver) = 0;
  [[nodiscard]] virtual bool has_all_reduce() const = 0;
  [[nodiscard]] virtual Result<LoadRun> all_reduce() = 0;
  [[nodiscard]] virtual Result<LoadRun> all_to_all() = 0;
  /// Beside traffic of other classes, where the design has such.
  [[nodiscard]] virtual bool has_other_classes() const = 0;
  [[nodiscard]] virtual Result<LoadRun> all_to_all_with_others() = 0;
  /// A sentence on what the simulator expects of the all-to-all just run; empty: nothing.
  [[nodiscard]] virtual std::string expectation(const std::vector<evidence::Evidence>& window,
                                                Duration took) = 0;
  /// Sentences on slow moments of the loads since it was last asked, and what flow control did in
  /// them. In a lab those of the all-to-all alone.
  [[nodiscard]] virtual std::vector<std::string> take_moments() = 0;
  [[nodiscard]] virtual Result<FailureRun> under_failure() = 0;
  /// One of the loads of a soak.
  [[nodiscard]] virtual Result<LoadRun> soak_load() = 0;
};

/// REQUIRES: the bench outlives it.
[[nodiscard]] std::unique_ptr<Rig> make_lab_rig(Bench& bench);
[[nodiscard]] std::unique_ptr<Rig> make_host_rig(Bench& bench);

}  // namespace weir::ops
