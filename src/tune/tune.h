#pragma once
// A tuning, whole: classify, see PFC fire, search, break things; and only then say what to change.
//
// The claim is made on the report seeds, which nothing else has seen, and on loads that the search
// never ran. A change that cannot be distinguished from none is left out; where nothing is left,
// there is nothing to tune.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "design/fabric/variant.h"
#include "finding/thresholds.h"
#include "tune/crew/crew.h"
#include "tune/result.h"

namespace weir::tune {

/// Runs, or time: that is turned into runs after the first few were timed, and the result names
/// the number, so that it can be repeated exactly.
struct Budget {
  std::uint64_t runs = 2000;
  double minutes = 0;  // 0: as many runs as said
};
[[nodiscard]] Result<Budget> parse_budget(std::string_view text);  // "10min" "90s" "2000runs"

struct TuneRequest {
  std::vector<std::string> loads = {};  // none: usual_loads()
  Objective objective = Objective::kStepTime;
  double pause_limit = 0.01;  // of the time; finding/thresholds.h warns from there on
  std::vector<std::string> knobs = {"*"};
  std::vector<std::string> keep = {};
  Budget budget = {};
  unsigned jobs = 1;
  Foreman* foreman = nullptr;  // his workers make the runs; none: `jobs` threads here
  std::uint64_t seed = 1;
  finding::Thresholds thresholds = {};  // by which the target is judged
  /// Where hosts or switches were seen not to be as designed: the first step fails by it.
  std::vector<std::string> deviations = {};
  std::string results = {};  // a file that keeps every run; empty: none
  bool is_resumed = false;
  /// How many runs of how many are done, and where it is.
  std::function<void(std::uint64_t, std::uint64_t, std::string_view)> progress = {};
};

/// A level of the objective counts as equal within this.
inline constexpr double kTolerance = 0.01;

/// REQUIRES: `fabric` was loaded and derived without errors. An error is the request's or the
/// environment's; a fabric that cannot be tuned is a result.
[[nodiscard]] Result<TuneResult> tune(const design::Variant& fabric, const TuneRequest& request);

}  // namespace weir::tune
