#pragma once
// The numbers that a preflight and a comparison with a baseline decide by beside the thresholds of
// the diagnosis, each with its source. docs/preflight.md and docs/baseline.md list them.
#include <cstdint>

namespace weir::preflight {

struct Limits {
  /// Of what speed, MTU and headers leave for data: a pair that moves less, alone, is slow. Field:
  /// published floors are 95 to 96 % of the line rate, one is 90 %; this is 93 % of it.
  double pair_floor = 0.95;
  /// Robust standard deviations from the median of like hosts. Iglewicz and Hoaglin 1993: 3.5.
  double outlier_z = 3.5;
  /// Hosts of one kind from which their median is compared with; fewer meet the floor alone.
  std::uint64_t like_hosts = 8;
  /// Worse than the baseline by more than this share is a regression. Field: SuperBench, 5 %.
  double baseline_change = 0.05;
  /// … unless it varies by itself: so many times its spread from run to run are allowed.
  double baseline_spread = 3;
};

}  // namespace weir::preflight
