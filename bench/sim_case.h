#pragma once
// One measured run of the simulator: set-up apart from the run.
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "sim/engine/sim.h"
#include "sim/peer/hpcc.h"

namespace weir::bench {

struct SimCase {
  std::unique_ptr<sim::Sim> sim;
  Time stop;
};

/// `input`: a configuration file of the HPCC simulator, or "rails:N", N hosts of eight NICs each:
/// every rail a leaf-spine fabric of its own, 100 Gb/s, every NIC sending 100 KB to one other of
/// its rail. `model`: "hpcc" or "native".
Result<SimCase> set_up(const std::string& input, const std::string& model, unsigned threads = 1);

/// The part that is measured; a function of its own, so that a profiler can be given its name.
void measured_run(SimCase& run);

/// What shows that DCQCN and the transport were at work: without it the speed means nothing.
struct Congestion {
  std::uint64_t marks = 0;
  std::uint64_t cnps = 0;
  std::uint64_t acks = 0;
  std::uint64_t unfinished = 0;  // messages
};
Congestion congestion_of(const sim::Sim& sim);

/// Events a second of a std::multimap with 128 k of them pending, each followed by another at a
/// random time: the event list that most simulators have, and this machine's measure.
double multimap_rate();

}  // namespace weir::bench
