#pragma once
// What is kept of a load for the report: a few curves over time.
//
// A run may last microseconds or a second: when there are too many samples, every second sample is
// dropped and the interval doubled. There are always curves of the whole fabric, and those of the
// ports with the fullest queues and the longest pauses.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "units/quantity.h"

namespace weir::lab {

enum class Measure : std::uint8_t {
  kQueue,      // bytes in the fullest queue of the port, at the sample
  kPauseTime,  // microseconds paused in the interval, summed over priorities
  kCnps,       // congestion notifications sent in the interval
  kRate,       // Gbit/s on the wire in the interval
  kDrops,      // packets dropped in the interval
  kMarks,      // packets marked in the interval, of the whole fabric
};
[[nodiscard]] std::string_view to_text(Measure);  // "queue_bytes" "pause_us" "cnps" "rate_gbps" …

struct Curve {
  Measure measure = Measure::kQueue;
  std::string where;  // "leaf1 swp9", "gpu03 mlx5_0", "rail 0"; empty: the fabric's sum or maximum
  std::vector<double> values;  // report only: one per sample
};

struct RunRecord {
  std::string command;
  std::uint64_t load = 0;  // its number, from 1
  std::uint64_t seed = 0;
  std::optional<std::uint64_t> change;  // State::changes after it; none: of an older Weir
  Duration begin;                       // of the lab's clock
  Duration elapsed;
  std::vector<Duration> times;  // since `begin`
  std::vector<Curve> curves;    // each as long as `times`
  bool is_finished = false;
  std::vector<std::string> notes;
};

}  // namespace weir::lab
