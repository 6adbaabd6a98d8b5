#pragma once
// Samples a running simulation for its RunRecord.
#include <cstdint>
#include <string>
#include <vector>

#include "design/fabric/intent.h"
#include "lab/fabric/run_record.h"
#include "sim/engine/sim.h"
#include "sim/fabric/placement.h"
#include "sim/results/watch.h"

namespace weir::lab {

class Recorder final : public sim::RepeatableWatch {
 public:
  static constexpr std::size_t kMostSamples = 256;
  static constexpr std::size_t kMostPorts = 4;  // of each measure
  static constexpr Duration kFirstInterval = 5_us;

  Recorder(const design::Intent& intent, const sim::Placement& placement)
      : intent_(intent), placement_(placement) {}

  /// Takes a sample where one is due.
  void watch(const sim::Sim& sim, Time now);
  [[nodiscard]] Time next() const override { return last() + interval_; }
  void look(const sim::Sim& sim) override { watch(sim, next()); }
  [[nodiscard]] std::vector<Time> kept_until(Time until) const override;
  void begin_period(const sim::Sim& sim) override;
  void look_ahead(const sim::Sim& sim, Time at, std::uint64_t periods) override;
  void end_period(const sim::Sim& sim, Time until) override;

  /// Forgets what it saw: what follows is counted from now on.
  void begin_at(const sim::Sim& sim, Time now);
  /// Times and curves since the beginning. `end` closes the last interval.
  [[nodiscard]] RunRecord finish(const sim::Sim& sim, Time end);

 private:
  struct PortSample {
    std::uint64_t tx_bytes = 0;
    std::uint64_t drops = 0;
    std::uint64_t marks = 0;
    std::int64_t queue = 0;
    std::int64_t paused = 0;  // ps, all priorities
  };
  struct Moment {
    Time at;
    sim::Table<sim::PortId, PortSample> ports;
    std::vector<std::uint64_t> cnps;  // sent, by NIC in the order of the placement
  };
  struct Ahead {
    Moment moment;  // as at its phase
    std::uint64_t periods = 0;
  };
  /// The times of samples, and the interval, when all up to `until` are taken.
  struct Schedule {
    std::vector<Time> times;
    Duration interval;
  };
  [[nodiscard]] Time last() const { return moments_.empty() ? first_.at : moments_.back().at; }
  [[nodiscard]] Schedule schedule_until(Time until) const;
  [[nodiscard]] Moment sample(const sim::Sim& sim, Time now) const;
  [[nodiscard]] double delta(std::size_t moment, sim::PortId port,  // report only
                             Measure measure) const;
  void add_port_curves(const sim::Sim& sim, Measure measure, RunRecord& out) const;
  void add_rates(const sim::Sim& sim, RunRecord& out) const;
  void add_cnps(RunRecord& out) const;
  void add_marks(const sim::Sim& sim, RunRecord& out) const;
  [[nodiscard]] std::string port_name(const sim::Sim& sim, sim::PortId port) const;

  const design::Intent& intent_;
  const sim::Placement& placement_;
  Duration interval_ = kFirstInterval;
  Moment first_;  // no ports: the start of the simulation
  std::vector<Moment> moments_;
  Moment period_begin_;
  std::vector<Ahead> ahead_;  // samples of repetitions to come, in no order
};

}  // namespace weir::lab
