// weir tune rollout: the result of a tuning as a plan for a live fabric.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/name_pattern.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/json/tune/rollout_json.h"
#include "ops/tune/rollout.h"
#include "units/format.h"

namespace weir::cli {
namespace {

constexpr std::size_t kPlanWidth = 100;
constexpr std::size_t kShownCommands = 12;  // of a node; --out and --json have all

std::string percent_text(const tune::Change& change) {
  return fmt::format("{:+.1f} % ({:+.1f} to {:+.1f} %)", change.mean * 100, change.low * 100,
                     change.high * 100);
}

std::string rollout_verdict(const tune::RolloutPlan& plan) {
  const auto windows = static_cast<std::size_t>(
      std::count_if(plan.steps.begin(), plan.steps.end(),
                    [](const tune::RolloutStep& step) { return step.needs_window(); }));
  std::string window = "live";
  if (windows == plan.steps.size()) {
    window = "in a maintenance window";
  } else if (windows > 0) {
    window = fmt::format("{} of them in a maintenance window", windows);
  }
  return fmt::format("{}, {}; {} {} predicted (simulated).", counted(plan.steps.size(), "step"),
                     window, tune::to_text(plan.objective), percent_text(plan.gain));
}

void print_lines(std::string_view title, const std::vector<std::string>& lines, Context& context) {
  if (lines.empty()) return;
  context.out << '\n' << title << ":\n";
  for (const std::string& line : lines)
    context.out << "  - " << hang(line, kPlanWidth - 4, 4) << '\n';
}

/// Nodes with the same lines, as one.
struct NodeGroup {
  std::vector<std::string> nodes;
  const tune::NodeChange* change = nullptr;
};

/// Commands name their node's files; for grouping that does not count.
std::vector<std::string> without_name(const tune::NodeChange& node) {
  std::vector<std::string> out = node.commands;
  for (std::string& line : out)
    for (auto at = line.find(node.node); at != std::string::npos; at = line.find(node.node, at + 4))
      line.replace(at, node.node.size(), "NODE");
  return out;
}

std::vector<NodeGroup> grouped(const std::vector<tune::NodeChange>& nodes) {
  std::vector<NodeGroup> out;
  for (const tune::NodeChange& node : nodes) {
    const auto same = std::find_if(out.begin(), out.end(), [&](const NodeGroup& group) {
      return group.change->why_none == node.why_none && group.change->live == node.live &&
             without_name(*group.change) == without_name(node) &&
             group.change->ports == node.ports && group.change->notes == node.notes;
    });
    if (same == out.end()) {
      out.push_back({{node.node}, &node});
    } else {
      same->nodes.push_back(node.node);
    }
  }
  return out;
}

void print_node_group(const NodeGroup& group, Context& context) {
  const tune::NodeChange& node = *group.change;
  const std::string names = compact_names(group.nodes);
  if (!node.is_change()) {
    context.out << "    " << hang(fmt::format("{}: {}", names, node.why_none), kPlanWidth - 4, 4)
                << '\n';
    return;
  }
  context.out << fmt::format("    {}: {} {}\n", names, node.is_host ? "NICs" : "ports",
                             ports_text(node.ports));
  if (node.live != nullptr) {
    const std::string state = fmt::format(
        "{}{}: {}; afterwards {}", tune::to_text(node.live->effect),
        node.live->is_verified ? "" : " (unverified)", node.live->where, node.live->persistence);
    context.out << "      " << hang(state, kPlanWidth - 6, 6) << '\n';
    if (!node.live->trap.empty())
      context.out << "      " << hang(node.live->trap, kPlanWidth - 6, 6) << '\n';
    context.out << "      source: " << hang(node.live->source, kPlanWidth - 14, 14) << '\n';
  }
  for (const std::string& note : node.notes)
    context.out << "      " << hang(note, kPlanWidth - 6, 6) << '\n';
  const std::size_t shown = std::min(node.commands.size(), kShownCommands);
  for (std::size_t i = 0; i < shown; ++i)
    context.out << "        " << node.commands[i] << '\n';
  if (shown < node.commands.size())
    context.out << fmt::format("        … {} more lines: --out DIR\n",
                               node.commands.size() - shown);
}

std::string stage_text(const tune::CanaryStage& stage) {
  std::vector<std::string> where;
  if (!stage.switches.empty()) where.push_back(compact_names(stage.switches));
  if (!stage.hosts.empty())
    where.push_back(fmt::format("{}{}", stage.switches.empty() ? "" : "traffic of ",
                                compact_names(stage.hosts)));
  return fmt::format("{}: {}; {}", stage.name, join(where, ", "), stage.rule);
}

/// Where the design of a part is, with --out; else the words that say which it is.
std::string design_of(const tune::RolloutStep& step, std::size_t part, const std::string& folder) {
  const std::string& knob = step.parts[part].change.knob;
  const std::string inside =
      step.parts.size() == 1 ? step.name : fmt::format("{}/{}-{}", step.name, part + 1, knob);
  return fmt::format("{}/{}/fabric.yaml", folder.empty() ? "DIR" : folder, inside);
}

std::string_view window_text(const tune::RolloutStep& step) {
  if (step.is_void()) return "no node takes it";
  if (!step.needs_window()) return "live";
  return step.place == tune::RolloutPlace::kBuffers
             ? "in a maintenance window"
             : "not verified as live: on a spare port first, or in a maintenance window";
}

void print_step(const tune::RolloutStep& step, bool is_last, const std::string& result,
                const std::string& folder, Context& context) {
  context.out << fmt::format("\nstep {} ({}, {})\n", step.name, tune::to_text(step.place),
                             window_text(step));
  if (step.forecast)
    context.out << fmt::format("  predicted: {}, {}\n", percent_text(step.forecast->objective),
                               step.forecast->basis);
  if (!step.why_order.empty())
    context.out << "  order: " << hang(step.why_order, kPlanWidth - 9, 9) << '\n';
  for (const tune::CanaryStage& stage : step.stages)
    context.out << "  " << hang(stage_text(stage), kPlanWidth - 2, 4) << '\n';
  for (std::size_t i = 0; i < step.parts.size(); ++i) {
    const tune::RolloutPart& part = step.parts[i];
    context.out << fmt::format("  {}: {} instead of {}\n", part.change.knob, part.change.to,
                               part.change.from);
    if (step.place == tune::RolloutPlace::kNic)
      context.out << fmt::format(
          "    weir apply {} --confirm-within 900s\n"
          "    weir confirm where it stays, weir rollback where it does not\n",
          design_of(step, i, folder));
    for (const NodeGroup& group : grouped(part.nodes))
      print_node_group(group, context);
  }
  const std::string predicted =
      is_last && step.parts.size() == 1
          ? fmt::format(" --predicted {} --knob {}", result, step.parts.front().change.knob)
          : "";
  context.out << fmt::format("  judge each stage: weir tune judge blocks-{}{}\n",
                             step.name.substr(0, 2), predicted);
}

std::string spread_text(const tune::Spread& spread, std::string_view unit) {
  const auto one_value = [&](double value) {
    if (unit.empty()) return fmt::format("{:.2g} %", value * 100);
    if (unit == "bytes") return approximate(Bytes::raw(static_cast<std::int64_t>(value)));
    if (unit == "us")
      return approximate(Duration::raw(static_cast<std::int64_t>(value * 1e6)));  // picoseconds
    return fmt::format("{:.4g}", value);
  };
  return fmt::format("{} ({} to {})", one_value(spread.mean), one_value(spread.least),
                     one_value(spread.most));
}

void print_forecasts(const std::vector<tune::CounterForecast>& counters, Context& context) {
  if (counters.empty()) return;
  context.out << "\npredicted per run, before the first step and after the last: mean (least to "
                 "most of the seeds)\n";
  TextTable table({"workload", "counter", "before", "after"});
  std::string last;
  for (const tune::CounterForecast& row : counters) {
    table.add_row({row.workload == last ? "" : row.workload, std::string(row.counter),
                   spread_text(row.start, row.unit), spread_text(row.chosen, row.unit)});
    last = row.workload;
  }
  context.out << table.to_text(2);
}

void print_blocks(Context& context) {
  context.out << "\nblocks, for each stage of each step:\n";
  for (const std::string_view line :
       {"A without the change, B with it, in the order A B B A; at least 8 of each, 5 to 10 "
        "minutes "
        "each, the same load; the first minute is left out",
        "weir snapshot --out blocks/01-A.start.json, the load (> blocks/01-A.txt), weir snapshot "
        "--out blocks/01-A.end.json; on hosts and from switches of the stage",
        "NICs with different values share a bottleneck unfairly: the load of a stage stays inside "
        "it",
        "a measured change outside the predicted interval stops the roll-out, even if it is good"})
    context.out << "  - " << hang(line, kPlanWidth - 4, 4) << '\n';
}

/// With --node only what is done there.
bool is_of_interest(const tune::RolloutStep& step) {
  return std::any_of(step.parts.begin(), step.parts.end(),
                     [](const tune::RolloutPart& part) { return !part.nodes.empty(); });
}

void print_plan(const ops::PlannedRollout& planned, const std::string& result,
                const std::string& folder, Context& context) {
  const tune::RolloutPlan& plan = planned.plan;
  context.out << wrap(rollout_verdict(plan), kPlanWidth) << '\n';
  if (context.quiet) return;
  print_lines("before the first step", plan.preflight, context);
  for (const tune::RolloutStep& step : plan.steps)
    if (is_of_interest(step))
      print_step(step, &step == &plan.steps.back(), result, folder, context);
  print_blocks(context);
  std::vector<std::string> rules;
  for (const tune::Criterion& criterion : plan.criteria)
    rules.push_back(criterion.rule);
  context.out << "\ntaken back at once: " << hang(join(rules, "; "), kPlanWidth - 20, 20) << '\n';
  context.out << "taken back at the end: what weir tune judge does not call keep\n";
  print_forecasts(plan.counters, context);
  print_lines("after the last step", plan.after, context);
  print_lines("notes", plan.notes, context);
}

Status write_plan(const ops::PlannedRollout& planned, const std::string& folder) {
  for (const ops::RolloutFile& file : planned.files) {
    const std::filesystem::path path = std::filesystem::path(folder) / file.path;
    WEIR_TRY_STATUS(make_directory(path.parent_path().string()));
    WEIR_TRY_STATUS(
        write_file_atomic(path.string(), file.text,
                          path.extension() == ".sh" ? FileMode::kScript : FileMode::kUsual));
  }
  return {};
}

ExitCode run_tune_rollout(const Args& args, Context& context) {
  const auto planned = ops::plan_rollout({.result = args.value("DIR"),
                                          .design = args.get("design").value_or(""),
                                          .node = args.get("node").value_or("")});
  if (!planned) return fail(context, args.command(), planned.error());
  const std::string folder = args.get("out").value_or("");
  if (!folder.empty())
    if (const Status written = write_plan(*planned, folder); !written)
      return fail(context, ExitCode::kBadInput, written.error().what);
  if (context.json) {
    print_rollout_json(context, args.command(), *planned, rollout_verdict(planned->plan), folder);
    return ExitCode::kOk;
  }
  print_plan(*planned, args.value("DIR"), folder, context);
  if (!folder.empty())
    context.out << fmt::format("\nWrote {} to {}.\n", counted(planned->files.size(), "file"),
                               folder);
  return ExitCode::kOk;
}

}  // namespace

Command tune_rollout_command() {
  return {
      .name = "tune rollout",
      .group = Group::kOperators,
      .summary = "the result of a tuning as a plan for a live fabric",
      .description =
          "One change at a time: NICs first, ECN thresholds second, buffers last. For each: what "
          "it "
          "does to traffic on that system (what is not verified says so), where it is made first, "
          "the lines to type on hosts and switches and those that take it back, what the simulator "
          "predicts, and the rules by which it is taken back. Changes nothing. weir tune judge "
          "compares what was measured.",
      .arguments = {{.name = "DIR",
                     .help = "directory of weir tune --out",
                     .required = true,
                     .completes = Completes::kFiles}},
      .options = {{.name = "design",
                   .letter = 'd',
                   .metavar = "FILE",
                   .help = "the design that was tuned (default: as the result names it)",
                   .completes = Completes::kFiles},
                  {.name = "node", .metavar = "NAME", .help = "only this host or switch"},
                  {.name = "out",
                   .letter = 'o',
                   .metavar = "DIR2",
                   .help = "write the files of every step there",
                   .completes = Completes::kFiles,
                   .writes = Writes::kDirectory}},
      .examples = {{"weir tune rollout tuned", "the plan"},
                   {"weir tune rollout tuned --out steps", "and its files"},
                   {"weir tune rollout tuned --node leaf1", "what is done on one node"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput},
      .looks = Looks::kAtFiles,
      .run = run_tune_rollout,
  };
}

}  // namespace weir::cli
