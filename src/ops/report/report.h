#pragma once
// What was found, on a page or two, for people who were not there.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ops/source/hosts.h"
#include "render/report/report.h"

namespace weir::ops {

struct ReportRequest {
  /// Snapshots, evidence, JSON of other verbs, or directories that `weir sim --out` wrote.
  std::vector<std::string> files = {};
  std::optional<Source> source = {};  // a lab, or captured machines
  std::string design = {};            // empty: the lab's, or the one that a simulation names
  std::string baseline = {};          // its name; empty: none
  std::string baselines = {};         // the directory that it is in
  std::string title = {};             // empty: the design's name
  finding::Thresholds thresholds = {};
  std::string tool = {};  // who makes it: "weir 0.1.0"
};

struct Reported {
  render::Report report;
  std::unique_ptr<design::Intent> intent;  // what the report points to
};

[[nodiscard]] Result<Reported> report(const ReportRequest& request);

}  // namespace weir::ops
