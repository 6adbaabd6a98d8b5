#pragma once
// A run that was recorded: what `weir snapshot --out` wrote at several times, or evidence with
// several snapshots (a bundle with --counters, the sim.json of `weir sim --out`).
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "finding/finding.h"
#include "finding/thresholds.h"
#include "ops/source/fabric.h"
#include "ops/watch/ports.h"

namespace weir::ops {

struct ReplayRequest {
  std::string path;         // a file, or a directory of *.json in order of their names
  std::string design = {};  // empty: none
  finding::Thresholds thresholds = {};
};

struct ReplayMoment {
  std::string time;           // RFC 3339, as the recording has it
  std::int64_t clock_ns = 0;  // since the first snapshot
  std::vector<WatchedPort> ports;
};

struct Replay {
  std::vector<ReplayMoment> moments;  // at least one
  finding::Judgement judgement;       // of the whole run
  bool is_simulated = false;
};

/// A failure where a file cannot be read, or where no port was counted twice.
[[nodiscard]] Result<Replay> read_replay(const ReplayRequest& request);

}  // namespace weir::ops
