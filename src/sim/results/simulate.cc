#include "sim/results/simulate.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include <fmt/format.h>
#include <sys/resource.h>

#include "base/check.h"
#include "base/text.h"
#include "sim/fabric/from_design.h"

namespace weir::sim {

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);  // others may simulate beside this one
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::uint64_t max_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;  // Linux counts KiB
}

namespace {

std::function<void(const Sim&)> share_done(const RunProgress& progress, std::size_t messages,
                                           Duration limit) {
  if (!progress) return {};
  return [&progress, messages, limit](const Sim& sim) {
    const auto done = static_cast<double>(sim.message_count() - sim.open_messages());
    const double of_messages = messages == 0 ? 0 : done / static_cast<double>(messages);
    const double of_time = static_cast<double>(sim.now()) / static_cast<double>(limit.raw());
    progress(std::max(of_messages, of_time));
  };
}

/// Why an experiment is simulated step by step, whatever its workloads; empty: it need not be.
std::string_view needs_every_step(const Experiment& experiment,
                                  const std::vector<FaultAction>& actions) {
  if (!experiment.replays) return "it is switched off";
  if (experiment.sample_every.raw() > 0) return "time series are sampled";
  return actions.empty() ? "" : "a fault begins or ends during the run";
}

Error out_of_room(const Workloads& load, std::string_view why) {
  return invalid_error(fmt::format(
      "{} messages are more than a run can keep ({}), and the steps cannot be replayed: {}; choose "
      "fewer steps or hosts, or fewer and larger messages",
      with_thousands(static_cast<std::int64_t>(load.message_count())),
      with_thousands(static_cast<std::int64_t>(kMostMessages)), why));
}

/// None: a replay is in doubt, and the run must be done without.
Result<std::optional<Outcome>> simulate_as_told(const Experiment& experiment,
                                                const RunProgress& progress) {
  const double begin = cpu_seconds();
  design::Intent intent = experiment.intent;
  for (const Fault& fault : experiment.faults)
    WEIR_TRY_STATUS(apply_to_intent(fault, intent));
  WEIR_TRY(fabric,
           build_network(*experiment.design, intent, {experiment.seed, experiment.replica}));
  const Placement placement = placement_of(intent, fabric.network);
  WEIR_TRY(load, Workloads::add(fabric, experiment.workloads, experiment.replays));
  std::vector<FaultAction> actions;
  for (const Fault& fault : experiment.faults)
    WEIR_TRY_STATUS(apply_to_network(fault, intent, placement, fabric.network, actions));
  Outcome out;
  out.notes = fabric.notes;
  out.notes.insert(out.notes.end(), load->notes().begin(), load->notes().end());
  // Frames are written down in their order, and a fault may change every path.
  const bool is_one = experiment.observer != nullptr || !actions.empty();
  WEIR_TRY(sim,
           Sim::make(std::move(fabric.network), load->threads(is_one ? 1 : experiment.threads)));
  out.sim = std::move(sim);
  out.sim->set_observer(experiment.observer);
  if (experiment.on_made) experiment.on_made(*out.sim);
  load->start(*out.sim);
  if (experiment.sample_every.raw() > 0) out.samples.emplace(experiment.sample_every);
  const Time end = Time::at(experiment.limit);
  out.replay.why_not = needs_every_step(experiment, actions);
  std::optional<Replay> replay;
  std::optional<Steady> steady;
  if (out.replay.why_not.empty()) {
    replay.emplace(*out.sim, *load, end);
    steady.emplace(*out.sim);
  }
  const double ready = cpu_seconds();
  run(*out.sim, {.end = end,
                 .actions = actions,
                 .sampler = out.samples ? &*out.samples : nullptr,
                 .steady = steady ? &*steady : nullptr,
                 .progress = share_done(progress, load->message_count(), experiment.limit),
                 .is_finished = [&load] { return load->finished(); },
                 .at_rest = replay && replay->is_on() ? [&] { replay->at_rest(); }
                                                      : std::function<void()>()});
  if (replay) out.replay = replay->report();
  if (steady) out.replay.steady_hops = steady->hops();
  if (replay && replay->must_be_undone()) return std::optional<Outcome>();
  if (load->is_out_of_room()) return out_of_room(*load, out.replay.why_not);
  out.perf = {out.sim->hops(),       out.sim->data_hops(), out.sim->events(),
              cpu_seconds() - ready, ready - begin,        0};
  const Status sound = out.sim->audit();
  if (!sound) check_failed(__FILE__, __LINE__, sound.error().what);
  out.is_finished = load->finished();
  out.workloads = load->results();
  if (experiment.keeps_rank_times) out.rank_times = load->rank_times();
  const bool is_over = out.sim->open_messages() == 0 && out.is_finished;
  out.results = collect(intent, placement, *out.sim,
                        Time::at(is_over ? Duration::raw(out.sim->now()) : experiment.limit));
  out.perf.max_rss_bytes = max_rss_bytes();
  out.perf.replayed_hops = out.replay.hops + out.replay.steady_hops;
  return std::optional<Outcome>(std::move(out));
}

}  // namespace

std::string difference(const Outcome& a, const Outcome& b) {
  if (std::string found = difference(a.results, b.results); !found.empty()) return found;
  if (a.perf.hops != b.perf.hops || a.perf.data_hops != b.perf.data_hops) return "hops";
  if (a.is_finished != b.is_finished || a.workloads.size() != b.workloads.size()) return "end";
  for (std::size_t w = 0; w < a.workloads.size(); ++w) {
    const WorkloadResult& left = a.workloads[w];
    const WorkloadResult& right = b.workloads[w];
    const bool is_same = left.messages == right.messages && left.completed == right.completed &&
                         left.failed == right.failed && left.bytes == right.bytes &&
                         left.finished == right.finished && left.steps == right.steps &&
                         left.completion == right.completion &&
                         left.bus_bandwidth == right.bus_bandwidth;
    if (!is_same) return fmt::format("workload {}", left.label);
  }
  return "";
}

Result<Outcome> simulate(const Experiment& experiment, const RunProgress& progress) {
  WEIR_TRY(outcome, simulate_as_told(experiment, progress));
  if (outcome) return std::move(*outcome);
  Experiment again = experiment;
  again.replays = false;
  WEIR_TRY(without, simulate_as_told(again, progress));
  WEIR_CHECK(without.has_value());
  without->replay.why_not =
      "after steps that were replayed there was a time-out, or the run was cut off";
  return std::move(*without);
}

}  // namespace weir::sim
