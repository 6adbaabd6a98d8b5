#include "ops/tune/calibrate.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "base/untrusted/quote.h"
#include "design/fabric/effective.h"
#include "design/fabric/variant.h"
#include "design/file/edit.h"
#include "design/file/load.h"
#include "design/file/words.h"
#include "tune/calibration/plan_json.h"
#include "tune/calibration/range.h"
#include "tune/evaluation.h"
#include "tune/loads.h"
#include "units/format.h"

namespace weir::ops {
namespace {

constexpr std::size_t kLargestManifest = std::size_t{4} << 20U;
constexpr std::string_view kManifestFile = "manifest.json";

weir::Result<tune::Manifest> read_manifest(const std::string& path) {
  WEIR_TRY(text, read_file(path, kLargestManifest));
  auto manifest = tune::manifest_from_text(text);
  if (!manifest) return manifest.error().within(path);
  return manifest;
}

struct MeasuredFiles {
  tune::CalibrationPlan plan;
  ReadMeasurements read;
};

/// A directory of the plan, or one manifest that holds what was measured.
weir::Result<MeasuredFiles> read_source(const std::vector<std::string>& paths,
                                        const Fabric& fabric) {
  MeasuredFiles out;
  bool is_first = true;
  for (const std::string& path : paths) {
    if (is_directory(path)) {
      const std::string file = fmt::format("{}/{}", path, kManifestFile);
      if (!file_exists(file))
        return invalid_error(fmt::format("{}: expected {}, as weir calibrate plan --out writes it",
                                         path, kManifestFile));
      WEIR_TRY(manifest, read_manifest(file));
      WEIR_TRY_STATUS(tune::check_plan(manifest.plan, fabric.intent));
      WEIR_TRY(read, read_measurements(path, manifest.plan, fabric));
      if (!is_first) return invalid_error(path + ": one directory is read at a time");
      out.plan = std::move(manifest.plan);
      out.read = std::move(read);
    } else {
      WEIR_TRY(manifest, read_manifest(path));
      if (manifest.measured.empty())
        return invalid_error(
            fmt::format("{}: a plan without `measured`; name its directory", path));
      if (is_first) out.plan = std::move(manifest.plan);
      for (tune::MeasuredStatistic& row : manifest.measured) {
        const auto same =
            std::find_if(out.read.measured.begin(), out.read.measured.end(),
                         [&](const tune::MeasuredStatistic& known) {
                           return known.trial == row.trial && known.statistic == row.statistic;
                         });
        if (same == out.read.measured.end())
          out.read.measured.push_back(std::move(row));
        else
          same->repeats.insert(same->repeats.end(), row.repeats.begin(), row.repeats.end());
      }
    }
    is_first = false;
  }
  return out;
}

/// Path and value of each line, the comment with what is known of it.
std::vector<design::ValueEdit> calibration_edits(const tune::FitResult& fit,
                                                 const std::string& source) {
  std::vector<design::ValueEdit> out;
  const auto add = [&](std::string_view key, std::string value, std::string comment) {
    out.push_back({fmt::format("calibration.{}", key), std::move(value), std::move(comment)});
  };
  add("source", yaml_quoted(source), "measured and fitted by weir calibrate fit; 95 % intervals");
  for (const tune::FittedUnknown& each : fit.unknowns) {
    if (each.state != tune::UnknownState::kIdentified &&
        each.state != tune::UnknownState::kConditional)
      continue;
    const tune::UnknownInfo& info = tune::info_of(each.unknown);
    std::string comment = fmt::format("{}: {} to {}", info.meaning, value_text(info, each.low),
                                      value_text(info, each.high));
    if (each.state == tune::UnknownState::kConditional)
      comment += "; only together with what is not identified";
    add(info.key, value_text(info, each.value), std::move(comment));
  }
  if (fit.cnp_scope) add("cnp_scope", std::string(design::to_word(*fit.cnp_scope)), "");
  std::vector<std::string> frozen;
  for (const tune::FittedUnknown& each : fit.unknowns)
    if (each.state == tune::UnknownState::kFrozen)
      frozen.emplace_back(tune::info_of(each.unknown).key);
  if (!frozen.empty()) add("not_identified", "[" + join(frozen, ", ") + "]", "as designed");
  add("residual", fmt::format("{:.1f}%", std::min(fit.residual, 10.0) * 100),
      "measured against simulated");
  add("fan_in", std::to_string(fit.range.fan_in), "no prediction beyond these four");
  add("flows", std::to_string(fit.range.flows), "");
  add("rdma_mtu", to_text(fit.range.rdma_mtu), "");
  add("speed", to_text(fit.range.speed), "");
  return out;
}

/// The user's file with the section, checked: it loads to the design that was meant.
Result<std::string> calibrated_design(const CalibrateRequest& request, const Fabric& fabric,
                                      const std::vector<design::ValueEdit>& edits) {
  if (request.design == "-")
    return bad_request("--apply-to edits a file; the design came from standard input");
  WEIR_TRY(text, or_bad_input(read_file(request.design)));
  // A new key comes first in its section: the last is added first.
  std::vector<design::ValueEdit> reversed(edits.rbegin(), edits.rend());
  WEIR_TRY(changed, or_bad_input(design::edited(text, reversed)));
  std::vector<std::string> settings;
  for (const design::ValueEdit& edit : edits) {
    std::string value = edit.value;
    if (value.front() == '[' || value.front() == '"' || value.front() == '\'')
      value = value.substr(1, value.size() - 2);
    settings.push_back(fmt::format("{}={}", edit.path, value));
  }
  WEIR_TRY(wanted, or_bad_input(design::with_values(fabric.design, settings)));
  const design::Loaded loaded = design::load_text(changed, request.apply_to);
  if (!loaded.is_good() ||
      design::effective_values(loaded.design) != design::effective_values(wanted.design))
    return bad_input(
        fmt::format("{} has a form that is not edited; write these lines yourself:\n{}",
                    request.design, design::lines_of(edits)));
  return changed;
}

std::string source_text(const CalibrateRequest& request, const MeasuredFiles& source) {
  std::size_t repeats = 0;
  for (const tune::MeasuredStatistic& row : source.read.measured)
    repeats = std::max(repeats, row.repeats.size());
  const std::string date = source.read.last_time.substr(0, source.read.last_time.find('T'));
  return fmt::format("{}, {} statistics, {} repeats{}{}", request.paths.front(),
                     source.read.measured.size(), repeats, date.empty() ? "" : ", ", date);
}

}  // namespace

Result<PlannedCalibration> plan_calibration(const std::string& design) {
  WEIR_TRY(fabric, load_fabric(design));
  PlannedCalibration out;
  WEIR_TRY(plan, or_bad_input(tune::plan_calibration(fabric.design, fabric.intent)));
  out.plan = std::move(plan);
  out.fabric = std::move(fabric);
  out.files.push_back({std::string(kManifestFile), tune::to_json(out.plan).dump(1) + "\n"});
  out.files.push_back({"run.sh", tune::script_of(out.plan, out.fabric.intent), true});
  return out;
}

Result<Calibrated> fit_calibration(const CalibrateRequest& request) {
  WEIR_TRY(fabric, load_fabric(request.design));
  if (!request.apply_to.empty() && !request.is_forced && is_name_taken(request.apply_to))
    return bad_input(
        fmt::format("{} exists and was not changed; name another file with --apply-to, or "
                    "overwrite it with --force",
                    request.apply_to));
  WEIR_TRY(source, or_bad_input(read_source(request.paths, fabric)));
  Calibrated out;
  tune::FitRequest fitting;
  fitting.plan = source.plan;
  fitting.measured = source.read.measured;
  fitting.seed = request.seed;
  fitting.jobs = request.jobs;
  fitting.progress = [&](double share, std::string_view stage) {
    tell(request.progress, share, std::string(stage));
  };
  WEIR_TRY(fit, or_bad_input(tune::fit_calibration(fabric.design, fabric.intent, fitting)));
  out.fit = std::move(fit);
  out.plan = std::move(source.plan);
  out.measured = std::move(source.read.measured);
  out.notes = std::move(source.read.notes);
  if (!out.fit.is_calibrated) return out;
  const std::vector<design::ValueEdit> edits = calibration_edits(
      out.fit, source_text(request, {out.plan, {out.measured, {}, source.read.last_time}}));
  out.patch = design::lines_of(edits);
  if (request.apply_to.empty()) return out;
  WEIR_TRY(text, calibrated_design(request, fabric, edits));
  WEIR_TRY_STATUS(or_bad_input(write_file_atomic(request.apply_to, text)));
  out.written.push_back(request.apply_to);
  return out;
}

Status check_calibrated_range(const Fabric& fabric, const std::vector<std::string>& loads) {
  if (!fabric.design.calibration.is_there()) return {};
  const std::vector<std::string> texts = loads.empty() ? tune::usual_loads(fabric.intent) : loads;
  for (const std::string& text : texts) {
    WEIR_TRY(load, or_bad_request(tune::parse_load(text)));
    WEIR_TRY(outside,
             or_bad_request(tune::outside_calibration(fabric.design, fabric.intent, {load.spec})));
    if (outside.empty()) continue;
    return bad_input(fmt::format(
        "{}: {} goes beyond the calibration of this design: {}. Calibrate that far, name loads "
        "within it, or take the section `calibration` out",
        fabric.design.file, text, join(outside, "; ")));
  }
  return {};
}

}  // namespace weir::ops
