#include "cli/json/sim_json.h"

#include <cmath>

#include <fmt/format.h>

#include "base/json.h"
#include "cli/json/object.h"
#include "cli/text/sim_text.h"

namespace weir::cli {
namespace {

double run_microseconds(Duration duration) {
  return static_cast<double>(duration.raw()) / 1e6;
}

Json fault_json(const sim::FaultType& type) {
  Json object = {{"name", type.name}, {"summary", type.summary}};
  object["needs_place"] = type.needs_place;
  object["is_timed"] = type.is_timed;
  object["parameters"] = Json::array();
  for (const sim::FaultParameter& parameter : type.parameters)
    object["parameters"].push_back(
        {{"name", parameter.name}, {"default", parameter.fallback}, {"help", parameter.help}});
  object["counters"] = Json::array();
  for (const sim::Sign& sign : type.signs)
    object["counters"].push_back(
        {{"id", sign.counter}, {"moves", sign.moves == sim::Sign::Moves::kUp ? "up" : "down"}});
  object["findings"] = type.findings;
  return object;
}

Json workload_json(const sim::WorkloadResult& load) {
  Json object = {{"label", load.label},
                 {"ranks", load.ranks},
                 {"groups", load.groups},
                 {"messages", load.messages},
                 {"completed", load.completed},
                 {"failed", load.failed},
                 {"bytes", load.bytes.raw()},
                 {"finished", load.finished},
                 {"fct_us",
                  {{"mean", run_microseconds(load.completion.mean)},
                   {"p50", run_microseconds(load.completion.p50)},
                   {"p99", run_microseconds(load.completion.p99)},
                   {"max", run_microseconds(load.completion.max)}}}};
  if (load.algorithm_bandwidth) object["algorithm_bps"] = *load.algorithm_bandwidth;
  if (load.bus_bandwidth) object["bus_bps"] = *load.bus_bandwidth;
  if (load.bound) object["bound_us"] = run_microseconds(*load.bound);
  if (!load.phases.empty()) object["tests"] = Json::array();
  for (const sim::PhaseResult& phase : load.phases)
    object["tests"].push_back({{"test", phase.name},
                               {"bytes", phase.size.raw()},
                               {"iterations", phase.iterations},
                               {"time_us", run_microseconds(phase.time)},
                               {"algorithm_bps", phase.algorithm_bandwidth},
                               {"bus_bps", phase.bus_bandwidth}});
  return object;
}

void add_perf(Json& object, const sim::Perf& perf) {
  object["perf"] = {{"hops", perf.hops},
                    {"data_hops", perf.data_hops},
                    {"events", perf.events},
                    {"cpu_s", perf.cpu_s},
                    {"hops_per_s", perf.hops_per_s()},
                    {"setup_s", perf.setup_s},
                    {"max_rss_bytes", perf.max_rss_bytes}};
}

void add_outcome(Json& object, const sim::Outcome& outcome) {
  object["verdict"] = sim_verdict(outcome.results, outcome.is_finished, outcome.workloads);
  object["digest"] = fmt::format("{:016x}", outcome.results.digest);
  object["seed"] = outcome.results.seed;
  object["finished"] = outcome.is_finished;
  add_perf(object, outcome.perf);
  sim::add_json(object, outcome.results, true);
  object["workloads"] = Json::array();
  object["steps"] = Json::array();
  for (const sim::WorkloadResult& load : outcome.workloads) {
    object["workloads"].push_back(workload_json(load));
    for (const sim::StepResult& step : load.steps)
      object["steps"].push_back(
          {{"workload", load.label},
           {"begin_us", run_microseconds(step.begin.since_start())},
           {"communication_us", run_microseconds(step.communication.since_start())},
           {"end_us", run_microseconds(step.end.since_start())},
           {"time_us", run_microseconds(step.time())},
           {"compute_us", run_microseconds(step.compute)},
           {"exposed_us", run_microseconds(step.exposed())},
           {"straggler", outcome.sim->network().nodes[step.straggler].name},
           {"late_us", run_microseconds(step.late)}});
  }
  object["replay"] = {{"steps", outcome.replay.steps},
                      {"region_steps", outcome.replay.region_steps},
                      {"hops", outcome.replay.hops},
                      {"steady_hops", outcome.replay.steady_hops},
                      {"why_not", outcome.replay.why_not}};
  object["notes"] = outcome.notes;
}

Json spread_json(const ops::Spread& spread) {
  return {{"mean", spread.mean},
          {"deviation", spread.deviation},
          {"min", spread.least},
          {"max", spread.most}};
}

Json runs_object(const ops::Repeated& repeated, std::string_view verdict) {
  Json object = {{"schema", "weir/sim-runs/1"}};
  object["verdict"] = verdict;
  object["design"] = repeated.file;
  object["points"] = Json::array();
  for (std::size_t p = 0; p < repeated.points.size(); ++p) {
    const ops::RunSummary summary = ops::summary_of(repeated.runs, p);
    Json point = {{"settings", repeated.points[p].settings},
                  {"runs", summary.runs},
                  {"lossless", summary.lossless},
                  {"unfinished", summary.unfinished},
                  {"pauses", spread_json(summary.pauses)},
                  {"marked", spread_json(summary.marked)},
                  {"queue_bytes", spread_json(summary.queue_bytes)}};
    if (summary.bus_gbps) point["bus_gbps"] = spread_json(*summary.bus_gbps);
    if (summary.unfinished < summary.runs)
      point["fct_us"] = {{"mean", spread_json(summary.mean_us)},
                         {"p99", spread_json(summary.p99_us)}};
    object["points"].push_back(std::move(point));
  }
  object["runs"] = Json::array();
  for (const ops::SweepRun& run : repeated.runs) {
    Json entry = {{"settings", repeated.points[run.point].settings},
                  {"seed", run.seed},
                  {"digest", fmt::format("{:016x}", run.digest)},
                  {"finished", run.is_finished}};
    entry["pauses"] = run.totals.pauses;
    entry["marked"] = run.totals.marked;
    entry["lossless_drops"] = run.totals.lossless_drops;
    entry["queue_bytes"] = run.totals.deepest_queue.raw();
    if (run.bus_bandwidth) entry["bus_bps"] = *run.bus_bandwidth;
    if (run.is_finished)
      entry["fct_us"] = {{"mean", run_microseconds(run.totals.completion.mean)},
                         {"p50", run_microseconds(run.totals.completion.p50)},
                         {"p99", run_microseconds(run.totals.completion.p99)},
                         {"max", run_microseconds(run.totals.completion.max)}};
    object["runs"].push_back(std::move(entry));
  }
  return object;
}

Json simulated_object(const Command& command, const ops::Simulated& simulated) {
  Json object = json_object(command);
  add_outcome(object, simulated.outcome);
  object["replay"]["checked"] = simulated.is_replay_checked;
  object["design"] = simulated.fabric->design.file;
  object["faults"] = Json::array();
  for (const sim::Fault& fault : simulated.faults)
    object["faults"].push_back({{"fault", fault.text}, {"findings", fault.type->findings}});
  return object;
}

/// The bound in whole millionths: what it is made of is no more exact.
Json estimate_json(const sim::Estimate& estimate) {
  return {{"us", run_microseconds(estimate.value)},
          {"bound", std::round(estimate.bound * 1e6) / 1e6}};
}

Json fast_times_json(const sim::FastTimes& times) {
  return {{"mean", estimate_json(times.mean)},
          {"p50", estimate_json(times.p50)},
          {"p99", estimate_json(times.p99)}};
}

Json fast_workload_json(const sim::FastWorkload& load) {
  Json object = {{"label", load.label}, {"messages", load.messages}, {"completed", load.completed}};
  if (load.completed > 0) object["fct"] = fast_times_json(load.completion);
  if (load.round) object["round"] = estimate_json(*load.round);
  return object;
}

std::string document(const Json& object) {
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

void print_faults_json(Context& context) {
  Json object = {{"schema", "weir/sim-faults/1"}, {"faults", Json::array()}};
  for (const sim::FaultType& type : sim::fault_types())
    object["faults"].push_back(fault_json(type));
  print_json(context, object);
}

void print_workloads_json(Context& context) {
  Json object = {{"schema", "weir/sim-workloads/1"}, {"workloads", Json::array()}};
  for (const sim::WorkloadRow& row : sim::workload_table()) {
    Json load = {{"name", row.name}, {"summary", row.summary}, {"parameters", Json::array()}};
    for (const sim::WorkloadParameter& parameter : row.own)
      load["parameters"].push_back(
          {{"name", parameter.name}, {"default", parameter.fallback}, {"help", parameter.meaning}});
    object["workloads"].push_back(std::move(load));
  }
  print_json(context, object);
}

std::string simulated_document(const Command& command, const ops::Simulated& simulated) {
  return document(simulated_object(command, simulated));
}

void print_simulated_json(Context& context, const Command& command,
                          const ops::Simulated& simulated) {
  print_json(context, simulated_object(command, simulated));
}

void print_hpcc_json(Context& context, const Command& command, const ops::HpccSimulated& simulated,
                     const std::string& folder) {
  Json object = json_object(command);
  add_outcome(object, simulated.outcome);
  object["files"] = {folder + "/fct.txt", folder + "/pfc.txt"};
  print_json(context, object);
}

void print_fast_json(Context& context, const ops::Approximated& approximated) {
  const sim::FastOutcome& outcome = approximated.outcome;
  Json object = {{"schema", "weir/sim-fast/1"}, {"approximate", true}};
  object["verdict"] = fast_verdict(outcome);
  object["windows"] = {{"checked", outcome.checked},    {"of", outcome.windows},
                       {"flows", outcome.seen.flows},   {"hops", outcome.seen.hops},
                       {"marked", outcome.seen.marked}, {"pauses", outcome.seen.pauses}};
  object["method"] = outcome.method;
  object["flows"] = {{"count", outcome.flows}, {"finished", outcome.finished}};
  if (outcome.finished > 0) object["flows"]["fct"] = fast_times_json(outcome.completion);
  object["workloads"] = Json::array();
  for (const sim::FastWorkload& load : outcome.workloads)
    object["workloads"].push_back(fast_workload_json(load));
  object["digest"] = fmt::format("{:016x}", outcome.digest);
  object["seed"] = outcome.seed;
  object["design"] = approximated.file;
  object["notes"] = outcome.notes;
  print_json(context, object);
}

std::string runs_document(const ops::Repeated& repeated, std::string_view verdict) {
  return document(runs_object(repeated, verdict));
}

void print_runs_json(Context& context, const ops::Repeated& repeated, std::string_view verdict) {
  print_json(context, runs_object(repeated, verdict));
}

}  // namespace weir::cli
