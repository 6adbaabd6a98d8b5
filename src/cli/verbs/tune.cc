// weir tune: a proof plus an experiment. The values that suit this fabric and these loads, and what
// each of them bought.
#include "ops/tune/tune.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/parallel.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/design_input.h"
#include "cli/frame/progress.h"
#include "cli/frame/threshold_option.h"
#include "cli/json/tune/tuning_json.h"
#include "cli/text/tune_text.h"
#include "tune/table/moves.h"
#include "units/format.h"

namespace weir::cli {
namespace {

constexpr std::size_t kTunePage = 100;

ExitCode explain_move(const std::string& name, const Args& args, Context& context) {
  const tune::Move* const move = tune::find_move(name);
  if (move == nullptr) {
    std::vector<std::string> names;
    for (const tune::Move& each : tune::moves())
      names.emplace_back(each.name);
    return usage_error(context, args.command(),
                       fmt::format("--explain: no move '{}'{}; --list-moves has them", name,
                                   did_you_mean(name, names)));
  }
  if (context.json) {
    print_moves_json(context, move->name);
  } else {
    context.out << tune::explain(*move, kTunePage);
  }
  return ExitCode::kOk;
}

ExitCode list_all_moves(Context& context) {
  if (context.json) {
    print_moves_json(context, "");
  } else {
    context.out << fmt::format("{} moves; weir tune --explain MOVE has the whole of one.\n\n",
                               tune::moves().size())
                << tune::list_moves(kTunePage);
  }
  return ExitCode::kOk;
}

ExitCode list_all_knobs(Context& context) {
  if (context.json) {
    print_tune_knobs_json(context);
  } else {
    context.out << fmt::format("{} knobs; --knobs and --keep choose among them.\n\n",
                               tune::knobs().size())
                << list_tune_knobs(kTunePage);
  }
  return ExitCode::kOk;
}

std::vector<std::string> globs_of(const Args& args, std::string_view name) {
  std::vector<std::string> out;
  for (const std::string& text : args.all(name))
    for (const std::string_view glob : split(text, ','))
      out.emplace_back(trim(glob));
  return out;
}

Status read_tune_numbers(const Args& args, tune::TuneRequest& out) {
  auto objective = tune::parse_objective(args.value("for"));
  if (!objective) return objective.error().within("--for");
  out.objective = *objective;
  const auto limit = parse_share(args.value("pause-limit"));
  if (!limit) return limit.error().within("--pause-limit");
  out.pause_limit = static_cast<double>(limit->raw()) / kSharePerWhole;
  const auto budget = tune::parse_budget(args.value("budget"));
  if (!budget) return budget.error().within("--budget");
  out.budget = *budget;
  const auto seed = parse_u64(args.value("seed"));
  if (!seed) return seed.error().within("--seed");
  constexpr std::uint64_t kMostSeed = 1'000'000'000;  // seeds of the runs are made of it
  if (*seed > kMostSeed)
    return invalid_error(fmt::format("--seed: expected 0 to {}, found {}", kMostSeed, *seed));
  out.seed = *seed;
  out.jobs = available_cores();
  if (!args.has("jobs")) return {};
  const auto jobs = parse_u64(args.value("jobs"));
  if (!jobs) return jobs.error().within("--jobs");
  constexpr std::uint64_t kMostJobs = 4096;
  if (*jobs == 0 || *jobs > kMostJobs)
    return invalid_error(fmt::format("--jobs: expected 1 to {}, found {}", kMostJobs, *jobs));
  out.jobs = static_cast<unsigned>(*jobs);
  return {};
}

/// Who makes the runs, where it is not this process.
Status read_launcher(const Args& args, const Context& context, ops::TuneRequest& out) {
  if (context.crew != nullptr && context.crew->size() > 0) {
    out.crew = context.crew;
    if (args.has("jobs") || args.has("launcher"))
      return invalid_error("the ranks of weir-mpi make the runs: --jobs and --launcher are weir's");
    return {};
  }
  if (!args.has("launcher")) return {};
  if (!args.has("jobs")) {
    const auto tasks = context.environment("SLURM_NTASKS");
    const auto count = parse_u64(tasks.value_or(""));
    if (!count || *count == 0)
      return invalid_error(
          "--launcher slurm: SLURM_NTASKS is not set: start it within salloc or sbatch, or say "
          "--jobs");
    out.tuning.jobs = static_cast<unsigned>(*count);
  }
  std::error_code error;
  out.worker_program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (error) return invalid_error("--launcher: the path of this program cannot be read");
  return {};
}

ExitCode run_tune(const Args& args, Context& context) {
  if (const auto move = args.get("explain")) return explain_move(*move, args, context);
  if (args.has("list-moves")) return list_all_moves(context);
  if (args.has("list-knobs")) return list_all_knobs(context);
  if (args.has("resume") && !args.has("out"))
    return usage_error(context, args.command(), "--resume goes on with --out DIR; name it");
  if (args.has("force") && !args.has("apply-to"))
    return usage_error(context, args.command(), "--force is for --apply-to");
  ops::TuneRequest request;
  if (const Status good = read_tune_numbers(args, request.tuning); !good)
    return usage_error(context, args.command(), good.error().what);
  if (const Status good = read_launcher(args, context, request); !good)
    return usage_error(context, args.command(), good.error().what);
  const auto thresholds = thresholds_of(args);
  if (!thresholds) return usage_error(context, args.command(), thresholds.error().what);
  request.tuning.thresholds = *thresholds;
  request.tuning.loads = args.all("workload");
  if (args.has("knobs")) request.tuning.knobs = globs_of(args, "knobs");
  request.tuning.keep = globs_of(args, "keep");
  request.tuning.is_resumed = args.has("resume");
  request.out = args.get("out").value_or("");
  request.apply_to = args.get("apply-to").value_or("");
  request.is_forced = args.has("force");
  if (args.has("lab") && args.has("DESIGN"))
    return usage_error(context, args.command(), "--lab has a design of its own");
  request.lab = args.get("lab").value_or("");
  const auto design = design_path_for_hosts(args, context);
  if (!design) return fail(context, args.command(), design.error());
  request.design = *design;
  Progress bar(context.err, context.stderr_is_terminal, "tuning");
  request.progress = bar.callback();
  const auto tuned = ops::tune(request);
  bar.clear();
  if (!tuned) return fail(context, args.command(), tuned.error());
  if (context.json) {
    print_tuned_json(context, *tuned);
  } else {
    print_tuned(*tuned, context);
  }
  return tuned->result.verdict == tune::Verdict::kRefused ? ExitCode::kFindings : ExitCode::kOk;
}

std::vector<Option> tune_options() {
  return {
      {.name = "lab",
       .metavar = "DIR",
       .help = "tune the design of a lab, if it runs as designed",
       .completes = Completes::kFiles},
      {.name = "workload",
       .letter = 'w',
       .metavar = "W",
       .help = "a load to tune for, as weir sim takes it (default: five)",
       .repeated = true},
      {.name = "for",
       .metavar = "WHAT",
       .help = "what to shorten",
       .default_value = "step-time",
       .choices = {"step-time", "p99", "throughput", "latency"}},
      {.name = "pause-limit",
       .metavar = "SHARE",
       .help = "of the time a port may be paused in a good run",
       .default_value = "1%"},
      {.name = "knobs",
       .metavar = "GLOB",
       .help = "turn only these, such as 'dcqcn.*,wred.max'",
       .repeated = true},
      {.name = "keep", .metavar = "GLOB", .help = "leave these alone", .repeated = true},
      {.name = "budget",
       .metavar = "B",
       .help = "runs or time: 10min, 2000runs",
       .default_value = "4000runs"},
      {.name = "jobs", .metavar = "J", .help = "runs in parallel (default: one per core)"},
      {.name = "launcher",
       .metavar = "L",
       .help = "job steps of this Slurm allocation make the runs",
       .choices = {"slurm"}},
      {.name = "seed", .metavar = "N", .help = "of everything drawn", .default_value = "1"},
      threshold_option(),
      {.name = "out",
       .letter = 'o',
       .metavar = "DIR",
       .help = "directory for tune.json and every run",
       .completes = Completes::kFiles,
       .writes = Writes::kDirectory},
      {.name = "resume", .help = "go on with the runs that --out DIR has"},
      {.name = "apply-to",
       .metavar = "FILE",
       .help = "write the design with the chosen values",
       .completes = Completes::kFiles,
       .writes = Writes::kFile},
      {.name = "force", .help = "overwrite that file"},
      {.name = "list-moves", .help = "list the named moves"},
      {.name = "list-knobs", .help = "list the knobs"},
      {.name = "explain", .metavar = "MOVE", .help = "one move: when, price, what was measured"}};
}

}  // namespace

Command tune_command() {
  return {
      .name = "tune",
      .group = Group::kOperators,
      .summary = "find the ECN and DCQCN values that suit a fabric and its loads",
      .description =
          "Checks classes and PFC, searches in the simulator, breaks things; says what to change "
          "and what each change bought. Exit status 1: refused, a step before the search failed.",
      .arguments = {design_argument()},
      .options = tune_options(),
      .examples = {{"weir tune -w incast,size=2MB --apply-to tuned.yaml", "for one load"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kFindings, ExitCode::kBadInput,
                     ExitCode::kCouldNotLook},
      .looks = Looks::kAtFiles,
      .run = run_tune,
  };
}

}  // namespace weir::cli
