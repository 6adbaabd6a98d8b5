#pragma once
// What was measured, in numbers: distributions, not means, and the floors and neighbours that they
// are compared with. Pure.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "design/fabric/intent.h"
#include "units/quantity.h"

namespace weir::preflight {

/// Nearest rank. All zero where there is no value.
struct Distribution {
  std::uint64_t count = 0;
  double least = 0;
  double p50 = 0;
  double p95 = 0;
  double p99 = 0;
  double p999 = 0;
  double most = 0;

  friend bool operator==(const Distribution&, const Distribution&) = default;
};
[[nodiscard]] Distribution distribution_of(std::vector<double> values);

/// Which way is worse.
enum class Better : std::uint8_t { kMore, kLess };

struct Measure {
  std::string metric;  // "bandwidth", "latency", "jain", …
  std::string unit;    // "bit/s", "s", "share"
  Better better = Better::kMore;
  Distribution values;
  std::optional<double> floor = {};  // what the least value must reach; of kLess: the most
  std::string subject = {};          // "gpu11 rail 0"; empty: the whole fabric
};
[[nodiscard]] std::string_view to_text(Better);  // "more" "less"

/// "392.1 Gb/s", "2.41us", "0.998": for people.
[[nodiscard]] std::string value_text(const Measure& measure, double value);

/// What a pair that is alone in the fabric must reach: the line rate, less headers, preamble and
/// gap of packets of the RDMA MTU, times `share`.
[[nodiscard]] BitRate pair_floor(const design::NicIntent& from, const design::NicIntent& to,
                                 double share);

/// How far each value is from the median, in robust standard deviations: 0.6745 (x - median) / MAD
/// (Iglewicz and Hoaglin 1993). The deviation counts as at least `least_spread` of the median, so
/// that equal hosts do not make outliers of each other. Empty for no values.
[[nodiscard]] std::vector<double> robust_z(const std::vector<double>& values, double least_spread);

[[nodiscard]] double median_of(std::vector<double> values);  // 0 for none

/// (sum x)^2 / (n sum x^2): 1 where all have the same share. 1 for no values.
[[nodiscard]] double jain_index(const std::vector<double>& values);

/// Do slow moments coincide with flow control? Samples of one run at equal intervals.
struct LineUp {
  std::size_t samples = 0;      // from the first in which data moved to the last
  std::size_t slow = 0;         // below `slow_moment` of the median rate
  std::size_t with_pauses = 0;  // of the slow ones
  std::size_t with_cnps = 0;
  std::size_t with_marks = 0;
  std::size_t with_drops = 0;
  // Slow ones in which nobody counted these: neither with nor without them.
  std::size_t unseen_pauses = 0;
  std::size_t unseen_cnps = 0;
  std::size_t unseen_marks = 0;

  LineUp& operator+=(const LineUp& other);
};
/// What flow control did in the same intervals; without a value, or shorter: not counted.
struct FlowControl {
  using Counts = std::vector<std::optional<double>>;
  Counts pauses = {};
  Counts cnps = {};
  Counts marks = {};
  Counts drops = {};
};
[[nodiscard]] LineUp line_up(const std::vector<double>& rates, const FlowControl& control,
                             double slow_moment);
/// "2 of 64 moments moved less than half of the median rate; 0 of these coincide with pauses, …".
/// `what` is the middle: "moments moved …".
[[nodiscard]] std::string line_up_text(const LineUp& found, std::string_view what);
/// "half", "20 %".
[[nodiscard]] std::string slow_share_text(double slow_moment);

}  // namespace weir::preflight
