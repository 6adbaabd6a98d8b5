#include "sim/results/simulate.h"

#include <algorithm>
#include <ctime>

#include <sys/resource.h>

#include "base/check.h"
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
    const auto done = static_cast<double>(sim.messages().size() - sim.open_messages());
    const double of_messages = messages == 0 ? 0 : done / static_cast<double>(messages);
    const double of_time = static_cast<double>(sim.now()) / static_cast<double>(limit.raw());
    progress(std::max(of_messages, of_time));
  };
}

}  // namespace

Result<Outcome> simulate(const Experiment& experiment, const RunProgress& progress) {
  const double begin = cpu_seconds();
  design::Intent intent = experiment.intent;
  for (const Fault& fault : experiment.faults)
    WEIR_TRY_STATUS(apply_to_intent(fault, intent));
  WEIR_TRY(fabric,
           build_network(*experiment.design, intent, {experiment.seed, experiment.replica}));
  WEIR_TRY(load, Workloads::add(fabric, experiment.workloads));
  const Placement placement = placement_of(intent, fabric.network);
  std::vector<FaultAction> actions;
  for (const Fault& fault : experiment.faults)
    WEIR_TRY_STATUS(apply_to_network(fault, intent, placement, fabric.network, actions));
  Outcome out;
  out.notes = fabric.notes;
  WEIR_TRY(sim, Sim::make(std::move(fabric.network)));
  out.sim = std::move(sim);
  out.sim->set_observer(experiment.observer);
  if (experiment.on_made) experiment.on_made(*out.sim);
  load->start(*out.sim);
  if (experiment.sample_every.raw() > 0) out.samples.emplace(experiment.sample_every);
  const double ready = cpu_seconds();
  run(*out.sim, {.end = Time::at(experiment.limit),
                 .actions = actions,
                 .sampler = out.samples ? &*out.samples : nullptr,
                 .progress = share_done(progress, load->message_count(), experiment.limit),
                 .is_finished = [&load] { return load->finished(); }});
  out.perf = {out.sim->hops(),       out.sim->data_hops(), out.sim->events(),
              cpu_seconds() - ready, ready - begin,        0};
  const Status sound = out.sim->audit();
  if (!sound) check_failed(__FILE__, __LINE__, sound.error().what);
  out.is_finished = load->finished();
  out.workloads = load->results();
  const bool is_over = out.sim->open_messages() == 0 && out.is_finished;
  out.results = collect(intent, placement, *out.sim,
                        Time::at(is_over ? Duration::raw(out.sim->now()) : experiment.limit));
  out.perf.max_rss_bytes = max_rss_bytes();
  return out;
}

}  // namespace weir::sim
