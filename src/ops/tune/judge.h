#pragma once
// Blocks that were measured on a live fabric, with a change and without it: keep it, remove it, or
// not proven.
#include <optional>
#include <string>
#include <vector>

#include "ops/source/failure.h"
#include "tune/judge/judge.h"

namespace weir::ops {

struct JudgeRequest {
  /// One directory of blocks whose names begin with a number and A (without the change) or B
  /// ("03-B", "03-B.nccl.txt"); or files, those without the change first and as many with it.
  std::vector<std::string> paths;
  std::optional<tune::Metric> goal = {};
  std::string predicted = {};  // a result of a tuning: directory or file; empty: none
  std::string knob = {};       // of it the change that was made; empty: all of them
  finding::Thresholds thresholds = {};
};

[[nodiscard]] Result<tune::Judged> judge_blocks(const JudgeRequest& request);

}  // namespace weir::ops
