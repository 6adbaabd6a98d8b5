// weir calibrate: what the design does not know of the real fabric. The experiment, the fit, and
// the proof that the fit finds what it was not told.
#include "ops/tune/calibrate.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/parallel.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/design_input.h"
#include "cli/frame/progress.h"
#include "cli/json/tune/calibrate_json.h"
#include "design/file/words.h"
#include "units/format.h"

namespace weir::cli {
namespace {

constexpr std::size_t kCalibratePage = 100;
constexpr double kTwinTolerance = 0.10;

// ---- the plan ----

std::string calibration_plan_verdict(const tune::CalibrationPlan& plan) {
  return fmt::format("{} on {}: {}, {} repeats each, about {} min.",
                     counted(plan.trials.size(), "trial"), join(plan.hosts, ", "),
                     "nothing else may run there", plan.repeats, (plan.seconds() + 59) / 60);
}

void print_trial(const ops::PlannedCalibration& planned, std::size_t number, Context& context) {
  const tune::Trial& trial = planned.plan.trials[number];
  const std::string length = trial.kind == tune::TrialKind::kJoin
                                 ? counted(static_cast<std::size_t>(trial.seconds), "join")
                                 : fmt::format("{} s", trial.seconds);
  context.out << fmt::format("\n{}. {} ({}{}): {}\n", number + 1, trial.id, length,
                             trial.has_reaction_point ? "" : ", reaction point off", trial.purpose);
  for (const std::string& host : planned.plan.hosts) {
    if (trial.has_reaction_point) break;
    const std::string command =
        tune::reaction_point_command(planned.fabric.intent, host, planned.plan.rail, "0");
    context.out << fmt::format(
        "   {}: {}\n", host,
        command.empty() ? "reaction point off, with the vendor's tool" : command);
  }
  for (const tune::PlanCommand& line :
       tune::commands_of(planned.plan, trial, 1, planned.fabric.intent))
    context.out << fmt::format("   {}: {}{}\n", line.where, line.text,
                               line.is_background ? " &" : "");
}

ExitCode run_calibrate_plan(const Args& args, Context& context) {
  const auto design = design_path(args, context);
  if (!design) return fail(context, args.command(), design.error());
  const auto planned = ops::plan_calibration(*design);
  if (!planned) return fail(context, args.command(), planned.error());
  const std::string folder = args.get("out").value_or("");
  if (!folder.empty())
    for (const ops::PlannedFile& file : planned->files) {
      Status written = make_directory(folder);
      if (written)
        written = write_file_atomic((std::filesystem::path(folder) / file.path).string(), file.text,
                                    file.is_script ? FileMode::kScript : FileMode::kUsual);
      if (!written) return fail(context, ExitCode::kBadInput, written.error().what);
    }
  const std::string verdict = calibration_plan_verdict(planned->plan);
  if (context.json) {
    print_calibration_plan_json(context, args.command(), *planned, verdict, folder);
    return ExitCode::kOk;
  }
  context.out << wrap(verdict, kCalibratePage) << '\n';
  if (context.quiet) return ExitCode::kOk;
  context.out << "The first repeat of each trial, in order:\n";
  for (std::size_t i = 0; i < planned->plan.trials.size(); ++i)
    print_trial(*planned, i, context);
  if (!planned->plan.notes.empty()) context.out << '\n';
  for (const std::string& note : planned->plan.notes)
    context.out << hang(note, kCalibratePage, 0) << '\n';
  if (folder.empty()) {
    context.out << "\nnext: --out DIR writes all of it as a script, with the manifest that weir "
                   "calibrate fit reads\n";
  } else {
    context.out << fmt::format(
        "\nWrote manifest.json and run.sh to {0}.\nnext: {0}/run.sh, then "
        "weir calibrate fit {0}\n",
        folder);
  }
  return ExitCode::kOk;
}

// ---- the fit ----

std::string unknown_interval(const tune::UnknownInfo& info, const tune::FittedUnknown& each) {
  if (each.state == tune::UnknownState::kFrozen || each.state == tune::UnknownState::kNotMeasured)
    return "";
  return fmt::format("{} to {}", tune::value_text(info, each.low),
                     tune::value_text(info, each.high));
}

std::string unknown_words(const tune::FittedUnknown& each) {
  switch (each.state) {
    case tune::UnknownState::kIdentified: return "identified";
    case tune::UnknownState::kConditional: return "only together with one that is frozen";
    case tune::UnknownState::kFrozen: return "cannot be identified: as designed";
    case tune::UnknownState::kNotMeasured: break;
  }
  return "not measured: as designed";
}

void print_unknowns(const tune::FitResult& fit, Context& context) {
  using enum Align;
  TextTable table({"unknown", "value", "95 % interval", "", ""},
                  {kLeft, kRight, kRight, kLeft, kLeft});
  for (const tune::FittedUnknown& each : fit.unknowns) {
    const tune::UnknownInfo& info = tune::info_of(each.unknown);
    const std::string interval = unknown_interval(info, each);
    table.add_row({std::string(info.key),
                   interval.empty() ? "" : tune::value_text(info, each.value), interval,
                   unknown_words(each), std::string(info.meaning)});
  }
  context.out << table.to_text(2, kCalibratePage + 20);
  if (fit.cnp_scope)
    context.out << fmt::format("  CNPs are paced by {}", design::to_word(*fit.cnp_scope));
  std::vector<std::string> scores;
  for (const tune::ScopeScore& score : fit.scopes)
    scores.push_back(fmt::format("{} {:.0f}", design::to_word(score.scope), score.chi_square));
  if (fit.cnp_scope) context.out << fmt::format(" (chi square: {})\n", join(scores, ", "));
}

void print_unseen_directions(const tune::FitResult& fit, Context& context) {
  if (fit.unseen.empty()) return;
  context.out
      << "\nDirections that this measurement cannot tell (singular value below 1; a unit is "
         "5 %):\n";
  for (const tune::UnseenDirection& direction : fit.unseen) {
    std::vector<std::string> parts;
    for (const auto& [unknown, part] : direction.parts)
      parts.push_back(fmt::format("{:+.2f} {}", part, tune::info_of(unknown).key));
    context.out << fmt::format("  {:.2f}: {}; {} keeps what the design says\n",
                               direction.singular_value, join(parts, ", "),
                               tune::info_of(direction.frozen).key);
  }
}

std::string measured_number(double value) {
  return value >= 1'000 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

void print_fit_rows(const tune::FitResult& fit, Context& context) {
  using enum Align;
  for (const bool is_held_out : {false, true}) {
    TextTable table({"trial", "statistic", "measured", "run to run, 95 %", "simulated", "off", ""},
                    {kLeft, kLeft, kRight, kRight, kRight, kRight, kLeft});
    bool is_empty = true;
    for (const tune::FitRow& row : fit.rows) {
      if (row.is_held_out != is_held_out) continue;
      is_empty = false;
      const std::string unit(tune::unit_of(row.statistic));
      const std::string off =
          row.measured == 0 ? "-"
                            : fmt::format("{:+.1f} %", 100 * (row.simulated / row.measured - 1));
      table.add_row({row.trial, fmt::format("{} {}", tune::to_text(row.statistic), unit),
                     measured_number(row.measured),
                     fmt::format("{} to {}", measured_number(row.low), measured_number(row.high)),
                     measured_number(row.simulated), off, row.is_within() ? "within" : "outside"});
    }
    if (is_empty) continue;
    context.out << (is_held_out ? "\nPredicted, not fitted:\n" : "\nFitted:\n") << table.to_text(2);
  }
}

void print_calibrated(const ops::Calibrated& calibrated, Context& context) {
  const tune::FitResult& fit = calibrated.fit;
  std::string verdict = fit.reason;
  verdict.front() = static_cast<char>(verdict.front() - 'a' + 'A');
  context.out << wrap(verdict + ".", kCalibratePage) << '\n';
  if (context.quiet) return;
  context.out << '\n';
  print_unknowns(fit, context);
  print_unseen_directions(fit, context);
  print_fit_rows(fit, context);
  if (!fit.notes.empty() || !calibrated.notes.empty()) context.out << '\n';
  for (const auto* notes : {&fit.notes, &calibrated.notes})
    for (const std::string& note : *notes)
      context.out << hang(note, kCalibratePage, 0) << '\n';
  if (!calibrated.patch.empty() && calibrated.written.empty())
    context.out << "\nFor the design file (--apply-to FILE writes it):\n" << calibrated.patch;
  for (const std::string& file : calibrated.written)
    context.out << fmt::format("\nWrote {}.\n", file);
}

Status read_calibrate_numbers(const Args& args, std::uint64_t& seed, unsigned& jobs) {
  constexpr std::uint64_t kMostSeed = 1'000'000;
  const auto number = parse_u64(args.value("seed"));
  if (!number || *number > kMostSeed)
    return invalid_error(
        fmt::format("--seed: expected 0 to {}, found '{}'", kMostSeed, args.value("seed")));
  seed = *number;
  jobs = available_cores();
  if (!args.has("jobs")) return {};
  const auto threads = parse_u64(args.value("jobs"));
  if (!threads || *threads == 0 || *threads > 1024)
    return invalid_error(fmt::format("--jobs: expected 1 to 1024, found '{}'", args.value("jobs")));
  jobs = static_cast<unsigned>(*threads);
  return {};
}

ExitCode run_calibrate_fit(const Args& args, Context& context) {
  if (args.has("force") && !args.has("apply-to"))
    return usage_error(context, args.command(), "--force is for --apply-to");
  ops::CalibrateRequest request;
  if (const Status good = read_calibrate_numbers(args, request.seed, request.jobs); !good)
    return usage_error(context, args.command(), good.error().what);
  request.paths = args.all("PATHS");
  request.apply_to = args.get("apply-to").value_or("");
  request.is_forced = args.has("force");
  request.design = args.get("design").value_or("");
  if (request.design.empty()) {
    const auto design = design_path(args, context);
    if (!design) return fail(context, args.command(), design.error());
    request.design = *design;
  }
  Progress bar(context.err, context.stderr_is_terminal, "fitting");
  request.progress = bar.callback();
  const auto calibrated = ops::fit_calibration(request);
  bar.clear();
  if (!calibrated) return fail(context, args.command(), calibrated.error());
  if (context.json) {
    print_calibrated_json(context, args.command(), *calibrated);
  } else {
    print_calibrated(*calibrated, context);
  }
  return calibrated->fit.is_calibrated ? ExitCode::kOk : ExitCode::kPartial;
}

// ---- the twin experiment ----

std::string twins_verdict(const std::vector<tune::Twin>& twins) {
  const auto good = std::count_if(twins.begin(), twins.end(), [](const tune::Twin& twin) {
    return twin.is_recovered(kTwinTolerance);
  });
  std::size_t told = 0;
  for (const tune::Twin& twin : twins)
    told += twin.identified();
  return fmt::format(
      "In {} of {} drawn fabrics every value that the fit calls identified is within 10 % of the "
      "hidden one ({} values).",
      good, twins.size(), told);
}

void print_twins(const std::vector<tune::Twin>& twins, Context& context) {
  context.out << wrap(twins_verdict(twins), kCalibratePage) << " Simulated.\n";
  if (context.quiet) return;
  using enum Align;
  std::vector<std::string> header = {"seed", "hosts", "speed", "worst", "scope"};
  std::vector<Align> align = {kRight, kRight, kRight, kRight, kLeft};
  for (const tune::UnknownInfo& info : tune::unknowns()) {
    header.emplace_back(info.key);
    align.push_back(kRight);
  }
  TextTable table(header, align);
  for (const tune::Twin& twin : twins) {
    std::vector<std::string> row = {
        std::to_string(twin.seed), std::to_string(twin.hosts), to_text(twin.speed),
        fmt::format("{:.1f} %", 100 * twin.worst_error()),
        !twin.fit.cnp_scope                        ? "open"
        : *twin.fit.cnp_scope == twin.hidden_scope ? std::string(design::to_word(twin.hidden_scope))
                                                   : "wrong"};
    for (const tune::TwinRow& each : twin.rows)
      row.push_back(each.fitted.state == tune::UnknownState::kIdentified
                        ? fmt::format("{:+.1f} %", 100 * each.error())
                        : std::string(tune::to_text(each.fitted.state)));
    table.add_row(std::move(row));
  }
  context.out << '\n' << table.to_text(2);
}

ExitCode run_calibrate_twin(const Args& args, Context& context) {
  std::uint64_t first = 0;
  unsigned jobs = 1;
  if (const Status good = read_calibrate_numbers(args, first, jobs); !good)
    return usage_error(context, args.command(), good.error().what);
  const auto count = parse_u64(args.value("fabrics"));
  if (!count || *count == 0 || *count > 1000)
    return usage_error(
        context, args.command(),
        fmt::format("--fabrics: expected 1 to 1000, found '{}'", args.value("fabrics")));
  Progress bar(context.err, context.stderr_is_terminal, "twins");
  std::vector<tune::Twin> twins;
  for (std::uint64_t i = 0; i < *count; ++i) {
    auto twin = tune::run_twin(first + i, jobs, [&](double share, std::string_view stage) {
      bar.update((static_cast<double>(i) + share) / static_cast<double>(*count),
                 fmt::format("{} of {}, {}", i + 1, *count, stage));
    });
    if (!twin) {
      bar.clear();
      return fail(context, ExitCode::kBadInput, twin.error().what);
    }
    twins.push_back(*std::move(twin));
  }
  bar.clear();
  if (context.json) {
    print_twins_json(context, args.command(), twins, twins_verdict(twins));
  } else {
    print_twins(twins, context);
  }
  const bool is_good = std::all_of(twins.begin(), twins.end(), [](const tune::Twin& twin) {
    return twin.is_recovered(kTwinTolerance);
  });
  return is_good ? ExitCode::kOk : ExitCode::kPartial;
}

Option calibrate_seed() {
  return {.name = "seed", .metavar = "N", .help = "of the simulated runs", .default_value = "1"};
}
Option calibrate_jobs() {
  return {.name = "jobs", .metavar = "N", .help = "threads (default: one per core)"};
}

}  // namespace

Command calibrate_plan_command() {
  return {
      .name = "calibrate plan",
      .group = Group::kOperators,
      .summary = "the ten-minute experiment that shows what a design does not know",
      .description =
          "Prints which loads to run on four hosts of the design, in which order, and what each "
          "identifies: latency, rate, marking thresholds as applied, CNP pacing, XOFF, pause "
          "reaction. Everything is read from perftest and weir snapshot. Changes nothing itself; "
          "the script it writes turns the reaction point off and on again on those hosts.",
      .arguments = {design_argument()},
      .options = {{.name = "out",
                   .letter = 'o',
                   .metavar = "DIR",
                   .help = "write the script and the manifest there",
                   .completes = Completes::kFiles,
                   .writes = Writes::kDirectory}},
      .examples = {{"weir calibrate plan pod16.yaml --out measured", "then measured/run.sh"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput},
      .looks = Looks::kAtFiles,
      .run = run_calibrate_plan,
  };
}

Command calibrate_fit_command() {
  return {
      .name = "calibrate fit",
      .group = Group::kOperators,
      .summary = "what was measured, fitted to the simulator, with intervals",
      .description =
          "Fits what the design does not know to what was measured, by simulating the same loads; "
          "prints each unknown with its interval, the directions that cannot be identified (they "
          "keep "
          "what the design says), the residuals, and trials that were held out as predicted. "
          "--apply-to writes a section `calibration` that the simulator uses from then on. Exit "
          "status 5 means that it cannot be calibrated here.",
      .arguments = {{.name = "PATHS",
                     .help = "the directory of weir calibrate plan, or manifests with `measured`",
                     .required = true,
                     .repeated = true,
                     .completes = Completes::kFiles}},
      .options = {{.name = "design",
                   .letter = 'd',
                   .metavar = "FILE",
                   .help = "the design (default: $WEIR_DESIGN, else fabric.yaml)",
                   .completes = Completes::kFiles},
                  {.name = "apply-to",
                   .metavar = "FILE",
                   .help = "write the design with what was fitted there",
                   .completes = Completes::kFiles,
                   .writes = Writes::kFile},
                  {.name = "force", .help = "that file may exist"},
                  calibrate_seed(),
                  calibrate_jobs()},
      .examples = {{"weir calibrate fit measured -d pod16.yaml --apply-to calibrated.yaml", ""}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput, ExitCode::kPartial},
      .looks = Looks::kAtFiles,
      .run = run_calibrate_fit,
  };
}

Command calibrate_twin_command() {
  return {
      .name = "calibrate twin",
      .group = Group::kDevelopers,
      .summary = "whether the fit finds hidden values, on drawn fabrics",
      .description =
          "Each seed draws a small fabric and values that the fit is not told; the simulator "
          "stands for the fabric and is measured by the plan. Every value that the fit calls "
          "identified must be within 10 % of the hidden one. Exit status 5 means that one is not.",
      .options = {{.name = "fabrics",
                   .metavar = "N",
                   .help = "how many, from --seed on",
                   .default_value = "4"},
                  calibrate_seed(),
                  calibrate_jobs()},
      .examples = {{"weir calibrate twin --fabrics 20", "the table of docs/calibration.md"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput, ExitCode::kPartial},
      .run = run_calibrate_twin,
  };
}

}  // namespace weir::cli
