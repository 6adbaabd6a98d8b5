#pragma once
// The single bottleneck of the DCQCN papers: N senders, one switch, one receiver, no PFC, packet by
// packet; beside it the fluid model's fixed point. What a packet is, is kept as simple as there:
// MTU bytes on the wire, nothing more; the loop is 2 us to the queue and `loop_delay` from the mark
// to the sender.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/dcqcn_fluid.h"
#include "sim/fabric/network.h"

namespace weir::sim {

enum class StartAt : std::uint8_t { kLineRate, kFairShare };  // fair: 1.05 times the fair share

struct FidelityCase {
  std::string set = "paper_ext";  // of model::fluid_sets()
  BitRate rate = 40_Gbps;
  int flows = 2;
  Bytes mtu;  // 0: the set's own
  Duration duration = 1_s;
  Duration warm_up = 300_ms;  // not measured
  Duration loop_delay = 4_us;
  StartAt start = StartAt::kLineRate;
  MarkAt mark_at = MarkAt::kDequeue;
  std::uint64_t seed = 1;
  std::optional<model::FluidParameters> parameters;  // instead of the set's: one knob changed
  std::optional<Duration> second_half_joins;         // half of the flows start only then
  Duration sample_every;                             // 0: no samples of the rates
};

struct FidelityResult {
  double queue_mean_kb = 0;       // report only: KB = 1000 B, time-weighted
  double queue_sd_kb = 0;         // report only
  double queue_min_kb = 0;        // report only
  double queue_max_kb = 0;        // report only
  double utilisation = 0;         // report only
  double jain = 0;                // report only
  double mark_probability = 0;    // report only
  double cnp_per_flow_per_s = 0;  // report only
  double fluid_queue_kb = 0;      // report only
  std::vector<double> flow_gbps;  // report only: mean over what was measured
  // By sample, by flow: what the reaction points allow.
  std::vector<std::vector<double>> rate_gbps;  // report only
  std::uint64_t hops = 0;
  std::uint64_t digest = 0;
};

[[nodiscard]] Result<FidelityResult> dcqcn_fidelity(const FidelityCase& what);

/// The reaction point that a fluid set stands for.
[[nodiscard]] DcqcnConfig reaction_point_of(const std::string& set,
                                            const model::FluidParameters& parameters);

/// Jain's index: 1 when all are equal, 1/n when one has everything.
[[nodiscard]] double jain_index(const std::vector<double>& values);  // report only

}  // namespace weir::sim
