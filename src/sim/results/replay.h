#pragma once
// Exact replay: a training run whose steps repeat is simulated until the first repetition, and the
// rest follows by arithmetic: the same digest, the same results (docs/replay.md).
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/engine/sim.h"
#include "sim/workload/workload.h"

namespace weir::sim {

struct ReplayReport {
  std::uint64_t steps = 0;  // of all workloads, that were not simulated
  std::uint64_t hops = 0;   // that belong to them
  /// Why steps were simulated that a replay could have spared; empty: none were.
  std::string why_not;
};

class Replay {
 public:
  /// `end`: where the run is cut off. Both outlive it.
  Replay(Sim& sim, Workloads& load, Time end);

  /// Whether at_rest() is worth a call.
  [[nodiscard]] bool is_on() const { return is_on_; }
  /// No frame is left: repeats what it can.
  void at_rest();
  [[nodiscard]] const ReplayReport& report() const { return report_; }

 private:
  struct Instant {
    std::unique_ptr<Rest> rest;
    WorkloadMark mark;
  };
  /// Empty, or why nothing was repeated.
  [[nodiscard]] std::string_view repeat_since(const Instant& before, const Instant& now);
  void missed(std::string_view why);

  static constexpr std::size_t kRemembered = 3;  // periods of up to so many steps are found
  Sim& sim_;
  Workloads& load_;
  Time end_;
  bool is_on_ = false;
  std::vector<Instant> instants_;  // the newest last
  std::uint64_t misses_ = 0;       // in a row: a run that never repeats is asked ever less often
  std::uint64_t skip_ = 0;
  Ps asked_ = -2;  // before the first instant
  ReplayReport report_;
};

}  // namespace weir::sim
