#include "tune/rollout/rollout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "units/format.h"

namespace weir::tune {
namespace {

constexpr std::string_view kLowThreshold = "wred.min";
constexpr std::string_view kHighThreshold = "wred.max";

// ---- order ----

std::vector<const Bought*> in_order(const TuneResult& result) {
  std::vector<const Bought*> out;
  for (const Bought& row : result.bought)
    out.push_back(&row);
  std::stable_sort(out.begin(), out.end(), [](const Bought* a, const Bought* b) {
    const auto place = [](const Bought* row) { return static_cast<int>(place_of_knob(row->knob)); };
    if (place(a) != place(b)) return place(a) < place(b);
    return a->objective.mean < b->objective.mean;
  });
  return out;
}

std::string why_pair_order(bool is_high_first) {
  return fmt::format("{} first, so that Kmin <= Kmax at every instant; back in the reverse order",
                     is_high_first ? kHighThreshold : kLowThreshold);
}

/// Whether a threshold rises. Values that cannot be read were not written by the tuner.
Result<bool> rises(const Bought& row) {
  const auto from = parse_bytes(row.from);
  if (!from) return from.error().within(row.knob);
  const auto to = parse_bytes(row.to);
  if (!to) return to.error().within(row.knob);
  return to->raw() > from->raw();
}

struct OrderedStep {
  std::vector<const Bought*> rows;
  std::string why;
};

/// Kmin and Kmax as one step, the one that widens the gap first.
Result<std::vector<OrderedStep>> ordered_steps(const TuneResult& result) {
  const std::vector<const Bought*> rows = in_order(result);
  const auto find = [&](std::string_view knob) {
    const auto found = std::find_if(rows.begin(), rows.end(),
                                    [&](const Bought* row) { return row->knob == knob; });
    return found == rows.end() ? nullptr : *found;
  };
  const Bought* const low = find(kLowThreshold);
  const Bought* const high = find(kHighThreshold);
  std::vector<OrderedStep> out;
  for (const Bought* row : rows) {
    const bool is_threshold = row == low || row == high;
    if (!is_threshold || low == nullptr || high == nullptr) {
      out.push_back({{row}, ""});
      continue;
    }
    if (std::any_of(out.begin(), out.end(),
                    [&](const OrderedStep& step) { return step.rows.size() > 1; }))
      continue;
    WEIR_TRY(is_high_first, rises(*high));
    out.push_back({is_high_first ? std::vector{high, low} : std::vector{low, high},
                   why_pair_order(is_high_first)});
  }
  return out;
}

// ---- forecasts ----

/// The last step ends in the state that was simulated with and without its change. An earlier one
/// was simulated alone where its move was tried, and else only among the others.
std::optional<StepForecast> forecast_of(const TuneResult& result, const OrderedStep& step,
                                        bool is_only, bool is_last) {
  if (is_only) return StepForecast{result.gain, "all changes, on the report seeds", true};
  if (step.rows.size() > 1) return std::nullopt;
  const Bought& row = *step.rows.front();
  if (is_last) return StepForecast{row.objective, "with all other changes in place", true};
  for (const TriedMove& tried : result.tried)
    if (tried.knob == row.knob && tried.from == row.from && tried.to == row.to)
      return StepForecast{tried.objective, "alone, from the start values, on the search seeds",
                          false};
  return StepForecast{row.objective, "with all other changes in place: not yet the case", false};
}

void add_counters(const TuneResult& result, std::vector<CounterForecast>& out) {
  struct Row {
    std::string_view name;
    std::string_view unit;
    Spread Summary::*spread;
  };
  constexpr std::array kRows = {Row{"pauses", "frames", &Summary::pauses},
                                Row{"pause share", "", &Summary::pause_share},
                                Row{"mark share", "", &Summary::mark_share},
                                Row{"CNPs", "packets", &Summary::cnps},
                                Row{"deepest queue", "bytes", &Summary::queue_bytes},
                                Row{"p99 completion", "us", &Summary::p99_us}};
  for (const WorkloadOutcome& outcome : result.outcomes)
    for (const Row& row : kRows)
      out.push_back({outcome.workload, row.name, row.unit, outcome.start.*row.spread,
                     outcome.chosen.*row.spread});
}

// ---- canary ----

using NodeNames = std::vector<std::string>;

/// Switches by the index of their neighbours, and the hosts below each.
struct Neighbours {
  std::vector<std::set<std::size_t>> switches;
  std::vector<std::set<std::size_t>> hosts;
};

Neighbours neighbours_of(const design::Intent& intent) {
  Neighbours out;
  out.switches.resize(intent.switches.size());
  out.hosts.resize(intent.switches.size());
  for (std::size_t at = 0; at < intent.switches.size(); ++at)
    for (const design::SwitchPortIntent& port : intent.switches[at].ports) {
      auto& into = port.peer.kind == design::NodeKind::kHost ? out.hosts[at] : out.switches[at];
      into.insert(port.peer.node);
    }
  return out;
}

/// The first switch with two hosts below it.
std::optional<std::size_t> first_leaf(const Neighbours& near) {
  for (std::size_t at = 0; at < near.hosts.size(); ++at)
    if (near.hosts[at].size() >= 2) return at;
  return std::nullopt;
}

/// The leaf, what is right above it, and every other leaf below that.
std::set<std::size_t> pod_of(const Neighbours& near, std::size_t leaf) {
  std::set<std::size_t> out = {leaf};
  for (const std::size_t above : near.switches[leaf]) {
    out.insert(above);
    for (const std::size_t below : near.switches[above])
      if (!near.hosts[below].empty()) out.insert(below);
  }
  return out;
}

NodeNames host_names(const design::Intent& intent, const std::set<std::size_t>& hosts) {
  NodeNames out;
  for (const std::size_t host : hosts)
    out.push_back(intent.hosts[host].name);
  return out;
}

std::set<std::size_t> hosts_below(const Neighbours& near, const std::set<std::size_t>& switches) {
  std::set<std::size_t> out;
  for (const std::size_t at : switches)
    out.insert(near.hosts[at].begin(), near.hosts[at].end());
  return out;
}

CanaryStage whole_fabric(const design::Intent& intent, RolloutPlace place) {
  CanaryStage out{"all", {}, {}, "everything; then the long run"};
  if (place == RolloutPlace::kNic) {
    for (const design::HostIntent& host : intent.hosts)
      out.hosts.push_back(host.name);
  } else {
    for (const design::SwitchIntent& node : intent.switches)
      out.switches.push_back(node.name);
  }
  return out;
}

std::vector<CanaryStage> host_stages(const design::Intent& intent, const Neighbours& near,
                                     std::size_t leaf) {
  const std::set<std::size_t>& rack = near.hosts[leaf];
  const std::set<std::size_t> pair(rack.begin(), std::next(rack.begin(), 2));
  const std::set<std::size_t> pod = hosts_below(near, pod_of(near, leaf));
  std::vector<CanaryStage> out = {
      {"pair", host_names(intent, pair), {}, "both ends; their traffic stays between them"}};
  if (rack.size() > 2)
    out.push_back({"rack", host_names(intent, rack), {}, "their traffic stays in the rack"});
  if (pod.size() > rack.size() && pod.size() < intent.hosts.size())
    out.push_back({"pod", host_names(intent, pod), {}, "their traffic stays in the pod"});
  return out;
}

std::vector<CanaryStage> switch_stages(const design::Intent& intent, const Neighbours& near,
                                       std::size_t leaf) {
  std::vector<CanaryStage> out = {
      {"rack",
       host_names(intent, near.hosts[leaf]),
       {intent.switches[leaf].name},
       "one switch, traffic of the hosts below it: thresholds are of all its ports"}};
  const std::set<std::size_t> pod = pod_of(near, leaf);
  if (pod.size() > 1 && pod.size() < intent.switches.size()) {
    CanaryStage stage{"pod", host_names(intent, hosts_below(near, pod)), {}, "traffic in the pod"};
    for (const std::size_t at : pod)
      stage.switches.push_back(intent.switches[at].name);
    out.push_back(std::move(stage));
  }
  return out;
}

// ---- words ----

std::vector<std::string> preflight_lines(const std::string& design) {
  return {
      fmt::format("weir lint {0} && weir prove {0}: no error, lossless", design),
      fmt::format("weir validate {0} on every host, weir validate --switch for every switch: the "
                  "fabric is as designed, or a step would change more than its knob",
                  design),
      "weir verify --microburst: the RDMA class is paused and nothing is lost; watchdogs are on",
      fmt::format("weir snapshot on every host, and weir plan {}: nothing to change. weir apply "
                  "writes its journal from here on",
                  design),
      "a change of one host made with weir apply --confirm-within 60s and left alone is back after "
      "a minute: the way back works",
      "nobody else changes the fabric while a step is measured"};
}

std::vector<std::string> after_lines() {
  return {"2 to 6 hours of the real load, with the rules above",
          "weir render --to systemd of the last fabric.yaml for the hosts: settings of NICs are "
          "lost with the driver",
          "save the configuration of the switches",
          "the last fabric.yaml is the design from now on"};
}

std::string step_name(std::size_t number, const OrderedStep& step) {
  std::string knobs;
  for (const Bought* row : step.rows)
    knobs += (knobs.empty() ? "" : "+") + row->knob;
  return fmt::format("{:02}-{}", number, knobs);
}

}  // namespace

bool RolloutStep::needs_window() const {
  for (const RolloutPart& part : parts)
    for (const NodeChange& node : part.nodes)
      if (node.is_change() &&
          (place == RolloutPlace::kBuffers || (node.live != nullptr && node.live->needs_window())))
        return true;
  return false;
}

bool RolloutStep::is_void() const {
  for (const RolloutPart& part : parts)
    for (const NodeChange& node : part.nodes)
      if (node.is_change()) return false;
  return true;
}

std::vector<CanaryStage> canary_stages(const design::Intent& intent, RolloutPlace place) {
  const Neighbours near = neighbours_of(intent);
  std::vector<CanaryStage> out;
  if (const auto leaf = first_leaf(near))
    out = place == RolloutPlace::kNic ? host_stages(intent, near, *leaf)
                                      : switch_stages(intent, near, *leaf);
  const CanaryStage all = whole_fabric(intent, place);
  const bool is_covered = !out.empty() && (place == RolloutPlace::kNic
                                               ? out.back().hosts.size() == all.hosts.size()
                                               : out.back().switches.size() == all.switches.size());
  if (!is_covered) out.push_back(all);
  return out;
}

Status add_nodes(const ChangeStates& states, RolloutPart& part) {
  const RolloutPlace place = place_of_knob(part.change.knob);
  if (place == RolloutPlace::kNic) {
    for (std::size_t host = 0; host < states.after.hosts.size(); ++host)
      part.nodes.push_back(host_change(states, host, part.change.knob));
    return {};
  }
  for (std::size_t node = 0; node < states.after.switches.size(); ++node) {
    WEIR_TRY(change, switch_change(states, node, place));
    part.nodes.push_back(std::move(change));
  }
  return {};
}

Result<RolloutPlan> plan_rollout(const TuneResult& result, const design::Intent& start) {
  if (result.verdict != Verdict::kTuned || result.bought.empty())
    return invalid_error(fmt::format("nothing to roll out: the tuning says {}. {}",
                                     to_text(result.verdict), result.reason));
  RolloutPlan out;
  out.design = result.design;
  out.objective = result.objective;
  out.gain = result.gain;
  out.preflight = preflight_lines(result.design);
  WEIR_TRY(steps, ordered_steps(result));
  std::vector<std::string> settings;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    RolloutStep step;
    step.name = step_name(i + 1, steps[i]);
    step.place = place_of_knob(steps[i].rows.front()->knob);
    step.why_order = steps[i].why;
    step.forecast = forecast_of(result, steps[i], steps.size() == 1, i + 1 == steps.size());
    step.stages = canary_stages(start, step.place);
    for (const Bought* row : steps[i].rows) {
      settings.push_back(fmt::format("{}={}", row->knob, row->to));
      step.parts.push_back({{row->knob, row->from, row->to}, settings, {}});
    }
    out.steps.push_back(std::move(step));
  }
  add_counters(result, out.counters);
  out.criteria = criteria(finding::Thresholds());
  out.after = after_lines();
  if (result.peer.was_run && !result.peer.agrees)
    out.notes.emplace_back("the gain was not confirmed under the rules of the HPCC simulator");
  for (const std::string& knob : result.peer.unchecked)
    out.notes.push_back(
        fmt::format("{} has no counterpart in the HPCC simulator: its gain is ours "
                    "alone",
                    knob));
  return out;
}

}  // namespace weir::tune
