#include "tune/peer.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace weir::tune {
namespace {

/// The peer keeps a path for every pair of nodes.
constexpr std::size_t kMostPeerNics = 512;
constexpr std::size_t kMostPeerFlows = 20'000;
constexpr double kWorthChecking = 0.03;
constexpr double kLeastRatio = 0.5;

/// What both simulators know; steps of a collective are flows with fixed starts there. 0: it did
/// not finish.
double common_objective(const Metrics& run, Objective objective) {
  if (!run.finished) return 0;
  return objective == Objective::kStepTime ? run.mean_us : objective_of(run, objective);
}

/// Why this load cannot be shown there; empty where it can.
std::string beyond_peer_load(const Load& load, std::uint64_t flows) {
  const std::string& name = load.spec.traffic_class;
  if (load.spec.kind == sim::WorkloadKind::kStorage ||
      load.spec.kind == sim::WorkloadKind::kLossy || (!name.empty() && name != "rdma"))
    return "it is not in the RDMA class";
  if (flows > kMostPeerFlows) return fmt::format("it has {} flows", flows);
  return {};
}

Result<PeerWorkload> check_load(Search& search, const std::string& text, const Point& mapped,
                                std::size_t seeds, std::string& why_not) {
  const Question& question = search.question();
  WEIR_TRY(load, parse_load(text));
  const std::vector<Point> sides = {search.space().start, mapped};
  WEIR_TRY(ours, search.evaluate(sides, SeedSet::kReport, seeds, {text}));
  PeerWorkload out;
  out.workload = text;
  const std::uint64_t flows = ours[0][0].front().flows;
  why_not = beyond_peer_load(load, flows);
  if (!why_not.empty() || flows == 0) return out;
  std::vector<RunOrder> orders;
  for (const Point& side : sides)
    for (std::size_t i = 0; i < seeds; ++i) {
      RunOrder order{search.space().settings(side), {text}, {}, 0, question.limit};
      order.seed = seed_of(search.seed(), SeedSet::kReport, i);
      order.is_in_peer = true;
      orders.push_back(std::move(order));
    }
  WEIR_TRY(theirs, search.evaluator().run(orders));
  std::array<std::vector<double>, 2> before;
  std::array<std::vector<double>, 2> after;
  for (std::size_t i = 0; i < seeds; ++i) {
    const std::array values = {common_objective(ours[0][0][i], question.objective),
                               common_objective(ours[1][0][i], question.objective),
                               common_objective(theirs[i], question.objective),
                               common_objective(theirs[seeds + i], question.objective)};
    if (std::any_of(values.begin(), values.end(), [](double value) { return value <= 0; }))
      continue;
    before[0].push_back(values[0]);
    after[0].push_back(values[1]);
    before[1].push_back(values[2]);
    after[1].push_back(values[3]);
  }
  out.ours = change_of(log_ratios(before[0], after[0]));
  out.peer = change_of(log_ratios(before[1], after[1]));
  if (std::abs(out.ours.mean) > kWorthChecking) out.ratio = out.peer.mean / out.ours.mean;
  out.agrees = does_peer_agree(out.ours.mean, out.peer.mean);
  return out;
}

}  // namespace

bool does_peer_agree(double ours, double peer) {
  // A small change of ours: the peer sees no more of a loss.
  if (std::abs(ours) <= kWorthChecking)
    return peer <= kWorthChecking && (ours <= 0 || peer >= -kWorthChecking);
  return ours * peer > 0 && std::abs(peer) >= kLeastRatio * std::abs(ours);
}

Result<PeerCheck> check_in_peer(Search& search, const Point& point, std::size_t seeds) {
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
    auto row = check_load(search, text, mapped, seeds, why_not);
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
