#include "tune/run.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/digest.h"
#include "design/fabric/effective.h"
#include "sim/peer/hpcc.h"
#include "sim/peer/hpcc_files.h"

namespace weir::tune {
namespace {

constexpr std::size_t kMostVariants = 4096;  // kept; a tuning of 100,000 runs has as many

double in_us(Duration duration) {
  return static_cast<double>(duration.raw()) / 1e6;
}

/// Of the time from the first post to the last completion, at the port and priority that was paused
/// longest.
double pause_share_of(const sim::Sim& sim, Duration duration) {
  sim::Ps longest = 0;
  for (const sim::PortId port : sim.ports())
    for (unsigned priority = 0; priority < 8; ++priority)
      longest = std::max(longest, sim.paused_for(port, priority));
  if (duration.raw() <= 0) return 0;
  return std::min(1.0, static_cast<double>(longest) / static_cast<double>(duration.raw()));
}

/// Mean slowdown of flows to other receivers than the one that is sent most, where that one gets
/// half as much again as the mean: then the others are victims of its congestion, or not.
std::optional<double> victims_of(const std::vector<sim::Flow>& flows) {
  std::map<sim::NodeId, double> bytes;
  double all = 0;
  for (const sim::Flow& flow : flows) {
    bytes[flow.target] += static_cast<double>(flow.size.raw());
    all += static_cast<double>(flow.size.raw());
  }
  if (bytes.size() < 2) return std::nullopt;
  const auto hot = std::max_element(
      bytes.begin(), bytes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (hot->second < 1.5 * all / static_cast<double>(bytes.size())) return std::nullopt;
  double sum = 0;
  double count = 0;
  for (const sim::Flow& flow : flows) {
    if (flow.target == hot->first || !flow.is_done() || flow.ideal.raw() <= 0) continue;
    sum += static_cast<double>(flow.completion.raw()) / static_cast<double>(flow.ideal.raw());
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / count;
}

/// Flows that did not finish though neither end is dead.
std::uint64_t stuck_flows(const sim::Outcome& outcome, const std::string& dead_host) {
  const auto is_dead = [&](sim::NodeId node) {
    const std::string& name = outcome.sim->network().nodes[node].name;
    return !dead_host.empty() && name.starts_with(dead_host + ":");
  };
  std::uint64_t stuck = 0;
  for (const sim::Flow& flow : sim::every_flow(outcome.results))
    if (!flow.is_done() && !is_dead(flow.source) && !is_dead(flow.target)) ++stuck;
  return stuck;
}

/// Of the bytes that NICs received, CNPs aside, the share in the RDMA class.
double rdma_share_of(const sim::Sim& sim, const design::Design& design) {
  const auto* const rdma = design.find_class(design::kRdmaClass);
  const auto* const cnp = design.find_class(design::kCnpClass);
  double mine = 0;
  double others = 0;
  for (const sim::NodeId node : sim.network().nodes.ids()) {
    if (sim.network().nodes[node].kind != sim::NodeKind::kNic) continue;
    const sim::PortCounters& port = sim.port_counters(sim.port_of(node, 0));
    for (unsigned priority = 0; priority < 8; ++priority) {
      const auto bytes = static_cast<double>(port.rx_class_bytes.at(priority));
      if (rdma != nullptr && rdma->value.priority->value() == priority) {
        mine += bytes;
      } else if (cnp == nullptr || cnp->value.priority->value() != priority) {
        others += bytes;
      }
    }
  }
  return mine + others > 0 ? mine / (mine + others) : 0;
}

void add_totals(const sim::Results& results, Metrics& out) {
  const sim::Totals& totals = results.totals;
  out.flows = totals.flows;
  out.mean_us = in_us(totals.completion.mean);
  out.p99_us = in_us(totals.completion.p99);
  out.max_us = in_us(totals.completion.max);
  out.slowdown_mean = totals.slowdown_mean;
  out.slowdown_p99 = totals.slowdown_p99;
  out.duration_us = in_us(totals.duration);
  out.utilisation = totals.utilisation;
  out.pauses = totals.pauses;
  out.lossless_drops = totals.lossless_drops;
  out.retransmitted = totals.retransmitted;
  out.marked = totals.marked;
  if (totals.received > 0)
    out.mark_share = static_cast<double>(totals.marked) / static_cast<double>(totals.received);
  out.cnps = totals.cnp_handled;
  out.queue_bytes = static_cast<double>(totals.deepest_queue.raw());
  out.jain = totals.jain;
  out.digest = results.digest;
}

Result<sim::Outcome> simulate_ready(const ReadyRun& run, const design::Variant& fabric) {
  sim::Experiment experiment = run.experiment;
  experiment.design = &fabric.design;
  experiment.intent = fabric.intent;
  return sim::simulate(experiment);
}

/// The flows are those of the start values, so that both sides of a comparison carry the same.
Result<MadeRun> make_peer_run(const ReadyRun& run) {
  const double before = sim::cpu_seconds();
  WEIR_TRY(ours, simulate_ready(run, *run.start));
  WEIR_TRY(files, sim::hpcc_files_of(*run.variant, sim::every_flow(ours.results), run.order.limit));
  WEIR_TRY(peer, sim::parse_hpcc(files));
  WEIR_TRY(made, sim::Sim::make(std::move(peer.network)));
  sim::run(*made, {.end = peer.stop});
  const sim::Results results = sim::collect_flows(*made, Time::at(Duration::raw(made->now())));
  MadeRun out;
  add_totals(results, out.metrics);
  out.metrics.finished = made->open_messages() == 0;
  out.metrics.pause_share = pause_share_of(*made, results.totals.duration);
  out.cpu_seconds = sim::cpu_seconds() - before;
  return out;
}

}  // namespace

Result<Load> parse_load(const std::string& text) {
  WEIR_TRY(spec, sim::parse_workload(text));
  return Load{text, std::move(spec)};
}

Metrics metrics_of(const sim::Outcome& outcome, const std::string& dead_host) {
  const sim::Totals& totals = outcome.results.totals;
  Metrics out;
  add_totals(outcome.results, out);
  out.finished = outcome.is_finished && totals.finished == totals.flows;
  out.stuck = stuck_flows(outcome, dead_host);
  double steps = 0;
  double step_time = 0;
  for (const sim::WorkloadResult& load : outcome.workloads) {
    for (const sim::StepResult& step : load.steps) {
      ++steps;
      step_time += in_us(step.time());
      out.step_max_us = std::max(out.step_max_us.value_or(0), in_us(step.time()));
    }
    if (load.bus_bandwidth)
      out.bus_gbps =
          std::min(out.bus_gbps.value_or(*load.bus_bandwidth / 1e9), *load.bus_bandwidth / 1e9);
  }
  if (steps > 0) out.step_us = step_time / steps;
  out.pause_share = pause_share_of(*outcome.sim, totals.duration);
  out.victim_slowdown = victims_of(sim::every_flow(outcome.results));
  return out;
}

Result<const design::Variant*> Variants::get(const std::vector<std::string>& settings) {
  const auto found = variants_.find(settings);
  if (found != variants_.end()) return found->second.get();
  WEIR_TRY(made, design::with_values(design_, settings));
  auto kept = std::make_unique<design::Variant>(std::move(made));
  return variants_.emplace(settings, std::move(kept)).first->second.get();
}

void Variants::trim() {
  if (variants_.size() > kMostVariants) variants_.clear();
}

std::uint64_t Variants::design_digest() const {
  Digest digest;
  digest.add(design::effective_values(design_));
  return digest.value();
}

Result<ReadyRun> ready_run(const RunOrder& order, Variants& variants) {
  ReadyRun out;
  out.order = order;
  WEIR_TRY(variant, variants.get(order.settings));
  WEIR_TRY(start, variants.get({}));
  out.variant = variant;
  out.start = start;
  out.experiment.seed = order.seed;
  out.experiment.limit = order.limit;
  for (const std::string& text : order.loads) {
    WEIR_TRY(load, parse_load(text));
    out.experiment.workloads.push_back(std::move(load.spec));
  }
  for (const std::string& text : order.faults) {
    WEIR_TRY(fault, sim::parse_fault(text));
    out.experiment.faults.push_back(std::move(fault));
  }
  return out;
}

Result<MadeRun> make_run(const ReadyRun& run) {
  if (run.order.is_in_peer) return make_peer_run(run);
  WEIR_TRY(outcome, simulate_ready(run, *run.variant));
  Metrics metrics = metrics_of(outcome, run.order.dead_host);
  metrics.rdma_share = rdma_share_of(*outcome.sim, run.variant->design);
  return MadeRun{metrics, outcome.perf.cpu_s + outcome.perf.setup_s};
}

}  // namespace weir::tune
