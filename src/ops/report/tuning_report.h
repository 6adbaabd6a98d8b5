#pragma once
// The result of a tuning as a page.
#include <string>

#include "ops/source/failure.h"
#include "render/report/tuning_page.h"
#include "tune/result.h"

namespace weir::ops {

struct TuningReportRequest {
  std::string result;      // directory of `weir tune --out`, or its tune.json
  std::string title = {};  // empty: the design's file
  std::string tool = {};   // who makes it: "weir 0.1.0"
};

[[nodiscard]] Result<render::TuningPage> tuning_report(const TuningReportRequest& request);

/// Pure.
[[nodiscard]] render::TuningPage tuning_page_of(const tune::TuneResult& result);

}  // namespace weir::ops
