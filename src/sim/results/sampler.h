#pragma once
// Time series of a run: queues, pauses and throughput of every port, read between slices. Sampling
// pushes no events, so a run with samples has the digest of a run without.
//
// A run may last a millisecond or ten seconds: when there are too many samples, every second one is
// dropped and the interval doubled.
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sim/engine/sim.h"
#include "sim/fault/fault.h"
#include "sim/results/steady.h"
#include "sim/results/watch.h"

namespace weir::sim {

class Sampler {
 public:
  static constexpr std::size_t kMostSamples = 1024;

  explicit Sampler(Duration interval) : interval_(interval) {}

  [[nodiscard]] Time next() const { return Time::at(interval_ * (taken_ + 1)); }
  /// The state at next().
  void take(const Sim& sim);

  /// time_us,node,port,tx_gbps,queue_bytes,paused_us: a line for each port that did something
  /// since the sample before. `queue_bytes` is the level of its fullest queue.
  [[nodiscard]] std::string ports_csv(const Sim& sim) const;
  /// time_us,qp,rate_gbps,delivered_gbps: reaction points of the QPs that delivered something.
  [[nodiscard]] std::string rates_csv(const Sim& sim) const;
  [[nodiscard]] std::size_t size() const { return times_.size(); }

 private:
  struct PortSample {
    std::uint64_t tx_bytes;
    std::uint32_t queue_bytes;
    std::int64_t paused;  // ps, all priorities
  };
  struct QpSample {
    std::int64_t rate;
    std::int64_t delivered;
  };
  void thin_out();

  Duration interval_;
  std::int64_t taken_ = 0;  // samples of the present interval that would have been taken
  std::vector<Time> times_;
  std::vector<Table<PortId, PortSample>> ports_;
  std::vector<Table<QpId, QpSample>> qps_;
};

struct RunPlan {
  Time end = Time::never();
  std::span<const FaultAction> actions;  // in the order of time
  Sampler* sampler = nullptr;
  Watch* watch = nullptr;                    // looks before the actions of its instants
  Steady* steady = nullptr;                  // skips periods that nobody sees
  std::function<void(const Sim&)> progress;  // after every `slice`, and at the end
  Duration slice = 20_us;                    // simulated: often enough for a bar
  std::function<bool()> is_finished;         // nothing more will be posted; absent: no driver does
  std::function<void()> at_rest;             // no frame is left: with Sim::set_stop_at_rest()
};

/// Runs until every message is done or failed, or until `end`; acts and samples on the way.
void run(Sim& sim, const RunPlan& plan);

}  // namespace weir::sim
