#include "sim/results/fidelity.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "base/text.h"
#include "sim/engine/sim.h"
#include "units/format.h"

namespace weir::sim {
namespace {

constexpr Duration kToQueue = 2_us;  // from the sender to the queue
constexpr Bytes kBuffer = 2000_MB;   // not the limit: a run in which it is has no result
constexpr std::uint8_t kTos = (26U << 2U) | 2U;

double as_double(Int128 value) {
  return static_cast<double>(value);
}

SwitchConfig one_queue(const model::FluidParameters& parameters, MarkAt mark_at) {
  SwitchConfig sw;
  sw.buffer = kBuffer;
  sw.dscp_to_class.fill(0);
  sw.dscp_to_class[48] = 6;
  sw.queues[6].scheduling = Scheduling::kStrict;
  sw.queues[0].wred = {true, parameters.wred.min, parameters.wred.max, parameters.wred.max_share};
  sw.mark_at = mark_at;
  sw.mtu = 16384_B;
  return sw;
}

Network bottleneck(const FidelityCase& what, const model::FluidParameters& parameters) {
  Network network;
  network.seed = what.seed;
  // A packet is MTU bytes and nothing else; ACKs are rare and small, CNPs small.
  network.wire = {
      .data_header = 0, .reth = 0, .ack_frame = 60, .cnp_frame = 60, .pfc_frame = 64, .gap = 0};
  NicConfig nic;
  nic.dcqcn = reaction_point_of(what.set, parameters);
  nic.mtu = parameters.mtu;
  nic.max_frame = 16384_B;
  nic.cnp_interval = parameters.cnp_interval;
  nic.dscp_to_priority.fill(0);
  nic.dscp_to_priority[48] = 6;
  nic.strict.insert(Priority::of(6));
  nic.ack_every = 256;
  network.nics.push_back(nic);
  network.switches.push_back(one_queue(parameters, what.mark_at));
  const auto flows = static_cast<std::uint32_t>(what.flows);
  for (std::uint32_t n = 0; n <= flows; ++n)
    network.nodes.push_back({NodeKind::kNic, 0, {}});
  network.nodes.push_back({NodeKind::kSwitch, 0, {}});
  for (std::uint32_t n = 0; n <= flows; ++n) {
    // From the mark to the sender: to the receiver, back, and up the sender's link.
    const Duration cable = n < flows ? kToQueue : (what.loop_delay - kToQueue) / 2;
    network.links.push_back(
        {.a = NodeId{n}, .b = NodeId{flows + 1}, .rate = what.rate, .propagation = cable});
  }
  const Bytes endless = bytes_in(what.duration, what.rate) + parameters.mtu;
  for (std::uint32_t n = 0; n < flows; ++n) {
    QueuePair qp;
    qp.source = NodeId{n};
    qp.target = NodeId{flows};
    qp.tos = kTos;
    qp.source_port = static_cast<std::uint16_t>(49152 + n);
    if (what.start == StartAt::kFairShare) qp.start_rate = what.rate.raw() / what.flows * 105 / 100;
    network.qps.push_back(qp);
    const bool late = what.second_half_joins && n >= flows / 2;
    network.messages.push_back(
        {QpId{n}, endless, late ? Time::at(*what.second_half_joins) : Time::at(Duration::raw(0))});
  }
  return network;
}

struct FidelityTotals {
  std::vector<std::int64_t> delivered;
  std::uint64_t frames = 0;
  std::uint64_t bytes = 0;
  std::uint64_t marked = 0;
  std::uint64_t cnps = 0;
};

FidelityTotals totals(const Sim& sim, std::uint32_t flows, PortId port) {
  FidelityTotals t;
  for (std::uint32_t q = 0; q < flows; ++q)
    t.delivered.push_back(sim.qp_delivered(QpId{q}));
  t.frames = sim.port_counters(port).tx_frames;
  t.bytes = sim.port_counters(port).tx_bytes;
  t.marked = sim.port_counters(port).marked;
  t.cnps = sim.nic_counters(NodeId{flows}).cnp_sent;
  return t;
}

/// The buffer is large, not endless: senders that all start at line rate can fill it before the
/// first CNP acts, and what is measured after a loss is not DCQCN.
Status check_nothing_lost(const Sim& sim) {
  std::uint64_t lost = 0;
  for (std::size_t r = 0; r < kDropReasons; ++r)
    lost += sim.drops(static_cast<DropReason>(r));
  if (lost == 0) return {};
  return invalid_error(fmt::format(
      "the flows overflowed the bottleneck's buffer of {}: {} packets were lost, so that queue and "
      "rates would say nothing about DCQCN; start at the fair share, or choose fewer flows or a "
      "lower rate",
      to_text(kBuffer), with_thousands(static_cast<std::int64_t>(lost))));
}

}  // namespace

double jain_index(const std::vector<double>& values) {
  double sum = 0;
  double squares = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  return squares == 0 ? 1 : sum * sum / (static_cast<double>(values.size()) * squares);
}

DcqcnConfig reaction_point_of(const std::string& set, const model::FluidParameters& parameters) {
  const bool connectx = set.starts_with("cx_");
  const bool peer = set.starts_with("hpcc_");
  DcqcnConfig config = dcqcn_defaults(connectx ? DcqcnVariant::kConnectx
                                      : peer   ? DcqcnVariant::kHpccNs3
                                               : DcqcnVariant::kPaper);
  config.alpha_period = parameters.alpha_period;
  config.increase_period = parameters.increase_timer;
  config.byte_reset =
      parameters.byte_counter >= model::kNoByteCounter ? 0 : parameters.byte_counter.raw();
  config.threshold = static_cast<std::uint32_t>(parameters.fast_recovery);
  config.g =
      static_cast<std::int64_t>(std::llround(parameters.gain * static_cast<double>(kAlphaOne)));
  config.ai_rate = parameters.additive_increase.raw();
  if (connectx || peer) config.cut_period = parameters.cnp_interval;
  if (peer) config.hai_rate = 10 * config.ai_rate;
  prepare(config);
  return config;
}

Result<FidelityResult> dcqcn_fidelity(const FidelityCase& what) {
  WEIR_TRY(published, model::fluid_parameters(what.set, what.rate, what.flows));
  model::FluidParameters parameters = what.parameters.value_or(published);
  if (what.mtu.raw() > 0) parameters.mtu = what.mtu;
  WEIR_TRY_STATUS(model::validate(parameters));
  if (what.flows < 1 || what.flows > 4096)
    return invalid_error("flows: 1 to 4096 can share the bottleneck");
  if (what.loop_delay <= kToQueue || what.warm_up >= what.duration)
    return invalid_error("the loop delay must exceed 2us, the duration the warm-up");
  WEIR_TRY(sim, Sim::make(bottleneck(what, parameters)));
  const auto flows = static_cast<std::uint32_t>(what.flows);
  const PortId port = sim->port_of(NodeId{flows + 1}, flows);
  sim->run_until(Time::at(what.warm_up));
  const FidelityTotals before = totals(*sim, flows, port);
  sim->watch_queue(port, 0);
  FidelityResult result;
  const Duration step = what.sample_every.raw() > 0 ? what.sample_every : what.duration;
  for (Duration at = what.warm_up; at < what.duration;) {
    at = std::min(at + step, what.duration);
    sim->run_until(Time::at(at));
    if (what.sample_every.raw() == 0) continue;
    std::vector<double>& sample = result.rate_gbps.emplace_back();
    for (std::uint32_t q = 0; q < flows; ++q)
      sample.push_back(static_cast<double>(sim->qp_rate(QpId{q})) / 1e9);
  }
  WEIR_TRY_STATUS(check_nothing_lost(*sim));
  const FidelityTotals after = totals(*sim, flows, port);
  const double seconds =
      static_cast<double>((what.duration - what.warm_up).raw()) / kPicosecondsPerSecond;
  const QueueWatch watch = sim->queue_watch();
  const double span = static_cast<double>(watch.last - watch.since);
  const double mean = as_double(watch.sum) / span;
  result.queue_mean_kb = mean / 1e3;
  result.queue_sd_kb = std::sqrt(std::max(0.0, as_double(watch.square) / span - mean * mean)) / 1e3;
  result.queue_min_kb = static_cast<double>(watch.low) / 1e3;
  result.queue_max_kb = static_cast<double>(watch.high) / 1e3;
  result.utilisation = static_cast<double>(after.bytes - before.bytes) * 8 / seconds /
                       static_cast<double>(what.rate.raw());
  for (std::uint32_t q = 0; q < flows; ++q)
    result.flow_gbps.push_back(static_cast<double>(after.delivered[q] - before.delivered[q]) * 8 /
                               seconds / 1e9);
  result.jain = jain_index(result.flow_gbps);
  result.mark_probability = static_cast<double>(after.marked - before.marked) /
                            static_cast<double>(after.frames - before.frames);
  result.cnp_per_flow_per_s =
      static_cast<double>(after.cnps - before.cnps) / seconds / static_cast<double>(what.flows);
  result.fluid_queue_kb = model::fixed_point(parameters).queue_bytes / 1e3;
  result.hops = sim->hops();
  result.digest = sim->digest();
  WEIR_TRY_STATUS(sim->audit());
  return result;
}

}  // namespace weir::sim
