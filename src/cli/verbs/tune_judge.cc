// weir tune judge: a change on a live fabric, by the blocks that were measured.
#include <algorithm>

#include <fmt/format.h>

#include "base/table.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/host_input.h"
#include "cli/frame/threshold_option.h"
#include "cli/json/tune/rollout_json.h"
#include "ops/tune/judge.h"
#include "units/format.h"

namespace weir::cli {
namespace {

constexpr std::size_t kPageWidth = 96;

std::vector<std::string_view> metric_names() {
  std::vector<std::string_view> names;
  for (const tune::MetricInfo& info : tune::metrics())
    names.push_back(info.name);
  return names;
}

std::optional<tune::Metric> metric_named(const std::optional<std::string>& name) {
  if (!name) return std::nullopt;
  for (const tune::MetricInfo& info : tune::metrics())
    if (info.name == *name) return info.metric;
  return std::nullopt;
}

std::string judge_verdict(const tune::Judged& judged) {
  std::string word(tune::to_text(judged.verdict));
  word.front() = static_cast<char>(word.front() - 'a' + 'A');
  return fmt::format("{}{}: {}.", word, simulated_word(judged.is_simulated), judged.reason);
}

std::string measured_text(double value, const tune::MetricInfo& info) {
  if (info.unit.empty()) return fmt::format("{:.3g} %", value * 100);
  if (info.unit == "us")
    return approximate(Duration::raw(static_cast<std::int64_t>(value * 1e6)));  // picoseconds
  const std::string_view blank = info.unit.front() == '/' ? "" : " ";
  return fmt::format("{:.4g}{}{}", value, blank, info.unit);
}

std::vector<std::string> metric_row(const tune::MetricOutcome& outcome) {
  const tune::MetricInfo& info = tune::info_of(outcome.metric);
  std::vector<std::string> row = {std::string(info.name), measured_text(outcome.before, info),
                                  measured_text(outcome.after, info)};
  if (outcome.change) {
    const tune::Change& change = *outcome.change;
    row.push_back(fmt::format("{:+.1f} %", change.mean * 100));
    row.push_back(change.pairs < 2
                      ? "?"
                      : fmt::format("{:+.1f} to {:+.1f} %", change.low * 100, change.high * 100));
    row.push_back(fmt::format("{:.2g}", change.p()));
  } else {
    row.emplace_back("");
    row.push_back(fmt::format("in {} of {}, then {}", outcome.before_moved, outcome.pairs,
                              outcome.after_moved));
    row.push_back(fmt::format("{:.2g}", outcome.fisher_p));
  }
  row.emplace_back(tune::to_text(outcome.verdict));
  return row;
}

void print_judged(const tune::Judged& judged, Context& context) {
  context.out << wrap(judge_verdict(judged), kPageWidth) << '\n';
  if (context.quiet) return;
  context.out << fmt::format("\n{} of blocks, without the change and with it:\n",
                             counted(judged.pairs, "pair"));
  using enum Align;
  TextTable table({"metric", "without", "with", "change", "95 % interval", "p", ""},
                  {kLeft, kRight, kRight, kRight, kRight, kRight, kLeft});
  for (const tune::MetricOutcome& outcome : judged.metrics)
    table.add_row(metric_row(outcome));
  context.out << table.to_text(2);
  context.out << "\nwhat would end the roll-out at once:\n";
  TextTable criteria({"", "", ""});
  for (const tune::Criterion& criterion : judged.criteria)
    criteria.add_row({std::string(tune::to_text(criterion.state)), criterion.rule, criterion.text});
  context.out << criteria.to_text(2, kPageWidth);
  if (judged.is_as_predicted) {
    const tune::Change& told = judged.prediction->change;
    context.out << fmt::format(
        "\npredicted ({}): {:+.1f} % of the time ({:+.1f} to {:+.1f} %): {}\n",
        judged.prediction->origin, told.mean * 100, told.low * 100, told.high * 100,
        *judged.is_as_predicted ? "agrees" : "does not agree");
  }
  if (!judged.notes.empty()) context.out << '\n';
  for (const std::string& note : judged.notes)
    context.out << hang(note, kPageWidth, 0) << '\n';
}

std::string advice(const tune::Judged& judged) {
  switch (judged.verdict) {
    case tune::JudgeVerdict::kRemove: return "take the change back now: weir rollback on the hosts";
    case tune::JudgeVerdict::kNotProven:
      return "more blocks, or take the change back: what is not proven does not stay";
    case tune::JudgeVerdict::kKeep: break;
  }
  return judged.is_loss_checked()
             ? "the next step of weir tune rollout"
             : "nothing shows whether packets were lost: weir snapshot at both ends of a block, or "
               "weir verify, before it stays";
}

ExitCode exit_of(const tune::Judged& judged) {
  switch (judged.verdict) {
    case tune::JudgeVerdict::kKeep:
      return judged.is_loss_checked() ? ExitCode::kOk : ExitCode::kPartial;
    case tune::JudgeVerdict::kRemove: return ExitCode::kFindings;
    case tune::JudgeVerdict::kNotProven: break;
  }
  return ExitCode::kPartial;
}

ExitCode run_tune_judge(const Args& args, Context& context) {
  if (args.has("knob") && !args.has("predicted"))
    return usage_error(context, args.command(), "--knob is a change of --predicted DIR");
  const auto thresholds = ops::or_bad_request(thresholds_of(args));
  if (!thresholds) return fail(context, args.command(), thresholds.error());
  const auto judged = ops::judge_blocks({.paths = args.all("BLOCKS"),
                                         .goal = metric_named(args.get("for")),
                                         .predicted = args.get("predicted").value_or(""),
                                         .knob = args.get("knob").value_or(""),
                                         .thresholds = *thresholds});
  if (!judged) return fail(context, args.command(), judged.error());
  if (context.json) {
    print_judged_json(context, args.command(), *judged, judge_verdict(*judged));
  } else {
    print_judged(*judged, context);
    if (!context.quiet)
      context.out << "\n" << hang("next: " + advice(*judged), kPageWidth, 0) << '\n';
  }
  return exit_of(*judged);
}

}  // namespace

Command tune_judge_command() {
  return {
      .name = "tune judge",
      .group = Group::kOperators,
      .summary = "a change on a live fabric: keep it, remove it, or not proven",
      .description =
          "Compares blocks of the same workload without a change (A) and with it (B), run in turn: "
          "A B B A, at least 8 pairs. Ratios of neighbours, by the t test and Wilcoxon's: the "
          "worse "
          "counts. BLOCKS is a directory with files or folders named 01-A, 02-B, 03-B, 04-A …; or "
          "files, those without the change first and as many with it. A block is two snapshots or "
          "one weir verify --json, with output of nccl-tests or perftest, or times of steps. "
          "Drops, "
          "timeouts, a watchdog, pauses or a slower job mean remove, after any number of blocks. "
          "Exit status 1 means remove, 5 not proven, or drops could not be checked.",
      .arguments = {{.name = "BLOCKS",
                     .help = "a directory of blocks, or files",
                     .required = true,
                     .repeated = true,
                     .completes = Completes::kFiles}},
      .options = {{.name = "for",
                   .metavar = "METRIC",
                   .help = "what decides (default: the first of them that was measured)",
                   .choices = metric_names()},
                  {.name = "predicted",
                   .metavar = "DIR",
                   .help = "result of weir tune: stop where the fabric behaves otherwise",
                   .completes = Completes::kFiles},
                  {.name = "knob",
                   .metavar = "KNOB",
                   .help = "the change of it that was made (default: all of them)"},
                  threshold_option()},
      .examples = {{"weir tune judge blocks", "01-A.json, 02-B.json, 03-B.json …"},
                   {"weir tune judge before.json after.json", "8 results in each"},
                   {"weir tune judge blocks --predicted tuned --knob wred.min", ""}},
      .exit_codes = {ExitCode::kOk, ExitCode::kFindings, ExitCode::kBadInput, ExitCode::kPartial},
      .looks = Looks::kAtFiles,
      .run = run_tune_judge,
  };
}

}  // namespace weir::cli
