#include "ops/tune/rollout.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/text.h"
#include "design/fabric/effective.h"
#include "design/file/edit.h"
#include "ops/source/fabric.h"
#include "ops/tune/result_file.h"
#include "render/config/host_script.h"

namespace weir::ops {
namespace {

constexpr int kFoldersUp = 4;  // around a result, in which its design is looked for

/// As the tuner names it, from where it was run: that is here, or a folder around the result; or
/// beside the result.
std::string design_file_of(const RolloutRequest& request, const tune::TuneResult& result) {
  if (!request.design.empty()) return request.design;
  if (file_exists(result.design)) return result.design;
  std::filesystem::path folder(request.result);
  if (!is_directory(request.result) || !folder.has_filename()) folder = folder.parent_path();
  const std::filesystem::path named(result.design);
  std::filesystem::path around = folder;
  for (int up = 0; up <= kFoldersUp; ++up) {
    for (const std::filesystem::path& candidate : {around / named, around / named.filename()})
      if (file_exists(candidate.string())) return candidate.string();
    around = (around / "..").lexically_normal();
  }
  return result.design;
}

Status expect_tuned_design(const Fabric& fabric, const std::string& file,
                           const tune::TuneResult& result) {
  Digest digest;
  digest.add(design::effective_values(fabric.design));
  if (digest.to_text() == result.design_digest) return {};
  return bad_input(fmt::format(
      "{} is not the design that was tuned, or was changed since: tune it again, or name the old "
      "one with --design",
      file));
}

Status expect_node(const Fabric& fabric, const std::string& node) {
  if (node.empty() || find_host(fabric.intent, node) != nullptr ||
      find_switch(fabric.intent, node) != nullptr)
    return {};
  std::vector<std::string> names = switch_names(fabric.intent);
  for (const design::HostIntent& host : fabric.intent.hosts)
    names.push_back(host.name);
  return bad_input(fmt::format("the design has no node '{}'{}", node, did_you_mean(node, names)));
}

/// The user's file with the values of the step, each with the value it had.
Result<std::string> step_design(const std::string& text, const tune::RolloutPlan& plan,
                                const tune::RolloutPart& until) {
  std::vector<design::ValueEdit> edits;
  for (const tune::RolloutStep& step : plan.steps)
    for (const tune::RolloutPart& part : step.parts) {
      if (edits.size() == until.settings.size()) break;
      edits.push_back({part.change.knob, part.change.to,
                       fmt::format("weir tune rollout, {}: was {}", step.name, part.change.from)});
    }
  return or_bad_input(design::edited(text, edits));
}

std::string lines_text(const std::vector<std::string>& lines) {
  return join(lines, "\n") + "\n";
}

void add_host_scripts(const Fabric& fabric, const std::string& folder, const std::string& node,
                      std::vector<RolloutFile>& out) {
  for (const design::HostIntent& host : fabric.intent.hosts) {
    if (!node.empty() && host.name != node) continue;
    const platforms::Rendered script =
        render::host_script(fabric.design, fabric.intent, host, render::script_tool("", host));
    for (const platforms::ConfigFile& file : script.files)
      out.push_back({folder + file.name, file.text});
  }
}

void add_switch_files(const tune::RolloutPart& part, const std::string& folder,
                      std::vector<RolloutFile>& out) {
  for (const tune::NodeChange& node : part.nodes) {
    if (!node.is_change()) continue;
    for (const tune::ChangeFile& file : node.files)
      out.push_back({folder + file.name, file.text});
    if (!node.files.empty()) continue;
    out.push_back({fmt::format("{}{}.change.txt", folder, node.node), lines_text(node.commands)});
    out.push_back({fmt::format("{}{}.undo.txt", folder, node.node), lines_text(node.undo)});
  }
}

/// Of a step of two parts each has a folder of its own.
std::string folder_of(const tune::RolloutStep& step, std::size_t part) {
  return step.parts.size() == 1
             ? step.name + "/"
             : fmt::format("{}/{}-{}/", step.name, part + 1, step.parts[part].change.knob);
}

void keep_only(const std::string& node, tune::RolloutPart& part) {
  if (node.empty()) return;
  std::erase_if(part.nodes, [&](const tune::NodeChange& change) { return change.node != node; });
}

}  // namespace

Result<PlannedRollout> plan_rollout(const RolloutRequest& request) {
  WEIR_TRY(result, or_bad_input(read_tune_result(request.result)));
  const std::string file = design_file_of(request, result);
  WEIR_TRY(start, load_fabric(file));
  WEIR_TRY_STATUS(expect_tuned_design(start, file, result));
  WEIR_TRY_STATUS(expect_node(start, request.node));
  WEIR_TRY(text, or_bad_input(read_file(file)));
  PlannedRollout out;
  result.design = file;
  WEIR_TRY(plan, or_bad_input(tune::plan_rollout(result, start.intent)));
  out.plan = std::move(plan);
  Fabric before = start;
  for (tune::RolloutStep& step : out.plan.steps)
    for (std::size_t i = 0; i < step.parts.size(); ++i) {
      tune::RolloutPart& part = step.parts[i];
      Fabric after = start;
      WEIR_TRY_STATUS(or_bad_input(set_values(part.settings, after)));
      WEIR_TRY_STATUS(or_bad_input(tune::add_nodes({before.intent, after.intent}, part)));
      keep_only(request.node, part);
      const std::string folder = folder_of(step, i);
      WEIR_TRY(design_text, step_design(text, out.plan, part));
      out.files.push_back({folder + "fabric.yaml", std::move(design_text)});
      if (step.place == tune::RolloutPlace::kNic) {
        add_host_scripts(after, folder, request.node, out.files);
      } else {
        add_switch_files(part, folder, out.files);
      }
      before = std::move(after);
    }
  return out;
}

}  // namespace weir::ops
