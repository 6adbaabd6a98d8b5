#pragma once
// Flows in the middle of long messages, which nothing disturbs: the state of the fabric repeats
// itself, but for the time and the numbers of packets. Periods of it are then counted, not
// simulated (docs/replay.md).
#include <cstdint>
#include <string_view>

#include "sim/engine/engine.h"

namespace weir::sim::engine {

/// Simulates everything before `end`.
using RunTo = void (*)(Tables& all, Ps end);

/// Sim::skip_steady(). REQUIRES: Sim::cannot_rest() has nothing to say.
[[nodiscard]] Skipped skip_steady(Tables& all, Ps from, Ps stop, RunTo run_to);

}  // namespace weir::sim::engine
