#pragma once
// A tuning's result as a plan for a live fabric: one change at a time, the reversible ones first, a
// few hosts before all, each measured against the state before it (tune/judge) and taken back
// unless it is proven. Pure: a result and the states of the design in, a plan out.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "design/fabric/intent.h"
#include "tune/judge/criteria.h"
#include "tune/result.h"
#include "tune/rollout/live_table.h"
#include "tune/rollout/node_change.h"

namespace weir::tune {

struct KnobChange {
  std::string knob;
  std::string from;
  std::string to;
};

/// One change of one knob, on every node that has it.
struct RolloutPart {
  KnobChange change;
  std::vector<std::string> settings;  // "knob=value": this and all before it
  std::vector<NodeChange> nodes;      // filled in by add_nodes()
};

/// What the simulator says of a step.
struct StepForecast {
  Change objective;
  std::string basis;      // "with all other changes in place", "alone, from the start values"
  bool is_exact = false;  // the state that this step ends in was simulated
};

/// Where a step is made first, and where then.
struct CanaryStage {
  std::string name;  // "pair" "rack" "pod" "all"
  std::vector<std::string> hosts;
  std::vector<std::string> switches;
  std::string rule;
};

struct RolloutStep {
  std::string name;  // "01-dcqcn.rpg_time_reset"
  RolloutPlace place = RolloutPlace::kNic;
  std::vector<RolloutPart> parts;  // one; two where thresholds must move in order
  std::string why_order;           // of two parts
  std::optional<StepForecast> forecast;
  std::vector<CanaryStage> stages;

  /// Buffers; or some node stops or disturbs traffic, or it is not known that it does not.
  [[nodiscard]] bool needs_window() const;
  /// No node takes it: its system has no such setting, or rounds it away.
  [[nodiscard]] bool is_void() const;
};

/// A counter before the first step and after the last, over the seeds of one workload.
struct CounterForecast {
  std::string workload;
  std::string_view counter;  // "pauses" "pause share" "mark share" "CNPs" "deepest queue"
  std::string_view unit;
  Spread start;
  Spread chosen;
};

struct RolloutPlan {
  std::string design;
  Objective objective = Objective::kStepTime;
  Change gain;
  std::vector<std::string> preflight;
  std::vector<RolloutStep> steps;
  std::vector<CounterForecast> counters;
  std::vector<Criterion> criteria;  // that end it at once
  std::vector<std::string> after;   // once the last step stays
  std::vector<std::string> notes;
};

/// NICs first (per host, live, reversible), thresholds second, buffers last; within a place by what
/// each bought, most first. Kmin and Kmax are one step of two parts, so that Kmin <= Kmax at every
/// instant. An error where the result changes nothing.
[[nodiscard]] Result<RolloutPlan> plan_rollout(const TuneResult& result,
                                               const design::Intent& start);

/// What a part means on every node. `states` are those before and after the part.
[[nodiscard]] Status add_nodes(const ChangeStates& states, RolloutPart& part);

/// Where a step is made first. Hosts exchange traffic within a stage: senders react, receivers
/// notify, so both ends must have the change.
[[nodiscard]] std::vector<CanaryStage> canary_stages(const design::Intent& intent,
                                                     RolloutPlace place);

}  // namespace weir::tune
