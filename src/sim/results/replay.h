#pragma once
// Exact replay: a training run whose steps repeat is simulated until the first repetition, and the
// rest follows by arithmetic: the same digest, the same results (docs/replay.md).
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/engine/sim.h"
#include "sim/results/watch.h"
#include "sim/workload/workload.h"

namespace weir::sim {

struct ReplayReport {
  std::uint64_t steps = 0;         // of all workloads, that were not simulated
  std::uint64_t region_steps = 0;  // of one region each (a rail), while others were simulated
  std::uint64_t hops = 0;          // that belong to both
  std::uint64_t steady_hops = 0;   // of flows in a steady state, counted instead of simulated
  /// Why steps were simulated that a replay could have spared; empty: none were.
  std::string why_not;
};

class Replay {
 public:
  /// `end`: where the run is cut off. `watch`: who looks at the run; none: it is not watched. All
  /// outlive it.
  Replay(Sim& sim, Workloads& load, Time end, RepeatableWatch* watch = nullptr);

  /// Whether at_rest() is worth a call.
  [[nodiscard]] bool is_on() const { return is_on_; }
  /// No frame is left: repeats what it can.
  void at_rest();
  /// Who looks at the run: the watch given, and on its behalf at what it would see later; none
  /// where none was.
  [[nodiscard]] Watch* watch() { return look_ahead_ ? &*look_ahead_ : nullptr; }
  /// Steps were repeated and the run has not come to its end, or a time-out is in doubt: it must be
  /// done again without.
  [[nodiscard]] bool must_be_undone() const;
  [[nodiscard]] const ReplayReport& report() const { return report_; }

 private:
  struct Instant {
    std::unique_ptr<Rest> rest;
    WorkloadMark mark;
  };
  /// Forwards to a watch; while a period is simulated once more, with the looks of its repetitions.
  class LookAhead final : public Watch {
   public:
    explicit LookAhead(RepeatableWatch& watch) : watch_(watch) {}

    /// The period begins with `rest`, and so does each of `times` in a row.
    void begin(const Sim& sim, const Rest& rest, Ps period, std::uint64_t times);
    [[nodiscard]] bool is_under_way(const Rest& now) const {
      return origin_ >= 0 && now.origin - origin_ < period_;
    }
    /// All of it lies between the two, and `times` more follow: the looks in them are taken.
    [[nodiscard]] bool ends(const Sim& sim, const Rest& begin, const Rest& now,
                            std::uint64_t times);

    [[nodiscard]] Time next() const override;
    void look(const Sim& sim) override;

   private:
    struct Ahead {
      Time phase;
      Time at;
      std::uint64_t periods;
    };
    RepeatableWatch& watch_;
    Ps origin_ = -1;  // none
    Ps period_ = 0;
    Time until_;                // the end of the last period
    std::vector<Ahead> ahead_;  // in the order of phases
    std::size_t seen_ = 0;      // of them
  };
  /// A part of the fabric that repeats by itself.
  struct Region {
    std::vector<std::shared_ptr<const Episode>> episodes;
    std::unique_ptr<Rest> begun;  // a step of it that is simulated
    Ps origin = 0;                // of the step before
    std::uint64_t left = 0;       // rounds to come when it began
    std::uint64_t misses = 0;
    std::uint64_t skip = 0;
  };
  /// False: the fabric as a whole does not repeat now.
  bool repeat_whole(WorkloadMark mark);
  /// Every region that begins as it did before does the same again.
  void play_regions();
  /// Empty, or why nothing was repeated.
  [[nodiscard]] std::string_view repeat_since(const Instant& before, const Instant& now);
  void missed(std::string_view why);
  static void note_miss(std::uint64_t& misses, std::uint64_t& skip);

  static constexpr std::size_t kRemembered = 3;  // periods of up to so many steps are found
  Sim& sim_;
  Workloads& load_;
  Time end_;
  std::optional<LookAhead> look_ahead_;
  bool is_on_ = false;
  bool is_looking_ahead_ = false;  // the period that begins now
  std::vector<Instant> instants_;  // the newest last
  std::uint64_t misses_ = 0;       // in a row: a run that never repeats is asked ever less often
  std::uint64_t skip_ = 0;
  Ps asked_ = -2;                // before the first instant
  std::vector<Region> regions_;  // none: there is one, or the run is watched
  ReplayReport report_;
};

}  // namespace weir::sim
