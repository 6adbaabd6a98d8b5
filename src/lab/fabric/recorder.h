#pragma once
// Samples a running simulation for its RunRecord.
#include <cstdint>
#include <string>
#include <vector>

#include "design/fabric/intent.h"
#include "lab/fabric/run_record.h"
#include "sim/engine/sim.h"
#include "sim/fabric/placement.h"

namespace weir::lab {

class Recorder {
 public:
  static constexpr std::size_t kMostSamples = 256;
  static constexpr std::size_t kMostPorts = 4;  // of each measure
  static constexpr Duration kFirstInterval = 5_us;

  Recorder(const design::Intent& intent, const sim::Placement& placement)
      : intent_(intent), placement_(placement) {}

  /// Called at every multiple of kFirstInterval; takes a sample where one is due.
  void watch(const sim::Sim& sim, Time now);
  /// Forgets what it saw: what follows is counted from now on.
  void begin_at(const sim::Sim& sim, Time now);
  /// Times and curves since the beginning. `end` closes the last interval.
  [[nodiscard]] RunRecord finish(const sim::Sim& sim, Time end);

 private:
  struct PortSample {
    std::uint64_t tx_bytes = 0;
    std::uint64_t drops = 0;
    std::int64_t queue = 0;
    std::int64_t paused = 0;  // ps, all priorities
  };
  struct Moment {
    Time at;
    sim::Table<sim::PortId, PortSample> ports;
    std::vector<std::uint64_t> cnps;  // sent, by NIC in the order of the placement
  };
  [[nodiscard]] Moment look(const sim::Sim& sim, Time now) const;
  void thin_out();
  [[nodiscard]] double delta(std::size_t moment, sim::PortId port,  // report only
                             Measure measure) const;
  void add_port_curves(const sim::Sim& sim, Measure measure, RunRecord& out) const;
  void add_rates(const sim::Sim& sim, RunRecord& out) const;
  void add_cnps(RunRecord& out) const;
  [[nodiscard]] std::string port_name(const sim::Sim& sim, sim::PortId port) const;

  const design::Intent& intent_;
  const sim::Placement& placement_;
  Duration interval_ = kFirstInterval;
  Moment first_;  // no ports: the start of the simulation
  std::vector<Moment> moments_;
};

}  // namespace weir::lab
