#include "ops/baseline/baseline.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "base/untrusted/name_policy.h"
#include "ops/preflight/preflight.h"

namespace weir::ops {
namespace {

constexpr std::string_view kEnding = ".json";

Result<std::string> baseline_path(const BaselinePlace& place, const std::string& name) {
  WEIR_TRY_STATUS(or_bad_request(check_name(NameKind::kWord, name, "NAME")));
  return (std::filesystem::path(place.directory) / (name + std::string(kEnding))).string();
}

/// Names of the files that may be baselines, sorted.
std::vector<std::string> baseline_names(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator at(directory, error);
  for (const std::filesystem::directory_iterator end; !error && at != end; at.increment(error)) {
    const std::filesystem::path& path = at->path();
    if (path.extension() == kEnding && !wrong_name(NameKind::kWord, path.stem().string()))
      names.push_back(path.stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<preflight::Baseline> read_baseline(const BaselinePlace& place, const std::string& name) {
  WEIR_TRY(path, baseline_path(place, name));
  if (!file_exists(path)) {
    const std::vector<std::string> names = baseline_names(place.directory);
    return bad_input(fmt::format("{} has no baseline '{}'{}; {}", place.directory, name,
                                 did_you_mean(name, names),
                                 names.empty() ? "weir baseline save NAME RUN.json makes one"
                                               : "it has " + join(names, ", ")));
  }
  WEIR_TRY(text, or_bad_input(read_file(path)));
  auto baseline = preflight::baseline_from_text(text);
  if (!baseline) return bad_input(baseline.error().within(path).what);
  if (baseline->name != name)
    return bad_input(fmt::format("{}: /name: expected \"{}\" as the file is called, found \"{}\"",
                                 path, name, baseline->name));
  return std::move(*baseline);
}

/// What the history could not take is said, and no more: the file is what counts.
template <class Keep>
std::string kept_by(const BaselinePlace& place, const Keep& keep) {
  auto history =
      store::History::open(history_path(place.directory), store::Access::kWrite, place.migrates);
  if (!history) return history.error().what;
  const weir::Status kept = keep(*history);
  return kept ? std::string() : kept.error().what;
}

}  // namespace

std::string history_path(const std::string& directory) {
  return (std::filesystem::path(directory) / "history.db").string();
}

Result<SavedBaseline> save_baseline(const BaselinePlace& place, const std::string& name,
                                    const std::vector<std::string>& runs, bool replaces) {
  WEIR_TRY(path, baseline_path(place, name));
  if (!replaces && is_name_taken(path))
    return bad_input(
        fmt::format("{} exists: --replace writes over it, or take another name", path));
  std::vector<preflight::Report> reports;
  for (const std::string& run : runs) {
    WEIR_TRY(report, or_bad_input(read_preflight(run)));
    reports.push_back(std::move(report));
  }
  WEIR_TRY(baseline, or_bad_input(preflight::make_baseline(name, reports)));
  WEIR_TRY_STATUS(or_bad_input(make_directory(place.directory)));
  WEIR_TRY_STATUS(or_bad_input(write_file_atomic(path, preflight::baseline_text(baseline))));
  std::string not_kept = kept_by(place, [&](store::History& history) -> weir::Status {
    std::int64_t last = 0;
    for (const preflight::Report& report : reports) {
      WEIR_TRY(id, history.add_run(report));
      last = id;
    }
    return history.set_baseline(baseline, last);
  });
  return SavedBaseline{std::move(baseline), std::move(path), std::move(not_kept)};
}

Result<BaselineList> list_baselines(const BaselinePlace& place) {
  if (!is_directory(place.directory))
    return bad_input(
        fmt::format("no directory {}: --dir names where baselines are, weir baseline save makes it",
                    place.directory));
  BaselineList out;
  for (const std::string& name : baseline_names(place.directory)) {
    auto baseline = read_baseline(place, name);
    if (baseline) {
      out.entries.push_back({name, std::move(*baseline)});
    } else {
      out.entries.push_back({name, std::nullopt, baseline.error().what});
    }
  }
  const std::string path = history_path(place.directory);
  if (!file_exists(path)) return out;
  WEIR_TRY(history, or_bad_input(store::History::open(
                        path, place.migrates ? store::Access::kWrite : store::Access::kRead,
                        place.migrates)));
  WEIR_TRY(runs, or_bad_input(history.runs()));
  out.runs = std::move(runs);
  return out;
}

Result<ShownBaseline> show_baseline(const BaselinePlace& place, const std::string& name) {
  WEIR_TRY(baseline, read_baseline(place, name));
  ShownBaseline out{.baseline = std::move(baseline), .trends = {}};
  const std::string path = history_path(place.directory);
  if (!file_exists(path)) return out;
  WEIR_TRY(history, or_bad_input(store::History::open(path, store::Access::kRead)));
  WEIR_TRY(trends, or_bad_input(history.trends(out.baseline.identity.digest)));
  out.trends = std::move(trends);
  return out;
}

Result<ComparedRun> compare_with_baseline(const BaselinePlace& place, const std::string& name,
                                          const std::string& run,
                                          const finding::Thresholds& limits) {
  WEIR_TRY(baseline, read_baseline(place, name));
  WEIR_TRY(report, or_bad_input(read_preflight(run)));
  ComparedRun out{.comparison = preflight::compare(baseline, report, limits),
                  .is_simulated = report.identity.is_simulated};
  out.not_kept = kept_by(place, [&](store::History& history) -> weir::Status {
    WEIR_TRY(id, history.add_run(report));
    return history.add_comparison(id, out.comparison);
  });
  return out;
}

Status drop_baseline(const BaselinePlace& place, const std::string& name) {
  WEIR_TRY(path, baseline_path(place, name));
  WEIR_TRY(baseline, read_baseline(place, name));
  if (::unlink(path.c_str()) != 0)
    return bad_input(fmt::format("remove {}: {}", path, std::strerror(errno)));
  const std::string not_kept =
      kept_by(place, [&](store::History& history) { return history.drop_baseline(name); });
  if (not_kept.empty()) return {};
  return could_not_look(fmt::format("{} is removed; the history still has it: {}", path, not_kept));
}

weir::Result<std::vector<store::LastComparison>> last_comparisons(const BaselinePlace& place) {
  const std::string path = history_path(place.directory);
  WEIR_TRY(history, store::History::open(path, store::Access::kRead));
  return history.last_comparisons();
}

}  // namespace weir::ops
