#include "ops/tune/tune.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "design/fabric/effective.h"
#include "design/file/edit.h"
#include "design/file/load.h"
#include "ops/inspect/validate.h"
#include "ops/tune/calibrate.h"
#include "tune/crew/processes.h"

namespace weir::ops {
namespace {

std::string percent_of(const tune::Change& change) {
  return fmt::format("{:+.1f} % ({:+.1f} to {:+.1f})", 100 * change.mean, 100 * change.low,
                     100 * change.high);
}

std::string comment_of(const tune::Bought& row, const tune::TuneResult& result) {
  std::string text = fmt::format("weir tune: was {}; bought {} {}", row.from,
                                 to_text(result.objective), percent_of(row.objective));
  if (row.bad_with != row.bad_without)
    text += fmt::format(", {} instead of {} of {} runs paused beyond {:.3g} %", row.bad_with,
                        row.bad_without, row.runs, 100 * result.pause_limit);
  return text + " (simulated)";
}

std::vector<design::ValueEdit> edits_of(const tune::TuneResult& result) {
  std::vector<design::ValueEdit> edits;
  for (const tune::Bought& row : result.bought)
    edits.push_back({row.knob, row.to, comment_of(row, result)});
  return edits;
}

/// The user's file with the chosen values, checked: it loads to the design that was simulated.
Result<std::string> tuned_design(const TuneRequest& request, const Fabric& fabric,
                                 const tune::TuneResult& result) {
  if (request.design == "-")
    return bad_request("--apply-to edits a file; the design came from standard input");
  WEIR_TRY(text, or_bad_input(read_file(request.design)));
  WEIR_TRY(changed, or_bad_input(design::edited(text, edits_of(result))));
  std::vector<std::string> settings;
  for (const tune::KnobSetting& setting : result.chosen)
    settings.push_back(fmt::format("{}={}", setting.knob, setting.value));
  WEIR_TRY(wanted, or_bad_input(design::with_values(fabric.design, settings)));
  const design::Loaded loaded = design::load_text(changed, request.apply_to);
  if (!loaded.is_good() ||
      design::effective_values(loaded.design) != design::effective_values(wanted.design))
    return bad_input(
        fmt::format("{} has a form that is not edited; write these lines yourself:\n{}",
                    request.design, design::lines_of(edits_of(result))));
  return changed;
}

/// What a lab shows to be wrong with its hosts and switches: a tuning would tune the fault.
Result<std::vector<std::string>> deviations_of(const std::string& lab) {
  ValidateRequest request;
  request.source = Source{.lab = lab};
  WEIR_TRY(seen, validate(request));
  std::vector<std::string> out;
  for (const finding::Finding& found : seen.judgement.findings)
    if (found.severity == finding::Severity::kError)
      out.push_back(fmt::format("{} ({})", found.verdict, found.id));
  return out;
}

/// Who makes the runs, where it is not this process.
struct Elsewhere {
  std::unique_ptr<tune::Crew> started;
  std::optional<tune::Foreman> foreman;
};

Status go_elsewhere(const TuneRequest& request, const Fabric& fabric, Elsewhere& out) {
  tune::Crew* crew = request.crew;
  if (crew == nullptr && request.worker_program.empty()) return {};
  if (request.design == "-")
    return bad_request("workers are given the design's file; it came from standard input");
  WEIR_TRY(text, or_bad_input(read_file(request.design)));
  if (crew == nullptr) {
    auto started =
        tune::start_processes(tune::slurm_command(request.worker_program), request.tuning.jobs);
    if (!started) return could_not_look(started.error().what);
    out.started = std::move(*started);
    crew = out.started.get();
  }
  out.foreman.emplace(*crew, fabric.design.file, std::move(text),
                      tune::Variants(fabric.design).design_digest());
  return {};
}

}  // namespace

Result<Tuned> tune(const TuneRequest& asked) {
  TuneRequest request = asked;
  if (!request.lab.empty()) {
    WEIR_TRY(wrong, deviations_of(request.lab));
    request.tuning.deviations = std::move(wrong);
    request.design = request.lab + "/design.yaml";
  }
  WEIR_TRY(fabric, load_fabric(request.design));
  if (!request.apply_to.empty() && !request.is_forced && is_name_taken(request.apply_to))
    return bad_input(
        fmt::format("{} exists and was not changed; name another file with "
                    "--apply-to, or overwrite it with --force",
                    request.apply_to));
  WEIR_TRY_STATUS(check_calibrated_range(fabric, request.tuning.loads));
  Tuned out;
  tune::TuneRequest tuning = request.tuning;
  if (!request.out.empty()) {
    WEIR_TRY_STATUS(or_bad_input(make_directory(request.out)));
    tuning.results = request.out + "/results.jsonl";
    out.written.push_back(tuning.results);
  }
  tuning.progress = [&](std::uint64_t done, std::uint64_t all, std::string_view stage) {
    tell(request.progress, all == 0 ? 0 : static_cast<double>(done) / static_cast<double>(all),
         fmt::format("{}, {} runs", stage, done));
  };
  Elsewhere elsewhere;
  WEIR_TRY_STATUS(go_elsewhere(request, fabric, elsewhere));
  if (elsewhere.foreman) tuning.foreman = &*elsewhere.foreman;
  auto result = tune::tune({fabric.design, fabric.intent}, tuning);
  if (!result && tuning.foreman != nullptr && result.error().code == ErrorCode::kIo)
    return could_not_look(result.error().what);
  // What is wrong with the results of an earlier run, or with their file, is no wrong word.
  const bool is_of_file = !result && (result.error().code == ErrorCode::kParse ||
                                      result.error().code == ErrorCode::kIo);
  WEIR_TRY(made,
           or_fail(is_of_file ? FailureKind::kBadInput : FailureKind::kRequest, std::move(result)));
  out.result = std::move(made);
  std::vector<design::ValueEdit> bare = edits_of(out.result);
  for (design::ValueEdit& edit : bare)
    edit.comment.clear();
  out.patch = design::lines_of(bare);
  if (!request.out.empty()) {
    const std::string path = request.out + "/tune.json";
    WEIR_TRY_STATUS(or_bad_input(write_file_atomic(
        path,
        tune::to_json(out.result).dump(1, ' ', false, Json::error_handler_t::replace) + "\n")));
    out.written.push_back(path);
  }
  if (!request.apply_to.empty() && !out.patch.empty()) {
    WEIR_TRY(text, tuned_design(request, fabric, out.result));
    WEIR_TRY_STATUS(or_bad_input(write_file_atomic(request.apply_to, text)));
    out.written.push_back(request.apply_to);
  }
  return out;
}

}  // namespace weir::ops
