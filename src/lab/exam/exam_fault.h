#pragma once
// Draws the place and size of a fault. Internal to the exam.
#include <array>
#include <cstdint>
#include <string>

#include "base/rng.h"
#include "lab/exam/exam_draw.h"

namespace weir::lab {

class Dice {
 public:
  Dice(std::uint64_t seed, std::uint64_t attempt, std::uint64_t purpose)
      : random_(seed, attempt, purpose) {}

  std::uint64_t below(std::uint64_t bound) { return random_.below(bound); }
  std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    return low + random_.below(high - low + 1);
  }
  bool one_in(std::uint64_t n) { return random_.below(n) == 0; }
  /// Uniform in the logarithm, so that small sizes are as common as large ones.
  double spread(double low, double high);
  template <class T, std::size_t N>
  T pick(const std::array<T, N>& choices) {
    return choices[random_.below(N)];
  }

 private:
  RandomStream random_;
};

/// As for weir sim --fault. `receiver` is the host that an incast goes to, or empty.
[[nodiscard]] std::string drawn_fault(Dice& dice, const std::string& kind, const Question& question,
                                      const std::string& receiver);

}  // namespace weir::lab
