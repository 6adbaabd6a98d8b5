// weir baseline: what a fabric did when it was good, and what a later run has lost of it.
#include "ops/baseline/baseline.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/table.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/host_input.h"
#include "cli/frame/judging.h"
#include "cli/frame/threshold_option.h"
#include "cli/json/preflight/baseline_json.h"
#include "render/text/findings_text.h"
#include "render/text/sparkline.h"

namespace weir::cli {
namespace {

using preflight::ComparedValue;
using preflight::Comparison;
using preflight::Outcome;

constexpr std::size_t kBaselineWidth = 100;

Option baseline_dir_option() {
  return {.name = "dir",
          .metavar = "DIR",
          .help = "where baselines and their history are kept",
          .default_value = "baselines",
          .completes = Completes::kFiles,
          .writes = Writes::kFile};
}

Option migrate_option() {
  return {.name = "migrate", .help = "bring a history of an earlier version to this one"};
}

Argument baseline_name_argument() {
  return {.name = "NAME", .help = "name of the baseline: a word", .required = true};
}

ops::BaselinePlace place_of(const Args& args, bool has_migrate) {
  return {.directory = args.value("dir"), .migrates = has_migrate && args.has("migrate")};
}

void say_not_kept(const std::string& why, Context& context) {
  if (!why.empty() && !context.json)
    context.err << fmt::format("weir: not kept in the history: {}\n", why);
}

// ---- save, list, show, drop ----

ExitCode run_baseline_save(const Args& args, Context& context) {
  const auto saved = ops::save_baseline(place_of(args, true), args.value("NAME"), args.all("RUN"),
                                        args.has("replace"));
  if (!saved) return fail(context, args.command(), saved.error());
  if (context.json) {
    print_saved_json(context, args.command(), *saved);
    return ExitCode::kOk;
  }
  const preflight::Baseline& baseline = saved->baseline;
  std::size_t measures = 0;
  for (const preflight::BaselineStage& stage : baseline.stages)
    measures += stage.measures.size();
  if (!context.quiet) {
    context.out << fmt::format("Saved {}: {}, {}{}, {} of {}.\n", saved->path,
                               baseline.identity.design,
                               counted(static_cast<std::size_t>(baseline.identity.hosts), "host"),
                               simulated_word(baseline.identity.is_simulated),
                               counted(measures, "measure"), counted(baseline.runs, "run"));
    if (baseline.runs == 1)
      context.out
          << "Of one run it is not known how much a value varies by itself: more runs on the "
             "command line tell.\n";
  }
  say_not_kept(saved->not_kept, context);
  return ExitCode::kOk;
}

ExitCode run_baseline_list(const Args& args, Context& context) {
  const auto list = ops::list_baselines(place_of(args, true));
  if (!list) return fail(context, args.command(), list.error());
  const bool has_problem = std::any_of(list->entries.begin(), list->entries.end(),
                                       [](const auto& entry) { return !entry.baseline; });
  const ExitCode code = has_problem ? ExitCode::kPartial : ExitCode::kOk;
  if (context.json) {
    print_baselines_json(context, args.command(), *list);
    return code;
  }
  TextTable table({"baseline", "design", "hosts", "runs", "made", "digest"});
  for (const ops::BaselineEntry& entry : list->entries) {
    if (!entry.baseline) {
      context.err << fmt::format("weir: {}\n", entry.problem);
      continue;
    }
    const preflight::Identity& identity = entry.baseline->identity;
    table.add_row({entry.name, identity.design + simulated_word(identity.is_simulated),
                   std::to_string(identity.hosts), std::to_string(entry.baseline->runs),
                   entry.baseline->made, preflight::digest_of(*entry.baseline)});
  }
  context.out << (list->entries.empty() ? "No baseline.\n" : table.to_text());
  context.out << fmt::format("{} in the history.\n", counted(list->runs.size(), "run"));
  return code;
}

void print_baseline_identity(const preflight::Baseline& baseline, Context& context) {
  const preflight::Identity& identity = baseline.identity;
  TextTable facts({"", ""});
  const auto add = [&](std::string_view what, const std::vector<std::string>& values) {
    facts.add_row({std::string(what), values.empty() ? "not shown" : join(values, "; ")});
  };
  add("design", {fmt::format("{} (digest {}), {}", identity.design, identity.digest,
                             counted(static_cast<std::size_t>(identity.hosts), "host"))});
  add("made",
      {fmt::format("{} by {}, of {}{}", baseline.made, baseline.tool, counted(baseline.runs, "run"),
                   identity.is_quick ? " with --quick" : "")});
  add("kernels", identity.kernels);
  add("drivers", identity.drivers);
  add("firmware", identity.firmwares);
  add("speeds, designed", identity.speeds);
  add("MTU, designed", identity.mtus);
  add("switches", identity.switches);
  const auto add_asked = [&](std::string_view what, const std::optional<std::string>& told) {
    if (!told || !told->empty()) add(what, {told.value_or("not known: of an earlier version")});
  };
  add_asked("options of perftest", identity.perftest);
  add_asked("collective", identity.collective);
  add_asked("thresholds",
            identity.thresholds ? std::optional(join(*identity.thresholds, ", ")) : std::nullopt);
  for (const preflight::SettingFact& fact : baseline.settings)
    add(fact.setting, fact.values);
  context.out << facts.to_text(2, kBaselineWidth);
}

std::string spread_text(const std::optional<double>& spread) {
  return spread ? fmt::format("{:.1f} %", 100 * *spread) : "?";
}

/// The trend of a measure, where runs were kept.
std::string trend_text(const std::vector<store::Trend>& trends, preflight::StageId stage,
                       const std::string& metric) {
  for (const store::Trend& trend : trends) {
    if (trend.stage != stage || trend.metric != metric) continue;
    std::vector<double> values;
    for (const store::TrendPoint& point : trend.points)
      values.push_back(point.p50);
    return render::sparkline(values);
  }
  return {};
}

void print_baseline_measures(const ops::ShownBaseline& shown, Context& context) {
  using enum Align;
  TextTable measures({"stage", "measure", "n", "p50", "p95", "p99", "p999", "spread", "trend"},
                     {kLeft, kLeft, kRight, kRight, kRight, kRight, kRight, kRight, kLeft});
  TextTable counters({"stage", "counter", "amount", "spread"}, {kLeft, kLeft, kRight, kRight});
  std::size_t nics = 0;
  for (const preflight::BaselineStage& stage : shown.baseline.stages) {
    const std::string number = std::to_string(preflight::number_of(stage.id));
    for (const preflight::BaselineMeasure& each : stage.measures) {
      const preflight::Measure& measure = each.measure;
      if (!measure.subject.empty()) {
        ++nics;
        continue;
      }
      const auto text = [&](double value) { return preflight::value_text(measure, value); };
      measures.add_row(
          {number, measure.metric, std::to_string(measure.values.count), text(measure.values.p50),
           text(measure.values.p95), text(measure.values.p99), text(measure.values.p999),
           spread_text(each.spread_p50), trend_text(shown.trends, stage.id, measure.metric)});
    }
    for (const preflight::BaselineCounter& counter : stage.counters) {
      if (counter.value == 0) continue;
      counters.add_row(
          {number, counter.name,
           fmt::format("{:.3g} {}", counter.value, preflight::unit_of_counters(stage.id)),
           spread_text(counter.spread)});
    }
  }
  context.out << '\n' << measures.to_text(2);
  if (nics > 0)
    context.out << fmt::format("  and {} of single NICs, in the file\n", counted(nics, "measure"));
  context.out << '\n' << counters.to_text(2) << "  all other counters: none\n";
}

ExitCode run_baseline_show(const Args& args, Context& context) {
  const auto shown = ops::show_baseline(place_of(args, false), args.value("NAME"));
  if (!shown) return fail(context, args.command(), shown.error());
  if (context.json) {
    print_baseline_json(context, args.command(), *shown);
    return ExitCode::kOk;
  }
  context.out << fmt::format("Baseline {} (digest {}){}\n", shown->baseline.name,
                             preflight::digest_of(shown->baseline),
                             simulated_word(shown->baseline.identity.is_simulated));
  print_baseline_identity(shown->baseline, context);
  print_baseline_measures(*shown, context);
  return ExitCode::kOk;
}

ExitCode run_baseline_drop(const Args& args, Context& context) {
  const auto dropped = ops::drop_baseline(place_of(args, false), args.value("NAME"));
  if (!dropped) return fail(context, args.command(), dropped.error());
  if (context.json) {
    print_dropped_json(context, args.command(), args.value("NAME"));
  } else if (!context.quiet) {
    context.out << fmt::format("Dropped {}. Its runs stay in the history.\n", args.value("NAME"));
  }
  return ExitCode::kOk;
}

// ---- compare ----

std::string comparison_verdict(const ops::ComparedRun& run) {
  const Comparison& comparison = run.comparison;
  const std::string subject =
      fmt::format("{}{}", comparison.baseline, simulated_word(run.is_simulated));
  switch (comparison.outcome()) {
    case Outcome::kAsBaseline:
      return fmt::format("As the baseline {}: {} within their limits.", subject,
                         counted(comparison.values.size(), "value"));
    case Outcome::kRegressed:
      return fmt::format("Regressed against {}: {} of {} values are worse than their limits.",
                         subject, comparison.regressions(), comparison.values.size());
    case Outcome::kNotComparable: {
      std::vector<std::string> fields;
      for (const preflight::IdentityDifference& each : comparison.unlike)
        fields.push_back(each.field);
      return fmt::format("Not comparable with {}: another {}.", subject, join(fields, ", "));
    }
    case Outcome::kNothingCompared: break;
  }
  return fmt::format("Nothing to compare with {}: no stage of it was run.", subject);
}

void print_differences(std::string_view title,
                       const std::vector<preflight::IdentityDifference>& list, Context& context) {
  if (list.empty()) return;
  TextTable table({std::string(title), "in the baseline", "now"});
  for (const preflight::IdentityDifference& each : list)
    table.add_row({each.field, each.was, each.is});
  context.out << '\n' << table.to_text(2, kBaselineWidth);
}

std::string change_word(const ComparedValue& value) {
  if (value.change == preflight::Change::kSame) return "";
  if (!value.is_judged) return fmt::format("{} (not judged)", to_text(value.change));
  return preflight::is_regression(value)
             ? fmt::format("REGRESSED: {}", preflight::to_text(value.change))
             : std::string(preflight::to_text(value.change));
}

/// Of the whole fabric all of them, of single NICs those that regressed.
void print_values(const Comparison& comparison, Context& context) {
  using enum Align;
  TextTable table({"stage", "value", "was", "is", "worse by", "limit", ""},
                  {kLeft, kLeft, kRight, kRight, kRight, kRight, kLeft});
  for (const ComparedValue& value : comparison.values) {
    if (!value.subject.empty() && !preflight::is_regression(value)) continue;
    if (value.quantile == "count" && value.was == 0 && value.is == 0) continue;
    table.add_row({std::to_string(preflight::number_of(value.stage)),
                   fmt::format("{} {}{}", value.metric, value.quantile,
                               value.subject.empty() ? "" : " of " + value.subject),
                   preflight::amount_text(value, value.was),
                   preflight::amount_text(value, value.is),
                   fmt::format("{:.1f} %", 100 * value.worse),
                   fmt::format("{:.1f} %", 100 * value.limit), change_word(value)});
  }
  if (!comparison.values.empty()) context.out << '\n' << table.to_text(2);
}

ExitCode exit_of_comparison(const Args& args, const Comparison& comparison) {
  switch (comparison.outcome()) {
    case Outcome::kNotComparable:
    case Outcome::kNothingCompared: return ExitCode::kPartial;
    case Outcome::kAsBaseline:
    case Outcome::kRegressed: break;
  }
  return exit_for(args, comparison.judgement);
}

ExitCode run_baseline_compare(const Args& args, Context& context) {
  const auto thresholds = ops::or_bad_request(thresholds_of(args));
  if (!thresholds) return fail(context, args.command(), thresholds.error());
  const auto run = ops::compare_with_baseline(place_of(args, true), args.value("NAME"),
                                              args.value("RUN"), *thresholds);
  if (!run) return fail(context, args.command(), run.error());
  const std::string verdict = comparison_verdict(*run);
  const ExitCode code = exit_of_comparison(args, run->comparison);
  if (context.json) {
    print_comparison_json(context, args.command(), *run, verdict);
    return code;
  }
  print_findings(context, run->comparison.judgement, verdict);
  if (!context.quiet) {
    print_differences("not comparable", run->comparison.unlike, context);
    print_values(run->comparison, context);
    print_differences("noted", run->comparison.noted, context);
    if (!run->comparison.missing.empty())
      context.out << "\n  not measured now: " << join(run->comparison.missing, ", ") << '\n';
  }
  say_not_kept(run->not_kept, context);
  return code;
}

}  // namespace

Command baseline_save_command() {
  return {
      .name = "baseline save",
      .group = Group::kOperators,
      .summary = "remember what a fabric did when it was good",
      .description =
          "Makes DIR/NAME.json from results of weir preflight --out: identity (design, kernel, "
          "drivers, firmware, switch systems), QoS and MTU settings, the distribution of every "
          "measure of every stage that passed, counters per byte moved, noise while idle. The file "
          "is for review and version control; it carries its own digest. Several runs of one "
          "fabric tell how much each value varies by itself. The runs are kept in DIR/history.db.",
      .arguments = {baseline_name_argument(),
                    {.name = "RUN",
                     .help = "a file of weir preflight --out",
                     .required = true,
                     .repeated = true,
                     .completes = Completes::kFiles}},
      .options = {baseline_dir_option(),
                  {.name = "replace", .help = "write over a baseline of that name"},
                  migrate_option()},
      .examples = {{"weir preflight --lab lab --quick --out run.json", "first the run"},
                   {"weir baseline save good run.json", ""}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput},
      .looks = Looks::kAtFiles,
      .run = run_baseline_save,
  };
}

Command baseline_list_command() {
  return {
      .name = "baseline list",
      .group = Group::kOperators,
      .summary = "the baselines of a directory",
      .description = "One line per baseline, and how many runs the history holds.",
      .options = {baseline_dir_option(), migrate_option()},
      .examples = {{"weir baseline list", ""}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput, ExitCode::kPartial},
      .looks = Looks::kAtFiles,
      .run = run_baseline_list,
  };
}

Command baseline_show_command() {
  return {
      .name = "baseline show",
      .group = Group::kOperators,
      .summary = "what a baseline holds, with the trend of each measure",
      .description =
          "Identity, settings, distributions, counters per byte, and how each measure went over "
          "the "
          "runs of the history, oldest first.",
      .arguments = {baseline_name_argument()},
      .options = {baseline_dir_option()},
      .examples = {{"weir baseline show good", ""}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput},
      .looks = Looks::kAtFiles,
      .run = run_baseline_show,
  };
}

Command baseline_compare_command() {
  return {
      .name = "baseline compare",
      .group = Group::kOperators,
      .summary = "a later run against a baseline; exit status 1 on a regression",
      .description =
          "Compares like with like alone: another design, driver, firmware, speed, MTU, kernel, "
          "switch system or number of hosts is \"not comparable\", field by field, and exit status "
          "5. A regression is a value below its computed floor, or one that is worse than the "
          "baseline by more than the larger of baseline_change (5 %) and baseline_spread (3) times "
          "what it varied from run to run. Counters are judged where the baseline is of three runs "
          "or more, and shown otherwise. The run is kept in the history.",
      .arguments = {baseline_name_argument(),
                    {.name = "RUN",
                     .help = "a file of weir preflight --out",
                     .required = true,
                     .completes = Completes::kFiles}},
      .options = {baseline_dir_option(), migrate_option(), threshold_option()},
      .examples = {{"weir baseline compare good run.json", ""}},
      .exit_codes = {ExitCode::kOk, ExitCode::kFindings, ExitCode::kBadInput, ExitCode::kPartial},
      .judges = true,
      .looks = Looks::kAtFiles,
      .run = run_baseline_compare,
  };
}

Command baseline_drop_command() {
  return {
      .name = "baseline drop",
      .group = Group::kOperators,
      .summary = "remove a baseline; its runs stay in the history",
      .description = "Removes DIR/NAME.json.",
      .arguments = {baseline_name_argument()},
      .options = {baseline_dir_option()},
      .examples = {{"weir baseline drop good", ""}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput, ExitCode::kCouldNotLook},
      .looks = Looks::kAtFiles,
      .run = run_baseline_drop,
  };
}

}  // namespace weir::cli
