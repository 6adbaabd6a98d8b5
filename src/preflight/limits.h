#pragma once
// The numbers that a preflight decides by beside the thresholds of the diagnosis, each with its
// source. docs/preflight.md lists them.
#include <cstdint>

namespace weir::preflight {

struct Limits {
  /// Of what speed, MTU and headers leave for data: a pair that moves less, alone, is slow. Field:
  /// published floors are 95 to 96 % of the line rate, one is 90 %; this is 93 % of it.
  double floor_share = 0.95;
  /// Robust standard deviations from the median of like hosts. Iglewicz and Hoaglin 1993: 3.5.
  double outlier_z = 3.5;
  /// Hosts of one kind from which their median is compared with; fewer meet the floor alone.
  std::uint64_t like_hosts = 8;
};

}  // namespace weir::preflight
