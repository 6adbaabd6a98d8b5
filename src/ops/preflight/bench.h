#pragma once
// The bench of a preflight: its hosts, the loads that it runs on them, the windows around those.
// Internal to this folder.
#include <string>
#include <vector>

#include "diagnose/core/view.h"
#include "ops/preflight/preflight.h"
#include "preflight/schedule.h"
#include "preflight/suspects.h"
#include "sim/workload/workload_spec.h"

namespace weir::ops {

/// What everybody counted around a load.
struct Window {
  std::vector<evidence::Evidence> evidence;
  std::vector<std::string> unseen;
};

/// Simulated time after which a load of a preflight is given up.
inline constexpr Duration kLoadLimit = 100_ms;

class Bench {
 public:
  Bench(const PreflightRequest& request, HostSet set, Fabric fabric)
      : request_(request), set_(std::move(set)), fabric_(std::move(fabric)) {}

  [[nodiscard]] const PreflightRequest& request() const { return request_; }
  [[nodiscard]] const design::Intent& intent() const { return fabric_.intent; }
  [[nodiscard]] const design::Design& design() const { return fabric_.design; }
  [[nodiscard]] HostSet& set() { return set_; }
  [[nodiscard]] bool is_lab() const { return set_.lab.has_value(); }
  [[nodiscard]] std::uint32_t hosts() const {
    return static_cast<std::uint32_t>(fabric_.intent.hosts.size());
  }
  [[nodiscard]] const std::string& name(std::uint32_t host) const {
    return fabric_.intent.hosts[host].name;
  }
  [[nodiscard]] bool is_interrupted() const {
    return request_.is_interrupted && request_.is_interrupted();
  }

  /// A number per host; equal ones have the same NICs at the same speed.
  [[nodiscard]] std::vector<std::uint32_t> kinds() const;

  /// Looks, acts, looks again. An error (kInterrupted too) is the action's.
  [[nodiscard]] Result<Window> watch(const std::function<Status()>& action);
  [[nodiscard]] diagnose::Case subject(const Window& window) const {
    return {
        .evidence = window.evidence, .intent = &fabric_.intent, .thresholds = request_.thresholds};
  }

  /// REQUIRES: a lab.
  [[nodiscard]] Result<lab::LoadOutcome> run(std::vector<sim::WorkloadSpec> workloads,
                                             const std::string& command,
                                             Duration limit = kLoadLimit);
  [[nodiscard]] Result<lab::LoadOutcome> run(const std::vector<std::string>& workloads,
                                             Duration limit = kLoadLimit);
  /// Every pair at once, both ways, on every rail that both hosts have.
  [[nodiscard]] Result<std::vector<preflight::Sample>> exchange(const preflight::Round& round,
                                                                std::uint32_t number);
  /// The same with small messages, one after the other: seconds from the post to the last byte.
  [[nodiscard]] Result<std::vector<double>> latencies(const preflight::Round& round);

 private:
  const PreflightRequest& request_;
  HostSet set_;
  Fabric fabric_;
};

/// Adds what `judgement` found; the state follows from it: failed from the red flag on, open where
/// something that is required could not be judged.
void settle_stage(const PreflightRequest& request, finding::Judgement judgement,
                  preflight::StageResult& stage);

// The stages. Each fills in the state, `why` and what was measured.
[[nodiscard]] Status run_facts(Bench& bench, preflight::StageResult& stage);
[[nodiscard]] Status run_idle(Bench& bench, preflight::StageResult& stage);
[[nodiscard]] Status run_path(Bench& bench, preflight::StageResult& stage);
[[nodiscard]] Status run_pairs(Bench& bench, preflight::StageResult& stage);
[[nodiscard]] Status run_overload(Bench& bench, preflight::StageResult& stage);
[[nodiscard]] Status run_collectives(Bench& bench, preflight::StageResult& stage);
[[nodiscard]] Status run_failure(Bench& bench, preflight::StageResult& stage);
[[nodiscard]] Status run_soak(Bench& bench, preflight::StageResult& stage);

/// What each stage will do, in words with numbers, and which do not apply.
void plan_stages(const Bench& bench, preflight::Report& report);

/// What fails in stage 7: "rail=1", "link=leaf1/swp9"; empty where nothing is redundant.
[[nodiscard]] std::string failure_of(const design::Intent& intent);
/// Who receives in stage 5: the first host below each leaf; of a quick one the first alone.
[[nodiscard]] std::vector<std::string> receivers_of(const design::Intent& intent, bool is_quick);
/// Traffic of other classes that the design knows, as workloads.
[[nodiscard]] std::vector<std::string> background_of(const design::Intent& intent);

}  // namespace weir::ops
