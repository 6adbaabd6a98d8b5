#pragma once
// The twin experiment: before any real fabric is believed, the fit must find values that it was not
// told. A seed draws a fabric and hidden values; the simulator, with other seeds than the fit's,
// stands for the fabric and is measured by the plan.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tune/calibration/fit.h"

namespace weir::tune {

struct TwinRow {
  Unknown unknown = Unknown::kNicLatency;
  double hidden = 1;
  FittedUnknown fitted;
  /// Fitted less hidden, as a share of the hidden value.
  [[nodiscard]] double error() const { return fitted.value / hidden - 1; }
};

struct Twin {
  std::uint64_t seed = 0;
  std::string text;  // the design
  int hosts = 0;
  BitRate speed;
  design::CnpScope hidden_scope = design::CnpScope::kQp;
  std::vector<TwinRow> rows;
  FitResult fit;

  /// Every unknown that the fit calls identified is within `share` of its hidden value, and the
  /// scope is right or left open.
  [[nodiscard]] bool is_recovered(double share) const;
  [[nodiscard]] std::size_t identified() const;
  [[nodiscard]] double worst_error() const;  // of those
};

[[nodiscard]] Result<Twin> run_twin(
    std::uint64_t seed, unsigned jobs,
    const std::function<void(double share, std::string_view stage)>& progress = {});

/// What the twin shows to the plan: `repeats` runs of each trial.
[[nodiscard]] Result<std::vector<MeasuredStatistic>> measure_twin(
    const design::Design& design, const design::Intent& intent, const CalibrationPlan& plan,
    const Assumption& hidden, std::uint64_t seed, unsigned jobs);

}  // namespace weir::tune
