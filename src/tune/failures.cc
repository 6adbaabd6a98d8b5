#include "tune/failures.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "sim/results/simulate_all.h"
#include "tune/loads.h"
#include "units/format.h"

namespace weir::tune {
namespace {

struct BrokenRun {
  Metrics metrics;
  std::uint64_t stuck = 0;  // flows that could have ended and did not
};

/// The first link between two switches, as a fault names it.
std::string link_between_switches(const design::Intent& intent) {
  for (const design::SwitchIntent& node : intent.switches)
    for (const design::SwitchPortIntent& port : node.ports)
      if (!port.is_access) return fmt::format("{}/{}", node.name, port.name);
  return {};
}

/// A switch above the leaves that is not the only one of its tier; empty where there is none.
std::string spare_switch(const design::Intent& intent) {
  int highest = 1;
  for (const design::SwitchIntent& node : intent.switches)
    highest = std::max(highest, node.tier);
  std::vector<std::string> names;
  for (const design::SwitchIntent& node : intent.switches)
    if (node.tier == highest && highest > 1) names.push_back(node.name);
  return names.size() > 1 ? names.front() : std::string();
}

std::uint64_t stuck_flows(const sim::Outcome& outcome, const std::string& dead_host) {
  const auto is_dead = [&](sim::NodeId node) {
    const std::string& name = outcome.sim->network().nodes[node].name;
    return !dead_host.empty() && name.starts_with(dead_host + ":");
  };
  std::uint64_t stuck = 0;
  for (const sim::Flow& flow : outcome.results.flows)
    if (!flow.is_done() && !is_dead(flow.source) && !is_dead(flow.target)) ++stuck;
  return stuck;
}

Result<std::vector<BrokenRun>> run_broken(Search& search, const std::vector<std::string>& settings,
                                          const Scenario& scenario, std::size_t seeds) {
  WEIR_TRY(variant, search.evaluator().variant(settings));
  sim::Experiment experiment;
  experiment.design = &variant->design;
  experiment.intent = variant->intent;
  // A tail that is lost with a link is sent again after an ACK timeout (InfiniBand 9.7.6.1.3:
  // 4.096 us * 2^n), which may be seconds: time for two.
  const Duration timeout = 4096_ns * (std::int64_t{1} << *variant->design.nccl.timeout);
  experiment.limit = search.question().limit + timeout * 2;
  for (const std::string& text : scenario.loads) {
    WEIR_TRY(load, parse_load(text));
    experiment.workloads.push_back(std::move(load.spec));
  }
  if (!scenario.fault.empty()) {
    WEIR_TRY(fault, sim::parse_fault(scenario.fault));
    experiment.faults = {std::move(fault)};
  }
  std::vector<BrokenRun> runs(seeds);
  const auto order = [&](std::size_t i) {
    sim::Experiment mine = experiment;
    mine.seed = seed_of(search.seed(), SeedSet::kSelection, i);
    return mine;
  };
  WEIR_TRY_STATUS(sim::simulate_all(
      seeds, search.evaluator().jobs(), order, [&](std::size_t i, const sim::Outcome& outcome) {
        runs[i] = {metrics_of(outcome), stuck_flows(outcome, scenario.dead_host)};
      }));
  return runs;
}

/// Empty where it passes.
std::string trouble_of(const std::vector<BrokenRun>& runs) {
  std::uint64_t drops = 0;
  std::uint64_t stuck = 0;
  for (const BrokenRun& run : runs) {
    drops += run.metrics.lossless_drops;
    stuck += run.stuck;
  }
  if (drops > 0) return fmt::format("{} of lossless packets", counted(drops, "drop"));
  if (stuck > 0) return fmt::format("{} did not finish", counted(stuck, "flow"));
  return {};
}

Summary summary_of_broken(const std::vector<BrokenRun>& runs, const Question& question) {
  std::vector<Metrics> metrics;
  for (const BrokenRun& run : runs)
    metrics.push_back(run.metrics);
  return summary_of(metrics, question.objective, question.pause_limit);
}

}  // namespace

std::vector<Scenario> scenarios_of(const design::Intent& intent,
                                   const std::vector<TimedLoad>& loads) {
  std::vector<Scenario> out;
  WEIR_CHECK(!loads.empty());
  // The load that lasts longest meets the failure in full.
  const auto longest = std::max_element(
      loads.begin(), loads.end(),
      [](const TimedLoad& a, const TimedLoad& b) { return a.duration_us < b.duration_us; });
  const std::string from = fmt::format(
      "{}us", std::max<std::int64_t>(static_cast<std::int64_t>(longest->duration_us / 5), 1));
  const std::string link = link_between_switches(intent);
  if (!link.empty())
    out.push_back(
        {"link", fmt::format("link-down,at={},from={}", link, from), {longest->text}, {}});
  const std::string top = spare_switch(intent);
  if (!top.empty())
    out.push_back(
        {"switch", fmt::format("switch-down,at={},from={}", top, from), {longest->text}, {}});
  const std::size_t rails = intent.hosts.front().nics.size();
  if (rails > 1 && longest->text.find("rails=") == std::string::npos)
    out.push_back({"rail",
                   "",
                   {with_parameters(longest->text, {{"rails", fmt::format("0-{}", rails - 2)}})},
                   {}});
  const auto independent = std::find_if(loads.begin(), loads.end(),
                                        [](const TimedLoad& load) { return !load.has_steps; });
  const std::string last = intent.hosts.back().name;
  if (intent.hosts.size() > 2) {
    const std::string victim_load =
        independent != loads.end() ? independent->text : "permutation,size=4MB,shift=1";
    out.push_back(
        {"host", fmt::format("link-down,at={},from={}", last, from), {victim_load}, last});
  }
  if (intent.hosts.size() > 2) {
    const std::size_t senders = std::min<std::size_t>(intent.hosts.size() - 1, 15);
    out.push_back(
        {"burst",
         "",
         {longest->text, fmt::format("incast,to={},senders={},size=1MB,start={},label=burst", last,
                                     senders, from)},
         {}});
  }
  return out;
}

Result<std::vector<FailureOutcome>> break_things(Search& search, const Point& point,
                                                 const std::vector<Scenario>& scenarios,
                                                 std::size_t seeds) {
  std::vector<FailureOutcome> out;
  for (const Scenario& scenario : scenarios) {
    FailureOutcome row;
    row.name = scenario.name;
    row.fault = scenario.fault;
    row.workload = scenario.loads.front();
    WEIR_TRY(before, run_broken(search, {}, scenario, seeds));
    WEIR_TRY(after, run_broken(search, search.space().settings(point), scenario, seeds));
    row.start = summary_of_broken(before, search.question());
    row.chosen = summary_of_broken(after, search.question());
    const std::string start_trouble = trouble_of(before);
    const std::string trouble = trouble_of(after);
    row.start_passes = start_trouble.empty();
    row.chosen_passes = trouble.empty();
    row.reason = trouble.empty() ? start_trouble : trouble;
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace weir::tune
