#pragma once
// The last step: the chosen values and the start values when something breaks.
#include <string>
#include <vector>

#include "tune/search.h"
#include "tune/steps.h"

namespace weir::tune {

struct Scenario {
  std::string name;   // "link" "rail" "switch" "host" "burst"
  std::string fault;  // empty: none
  std::vector<std::string> loads;
  std::string dead_host;  // whose own flows need not finish
};

/// What this fabric can lose and still be asked to work. `loads` are those of the tuning, with the
/// time that each takes under the start values.
struct TimedLoad {
  std::string text;
  double duration_us = 0;
  bool has_steps = false;  // a collective: it cannot go on without one of its hosts
};
[[nodiscard]] std::vector<Scenario> scenarios_of(const design::Intent& intent,
                                                 const std::vector<TimedLoad>& loads);

/// Each scenario with the start values and at `point`. Passes where no lossless packet was dropped
/// and all flows that could end did.
[[nodiscard]] Result<std::vector<FailureOutcome>> break_things(
    Search& search, const Point& point, const std::vector<Scenario>& scenarios, std::size_t seeds);

}  // namespace weir::tune
