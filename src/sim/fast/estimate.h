#pragma once
// From what windows showed to an estimate with a bound: ratio estimation by size class, the
// jackknife over windows, Student's t.
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/fast/fast.h"

namespace weir::sim {

/// Two-sided 95 % quantile of Student's t (any table of it). REQUIRES: 1 <= freedom <= 5.
[[nodiscard]] double student_t95(std::size_t freedom);  // report only

inline constexpr std::size_t kSizeClasses = 3;

/// One flow of a window: how long it took for the same bytes, and in which class it is.
struct PairedTime {
  std::size_t size_class = 0;
  double full = 0;   // report only: packet by packet
  double model = 0;  // report only: in the flow-level model
};

/// A flow of the whole run, in the flow-level model.
struct ModelTime {
  std::size_t size_class = 0;
  double time = 0;  // report only
};

/// Every size class of the run was seen in two windows at least: else nobody knows how far the
/// model is off for it.
[[nodiscard]] bool show_every_class(const std::vector<ModelTime>& run,
                                    const std::vector<std::vector<PairedTime>>& windows);

/// What the whole run would show packet by packet. REQUIRES: show_every_class().
[[nodiscard]] FastTimes correct_by_windows(const std::vector<ModelTime>& run,
                                           const std::vector<std::vector<PairedTime>>& windows);

/// What grows in a straight line with the size of the messages, from runs with messages of one, two
/// and four windows.
struct Line {
  double at_four = 0;  // report only: ps, with messages of four windows
  double slope = 0;    // report only: ps per window, from two windows to four
  double bend = 0;     // report only: by how much the slope was another from one to two
};
[[nodiscard]] Line line_through(const std::array<Duration, 3>& times);
/// Of all messages, which have so many windows. `bound`: share of the slope that may be wrong.
[[nodiscard]] Estimate follow(const Line& line, double windows, double bound);  // report only

}  // namespace weir::sim
