#include "lab/fabric/recorder.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "base/check.h"

namespace weir::lab {
namespace {

/// Three decimals are more than a plot shows, and keep the file small.
double rounded(double value) {
  return std::round(value * 1000) / 1000;
}

/// Every second one is kept, from the second on, so that those left are as far apart as the next.
template <class Item>
void thin_out(std::vector<Item>& items, Duration& interval) {
  std::size_t kept = 0;
  for (std::size_t i = 1; i < items.size(); i += 2, ++kept)
    items[kept] = std::move(items[i]);
  items.resize(kept);
  interval = interval * 2;
}

}  // namespace

Recorder::Moment Recorder::sample(const sim::Sim& sim, Time now) const {
  Moment out;
  out.at = now;
  out.ports.resize(sim.port_count());
  for (const sim::PortId p : sim.ports()) {
    PortSample& sample = out.ports[p];
    const sim::PortCounters& counters = sim.port_counters(p);
    sample.tx_bytes = counters.tx_bytes;
    sample.marks = counters.marked;
    sample.drops = std::accumulate(counters.drops.begin(), counters.drops.end(), std::uint64_t{0});
    for (unsigned i = 0; i < 8; ++i) {
      sample.queue = std::max(sample.queue, sim.queue_bytes(p, i));
      sample.paused += sim.paused_for(p, i);
    }
  }
  for (const auto& rails : placement_.nics)
    for (const sim::NodeId node : rails)
      out.cnps.push_back(sim.nic_counters(node).cnp_sent);
  return out;
}

void Recorder::watch(const sim::Sim& sim, Time now) {
  if (now < next()) return;
  moments_.push_back(sample(sim, now));
  if (moments_.size() >= kMostSamples) thin_out(moments_, interval_);
}

void Recorder::begin_at(const sim::Sim& sim, Time now) {
  first_ = sample(sim, now);
  moments_.clear();
  interval_ = kFirstInterval;
}

// ---- exact replay

Recorder::Schedule Recorder::schedule_until(Time until) const {
  Schedule out{{}, interval_};
  for (const Moment& moment : moments_)
    out.times.push_back(moment.at);
  for (Time at = last() + out.interval; at <= until; at = out.times.back() + out.interval) {
    out.times.push_back(at);
    if (out.times.size() >= kMostSamples) thin_out(out.times, out.interval);
  }
  return out;
}

std::vector<Time> Recorder::kept_until(Time until) const {
  return schedule_until(until).times;
}

void Recorder::begin_period(const sim::Sim& sim) {
  period_begin_ = sample(sim, Time());
  ahead_.clear();
}

void Recorder::look_ahead(const sim::Sim& sim, Time at, std::uint64_t periods) {
  ahead_.push_back({sample(sim, at), periods});
}

/// A period that repeats is plain traffic: of what is sampled, only bytes sent are counted on.
void Recorder::end_period(const sim::Sim& sim, Time until) {
  Schedule schedule = schedule_until(until);
  const Moment end = sample(sim, until);
  for (Ahead& ahead : ahead_) {
    for (const sim::PortId p : ahead.moment.ports.ids())
      ahead.moment.ports[p].tx_bytes +=
          (end.ports[p].tx_bytes - period_begin_.ports[p].tx_bytes) * ahead.periods;
    moments_.push_back(std::move(ahead.moment));
  }
  ahead_.clear();
  std::sort(moments_.begin(), moments_.end(),
            [](const Moment& a, const Moment& b) { return a.at < b.at; });
  std::erase_if(moments_, [&](const Moment& moment) {
    return !std::binary_search(schedule.times.begin(), schedule.times.end(), moment.at);
  });
  WEIR_CHECK(moments_.size() == schedule.times.size());
  interval_ = schedule.interval;
}

double Recorder::delta(std::size_t moment, sim::PortId port, Measure measure) const {
  static const PortSample kZero;
  const PortSample& now = moments_[moment].ports[port];
  const Moment& earlier = moment == 0 ? first_ : moments_[moment - 1];
  const PortSample& before = earlier.ports.empty() ? kZero : earlier.ports[port];
  const auto span = static_cast<double>((moments_[moment].at - earlier.at).raw());
  switch (measure) {
    case Measure::kQueue: return static_cast<double>(now.queue);
    case Measure::kPauseTime: return static_cast<double>(now.paused - before.paused) / 1e6;
    case Measure::kRate: return static_cast<double>(now.tx_bytes - before.tx_bytes) * 8000 / span;
    case Measure::kDrops: return static_cast<double>(now.drops - before.drops);
    case Measure::kMarks: return static_cast<double>(now.marks - before.marks);
    case Measure::kCnps: break;
  }
  WEIR_UNREACHABLE("CNPs are counted per NIC");
}

std::string Recorder::port_name(const sim::Sim& sim, sim::PortId port) const {
  const sim::NodeId node = sim.node_of(port);
  for (std::size_t s = 0; s < placement_.switches.size(); ++s)
    if (placement_.switches[s] == node)
      return fmt::format("{} {}", intent_.switches[s].name,
                         intent_.switches[s].ports[sim.local_port(port)].name);
  for (std::size_t h = 0; h < placement_.nics.size(); ++h)
    for (std::size_t r = 0; r < placement_.nics[h].size(); ++r)
      if (placement_.nics[h][r] == node)
        return fmt::format("{} {}", intent_.hosts[h].name, intent_.hosts[h].nics[r].device);
  return sim.network().nodes[node].name;
}

/// The curve of the fabric (the sum, or the fullest queue), then those of the ports with the most.
void Recorder::add_port_curves(const sim::Sim& sim, Measure measure, RunRecord& out) const {
  Curve whole{measure, "", {}};
  std::vector<std::pair<double, sim::PortId>> most;
  for (const sim::PortId p : sim.ports())
    most.emplace_back(0, p);
  for (std::size_t m = 0; m < moments_.size(); ++m) {
    double all = 0;
    for (auto& [sum, port] : most) {
      const double value = delta(m, port, measure);
      sum = measure == Measure::kQueue ? std::max(sum, value) : sum + value;
      all = measure == Measure::kQueue ? std::max(all, value) : all + value;
    }
    whole.values.push_back(rounded(all));
  }
  out.curves.push_back(std::move(whole));
  const std::size_t count = std::min(kMostPorts, most.size());
  std::partial_sort(most.begin(), most.begin() + static_cast<std::ptrdiff_t>(count), most.end(),
                    [](const auto& a, const auto& b) {
                      return a.first != b.first ? a.first > b.first : a.second < b.second;
                    });
  for (std::size_t i = 0; i < count && most[i].first > 0; ++i) {
    Curve curve{measure, port_name(sim, most[i].second), {}};
    for (std::size_t m = 0; m < moments_.size(); ++m)
      curve.values.push_back(rounded(delta(m, most[i].second, measure)));
    out.curves.push_back(std::move(curve));
  }
}

/// The sum of what the NICs of a rail send.
void Recorder::add_rates(const sim::Sim& sim, RunRecord& out) const {
  std::size_t rails = 0;
  for (const auto& host : placement_.nics)
    rails = std::max(rails, host.size());
  for (std::size_t rail = 0; rail < rails; ++rail) {
    Curve curve{Measure::kRate, fmt::format("rail {}", rail), {}};
    for (std::size_t m = 0; m < moments_.size(); ++m) {
      double sum = 0;
      for (const auto& host : placement_.nics)
        if (rail < host.size()) sum += delta(m, sim.port_of(host[rail], 0), Measure::kRate);
      curve.values.push_back(rounded(sum));
    }
    out.curves.push_back(std::move(curve));
  }
}

void Recorder::add_cnps(RunRecord& out) const {
  Curve curve{Measure::kCnps, "", {}};
  auto before = std::accumulate(first_.cnps.begin(), first_.cnps.end(), std::uint64_t{0});
  for (const Moment& moment : moments_) {
    const std::uint64_t sent =
        std::accumulate(moment.cnps.begin(), moment.cnps.end(), std::uint64_t{0});
    curve.values.push_back(static_cast<double>(sent - before));
    before = sent;
  }
  out.curves.push_back(std::move(curve));
}

void Recorder::add_marks(const sim::Sim& sim, RunRecord& out) const {
  Curve curve{Measure::kMarks, "", {}};
  for (std::size_t m = 0; m < moments_.size(); ++m) {
    double sum = 0;
    for (const sim::PortId p : sim.ports())
      sum += delta(m, p, Measure::kMarks);
    curve.values.push_back(sum);
  }
  out.curves.push_back(std::move(curve));
}

RunRecord Recorder::finish(const sim::Sim& sim, Time end) {
  if (moments_.empty() || moments_.back().at < end) moments_.push_back(sample(sim, end));
  RunRecord out;
  out.elapsed = end - first_.at;
  for (const Moment& moment : moments_)
    out.times.push_back(moment.at - first_.at);
  for (const Measure measure : {Measure::kQueue, Measure::kPauseTime, Measure::kDrops})
    add_port_curves(sim, measure, out);
  add_rates(sim, out);
  add_cnps(out);
  add_marks(sim, out);
  return out;
}

}  // namespace weir::lab
