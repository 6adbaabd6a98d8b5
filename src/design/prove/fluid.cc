#include "design/prove/fluid.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "design/tables/nic_knobs.h"
#include "model/roce_wire.h"

namespace weir::design {
namespace {

std::string_view published_set(DcqcnVariant variant) {
  switch (variant) {
    case DcqcnVariant::kConnectx: return "cx_default_4k";
    case DcqcnVariant::kPaper:
    case DcqcnVariant::kPaperNs3: return "paper";  // the authors' code runs the paper's values
    case DcqcnVariant::kHpccNs3: return "hpcc_ns3";
  }
  WEIR_UNREACHABLE("every variant has a set");
}

// Registers that count: all of them on a ConnectX, else those that the design writes.
class Registers {
 public:
  Registers(const Design& design, const Intent& intent) : design_(design), intent_(intent) {}

  [[nodiscard]] std::optional<std::int64_t> find(std::string_view name) const {
    const bool counts =
        intent_.dcqcn_variant == DcqcnVariant::kConnectx || written_knob(design_, name) != nullptr;
    if (!counts) return std::nullopt;
    const auto found = intent_.dcqcn.find(name);
    if (found == intent_.dcqcn.end()) return std::nullopt;
    return found->second;
  }

 private:
  const Design& design_;
  const Intent& intent_;
};

void apply(const Registers& registers, model::FluidParameters& fluid) {
  const auto cnp_gap = registers.find("min_time_between_cnps");
  const auto cut_window = registers.find("rate_reduce_monitor_period");
  // At most one CNP in the first, at most one cut in the second: the longer one rules.
  if (cnp_gap || cut_window) {
    fluid.cnp_interval =
        1_us * std::max({cnp_gap.value_or(0), cut_window.value_or(0), std::int64_t{1}});
  }
  if (const auto alpha_period = registers.find("dce_tcp_rtt"))
    fluid.alpha_period = 1_us * *alpha_period;
  // The register holds the weight of the old alpha in 1024ths.
  if (const auto weight = registers.find("dce_tcp_g"))
    fluid.gain = static_cast<double>(1024 - *weight) / 1024;
  if (const auto timer = registers.find("rpg_time_reset")) fluid.increase_timer = 1_us * *timer;
  if (const auto blocks = registers.find("rpg_byte_reset"))
    fluid.byte_counter = *blocks == 0 ? model::kNoByteCounter : 64_B * *blocks;
  if (const auto stages = registers.find("rpg_threshold"))
    fluid.fast_recovery = static_cast<int>(*stages);
  if (const auto rate = registers.find("rpg_ai_rate")) fluid.additive_increase = 1_Mbps * *rate;
}

}  // namespace

const Knob* written_knob(const Design& design, std::string_view name) {
  const auto& knobs = design.dcqcn.knobs;
  const auto found = std::find_if(knobs.begin(), knobs.end(), [&](const Knob& knob) {
    const NicKnob* const known = find_knob(knob.name);
    return known != nullptr && known->name == name;
  });
  return found == knobs.end() ? nullptr : &*found;
}

Result<model::FluidParameters> fluid_at(const Design& design, const Intent& intent,
                                        const SwitchPortIntent& port, int flows) {
  WEIR_TRY(fluid, model::fluid_parameters(published_set(intent.dcqcn_variant), port.speed, flows));
  fluid.mtu = *design.mtu.rdma;
  fluid.wred = {port.wred.min, port.wred.max, port.wred.probability};
  apply(Registers(design, intent), fluid);
  WEIR_TRY_STATUS(model::validate(fluid));
  return fluid;
}

Duration least_loop_delay(const Design& design, const Intent& intent) {
  const Bytes packet = model::wire_size(model::roce_frame(*design.mtu.rdma));
  // Longest way from a host up to each switch, tier by tier; links within a tier lead nowhere
  // higher.
  std::vector<const LinkIntent*> upward;
  const auto tier = [&](PortRef end) {
    return end.kind == NodeKind::kHost ? 0 : intent.switches[end.node].tier;
  };
  for (const LinkIntent& link : intent.links)
    if (tier(link.lower) < tier(link.upper)) upward.push_back(&link);
  std::stable_sort(upward.begin(), upward.end(), [&](const LinkIntent* a, const LinkIntent* b) {
    return tier(a->lower) < tier(b->lower);
  });
  std::vector<Duration> to_switch(intent.switches.size());  // its own latency included
  Duration farthest;
  for (const LinkIntent* link : upward) {
    const SwitchIntent& node = intent.switches[link->upper.node];
    const Duration own =
        node.forwarding == Forwarding::kCutThrough
            ? node.asic->pipeline_latency
            : node.asic->pipeline_latency + serialization_time(packet, link->speed);
    const Duration before =
        link->lower.kind == NodeKind::kHost ? Duration() : to_switch[link->lower.node];
    Duration& here = to_switch[link->upper.node];
    here = std::max(here, before + link->propagation + own);
    farthest = std::max(farthest, here * 2 - own);
  }
  for (const LinkIntent& link : intent.links) {
    if (link.lower.kind == NodeKind::kHost && link.upper.kind == NodeKind::kHost)
      farthest = std::max(farthest, link.propagation);
  }
  BitRate slowest = BitRate::max();
  for (const LinkIntent& link : intent.links)
    slowest = std::min(slowest, link.speed);
  return intent.links.empty() ? Duration() : farthest * 2 + serialization_time(packet, slowest);
}

}  // namespace weir::design
