#pragma once
// Open-loop traffic: flow sizes of published distributions, at a load, with Poisson arrivals.
//
// All in integers, so that every compiler draws the same flows: sizes by interpolation in a table,
// gaps by a fixed-point logarithm. Load counts payload alone, as the publications do; on the wire
// it is more by the headers (theory: goodput ceiling).
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "units/quantity.h"

namespace weir::sim {

struct CdfPoint {
  Bytes size;
  Share up_to;  // share of flows that are at most this large
};

/// Sizes in between are interpolated; the first flow is 1 byte.
struct SizeDistribution {
  std::string_view name;
  std::string_view title;
  std::span<const CdfPoint> points;  // rising to 100 %
  std::string_view source;
};

/// websearch, hadoop, storage.
[[nodiscard]] std::span<const SizeDistribution> size_distributions();
[[nodiscard]] const SizeDistribution* find_distribution(std::string_view name);

/// Size at the share uniform / 2^64 of the distribution; at least 1 byte.
[[nodiscard]] Bytes size_at(const SizeDistribution& distribution, std::uint64_t uniform);
/// Mean of the interpolated distribution, rounded to a byte.
[[nodiscard]] Bytes mean_size(const SizeDistribution& distribution);

/// -ln(uniform / 2^64) in 2^-32, correct to about 2^-30. REQUIRES: uniform > 0.
[[nodiscard]] std::int64_t minus_ln_q32(std::uint64_t uniform);

struct Arrival {
  Time at;
  std::uint32_t from = 0;  // index of the source
  std::uint32_t to = 0;    // never `from`
  Bytes size;
};

struct OpenLoop {
  const SizeDistribution* sizes = nullptr;
  Bytes fixed_size;  // > 0: every flow is this large, instead of `sizes`
  std::uint32_t sources = 2;
  BitRate rate;  // of one source
  Share load;    // of that rate, payload
  Time start;
  Duration duration;  // arrivals within it; the last flows end later
};

/// Every source draws gaps, sizes and targets (uniform over the others) from a stream of its own;
/// in the order of time, then of source. Stops at `limit` arrivals.
[[nodiscard]] std::vector<Arrival> poisson_arrivals(const OpenLoop& spec, std::uint64_t seed,
                                                    std::uint64_t purpose, std::size_t limit);

}  // namespace weir::sim
