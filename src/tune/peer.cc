#include "tune/peer.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include <fmt/format.h>

#include "base/parallel.h"
#include "sim/peer/hpcc.h"
#include "sim/peer/hpcc_files.h"
#include "sim/results/simulate_all.h"

namespace weir::tune {
namespace {

/// The peer keeps a path for every pair of nodes.
constexpr std::size_t kMostPeerNics = 512;
constexpr std::size_t kMostPeerFlows = 20'000;
constexpr double kWorthChecking = 0.03;
constexpr double kLeastRatio = 0.5;

/// What both simulators know; steps of a collective are flows with fixed starts there.
double common_objective(const sim::Totals& totals, Objective objective) {
  switch (objective) {
    case Objective::kStepTime: return static_cast<double>(totals.completion.mean.raw()) / 1e6;
    case Objective::kP99: return totals.slowdown_p99;
    case Objective::kThroughput: return static_cast<double>(totals.duration.raw()) / 1e6;
    case Objective::kLatency: return totals.slowdown_mean;
  }
  WEIR_UNREACHABLE("every objective has a value");
}

struct PeerRun {
  std::vector<sim::Flow> flows;  // of the start values, in our rules
  double ours[2] = {0, 0};       // start, changed; 0: it did not finish
  double peer[2] = {0, 0};
  std::optional<Error> error;
};

Result<double> run_in_peer(const design::Variant& fabric, const std::vector<sim::Flow>& flows,
                           const Question& question) {
  WEIR_TRY(files, sim::hpcc_files_of(fabric, flows, question.limit));
  WEIR_TRY(run, sim::parse_hpcc(files));
  WEIR_TRY(made, sim::Sim::make(std::move(run.network)));
  sim::run(*made, {.end = run.stop});
  if (made->open_messages() > 0) return 0.0;
  const sim::Results results = sim::collect_flows(*made, Time::at(Duration::raw(made->now())));
  return common_objective(results.totals, question.objective);
}

/// Why this load cannot be shown there; empty where it can.
std::string beyond_peer_load(const Load& load, std::size_t flows) {
  const std::string& name = load.spec.traffic_class;
  if (load.spec.kind == sim::WorkloadKind::kStorage ||
      load.spec.kind == sim::WorkloadKind::kLossy || (!name.empty() && name != "rdma"))
    return "it is not in the RDMA class";
  if (flows > kMostPeerFlows) return fmt::format("it has {} flows", flows);
  return {};
}

Result<PeerWorkload> check_load(Search& search, const std::string& text,
                                const design::Variant& start, const design::Variant& changed,
                                std::size_t seeds, std::uint64_t& runs, std::string& why_not) {
  const Question& question = search.question();
  WEIR_TRY(load, parse_load(text));
  std::vector<PeerRun> pairs(seeds);
  const auto order = [&](std::size_t i) {
    sim::Experiment out;
    const design::Variant& fabric = i % 2 == 0 ? start : changed;
    out.design = &fabric.design;
    out.intent = fabric.intent;
    out.workloads = {load.spec};
    out.limit = question.limit;
    out.seed = seed_of(search.seed(), SeedSet::kReport, i / 2);
    return out;
  };
  WEIR_TRY_STATUS(sim::simulate_all(
      2 * seeds, search.evaluator().jobs(), order, [&](std::size_t i, const sim::Outcome& outcome) {
        PeerRun& pair = pairs[i / 2];
        if (i % 2 == 0) pair.flows = outcome.results.flows;
        if (outcome.is_finished)
          pair.ours[i % 2] = common_objective(outcome.results.totals, question.objective);
      }));
  PeerWorkload out;
  out.workload = text;
  why_not = beyond_peer_load(load, pairs.front().flows.size());
  if (!why_not.empty() || pairs.front().flows.empty()) return out;
  std::vector<std::optional<Error>> errors(2 * seeds);
  for_each_index(2 * seeds, search.evaluator().jobs(), [&](std::size_t i) {
    PeerRun& pair = pairs[i / 2];
    const auto value = run_in_peer(i % 2 == 0 ? start : changed, pair.flows, question);
    if (value) {
      pair.peer[i % 2] = *value;
    } else {
      errors[i] = value.error();
    }
  });
  runs += 4 * seeds;
  for (const auto& error : errors)
    if (error) return *error;
  std::vector<double> before[2], after[2];
  for (const PeerRun& pair : pairs) {
    if (pair.ours[0] <= 0 || pair.ours[1] <= 0 || pair.peer[0] <= 0 || pair.peer[1] <= 0) continue;
    before[0].push_back(pair.ours[0]);
    after[0].push_back(pair.ours[1]);
    before[1].push_back(pair.peer[0]);
    after[1].push_back(pair.peer[1]);
  }
  out.ours = change_of(log_ratios(before[0], after[0]));
  out.peer = change_of(log_ratios(before[1], after[1]));
  if (std::abs(out.ours.mean) > kWorthChecking) out.ratio = out.peer.mean / out.ours.mean;
  out.agrees = does_peer_agree(out.ours.mean, out.peer.mean);
  return out;
}

}  // namespace

bool does_peer_agree(double ours, double peer) {
  if (std::abs(ours) <= kWorthChecking) return ours * peer >= 0 || std::abs(peer) <= kWorthChecking;
  return ours * peer > 0 && std::abs(peer) >= kLeastRatio * std::abs(ours);
}

Result<PeerCheck> check_in_peer(Search& search, const Point& point, std::size_t seeds,
                                std::uint64_t& runs) {
  PeerCheck out;
  const Space& space = search.space();
  Point mapped = point;
  for (std::size_t i = 0; i < space.knobs.size(); ++i) {
    if (point[i] == space.start[i] || space.knobs[i]->has_peer()) continue;
    out.unchecked.emplace_back(space.knobs[i]->id);
    mapped[i] = space.start[i];
  }
  out.checked = space.changes(mapped);
  if (out.checked.empty()) {
    out.why_not = "it has none of the knobs that change";
    return out;
  }
  WEIR_TRY(start, search.evaluator().variant({}));
  WEIR_TRY(changed, search.evaluator().variant(space.settings(mapped)));
  std::size_t nics = 0;
  for (const design::HostIntent& host : start->intent.hosts)
    nics += host.nics.size();
  if (nics > kMostPeerNics) {
    out.why_not = fmt::format("{} NICs are more than the {} it is run with", nics, kMostPeerNics);
    return out;
  }
  out.agrees = true;
  for (const std::string& text : search.question().loads) {
    std::string why_not;
    auto row = check_load(search, text, *start, *changed, seeds, runs, why_not);
    if (!row) {
      // What the peer cannot show is no error of the tuning.
      out = {false, row.error().what, out.checked, out.unchecked, {}, false};
      return out;
    }
    if (!why_not.empty()) {
      out.why_not = fmt::format("{}: {}", text, why_not);
      continue;
    }
    out.was_run = true;
    out.agrees = out.agrees && row->agrees;
    out.workloads.push_back(std::move(*row));
  }
  out.agrees = out.agrees && out.was_run;
  return out;
}

}  // namespace weir::tune
