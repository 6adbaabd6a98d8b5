#pragma once
// What a run returns, in the words of a real fabric: every NIC's facts and counters under the
// names its driver uses, every switch port's, and the flows.
//
// Evidence of a simulation is marked as such (Provenance::simulated). Facts come from what the
// engine was configured with at the end of the run, so a fault that a host would show is shown. A
// hidden cause (a slow PCIe, a bad cable) is in no fact, only in counters, as on a real host.
//
//   counters  from zero: the first snapshot is the start, the second the end of the run
//   flows     messages of the workload, posted to completed; percentiles are exact (nearest rank)
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "design/fabric/intent.h"
#include "evidence/evidence.h"
#include "sim/engine/sim.h"
#include "sim/fabric/placement.h"
#include "sim/workload/flow.h"

namespace weir::sim {

struct Totals {
  std::uint64_t flows = 0;
  std::uint64_t finished = 0;
  std::uint64_t failed = 0;
  CompletionTimes completion;
  double slowdown_mean = 0;  // report only: completion over ideal
  double slowdown_p99 = 0;   // report only
  std::array<std::uint64_t, kDropReasons> drops{};
  std::uint64_t lossless_drops = 0;
  std::uint64_t pauses = 0;  // XOFF announced, all ports
  Duration pause_time;       // summed over ports and priorities
  Bytes deepest_queue;       // of any queue of a switch port, at any time
  std::uint64_t marked = 0;
  std::uint64_t received = 0;  // frames at NICs: what `marked` is a share of
  std::uint64_t cnp_sent = 0;
  std::uint64_t cnp_handled = 0;
  std::uint64_t retransmitted = 0;
  // Of the NICs that receive: wire time over the time of the flows.
  double utilisation = 0;  // report only
  double jain = 1;         // report only: of the finished flows' goodput
  Duration duration;       // first post to last completion, or to the end of the run
};

struct Results {
  std::uint64_t digest = 0;
  std::uint64_t seed = 1;
  Totals totals;
  std::vector<Flow> flows;                // those that were simulated, in the order of posting
  std::vector<Repeat> repeats;            // ranges of them that followed once more, and again
  std::vector<evidence::Evidence> hosts;  // one per host, in the order of the intent
  evidence::Evidence switches;            // the fabric's, all in one
};

/// After a run that was watched until `end`: of an unfinished one that is later than its last
/// event. `intent` is what the network was made from, faults included.
[[nodiscard]] Results collect(const design::Intent& intent, const Placement& placement,
                              const Sim& sim, Time end);
/// Without evidence: for networks that no design made.
[[nodiscard]] Results collect_flows(const Sim& sim, Time end);

/// All flows, the repeated ones with their own times and numbers.
[[nodiscard]] std::vector<Flow> every_flow(const Results& results);

/// Empty where two runs came to the same, digest and every result; else what differs first.
[[nodiscard]] std::string difference(const Results& a, const Results& b);

/// The stable fields of `weir sim --json` that follow from the run: flows, drops, lossless_drops,
/// pfc, ecn, cnp, utilisation, jain, ports, hosts, switches; without evidence the last three are
/// left out.
void add_json(Json& object, const Results& results, bool with_evidence = true);

/// One line per flow.
[[nodiscard]] std::string flows_csv(const Results& results, const Sim& sim);
/// One line per counter that is not zero: host or switch, device, port, key, value.
[[nodiscard]] std::string counters_csv(const Results& results);

}  // namespace weir::sim
