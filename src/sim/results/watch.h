#pragma once
// A reader of a run's counters at instants of its own, between slices.
#include <cstdint>
#include <vector>

#include "sim/engine/sim.h"

namespace weir::sim {

class Watch {
 public:
  virtual ~Watch() = default;

  /// When to look next.
  [[nodiscard]] virtual Time next() const = 0;
  /// At next(): everything before has happened, nothing of that instant has.
  virtual void look(const Sim& sim) = 0;
};

/// One under which steps can be replayed: the period is simulated once more, with stops at the
/// phases of the looks that lie in its repetitions. Each of those looks is what was seen at its
/// phase, with counters raised by as many periods as it comes later.
class RepeatableWatch : public Watch {
 public:
  /// The times of all looks that will be kept when the run has come to `until`, in order.
  [[nodiscard]] virtual std::vector<Time> kept_until(Time until) const = 0;
  /// A period begins that will be repeated. What was seen for one before is forgotten.
  virtual void begin_period(const Sim& sim) = 0;
  /// At the phase of the look at `at`, one of kept_until(), which is `periods` later.
  virtual void look_ahead(const Sim& sim, Time at, std::uint64_t periods) = 0;
  /// The period is over, and its repetitions follow at once, up to `until`.
  virtual void end_period(const Sim& sim, Time until) = 0;
};

}  // namespace weir::sim
