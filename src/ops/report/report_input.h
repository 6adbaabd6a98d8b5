#pragma once
// What a report is made from: files of evidence, results of `weir sim`, findings of another verb,
// or a lab. All end in one render::Report and the evidence it rests on.
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "design/fabric/intent.h"
#include "design/file/fabric.h"
#include "evidence/evidence.h"
#include "finding/finding.h"
#include "lab/fabric/run_record.h"
#include "render/report/report.h"

namespace weir::ops {

struct ReportInput {
  std::vector<evidence::Evidence> evidence;    // hosts, then switches
  std::vector<finding::Judgement> judgements;  // of other verbs, as their --json gave them
  std::optional<std::string> design_file;      // as a result of `weir sim` names it
  std::optional<std::string> curves_folder;    // holds ports.csv and rates.csv
  std::vector<std::string> workloads;          // labels of what ran
  render::Report report;                       // what was filled in so far
};

/// Adds one file: a snapshot, evidence, the JSON of `weir sim` or of a verb that judges; or a
/// directory that `weir sim --out` wrote. The error names the file and what is wrong with it.
[[nodiscard]] weir::Status add_report_file(const std::string& path, ReportInput& input);

/// The curves that a lab kept.
[[nodiscard]] render::Timeline timeline_of(const lab::RunRecord& run, const design::Intent& intent);

/// Curves from the texts of ports.csv and rates.csv (sim/results/sampler.h); levels of ECN from the
/// intent, where there is one. Either text may be empty.
[[nodiscard]] weir::Result<render::Timeline> timeline_from_csv(const std::string& ports,
                                                               const std::string& rates,
                                                               const design::Intent* intent);

}  // namespace weir::ops
