#include "sim/results/steady.h"

#include <algorithm>

namespace weir::sim {
namespace {

// A look copies the state a dozen times: about ten words per port and per queue pair, and 32 per
// port of a switch in use. The first comes when so many events have happened that it costs less
// than 1 % of them (docs/performance.md), the next ones ever later.
constexpr std::uint64_t kEventsPerPort = 16 * 40;
constexpr std::uint64_t kEventsPerQp = 16 * 16;
constexpr Duration kUsualSlice = 20_us;
constexpr Duration kShortSlice = 1_us;

}  // namespace

Steady::Steady(Sim& sim)
    : sim_(sim),
      is_on_(sim.cannot_rest().empty()),
      first_wait_(kEventsPerPort * sim.port_count() + kEventsPerQp * sim.network().qps.size()),
      slice_(kUsualSlice) {
  next_ = first_wait_;
}

void Steady::look(Time stop) {
  if (!is_on_ || sim_.live_frames() == 0 || sim_.events() < next_) return;
  const Skipped skipped = sim_.skip_steady(stop);
  if (skipped.periods == 0) {
    wait_ = std::max(2 * wait_, first_wait_);
    next_ = sim_.events() + wait_;
    slice_ = kUsualSlice;
    return;
  }
  hops_ += skipped.hops;
  slice_ = kShortSlice;
  wait_ = next_ = 0;
}

}  // namespace weir::sim
