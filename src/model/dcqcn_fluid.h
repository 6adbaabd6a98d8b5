#pragma once
// The fluid model of DCQCN: where the queue settles, whether it settles at all, and how it swings.
//
// Zhu et al., SIGCOMM 2015 sec. 5; per-flow form of Zhu et al., CoNEXT 2016 fig. 1. N equal flows,
// one bottleneck, marking at dequeue, constant loop delay; no hyper increase, no PFC. Rates in
// packets per second inside, quantities with units outside.
//
// How far to trust it. The fixed point's queue holds for every parameter set; a packet system
// sits 1.05 to 1.55 times higher for the paper's parameters and within 6 % for ConnectX ones.
// Stability and the integration hold only where alpha moves no faster than CNPs come
// (is_stability_meaningful()): with ConnectX timers the symmetric model swings where real flows,
// out of step, do not.
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/wred.h"
#include "units/quantity.h"

namespace weir::model {

struct FluidParameters {
  BitRate rate;  // of the bottleneck
  int flows = 2;
  Bytes mtu = 1000_B;         // one packet: marking is per packet, so the queue scales with it
  Duration cnp_interval;      // tau: at most one CNP per flow in this time
  Duration alpha_period;      // tau': alpha decays after this long without a CNP
  Duration increase_timer;    // T
  Bytes byte_counter;         // B; kNoByteCounter where there is none
  int fast_recovery = 5;      // F
  double gain = 1.0 / 256;    // g
  BitRate additive_increase;  // R_AI
  WredCurve wred;
};

inline constexpr Bytes kNoByteCounter = Bytes::raw(1'000'000'000'000'000);  // 1e15 B: never fires

/// All positive, gain <= 1, Kmin < Kmax, flows <= kMaxFluidFlows.
[[nodiscard]] Status validate(const FluidParameters&);
inline constexpr int kMaxFluidFlows = 1'000'000;

// ---- named sets ----

/// A published set. Thresholds are given at `reference` and, where `scales_thresholds`, grow
/// linearly with the rate; so does R_AI where `scales_increase` (reference 25G in both artefacts
/// that do).
struct FluidSet {
  std::string_view name;
  std::string_view title;
  std::string_view source;
  FluidParameters at_reference;  // its `rate` is the reference
  bool scales_thresholds;
  bool scales_increase;
};
[[nodiscard]] std::span<const FluidSet> fluid_sets();
[[nodiscard]] Result<FluidParameters> fluid_parameters(std::string_view set, BitRate rate,
                                                       int flows);

// ---- fixed point ----

/// Beyond Pmax the ramp has no equilibrium; the queue parks or chatters at Kmax, where marking
/// jumps to 1.
enum class FluidRegime : std::uint8_t { kRamp, kKmaxStep };
[[nodiscard]] std::string_view to_text(FluidRegime);  // "ramp" "KMAX-STEP"

struct FluidFixedPoint {
  FluidRegime regime = FluidRegime::kRamp;
  double mark_probability = 0;  // p*, by bisection
  double cube_root = 0;         // closed form of the paper: scaling laws only, 19-58 % too high
  double alpha = 0;
  double rate_bps = 0;          // Rc* = C/N
  double target_bps = 0;        // Rt*
  double queue_bytes = 0;       // q*, or Kmax in the KMAX-STEP regime
  double ramp_queue_bytes = 0;  // where q* would be, were the ramp long enough
  double queue_delay_s = 0;
  double cut_interval_s = 0;  // mean time between rate cuts of a flow
};

/// REQUIRES (here and below): validate() accepts the parameters.
[[nodiscard]] FluidFixedPoint fixed_point(const FluidParameters&);

/// The most flows whose equilibrium lies on the ramp (p* <= Pmax), whatever `flows` says; 0 = not
/// even one; nullopt = kMaxFluidFlows still have one.
[[nodiscard]] std::optional<int> most_flows_on_ramp(const FluidParameters&);

// ---- stability ----

[[nodiscard]] bool is_stability_meaningful(const FluidParameters&);

/// Loop delay up to which the equilibrium is stable, by exact linearisation of the delay equations
/// (Mikhailov's count of roots). 0 = unstable without any delay; nullopt = stable beyond 5 ms.
/// In the KMAX-STEP regime it is the margin of the ramp, were it long enough.
[[nodiscard]] std::optional<Duration> delay_margin(const FluidParameters&);

/// The authors' own phase margin in degrees: small-p transfer function, p* from the cube root
/// (CoNEXT 2016, stability.m). Kept to compare with their figures; it calls some stable systems
/// unstable. nullopt = the gain never crosses 1.
[[nodiscard]] std::optional<double> authors_phase_margin(const FluidParameters&,
                                                         Duration loop_delay);

// ---- integration ----

struct FluidRun {
  Duration loop_delay = 4_us;  // mark to cut
  Duration duration = 100_ms;
  Duration step;          // 0 = a quarter of the delay, 0.2 to 1 us
  Duration sample_every;  // 0 = no samples
};

struct FluidSample {
  double time_s;
  double queue_bytes;
  double rate_bps;  // of one flow
  double target_bps;
  double alpha;
};

/// All flows start at line rate with alpha 1 and an empty queue. Means are over the last fifth.
struct FluidOutcome {
  double queue_mean_bytes = 0;
  double queue_min_bytes = 0;
  double queue_max_bytes = 0;
  double utilisation = 0;
  double start_peak_bytes = 0;
  std::optional<double> first_empty_s;  // the start-up queue has drained
  std::optional<double> period_s;       // of a swing wider than a twentieth of the mean
  std::vector<FluidSample> samples;
};
/// Heun's method at a fixed step. REQUIRES: no negative time, duration > 0.
[[nodiscard]] FluidOutcome integrate(const FluidParameters&, const FluidRun&);

// ---- the table of `calc wred` ----

struct FluidRow {
  int flows = 0;
  FluidFixedPoint fixed;
  double utilisation = 1;          // 1 at an equilibrium: the flows' rates add up to the link's
  std::optional<Duration> margin;  // see delay_margin(); only where is_stability_meaningful()
  std::optional<FluidOutcome>
      swinging;  // integrated where the margin is exceeded or the ramp too short
};
/// `loop_delay` decides whether an equilibrium is reached; where it is not, the row is integrated
/// (only where that is meaningful) and `utilisation` is the integration's.
[[nodiscard]] std::vector<FluidRow> fluid_table(const FluidParameters&, std::span<const int> flows,
                                                Duration loop_delay);

}  // namespace weir::model
