#pragma once
// What a run looks like from outside, as numbers that can be held against each other: the same
// signs of what was observed and of every rehearsal.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/core/view.h"

namespace weir::lab {

/// One number of a run. Counts are compared as logarithms: twice as many is as far as half.
struct Sign {
  std::string name;   // what a reader is told: "marks at the switches"
  std::string place;  // a switch or a host; empty: all that was seen
  double count = 0;   // as counted
  double value = 0;   // as compared
  double grain = 0;   // differences below it say nothing
};

/// In a fixed order; a sign whose counters are missing is left out. `took`: of the load.
[[nodiscard]] std::vector<Sign> signs_of(const diagnose::View& view, std::optional<Duration> took);

}  // namespace weir::lab
