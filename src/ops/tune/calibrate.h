#pragma once
// Calibration of a design: the experiment as files, what was measured as a fit, and the design with
// what was found.
#include <cstdint>
#include <string>
#include <vector>

#include "ops/source/fabric.h"
#include "ops/source/progress.h"
#include "tune/calibration/fit.h"
#include "tune/calibration/twin.h"

namespace weir::ops {

struct PlannedFile {
  std::string path;  // beneath the directory of the plan
  std::string text;
  bool is_script = false;
};
struct PlannedCalibration {
  Fabric fabric;
  tune::CalibrationPlan plan;
  std::vector<PlannedFile> files;
};
[[nodiscard]] Result<PlannedCalibration> plan_calibration(const std::string& design);

struct CalibrateRequest {
  std::string design;
  std::vector<std::string> paths;  // a directory with manifest.json, or manifests with measurements
  std::uint64_t seed = 1;
  unsigned jobs = 1;
  std::string apply_to = {};  // a file for the design with what was fitted; empty: none
  bool is_forced = false;     // that file may exist
  ProgressCallback progress = {};
};
struct Calibrated {
  tune::CalibrationPlan plan;
  std::vector<tune::MeasuredStatistic> measured;
  tune::FitResult fit;
  std::string patch;                 // lines of the design file; empty where nothing was found
  std::vector<std::string> written;  // files
  std::vector<std::string> notes;    // what was not there to be read
};
[[nodiscard]] Result<Calibrated> fit_calibration(const CalibrateRequest& request);

/// What was measured by a plan, from its directory: statistics of every repeat, and what is
/// missing.
struct ReadMeasurements {
  std::vector<tune::MeasuredStatistic> measured;
  std::vector<std::string> notes;
  std::string last_time;  // of the snapshots; empty: none
};
[[nodiscard]] weir::Result<ReadMeasurements> read_measurements(const std::string& directory,
                                                               const tune::CalibrationPlan& plan,
                                                               const Fabric& fabric);

/// Refuses loads that go beyond the calibration of the design; good where it has none.
[[nodiscard]] Status check_calibrated_range(const Fabric& fabric,
                                            const std::vector<std::string>& loads);

}  // namespace weir::ops
