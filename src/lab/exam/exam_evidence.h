#pragma once
// The evidence of a run that each view of the exam shows to the diagnosis.
#include <string>
#include <vector>

#include "design/fabric/intent.h"
#include "evidence/evidence.h"
#include "lab/exam/exam.h"
#include "sim/results/results.h"

namespace weir::lab {

/// Facts that the driver stack of a host has no file for are removed in every view; `witness` is
/// the host of the one-host view.
[[nodiscard]] std::vector<evidence::Evidence> seen_in(ExamView view, const sim::Results& results,
                                                      const design::Intent& intent,
                                                      const std::string& witness);

}  // namespace weir::lab
