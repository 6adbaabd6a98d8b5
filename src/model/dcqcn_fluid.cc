#include "model/dcqcn_fluid.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "model/dcqcn_fluid_equations.h"
#include "units/format.h"

namespace weir::model {
namespace {

using fluid::Packets;
using fluid::State;

constexpr WredCurve kHpccAt25 = {100_KB, 400_KB, 20_percent};
constexpr Bytes kConnectxByteCounter = 32'767_B * 64;  // rpg_byte_reset, in units of 64 B

constexpr FluidParameters kPaper = {.rate = 40_Gbps,
                                    .mtu = 1000_B,
                                    .cnp_interval = 50_us,
                                    .alpha_period = 55_us,
                                    .increase_timer = 55_us,
                                    .byte_counter = 10_MB,
                                    .fast_recovery = 5,
                                    .gain = 1.0 / 256,
                                    .additive_increase = 40_Mbps,
                                    .wred = {5_KB, 200_KB, 1_percent}};

constexpr FluidParameters paper_extended() {
  FluidParameters p = kPaper;
  p.wred = {5_KB, 2000_KB, 10_percent};
  return p;
}

constexpr FluidParameters strawman() {
  FluidParameters p = kPaper;
  p.increase_timer = 1500_us;
  p.byte_counter = 150_KB;
  p.additive_increase = 5_Mbps;
  return p;
}

/// dce_tcp_g 1019/1024 each us, rate_reduce_monitor_period 4 us, rpg_time_reset 300 us,
/// rpg_threshold 1.
constexpr FluidParameters connectx(Bytes mtu) {
  return {.rate = 25_Gbps,
          .mtu = mtu,
          .cnp_interval = 4_us,
          .alpha_period = 1_us,
          .increase_timer = 300_us,
          .byte_counter = kConnectxByteCounter,
          .fast_recovery = 1,
          .gain = 5.0 / 1024,
          .additive_increase = 5_Mbps,
          .wred = kHpccAt25};
}

constexpr FluidParameters hpcc_ns3() {
  FluidParameters p = connectx(1000_B);
  p.byte_counter = kNoByteCounter;
  p.gain = 1.0 / 256;
  return p;
}

constexpr FluidParameters hpcc_ns3_paper() {
  FluidParameters p = hpcc_ns3();
  p.cnp_interval = 50_us;
  p.alpha_period = 50_us;
  p.increase_timer = 55_us;
  return p;
}

constexpr FluidParameters reference_400g() {
  FluidParameters p = kPaper;
  p.rate = 400_Gbps;
  p.mtu = 4096_B;
  p.alpha_period = 100_us;
  p.additive_increase = 5_Mbps;
  p.wred = {100_KB, 1500_KB, 10_percent};
  return p;
}

constexpr std::array kSets = {
    FluidSet{"paper", "deployed values of the DCQCN paper", "Zhu et al., SIGCOMM 2015", kPaper,
             false, false},
    FluidSet{"paper_ext", "the same slope, ramp continued to 2000 KB and 10 %",
             "CoNEXT 2016 figures, as their curves prove", paper_extended(), false, false},
    FluidSet{"strawman", "QCN defaults, which the paper rejects", "SIGCOMM 2015 sec. 5", strawman(),
             false, false},
    FluidSet{
        "cx_default", "ConnectX firmware defaults, 1000 B packets, thresholds 4/16 KB per Gb/s",
        "NVIDIA DOCA DCQCN parameters; HPCC artefact's thresholds", connectx(1000_B), true, false},
    FluidSet{"cx_default_4k", "ConnectX firmware defaults, 4096 B packets",
             "NVIDIA DOCA DCQCN parameters; HPCC artefact's thresholds", connectx(4096_B), true,
             false},
    FluidSet{"hpcc_ns3", "DCQCN as HPCC's simulator has it: no byte counter",
             "HPCC artefact (ns-3)", hpcc_ns3(), true, true},
    FluidSet{"hpcc_ns3_paper", "the same with timers 50/50/55 us", "HPCC artefact (ns-3)",
             hpcc_ns3_paper(), true, true},
    FluidSet{"ref400",
             "starting values for 400G, 4096 B packets; T, B and CNP interval from the paper",
             "reference starting values", reference_400g(), true, false},
};

Bytes scale(Bytes value, BitRate rate, BitRate reference) {
  return Bytes::raw(static_cast<std::int64_t>(Int128{value.raw()} * rate.raw() / reference.raw()));
}

/// Signed distance of the fixed-point equation a^2*alpha / ((b+d)(c+e)) = tau^2*R_AI*Rc at p, in
/// logarithms; grows with p.
double excess(const Packets& k, double p) {
  const double rate = k.capacity / k.flows;
  const fluid::Factors f = fluid::factors(k, p, rate);
  const double denominator = (f.b + f.d) * (f.c + f.e);
  if (denominator <= 0) return 1e300;
  return std::log(f.a * f.a * fluid::alpha_at(k, p, rate) / denominator) -
         std::log(k.tau * k.tau * k.additive * rate);
}

double solve_p(const Packets& k) {
  double low = 1e-15;
  double high = 1 - 1e-12;
  if (excess(k, low) > 0) return low;
  for (int i = 0; i < 200; ++i) {
    const double middle = high / low > 1.0001 ? std::sqrt(low * high) : (low + high) / 2;
    if (middle <= low || middle >= high) break;
    (excess(k, middle) < 0 ? low : high) = middle;
  }
  return (low + high) / 2;
}

double packets_per_second(BitRate rate, const FluidParameters& parameters) {
  return static_cast<double>(rate.raw()) / (static_cast<double>(parameters.mtu.raw()) * 8);
}

}  // namespace

namespace fluid {

Packets in_packets(const FluidParameters& parameters) {
  const double mtu = static_cast<double>(parameters.mtu.raw());
  const auto seconds = [](Duration d) { return static_cast<double>(d.raw()) * 1e-12; };
  Packets k;
  k.capacity = packets_per_second(parameters.rate, parameters);
  k.flows = parameters.flows;
  k.tau = seconds(parameters.cnp_interval);
  k.alpha_period = seconds(parameters.alpha_period);
  k.timer = seconds(parameters.increase_timer);
  k.bytes = static_cast<double>(parameters.byte_counter.raw()) / mtu;
  k.recovery = parameters.fast_recovery;
  k.gain = parameters.gain;
  k.additive = packets_per_second(parameters.additive_increase, parameters);
  k.kmin = static_cast<double>(parameters.wred.min.raw()) / mtu;
  k.kmax = static_cast<double>(parameters.wred.max.raw()) / mtu;
  k.pmax = static_cast<double>(parameters.wred.max_share.raw()) / kSharePerWhole;
  k.packet_bytes = mtu;
  return k;
}

double cube_root_p(const Packets& k) {
  const double n = k.flows;
  const double clock = 1 / k.bytes + n / (k.timer * k.capacity);
  return std::cbrt(k.additive * n * n / (k.alpha_period * k.capacity * k.capacity) * clock * clock);
}

State equilibrium(const Packets& k, double p) {
  const double rate = k.capacity / k.flows;
  const Factors f = factors(k, p, rate);
  return {rate, rate * (1 + (f.c + f.e) * k.tau * k.additive / f.a), alpha_at(k, p, rate),
          p / k.pmax * (k.kmax - k.kmin) + k.kmin};
}

}  // namespace fluid

std::string_view to_text(FluidRegime regime) {
  return regime == FluidRegime::kRamp ? "ramp" : "KMAX-STEP";
}

Status validate(const FluidParameters& parameters) {
  if (parameters.rate < 1_Mbps || parameters.additive_increase.raw() <= 0) {
    return invalid_error(
        fmt::format("expected a rate of at least 1M and an additive increase, found {} "
                    "and {}",
                    to_text(parameters.rate), to_text(parameters.additive_increase)));
  }
  if (parameters.flows < 1 || parameters.flows > kMaxFluidFlows) {
    return invalid_error(
        fmt::format("expected 1 to {} flows, found {}", kMaxFluidFlows, parameters.flows));
  }
  if (parameters.mtu < 64_B || parameters.byte_counter <= 0_B)
    return invalid_error("expected packets of 64B or more and a byte counter over 0B");
  for (const Duration period :
       {parameters.cnp_interval, parameters.alpha_period, parameters.increase_timer}) {
    if (period <= Duration())
      return invalid_error("expected CNP interval, alpha period and increase timer over 0");
  }
  if (parameters.fast_recovery < 1)
    return invalid_error("expected a fast-recovery count of 1 or more");
  if (!(parameters.gain > 0) || parameters.gain > 1) {
    return invalid_error(
        fmt::format("expected a gain over 0 and up to 1, found {}", parameters.gain));
  }
  WEIR_TRY_STATUS(validate(parameters.wred));
  if (parameters.wred.min == parameters.wred.max)
    return invalid_error("the fluid model needs a ramp: min threshold below max threshold");
  return {};
}

std::span<const FluidSet> fluid_sets() {
  return kSets;
}

Result<FluidParameters> fluid_parameters(std::string_view set, BitRate rate, int flows) {
  std::vector<std::string> names;
  for (const FluidSet& entry : kSets) {
    names.emplace_back(entry.name);
    if (entry.name != set) continue;
    FluidParameters parameters = entry.at_reference;
    const BitRate reference = parameters.rate;
    parameters.rate = rate;
    parameters.flows = flows;
    if (entry.scales_thresholds) {
      parameters.wred.min = scale(parameters.wred.min, rate, reference);
      parameters.wred.max = scale(parameters.wred.max, rate, reference);
    }
    if (entry.scales_increase) {
      parameters.additive_increase = BitRate::raw(static_cast<std::int64_t>(
          Int128{parameters.additive_increase.raw()} * rate.raw() / reference.raw()));
    }
    WEIR_TRY_STATUS(validate(parameters));
    return parameters;
  }
  return invalid_error(fmt::format("unknown DCQCN parameter set '{}'{}; one of {}", set,
                                   did_you_mean(set, names), join(names, ", ")));
}

FluidFixedPoint fixed_point(const FluidParameters& parameters) {
  const Packets k = fluid::in_packets(parameters);
  const double bits = k.packet_bytes * 8;
  FluidFixedPoint fixed;
  fixed.mark_probability = solve_p(k);
  fixed.cube_root = fluid::cube_root_p(k);
  const State state = fluid::equilibrium(k, fixed.mark_probability);
  fixed.alpha = state.alpha;
  fixed.rate_bps = state.rate * bits;
  fixed.target_bps = state.target * bits;
  fixed.regime = fixed.mark_probability <= k.pmax ? FluidRegime::kRamp : FluidRegime::kKmaxStep;
  fixed.ramp_queue_bytes = state.queue * k.packet_bytes;
  fixed.queue_bytes =
      fixed.regime == FluidRegime::kRamp ? fixed.ramp_queue_bytes : k.kmax * k.packet_bytes;
  fixed.queue_delay_s = fixed.queue_bytes * 8 / static_cast<double>(parameters.rate.raw());
  fixed.cut_interval_s = k.tau / fluid::factors(k, fixed.mark_probability, state.rate).a;
  return fixed;
}

std::optional<int> most_flows_on_ramp(const FluidParameters& parameters) {
  // p* grows with N, and p* <= Pmax exactly where the equation is not below balance at Pmax.
  const auto holds = [&](int flows) {
    FluidParameters with = parameters;
    with.flows = flows;
    const Packets k = fluid::in_packets(with);
    return k.pmax >= 1 || excess(k, k.pmax) >= 0;
  };
  if (holds(kMaxFluidFlows)) return std::nullopt;
  int good = 0;
  int bad = kMaxFluidFlows;
  while (bad - good > 1) {
    const int middle = good + (bad - good) / 2;
    (holds(middle) ? good : bad) = middle;
  }
  return good;
}

std::vector<FluidRow> fluid_table(const FluidParameters& parameters, std::span<const int> flows,
                                  Duration loop_delay) {
  std::vector<FluidRow> rows;
  for (const int n : flows) {
    FluidParameters with = parameters;
    with.flows = n;
    FluidRow row;
    row.flows = n;
    row.fixed = fixed_point(with);
    if (is_stability_meaningful(with)) {
      const bool on_ramp = row.fixed.regime == FluidRegime::kRamp;
      if (on_ramp) row.margin = delay_margin(with);
      if (!on_ramp || (row.margin && *row.margin < loop_delay)) {
        FluidRun run;
        run.loop_delay = loop_delay;
        row.swinging = integrate(with, run);
        row.utilisation = row.swinging->utilisation;
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace weir::model
