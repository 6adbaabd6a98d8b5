#pragma once
// From what was measured to the unknowns: BOBYQA over their logarithms, against statistics whose
// noise is known from repeats and from seeds; then what the measurement can tell at all, by the
// singular values of the Jacobian.
//
// A unit of a direction is a change of 5 %: a singular value of 1 is a direction whose 95 %
// interval is +-10 %. Below it the measurement cannot tell, so one unknown of that direction keeps
// what the design says (frozen) and the others are fitted anew.
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "design/fabric/intent.h"
#include "design/file/fabric.h"
#include "tune/calibration/experiment.h"
#include "tune/calibration/observe.h"
#include "tune/calibration/unknowns.h"

namespace weir::tune {

/// Repeats of one statistic of one trial.
struct MeasuredStatistic {
  std::string trial;
  Statistic statistic = Statistic::kLatency;
  std::vector<double> repeats;
};

struct FitRequest {
  CalibrationPlan plan;
  std::vector<MeasuredStatistic> measured;
  std::uint64_t seed = 1;
  unsigned jobs = 1;
  /// Share that is done, and a word for the stage.
  std::function<void(double share, std::string_view stage)> progress = {};
};

enum class UnknownState : std::uint8_t {
  kIdentified,   // by this measurement
  kConditional,  // fitted, but only together with one that is frozen, or not within 10 %
  kFrozen,       // cannot be identified: as the design says
  kNotMeasured,  // no trial shows it
};
[[nodiscard]] std::string_view to_text(UnknownState state);

struct FittedUnknown {
  Unknown unknown = Unknown::kNicLatency;
  UnknownState state = UnknownState::kNotMeasured;
  double value = 1;  // frozen: where it was frozen
  double low = 0;    // 95 %
  double high = 0;
};

/// A direction that cannot be identified, as it was when an unknown of it was frozen.
struct UnseenDirection {
  double singular_value = 0;
  std::vector<std::pair<Unknown, double>> parts;  // the largest first
  Unknown frozen = Unknown::kNicLatency;
};

struct FitRow {
  std::string trial;
  Statistic statistic = Statistic::kLatency;
  bool is_held_out = false;
  std::size_t repeats = 0;
  double measured = 0;
  double low = 0;  // 95 % of one further run, by the spread of the repeats
  double high = 0;
  double simulated = 0;
  double sigma = 0;  // of measured less simulated

  [[nodiscard]] double z() const { return (simulated - measured) / sigma; }
  [[nodiscard]] bool is_within() const { return simulated >= low && simulated <= high; }
  /// Of the interval from run to run, as a share of what was measured.
  [[nodiscard]] double width() const { return measured == 0 ? 0 : (high - low) / measured; }
};

struct ScopeScore {
  design::CnpScope scope = design::CnpScope::kQp;
  double chi_square = 0;
};

/// What predictions are good for.
struct FittedRange {
  int fan_in = 1;
  int flows = 1;
  Bytes rdma_mtu;
  BitRate speed;
};

struct FitResult {
  bool is_calibrated = false;
  std::string reason;  // why not, or what was found
  std::vector<FittedUnknown> unknowns;
  std::vector<UnseenDirection> unseen;
  std::vector<double> singular_values;        // of what was fitted, the largest first
  std::optional<design::CnpScope> cnp_scope;  // where the measurement tells
  std::vector<ScopeScore> scopes;
  std::vector<FitRow> rows;
  double chi_square = 0;  // of the fitted rows
  double residual = 0;    // root mean square of (simulated - measured) / measured, all rows
  FittedRange range;
  std::uint64_t points = 0;  // at which trials were simulated
  std::vector<std::string> notes;

  [[nodiscard]] const FittedUnknown& of(Unknown unknown) const;
};

/// The error is of the request: a trial without a plan, one repeat only, a value that is no number.
[[nodiscard]] Result<FitResult> fit_calibration(const design::Design& design,
                                                const design::Intent& intent,
                                                const FitRequest& request);

/// What the design file gets; empty where nothing was identified.
[[nodiscard]] design::Calibration calibration_of(const FitResult& result, std::string source);

}  // namespace weir::tune
