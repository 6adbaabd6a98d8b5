#pragma once
// The counters of every port now, and what changed between two times or differs between two hosts.
#include <optional>
#include <string>
#include <vector>

#include "counters/delta.h"
#include "evidence/changes.h"
#include "ops/source/hosts.h"

namespace weir::ops {

/// With `only_counters` the counters of the NICs alone, without the facts: for short intervals.
[[nodiscard]] Result<Observation> snapshot(const Source& source, bool only_counters);

/// Counters of all ports that could be read.
struct CounterTotals {
  std::size_t nics = 0;
  std::size_t read = 0;
  std::size_t nonzero = 0;
  std::size_t refused = 0;  // there, but without a value
};
[[nodiscard]] CounterTotals count_counters(const std::vector<const evidence::Evidence*>& captures);

struct DiffRequest {
  std::string before;                // a file
  std::optional<std::string> after;  // none: `source`, now
  Source source = {};
};

/// One host (or the switches) at two times, or two hosts.
struct HostDiff {
  std::string name;
  std::vector<evidence::FactChange> facts;
  std::optional<counters::SnapshotDelta> counters;  // of one host only
  std::string problem;                              // why there are no deltas
};

struct Diff {
  std::vector<HostDiff> hosts;
  std::vector<std::string> unpaired;  // "gpu03: in the first file only"
  std::vector<std::string> unseen;
  bool is_simulated = false;
};
[[nodiscard]] Result<Diff> diff(const DiffRequest& request);

}  // namespace weir::ops
