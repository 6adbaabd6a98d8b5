#pragma once
// Random streams. Every (seed, entity, purpose) has a stream of its own, so that adding a host or a
// draw for one purpose disturbs no other: the reason a failing seed stays a failing seed.
#include <cstdint>

#include "base/check.h"
#include "base/digest.h"

namespace weir {

/// splitmix64 (Steele, Lea & Flood, OOPSLA'14): one word of state, passes BigCrush, trivially
/// seekable. No floating point, so the same numbers everywhere.
class RandomStream {
 public:
  constexpr RandomStream(std::uint64_t seed, std::uint64_t entity, std::uint64_t purpose)
      : state_(mix64(mix64(mix64(seed) ^ entity) ^ purpose)) {}

  constexpr std::uint64_t next() {
    const std::uint64_t word = mix64(state_);
    state_ += 0x9E3779B97F4A7C15U;
    return word;
  }

  /// Uniform in [0, bound), without bias worth the name (bias < bound / 2^64; Lemire's multiply).
  constexpr std::uint64_t below(std::uint64_t bound) {
    WEIR_CHECK(bound > 0);
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64U);
  }

  /// True with probability threshold / 2^32: marks and losses are compared as integers.
  constexpr bool chance(std::uint64_t threshold) { return (next() >> 32U) < threshold; }

  [[nodiscard]] constexpr std::uint64_t state() const { return state_; }

 private:
  std::uint64_t state_;
};

}  // namespace weir
