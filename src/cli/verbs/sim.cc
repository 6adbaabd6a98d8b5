// weir sim: the fabric of a design, packet by packet, healthy or with faults.
#include "ops/simulate/sim.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/file.h"
#include "base/parallel.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/design_input.h"
#include "cli/frame/progress.h"
#include "cli/json/sim_json.h"
#include "cli/text/sim_text.h"
#include "render/report/svg_chart.h"
#include "render/text/braille.h"
#include "units/format.h"

namespace weir::cli {
namespace {

constexpr std::size_t kSimWidth = 100;
constexpr std::string_view kPlainLoad = "all-to-all";

ExitCode list_known_faults(Context& context) {
  if (context.json) {
    print_faults_json(context);
    return ExitCode::kOk;
  }
  context.out << fmt::format(
                     "{} faults; weir sim --fault NAME,at=PLACE[,PARAMETER=VALUE…] adds one.\n\n",
                     sim::fault_types().size())
              << sim::fault_list(kSimWidth);
  return ExitCode::kOk;
}

ExitCode list_loads(Context& context) {
  if (context.json) {
    print_workloads_json(context);
  } else {
    context.out << sim::list_workloads(kSimWidth);
  }
  return ExitCode::kOk;
}

// ---- words to requests ----

template <class T, class Parse>
Status read_all(const Args& args, std::string_view name, Parse parse, std::vector<T>& out) {
  for (const std::string& text : args.all(name)) {
    auto value = parse(text);
    if (!value) return value.error().within(fmt::format("--{}", name));
    out.push_back(std::move(*value));
  }
  return {};
}

Status read_duration(const Args& args, std::string_view name, Duration& out) {
  if (!args.has(name)) return {};
  const auto value = parse_duration(args.value(name));
  if (!value) return value.error().within(fmt::format("--{}", name));
  if (value->raw() <= 0) return invalid_error(fmt::format("--{}: must be more than 0", name));
  out = *value;
  return {};
}

bool has_steps(const sim::Experiment& experiment) {
  return std::any_of(
      experiment.workloads.begin(), experiment.workloads.end(), [](const sim::WorkloadSpec& spec) {
        return sim::is_graph(spec.kind) || (sim::has_steps(spec.kind) && spec.iterations > 1);
      });
}

/// "@FILE" stands for the workloads of a file.
Status read_workloads(const Args& args, std::vector<sim::WorkloadSpec>& out) {
  for (const std::string& text : args.all("workload")) {
    if (!text.starts_with('@')) {
      auto spec = sim::parse_workload(text);
      if (!spec) return spec.error().within("--workload");
      out.push_back(std::move(*spec));
      continue;
    }
    const std::string path = text.substr(1);
    const auto content = read_file(path);
    if (!content) return content.error().within("--workload");
    auto specs = sim::parse_workloads(*content, path);
    if (!specs) return specs.error().within("--workload");
    out.insert(out.end(), specs->begin(), specs->end());
  }
  return {};
}

Result<std::uint64_t> count_option(const Args& args, std::string_view name,
                                   std::uint64_t fallback) {
  constexpr std::uint64_t kMost = 100'000;  // more is a typing error
  if (!args.has(name)) return fallback;
  const auto count = parse_u64(args.value(name));
  if (!count) return count.error().within(fmt::format("--{}", name));
  if (*count == 0 || *count > kMost)
    return invalid_error(fmt::format("--{}: expected 1 to {}, found {}", name, kMost, *count));
  return *count;
}

Status gather_experiment(const Args& args, sim::Experiment& out) {
  WEIR_TRY_STATUS(read_workloads(args, out.workloads));
  if (out.workloads.empty()) out.workloads.push_back(sim::parse_workload(kPlainLoad).value());
  WEIR_TRY_STATUS(read_all(args, "fault", sim::parse_fault, out.faults));
  const auto seed = parse_u64(args.value("seed"));
  if (!seed) return seed.error().within("--seed");
  out.seed = *seed;
  WEIR_TRY_STATUS(read_duration(args, "duration", out.limit));
  out.replays = !args.has("no-replay");
  WEIR_TRY(threads, count_option(args, "threads", 0));
  out.threads = static_cast<unsigned>(threads);
  // Every sample would be a step simulated: of steps, --plot draws the steps, unless asked.
  if (args.has("out") || (args.has("plot") && !has_steps(out))) out.sample_every = 10_us;
  out.keeps_rank_times = args.has("plot") && has_steps(out);
  return read_duration(args, "sample", out.sample_every);
}

bool wants_several_runs(const Args& args) {
  return args.has("repeat") || args.has("sweep");
}

/// What is wrong with the combination of words; empty where nothing is.
std::string option_error(const Args& args) {
  const bool has_many = wants_several_runs(args);
  if (args.has("hpcc") && args.has("plot")) return "--plot is for designs, not --hpcc";
  for (const std::string_view name : {"threads", "fast"})
    if (args.has("hpcc") && args.has(name))
      return fmt::format("--{} is for designs, not --hpcc", name);
  if (args.has("hpcc")) return has_many ? "--repeat and --sweep are for designs, not --hpcc" : "";
  if (args.value("model") != "hpcc") return "--model says how to run --hpcc files; name one";
  if (args.has("fast"))
    for (const std::string_view name : {"fault", "repeat", "sweep", "trace", "pcap", "sample",
                                        "plot", "out", "no-replay", "check-replay"})
      if (args.has(name))
        return fmt::format("--fast estimates completion times and nothing else; leave out --{}",
                           name);
  if (args.has("check-replay"))
    for (const std::string_view name :
         {"no-replay", "repeat", "sweep", "trace", "pcap", "out", "plot", "sample"})
      if (args.has(name))
        return fmt::format("--check-replay runs once with and once without replay; leave out --{}",
                           name);
  if (!has_many)
    return args.has("at") && !args.has("pcap") ? "--at says where --pcap looks; name a file" : "";
  for (const std::string_view name : {"trace", "pcap", "sample"})
    if (args.has(name))
      return fmt::format("--{} watches one run; leave out --repeat and --sweep", name);
  return "";
}

// ---- results ----

/// Lossless traffic that was dropped is a finding, whatever the simulation was run for, and so is a
/// flow that gave up. What did not end within --duration gave no answer.
ExitCode exit_for_run(const sim::Totals& totals, bool is_whole) {
  if (totals.lossless_drops > 0 || totals.failed > 0) return ExitCode::kFindings;
  return is_whole ? ExitCode::kOk : ExitCode::kPartial;
}

ExitCode exit_for_runs(const ops::Repeated& repeated) {
  ExitCode out = ExitCode::kOk;
  for (const ops::SweepRun& run : repeated.runs) {
    const ExitCode code = exit_for_run(run.totals, run.is_finished);
    if (code == ExitCode::kFindings) return code;
    if (code != ExitCode::kOk) out = code;
  }
  return out;
}

Status write_results(const std::string& folder, const Command& command,
                     const ops::Simulated& simulated) {
  const sim::Outcome& outcome = simulated.outcome;
  WEIR_TRY_STATUS(make_directory(folder));
  const auto put = [&](std::string_view name, std::string_view text) {
    return write_file_atomic(fmt::format("{}/{}", folder, name), text);
  };
  WEIR_TRY_STATUS(put("flows.csv", sim::flows_csv(outcome.results, *outcome.sim)));
  WEIR_TRY_STATUS(put("counters.csv", sim::counters_csv(outcome.results)));
  if (outcome.samples) {
    WEIR_TRY_STATUS(put("ports.csv", outcome.samples->ports_csv(*outcome.sim)));
    WEIR_TRY_STATUS(put("rates.csv", outcome.samples->rates_csv(*outcome.sim)));
  }
  return put("sim.json", simulated_document(command, simulated));
}

/// Writes the curves as SVG; "-" is for the reader of a terminal.
Status write_plot(const std::string& path, const render::Timeline& timeline) {
  if (path == "-") return {};
  const std::string drawing = render::draw_timeline(timeline, "simulated");
  if (drawing.empty()) return invalid_error("--plot: nothing happened that could be drawn");
  return write_file_atomic(path, render::as_svg_file(drawing));
}

void show_plot(const std::string& path, const render::Timeline& timeline, Context& context) {
  if (context.quiet) return;
  if (path != "-") {
    context.out << fmt::format("\nwrote {}\n", path);
    return;
  }
  context.out << '\n' << render::draw_braille(timeline, kSimWidth);
  if (!timeline.note.empty()) context.out << timeline.note << '\n';
}

ExitCode run_once(const Args& args, Context& context, const std::string& design,
                  sim::Experiment experiment) {
  Progress bar(context.err, context.stderr_is_terminal, "simulating");
  const auto simulated = ops::simulate({.design = design,
                                        .settings = args.all("set"),
                                        .experiment = std::move(experiment),
                                        .trace = args.get("trace").value_or(""),
                                        .pcap = args.get("pcap").value_or(""),
                                        .pcap_port = args.get("at").value_or(""),
                                        .checks_replay = args.has("check-replay"),
                                        .progress = bar.callback()});
  bar.clear();
  if (!simulated) return fail(context, args.command(), simulated.error());
  const auto folder = args.get("out");
  if (folder)
    if (const Status written = write_results(*folder, args.command(), *simulated); !written)
      return fail(context, ExitCode::kBadInput, written.error().what);
  const sim::Totals& totals = simulated->outcome.results.totals;
  const ExitCode code =
      exit_for_run(totals, simulated->outcome.is_finished && totals.finished == totals.flows);
  std::optional<render::Timeline> plot;
  if (args.has("plot")) {
    auto drawn = ops::plot_of(*simulated);
    if (!drawn) return fail(context, args.command(), drawn.error());
    plot = std::move(*drawn);
    if (const Status written = write_plot(args.value("plot"), *plot); !written)
      return fail(context, ExitCode::kBadInput, written.error().what);
  }
  if (context.json) {
    print_simulated_json(context, args.command(), *simulated);
    return code;
  }
  print_sim(simulated->outcome, context, simulated->is_replay_checked);
  if (plot) show_plot(args.value("plot"), *plot, context);
  if (folder && !context.quiet)
    context.out << fmt::format("wrote {}/sim.json, flows.csv, counters.csv, ports.csv, rates.csv\n",
                               *folder);
  return code;
}

ExitCode run_fast(const Args& args, Context& context, const std::string& design,
                  sim::Experiment experiment) {
  Progress bar(context.err, context.stderr_is_terminal, "approximating");
  const auto approximated = ops::simulate_fast({.design = design,
                                                .settings = args.all("set"),
                                                .experiment = std::move(experiment),
                                                .progress = bar.callback()});
  bar.clear();
  if (!approximated) return fail(context, args.command(), approximated.error());
  if (context.json)
    print_fast_json(context, *approximated);
  else
    print_fast(approximated->outcome, context);
  const auto& outcome = approximated->outcome;
  return outcome.finished == outcome.flows ? ExitCode::kOk : ExitCode::kPartial;
}

Status write_runs(const std::string& folder, const ops::Repeated& repeated) {
  WEIR_TRY_STATUS(make_directory(folder));
  WEIR_TRY_STATUS(write_file_atomic(folder + "/runs.csv", runs_csv(repeated)));
  return write_file_atomic(folder + "/runs.json", runs_document(repeated, runs_verdict(repeated)));
}

ExitCode run_many(const Args& args, Context& context, const std::string& design,
                  sim::Experiment experiment) {
  experiment.threads = std::max(experiment.threads, 1U);  // runs are made side by side already
  const auto repeat = count_option(args, "repeat", 1);
  if (!repeat) return usage_error(context, args.command(), repeat.error().what);
  const auto jobs = count_option(args, "jobs", available_cores());
  if (!jobs) return usage_error(context, args.command(), jobs.error().what);
  Progress bar(context.err, context.stderr_is_terminal, "simulating");
  const auto repeated = ops::simulate_many({.design = design,
                                            .settings = args.all("set"),
                                            .experiment = std::move(experiment),
                                            .repeat = *repeat,
                                            .sweeps = args.all("sweep"),
                                            .jobs = static_cast<unsigned>(*jobs),
                                            .progress = bar.callback()});
  bar.clear();
  if (!repeated) return fail(context, args.command(), repeated.error());
  if (args.has("out"))
    if (const Status written = write_runs(args.value("out"), *repeated); !written)
      return fail(context, ExitCode::kBadInput, written.error().what);
  std::optional<render::Timeline> plot;
  if (args.has("plot")) {
    plot = ops::plot_of(*repeated);
    if (const Status written = write_plot(args.value("plot"), *plot); !written)
      return fail(context, ExitCode::kBadInput, written.error().what);
  }
  if (context.json) {
    print_runs_json(context, *repeated, runs_verdict(*repeated));
    return exit_for_runs(*repeated);
  }
  print_runs(*repeated, context);
  if (plot) show_plot(args.value("plot"), *plot, context);
  if (args.has("out") && !context.quiet)
    context.out << fmt::format("\nwrote {0}/runs.csv, runs.json\n", args.value("out"));
  return exit_for_runs(*repeated);
}

ExitCode run_hpcc(const Args& args, Context& context) {
  Progress bar(context.err, context.stderr_is_terminal, "simulating");
  const auto simulated = ops::simulate_hpcc({.config = args.value("hpcc"),
                                             .is_native = args.value("model") == "native",
                                             .progress = bar.callback()});
  bar.clear();
  if (!simulated) return fail(context, args.command(), simulated.error());
  const std::string folder = args.get("out").value_or(".");
  const auto write = [&]() -> Status {
    WEIR_TRY_STATUS(make_directory(folder));
    WEIR_TRY_STATUS(write_file_atomic(folder + "/fct.txt", simulated->fct));
    return write_file_atomic(folder + "/pfc.txt", simulated->pfc);
  };
  if (const Status written = write(); !written)
    return fail(context, ExitCode::kBadInput, written.error().what);
  if (context.json) {
    print_hpcc_json(context, args.command(), *simulated, folder);
    return ExitCode::kOk;
  }
  print_sim(simulated->outcome, context);
  if (!context.quiet)
    context.out << fmt::format("wrote {}/fct.txt and {}/pfc.txt\n", folder, folder);
  return ExitCode::kOk;
}

ExitCode run_sim(const Args& args, Context& context) {
  if (args.has("list-faults")) return list_known_faults(context);
  if (args.has("list-workloads")) return list_loads(context);
  if (const std::string error = option_error(args); !error.empty())
    return usage_error(context, args.command(), error);
  if (args.has("hpcc")) return run_hpcc(args, context);
  sim::Experiment experiment;
  if (const Status good = gather_experiment(args, experiment); !good)
    return usage_error(context, args.command(), good.error().what);
  const auto design = design_path(args, context);
  if (!design) return fail(context, args.command(), design.error());
  if (args.has("fast")) return run_fast(args, context, *design, std::move(experiment));
  return wants_several_runs(args) ? run_many(args, context, *design, std::move(experiment))
                                  : run_once(args, context, *design, std::move(experiment));
}

std::vector<Option> sim_options() {
  return {
      {.name = "workload",
       .letter = 'w',
       .metavar = "W",
       .help = "workload, such as incast,to=gpu01, or @FILE (default: all-to-all)",
       .repeated = true},
      {.name = "fault",
       .letter = 'f',
       .metavar = "F",
       .help = "fault, such as slow-receiver,at=gpu03,rate=40G",
       .repeated = true},
      {.name = "set",
       .metavar = "PATH=VALUE",
       .help = "override a setting of the design",
       .repeated = true},
      {.name = "seed", .metavar = "N", .help = "random seed", .default_value = "1"},
      {.name = "repeat", .metavar = "N", .help = "run N seeds, starting at --seed, into one table"},
      {.name = "sweep",
       .metavar = "PATH=V,V…",
       .help = "run every value of a setting; repeat for all combinations",
       .repeated = true},
      {.name = "jobs", .metavar = "J", .help = "runs in parallel (default: one per core)"},
      {.name = "threads",
       .metavar = "N",
       .help = "threads of one run, at most 64 (default: as many as help)"},
      {.name = "duration",
       .metavar = "T",
       .help = "stop at this simulated time",
       .default_value = "100ms"},
      {.name = "out",
       .letter = 'o',
       .metavar = "DIR",
       .help = "directory to write JSON and CSV to",
       .completes = Completes::kFiles,
       .writes = Writes::kDirectory},
      {.name = "plot",
       .metavar = "FILE",
       .help = "draw queues, rates, steps or the sweep as SVG; -: here",
       .completes = Completes::kFiles,
       .writes = Writes::kFile},
      {.name = "sample",
       .metavar = "T",
       .help = "sampling interval of the time series (default: 10us)"},
      {.name = "trace",
       .metavar = "FILE",
       .help = "write every frame as CSV",
       .completes = Completes::kFiles,
       .writes = Writes::kFile},
      {.name = "pcap",
       .metavar = "FILE",
       .help = "write the packets of one port as a capture, see --at",
       .completes = Completes::kFiles,
       .writes = Writes::kFile},
      {.name = "at", .metavar = "PORT", .help = "port of --pcap: gpu01, gpu01:mlx5_0, leaf1:swp1"},
      {.name = "no-replay", .help = "simulate every step, also those that repeat"},
      {.name = "check-replay", .help = "run with and without replay, and compare everything"},
      {.name = "fast", .help = "approximate, with an error bound"},
      {.name = "list-workloads", .help = "list workloads and their parameters"},
      {.name = "list-faults", .help = "list faults and their parameters"},
      {.name = "hpcc",
       .metavar = "CONFIG",
       .help = "run the files of the HPCC simulator",
       .completes = Completes::kFiles,
       .writes = Writes::kHere},
      {.name = "model",
       .metavar = "M",
       .help = "model for --hpcc",
       .default_value = "hpcc",
       .choices = {"hpcc", "native"}}};
}

}  // namespace

Command sim_command() {
  return {
      .name = "sim",
      .group = Group::kOperators,
      .summary = "simulate the fabric of a design, packet by packet",
      .description =
          "Simulates the fabric under a workload, with faults on request. Exit status 1: lossless "
          "drops, or a flow gave up; 5: not finished within --duration.",
      .arguments = {design_argument()},
      .options = sim_options(),
      .examples = {{"weir sim -w incast,to=gpu01 -f np-off,at=gpu03 --plot run.svg",
                    "one fault, and the curves as a picture"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kFindings, ExitCode::kBadInput, ExitCode::kPartial},
      .looks = Looks::kAtFiles,
      .run = run_sim,
  };
}

}  // namespace weir::cli
