#pragma once
// When a run looks whether its flows are in a steady state, so that periods of it need not be
// simulated (Sim::skip_steady, docs/replay.md).
#include <cstdint>
#include <string_view>

#include "sim/engine/sim.h"

namespace weir::sim {

class Steady {
 public:
  /// REQUIRES: it outlives this.
  explicit Steady(Sim& sim);

  /// Between two slices of the run, of which nobody sees anything before `stop`.
  void look(Time stop);
  /// How long the next slice should be: where periods were skipped, more will be soon.
  [[nodiscard]] Duration slice() const { return slice_; }
  /// That were not simulated.
  [[nodiscard]] std::uint64_t hops() const { return hops_; }

 private:
  Sim& sim_;
  bool is_on_;
  std::uint64_t first_wait_;  // events of which a look costs less than 1 %
  std::uint64_t wait_ = 0;    // since the last look that found nothing
  std::uint64_t next_ = 0;    // look again when so many have happened
  Duration slice_;
  std::uint64_t hops_ = 0;
};

}  // namespace weir::sim
