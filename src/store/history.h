#pragma once
// The history of a fabric: every preflight that was kept, what it measured and found, which of them
// a baseline was made of, and how later ones compared. One SQLite file beside the baselines; the
// baselines themselves are files of their own, and do not depend on it.
//
// Tables are STRICT. `PRAGMA user_version` is the version of the schema: a file of a later version
// is refused, one of an earlier version is read and changed only where the caller says so.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "preflight/baseline.h"
#include "store/database.h"

namespace weir::store {

struct RunRow {
  std::int64_t id = 0;
  std::string kind;  // "preflight"
  std::string started;
  std::string ended;
  std::string design;
  std::string design_digest;
  std::string tool;
  std::string verdict;
};

/// One value per run, oldest first.
struct TrendPoint {
  std::int64_t run = 0;
  std::string started;
  double p50 = 0;
  double p99 = 0;
};
struct Trend {
  preflight::StageId stage = preflight::StageId::kFacts;
  std::string metric;
  std::string unit;
  std::vector<TrendPoint> points;
};

struct DeviationRow {
  preflight::StageId stage = preflight::StageId::kFacts;
  std::string metric;
  std::string subject;
  std::string quantile;
  double was = 0;
  double is = 0;
  double worse = 0;
  double limit = 0;
  bool is_regression = false;
};
/// The last comparison with a baseline.
struct LastComparison {
  std::string baseline;
  std::string design;
  std::string outcome;
  std::string started;  // of the run
  std::vector<DeviationRow> rows;
};

class History {
 public:
  /// The newest version that this program writes.
  static constexpr std::int64_t kVersion = 2;

  /// `migrates`: a file of an earlier version is brought to this one; else it is an error that says
  /// how.
  [[nodiscard]] static Result<History> open(const std::string& path, Access access,
                                            bool migrates = false);

  /// Its number; the one that it has where it is there already.
  [[nodiscard]] Result<std::int64_t> add_run(const preflight::Report& run);
  /// Of the name, which it replaces.
  [[nodiscard]] Status set_baseline(const preflight::Baseline& baseline, std::int64_t run);
  [[nodiscard]] Status drop_baseline(const std::string& name);
  [[nodiscard]] Status add_comparison(std::int64_t run, const preflight::Comparison& comparison);

  [[nodiscard]] Result<std::vector<RunRow>> runs();
  /// Of the whole fabric, for every metric that at least one run of the design has.
  [[nodiscard]] Result<std::vector<Trend>> trends(const std::string& design_digest);
  [[nodiscard]] Result<std::vector<LastComparison>> last_comparisons();

 private:
  explicit History(Database database) : database_(std::move(database)) {}
  [[nodiscard]] Status add_measures(std::int64_t run, const preflight::Report& report);
  [[nodiscard]] Status add_findings(std::int64_t run, const preflight::Report& report);
  [[nodiscard]] Result<std::int64_t> subject(const std::string& text);
  [[nodiscard]] Result<std::vector<DeviationRow>> deviations(std::int64_t run,
                                                             const std::string& baseline);
  Database database_;
};

}  // namespace weir::store
