#pragma once
// Baselines: a directory with one reviewed file per baseline, NAME.json, and the history of all
// runs that were kept or compared (history.db). The files are what counts; without the history
// there is no trend, and everything else works.
#include <optional>
#include <string>
#include <vector>

#include "ops/source/failure.h"
#include "preflight/baseline.h"
#include "store/history.h"

namespace weir::ops {

struct BaselinePlace {
  std::string directory = "baselines";
  bool migrates = false;  // a history of an earlier version is brought to this one
};

struct SavedBaseline {
  preflight::Baseline baseline;
  std::string path;
  std::string not_kept = {};  // why the history does not have it; empty: it has
};
/// From results of `weir preflight --out`. A failure where the name is taken, unless `replaces`.
[[nodiscard]] Result<SavedBaseline> save_baseline(const BaselinePlace& place,
                                                  const std::string& name,
                                                  const std::vector<std::string>& runs,
                                                  bool replaces);

struct BaselineEntry {
  std::string name;
  std::optional<preflight::Baseline> baseline;  // none: it cannot be read
  std::string problem = {};                     // why
};
struct BaselineList {
  std::vector<BaselineEntry> entries;  // by name
  std::vector<store::RunRow> runs;     // of the history, oldest first
};
[[nodiscard]] Result<BaselineList> list_baselines(const BaselinePlace& place);

struct ShownBaseline {
  preflight::Baseline baseline;
  std::vector<store::Trend> trends;  // of its design; empty without a history
};
[[nodiscard]] Result<ShownBaseline> show_baseline(const BaselinePlace& place,
                                                  const std::string& name);

struct ComparedRun {
  preflight::Comparison comparison;
  bool is_simulated = false;
  std::string not_kept = {};
};
/// `run` is a result of `weir preflight --out`; it is kept in the history.
[[nodiscard]] Result<ComparedRun> compare_with_baseline(const BaselinePlace& place,
                                                        const std::string& name,
                                                        const std::string& run,
                                                        const finding::Thresholds& limits);

/// The file is removed; its runs stay in the history.
[[nodiscard]] Status drop_baseline(const BaselinePlace& place, const std::string& name);

/// With each baseline, from the history.
[[nodiscard]] weir::Result<std::vector<store::LastComparison>> last_comparisons(
    const BaselinePlace& place);

[[nodiscard]] std::string history_path(const std::string& directory);

}  // namespace weir::ops
