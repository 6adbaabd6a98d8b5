#include "sim/results/sampler.h"

#include <algorithm>

#include <fmt/format.h>

namespace weir::sim {
namespace {

double gbps(std::int64_t bytes, Duration span) {
  return span.raw() == 0 ? 0 : static_cast<double>(bytes) * 8000 / static_cast<double>(span.raw());
}

double sampled_microseconds(Ps ps) {
  return static_cast<double>(ps) / 1e6;
}

std::int64_t fullest_queue(const Sim& sim, PortId port) {
  std::int64_t most = 0;
  for (std::uint32_t queue = 0; queue < 8; ++queue)
    most = std::max(most, sim.queue_bytes(port, queue));
  return most;
}

Ps paused_in_all(const Sim& sim, PortId port) {
  Ps sum = 0;
  for (unsigned priority = 0; priority < 8; ++priority)
    sum += sim.paused_for(port, priority);
  return sum;
}

bool is_idle(const Sim& sim) {
  return sim.open_messages() == 0 && sim.live_frames() == 0;
}

/// Runs up to `stop`. False when nothing is left to do.
bool run_slice(Sim& sim, const RunPlan& plan, Time stop) {
  for (;;) {
    if (is_idle(sim)) {
      if (!plan.is_finished || plan.is_finished()) return false;
      // A driver computes: its next call is an event.
      const Ps next = sim.next_event();
      if (next == kNever) return false;
      if (next >= stop.since_start().raw()) return true;
      sim.run_until(Time::at(Duration::raw(next + 1)));
      continue;
    }
    if (plan.at_rest && sim.live_frames() == 0) {
      plan.at_rest();
      if (is_idle(sim)) continue;
    }
    const Ps next = sim.next_event();
    if (next == kNever || sim.is_replay_in_doubt()) return false;
    if (next >= stop.since_start().raw()) return true;
    sim.run(stop);
    const bool is_at_rest = plan.at_rest && sim.live_frames() == 0;
    if (!is_idle(sim) && !is_at_rest) return true;
  }
}

/// What was skipped needs no slices.
Time next_slice_after(const Sim& sim, const RunPlan& plan, Time stop) {
  const Duration slice =
      plan.steady != nullptr ? std::min(plan.slice, plan.steady->slice()) : plan.slice;
  return std::max(stop, Time::at(Duration::raw(std::max<Ps>(sim.now(), 0)))) + slice;
}

}  // namespace

void Sampler::take(const Sim& sim) {
  times_.push_back(next());
  ++taken_;
  Table<PortId, PortSample>& ports = ports_.emplace_back();
  ports.reserve(sim.port_count());
  for (const PortId p : sim.ports())
    ports.push_back({sim.port_counters(p).tx_bytes,
                     static_cast<std::uint32_t>(fullest_queue(sim, p)), paused_in_all(sim, p)});
  Table<QpId, QpSample>& qps = qps_.emplace_back();
  qps.reserve(sim.network().qps.size());
  for (const QpId q : sim.network().qps.ids())
    qps.push_back({sim.qp_rate(q), sim.qp_delivered(q)});
  if (times_.size() >= kMostSamples) thin_out();
}

void Sampler::thin_out() {
  std::size_t kept = 0;
  for (std::size_t i = 1; i < times_.size(); i += 2, ++kept) {
    times_[kept] = times_[i];
    ports_[kept] = std::move(ports_[i]);
    qps_[kept] = std::move(qps_[i]);
  }
  times_.resize(kept);
  ports_.resize(kept);
  qps_.resize(kept);
  interval_ = interval_ * 2;
  taken_ /= 2;
}

std::string Sampler::ports_csv(const Sim& sim) const {
  std::string text = "time_us,node,port,tx_gbps,queue_bytes,paused_us\n";
  for (std::size_t i = 0; i < times_.size(); ++i) {
    const Duration span = i == 0 ? times_[0].since_start() : times_[i] - times_[i - 1];
    for (const PortId p : ports_[i].ids()) {
      const PortSample& now = ports_[i][p];
      const PortSample before = i == 0 ? PortSample{} : ports_[i - 1][p];
      const auto sent = static_cast<std::int64_t>(now.tx_bytes - before.tx_bytes);
      const Ps paused = now.paused - before.paused;
      if (sent == 0 && now.queue_bytes == 0 && paused == 0) continue;
      text += fmt::format("{:.3f},{},{},{:.3f},{},{:.3f}\n",
                          sampled_microseconds(times_[i].since_start().raw()),
                          sim.network().nodes[sim.node_of(p)].name, sim.local_port(p),
                          gbps(sent, span), now.queue_bytes, sampled_microseconds(paused));
    }
  }
  return text;
}

std::string Sampler::rates_csv(const Sim& sim) const {
  std::string text = "time_us,qp,source,target,rate_gbps,delivered_gbps\n";
  const Network& network = sim.network();
  for (std::size_t i = 0; i < times_.size(); ++i) {
    const Duration span = i == 0 ? times_[0].since_start() : times_[i] - times_[i - 1];
    for (const QpId q : qps_[i].ids()) {
      const std::int64_t delivered = qps_[i][q].delivered - (i == 0 ? 0 : qps_[i - 1][q].delivered);
      if (delivered == 0) continue;
      const QueuePair& qp = network.qps[q];
      text += fmt::format("{:.3f},{},{},{},{:.3f},{:.3f}\n",
                          sampled_microseconds(times_[i].since_start().raw()), to_index(q),
                          network.nodes[qp.source].name, network.nodes[qp.target].name,
                          static_cast<double>(qps_[i][q].rate) / 1e9, gbps(delivered, span));
    }
  }
  return text;
}

void run(Sim& sim, const RunPlan& plan) {
  std::size_t action = 0;
  Time next_slice = Time::at(plan.slice);
  for (;;) {
    Time stop = plan.end;
    if (action < plan.actions.size()) stop = std::min(stop, plan.actions[action].at);
    if (plan.sampler != nullptr) stop = std::min(stop, plan.sampler->next());
    if (plan.watch != nullptr) stop = std::min(stop, plan.watch->next());
    if (plan.steady != nullptr) plan.steady->look(stop);
    if (plan.progress || plan.steady != nullptr) stop = std::min(stop, next_slice);
    const bool goes_on = run_slice(sim, plan, stop);
    if (plan.progress && (stop == next_slice || !goes_on)) plan.progress(sim);
    if (stop == next_slice) next_slice = next_slice_after(sim, plan, stop);
    if (!goes_on) return;
    if (plan.watch != nullptr && plan.watch->next() == stop) plan.watch->look(sim);
    while (action < plan.actions.size() && plan.actions[action].at <= stop)
      act(sim, plan.actions[action++]);
    if (plan.sampler != nullptr && plan.sampler->next() == stop) plan.sampler->take(sim);
    if (stop == plan.end) return;
  }
}

}  // namespace weir::sim
