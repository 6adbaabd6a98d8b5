#include "cli/verbs/sim_hpcc.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/frame/progress.h"
#include "cli/json/object.h"
#include "cli/verbs/sim_report.h"
#include "sim/peer/hpcc.h"
#include "sim/peer/hpcc_native.h"

namespace weir::cli {
namespace {

Status write_outputs(const std::string& folder, const sim::HpccRun& run, const sim::PauseLog& log,
                     const sim::Sim& sim) {
  WEIR_TRY_STATUS(make_directory(folder));
  WEIR_TRY_STATUS(write_file_atomic(folder + "/fct.txt", sim::hpcc_fct(run, sim)));
  return write_file_atomic(folder + "/pfc.txt", sim::hpcc_pfc(log, sim));
}

}  // namespace

ExitCode run_sim_hpcc(const Args& args, Context& context) {
  const double begin = sim::cpu_seconds();
  Result<sim::HpccRun> run = sim::read_hpcc(args.value("hpcc"));
  if (!run) return fail(context, ExitCode::kBadInput, run.error().what);
  sim::Network network = run->network;
  if (args.value("model") == "native") sim::make_native(network);
  auto made = sim::Sim::make(std::move(network));
  if (!made) return fail(context, ExitCode::kBadInput, made.error().what);
  sim::Outcome outcome;
  outcome.sim = std::move(*made);
  sim::PauseLog log;
  outcome.sim->set_observer(&log);
  const double ready = sim::cpu_seconds();
  {
    Progress bar(context.err, context.stderr_is_terminal, "simulating");
    const auto flows = static_cast<double>(outcome.sim->messages().size());
    sim::run(*outcome.sim,
             {.end = run->stop, .progress = [&](const sim::Sim& sim) {
                bar.update(1 - static_cast<double>(sim.open_messages()) / std::max(flows, 1.0));
              }});
  }
  outcome.perf = {outcome.sim->hops(),   outcome.sim->data_hops(),
                  outcome.sim->events(), sim::cpu_seconds() - ready,
                  ready - begin,         sim::max_rss_bytes()};
  outcome.is_finished = outcome.sim->open_messages() == 0;
  outcome.results = sim::collect_flows(
      *outcome.sim, outcome.is_finished ? Time::at(Duration::raw(outcome.sim->now())) : run->stop);
  const std::string folder = args.get("out").value_or(".");
  if (const Status written = write_outputs(folder, *run, log, *outcome.sim); !written)
    return fail(context, ExitCode::kBadInput, written.error().what);
  if (context.json) {
    Json object = json_object(args.command());
    add_sim_json(object, outcome, true);
    object["files"] = {folder + "/fct.txt", folder + "/pfc.txt"};
    print_json(context, object);
    return ExitCode::kOk;
  }
  print_sim(outcome, context);
  if (!context.quiet)
    context.out << fmt::format("wrote {}/fct.txt and {}/pfc.txt\n", folder, folder);
  return ExitCode::kOk;
}

}  // namespace weir::cli
