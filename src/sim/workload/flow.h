#pragma once
// One message as the fabric carried it, and how long many of them took.
#include <cstdint>
#include <vector>

#include "sim/engine/records.h"
#include "sim/fabric/ids.h"
#include "units/quantity.h"

namespace weir::sim {

class Sim;

struct Flow {
  MessageId message{0};
  NodeId source{0};  // NICs
  NodeId target{0};
  Bytes size;
  Time post;
  Duration completion;  // of a finished one: posted to completed at the side that posted it
  Duration ideal;       // alone in the fabric, to the last ACK; 0: not computed
  MessageState state = MessageState::kPosted;

  [[nodiscard]] bool is_done() const { return state == MessageState::kDone; }
  friend bool operator==(const Flow&, const Flow&) = default;
};

/// What became of a message; without `ideal`.
[[nodiscard]] Flow flow_of(const Sim& sim, MessageId message);

/// Of completion times: nearest rank, the smallest value that at least that share of all do not
/// exceed. All zero where there are none.
struct CompletionTimes {
  std::uint64_t count = 0;
  Duration mean;
  Duration p50;
  Duration p95;
  Duration p99;
  Duration p999;
  Duration max;
  friend bool operator==(const CompletionTimes&, const CompletionTimes&) = default;
};
[[nodiscard]] CompletionTimes completion_times(std::vector<Duration> times);
/// The same of times that occur more than once.
struct TimesOf {
  Duration time;
  std::uint64_t count = 1;
};
[[nodiscard]] CompletionTimes completion_times_of(std::vector<TimesOf> times);

}  // namespace weir::sim
