#pragma once
// RoCE on the wire, from captures or live.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ops/source/failure.h"
#include "ops/source/progress.h"
#include "units/quantity.h"
#include "wire/analysis.h"
#include "wire/join.h"
#include "wire/judge.h"

namespace weir::ops {

struct PcapRequest {
  /// One after another; two files of the same traffic are joined. - is standard input.
  std::vector<std::string> files = {};
  std::string interface = {};  // capture here instead, for `duration`
  Duration duration = 10_s;
  std::function<bool()> is_stopped = {};  // ends a live capture early
  std::size_t most_flows = 16384;         // kept apart
  std::string design = {};                // empty: none
  finding::Thresholds thresholds = {};
  ProgressCallback progress = {};
};

/// What was captured: one stream (of one file or of several, one after another), or two places.
struct Captured {
  std::unique_ptr<wire::Analysis> first;
  wire::CaptureSource source;
  std::unique_ptr<wire::Analysis> second;  // with `join`: of the other place
  wire::CaptureSource second_source;
  std::unique_ptr<wire::Join> join;
  wire::Expectation expectation;
  wire::CaptureVerdict verdict;
};

[[nodiscard]] Result<Captured> analyse_captures(const PcapRequest& request);

}  // namespace weir::ops
