// The state of a SONiC switch once the rendered CONFIG_DB is loaded.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "design/file/words.h"
#include "model/headroom.h"
#include "platforms/common/lower_common.h"
#include "platforms/sonic/sonic.h"
#include "units/format.h"

namespace weir::platforms {
namespace {

constexpr Bytes kMinMtu = 68_B;  // sonic-port.yang: mtu 68..9216

/// Queues that a lossless priority is sent to, as a mask.
std::uint8_t lossless_queues(const SwitchIntent& node) {
  unsigned mask = 0;
  for (unsigned q = 0; q < Queue::kLimit; ++q)
    if (is_queue_of(node, node.lossless, q)) mask |= 1U << q;
  return static_cast<std::uint8_t>(mask);
}

class Lowerer : Lowering {
 public:
  Lowerer(const Intent& intent, const SwitchIntent& node)
      : Lowering(intent, node, vocab::SwitchSystem::kSonic),
        model_(sonic_model_of(*node.asic)),
        system_(design::system_model(design::SwitchSystem::kSonic)) {}

  Lowered lower() {
    out_.buffer_model =
        known(std::string(model_ == SonicModel::kDynamic ? "dynamic" : "traditional"));
    for (const SwitchPortIntent& port : node_.ports)
      note_cable(port);
    lower_maps();
    lower_watchdog();
    lower_pools();
    lower_rest();
    for (const SwitchPortIntent& port : node_.ports)
      port_named(out_, port.name) = lower_port(port);
    add_channels([](int number) { return fmt::format("PortChannel{}", number); });
    add_vlan("Vlan");
    return finish();
  }

 private:
  void lower_maps() {
    const auto same = [](unsigned priority) { return priority; };
    set_trusted_map(same);
    out_.tc_to_queue = known(node_.priority_to_queue);
    out_.tc_to_group = known(node_.priority_to_pg);
    out_.pfc_to_queue = known(node_.priority_to_queue);
    if (node_.rewrites_dscp) out_.tc_to_dscp = known(rewrite_map(node_));
  }

  /// Whole milliseconds within the range of the YANG model.
  Duration milliseconds(std::string what, Duration wanted, Duration low, Duration high) {
    const Duration becomes = to_step(wanted, 1_ms, low, high);
    remarks_.changed(std::move(what), wanted, becomes,
                     fmt::format("whole milliseconds from {} to {}", to_text(low), to_text(high)));
    return becomes;
  }

  void lower_watchdog() {
    evidence::Watchdog& watchdog = out_.watchdog;
    const bool is_on = node_.watchdog && !node_.ports.empty();
    watchdog.enabled = known(is_on);
    if (!is_on) return;
    watchdog.detection =
        known(milliseconds("watchdog detection", node_.watchdog_detect, system_.watchdog_detect_min,
                           system_.watchdog_detect_max));
    watchdog.restoration =
        known(milliseconds("watchdog restoration", node_.watchdog_restore,
                           system_.watchdog_restore_min, system_.watchdog_restore_max));
    watchdog.action = known(std::string(design::to_word(node_.watchdog_action)));
  }

  /// Pools are the platform's: in the dynamic model the switch sizes them (a size in CONFIG_DB
  /// would turn the pool static, buffermgrdyn.cpp), in the traditional one the hwsku's numbers
  /// stay.
  void lower_pools() {
    const design::BufferIntent& buffers = node_.buffers;
    const bool is_dynamic = model_ == SonicModel::kDynamic;
    if (buffers.plan && buffers.plan->lossy_pool + buffers.plan->storage_pool > 0_B)
      remarks_.add("buffer pools", "shares per class", "",
                   is_dynamic ? "the switch sizes its pools itself"
                              : "the pools of the hwsku stay as they are");
    if (buffers.threshold == design::Threshold::kStatic)
      remarks_.add("XOFF", to_text(buffers.static_xoff), "",
                   "the pools of the platform are dynamic: alpha is used");
    if (is_dynamic) {
      out_.headroom_oversubscription =
          known(static_cast<unsigned>(buffers.headroom_oversubscription));
    } else if (buffers.headroom_oversubscription > 1) {
      remarks_.add("shared headroom", fmt::format("1/{}", buffers.headroom_oversubscription), "",
                   "the headroom pool of the hwsku stays as it is");
    }
  }

  void lower_rest() {
    out_.load_balancing = known(std::string("ecmp"));
    if (node_.load_balancing != design::LoadBalancing::kEcmp)
      remarks_.add("load balancing", std::string(design::to_word(node_.load_balancing)), "ecmp",
                   "community SONiC has no CONFIG_DB table for it; vendors add their own");
    if (node_.ecmp_seed != 0)
      remarks_.add("ECMP hash seed", std::to_string(node_.ecmp_seed),
                   "a file of its own, NODE.switch.json",
                   "not in CONFIG_DB: swssconfig loads it, after each restart of swss");
    if (node_.forwarding == design::Forwarding::kStoreAndForward)
      remarks_.add("store-and-forward", "on", "", "CONFIG_DB has no such setting");
    if (node_.global_pause)
      remarks_.add("802.3x pause", "on", "off", "CONFIG_DB has no such setting");
    out_.lldp = known(true);
    const design::TelemetryIntent& telemetry = intent_.telemetry;
    // What the design does not ask for is not switched off: others may use it.
    if (telemetry.gnmi) out_.telemetry.gnmi = known(true);
    out_.telemetry.sflow = known(telemetry.sflow);
    out_.telemetry.queue_monitor = known(true);
    out_.telemetry.ecn_counters = known(true);
    // flexcounter: 100 ms to 30 s are what counterpoll takes for queues (sonic-utilities 691b1bb).
    out_.telemetry.interval =
        known(milliseconds("counter polling interval", telemetry.interval, 100_ms, 30_s));
    if (telemetry.sflow)
      remarks_.add("sFlow collector", "on", "on, without a collector",
                   "the design has no collector");
  }

  // ---- headroom ----

  /// The length in CABLE_LENGTH.
  [[nodiscard]] Length cable_of(const SwitchPortIntent& port) const {
    const std::int64_t metre = (1_m).raw();
    const Length whole =
        Length::raw(std::max<std::int64_t>((port.cable.raw() + metre - 1) / metre, 1) * metre);
    if (model_ == SonicModel::kDynamic) return whole;
    for (const Length row : rows_of(port.speed))
      if (row >= whole) return row;
    return whole;
  }

  [[nodiscard]] std::vector<Length> rows_of(BitRate speed) const {
    std::vector<Length> rows;
    const auto model = model::parse_headroom_model(node_.asic->headroom_model);
    if (model) {
      for (const model::HeadroomRow& row : model::headroom_rows(*model))
        if (row.cable && row.speed == speed) rows.push_back(*row.cable);
    }
    if (rows.empty()) rows = sonic_common_rows();
    std::sort(rows.begin(), rows.end());
    return rows;
  }

  void note_cable(const SwitchPortIntent& port) {
    const Length cable = cable_of(port);
    Bytes& largest = row_headroom_[{port.speed, cable}];
    largest = std::max(largest, port.headroom);
    const bool is_row = model_ == SonicModel::kTraditional;
    remarks_.changed("cable length", port.cable, cable,
                     is_row ? "rounded up to a row of pg_profile_lookup.ini" : "whole metres",
                     port.name);
  }

  Bytes headroom_of(const SwitchPortIntent& port) {
    if (model_ == SonicModel::kDynamic) return port.headroom;
    const Bytes largest = row_headroom_.at({port.speed, cable_of(port)});
    remarks_.changed(fmt::format("headroom of ports with {} at {}", to_text(port.speed),
                                 to_text(cable_of(port))),
                     port.headroom, largest, "one profile per speed and row: the largest is used");
    return largest;
  }

  GroupBuffer lossless_group(const SwitchPortIntent& port, unsigned group) {
    GroupBuffer out;
    out.group = PriorityGroup::of(group);
    out.lossless = known(true);
    const bool is_dynamic = model_ == SonicModel::kDynamic;
    if (port.headroom_is_auto) {
      out.headroom_auto = known(true);
      out.headroom = evidence::Fact<Bytes>::missing(evidence::Missing::kAbsent);
      remarks_.add("headroom", to_text(port.headroom), "the switch's own",
                   is_dynamic ? "it computes it from speed, cable and MTU: profile NULL"
                              : "it looks it up by speed and cable (pg_profile_lookup.ini)",
                   port.name);
      if (is_dynamic) out.alpha = known(ingress_alpha(node_, remarks_));
      return out;
    }
    out.headroom_auto = known(false);
    out.headroom = known(headroom_of(port));
    if (is_dynamic) {
      out.reserved = known(lossless_reserve(node_, port));
      remarks_.changed("reserved buffer per lossless group", node_.buffers.reserved_per_group,
                       *out.reserved, "must cover the pipeline latency (NVIDIA's formula)");
      remarks_.add("XON", to_text(node_.buffers.xon_offset) + " below XOFF",
                   to_text(*out.reserved) + " in the group",
                   "NVIDIA ASICs have a fill level, not an offset");
    } else {
      out.reserved = known(node_.buffers.reserved_per_group);
      out.xon = known(node_.buffers.xon_offset);
    }
    out.alpha = known(ingress_alpha(node_, remarks_));
    return out;
  }

  // ---- queues ----

  void lower_marking(const SwitchPortIntent& port, EgressQueue& out) {
    const design::WredIntent& wred = port.wred;
    out.ecn = known(wred.ecn);
    out.wred_drop = known(wred.ecn);
    if (!wred.ecn) return;
    const Bytes max = std::max(wred.min, wred.max);
    remarks_.changed("WRED maximum", wred.max, max, "must not be below the minimum");
    if (wred.mark_at == design::MarkAt::kEnqueue)
      remarks_.add("marking at enqueue", "on", "", "CONFIG_DB has no such setting");
    out.ecn_min = known(wred.min);
    out.ecn_max = known(max);
    out.ecn_probability = known(marking_probability(node_, port, remarks_));
  }

  EgressQueue lower_queue(const SwitchPortIntent& port, unsigned queue) {
    const design::Share8& share = node_.queues.at(queue);
    EgressQueue out = plain_queue(queue);
    const bool lossless = is_queue_of(node_, node_.lossless, queue);
    if (lossless) lower_marking(port, out);
    if (sonic_writes_queue(lossless_queues(node_), queue))
      out.alpha =
          known(lossless ? clamp_alpha(node_, node_.buffers.egress_alpha, "egress alpha", remarks_)
                         : Alpha::from_log2(sonic_stock(model_).egress_lossy_alpha));
    out.max_rate = known(BitRate());
    if (!share.used) return out;
    set_scheduler(share.scheduling == design::Scheduling::kStrict, percents_.at(queue), out);
    out.max_rate = known(limit_of(node_, port, queue));
    return out;
  }

  SwitchPort lower_port(const SwitchPortIntent& port) {
    SwitchPort out = base_port(port, node_.pfc);
    raise_mtu(kMinMtu, "the minimum of sonic-port.yang", out);
    out.speed = known(port.speed);
    out.pfc_negotiated = known(false);
    out.global_pause = known(false);
    out.watchdog = known(node_.watchdog);
    out.dcbx = known(false);
    out.cable_length = known(cable_of(port));
    for (unsigned group = 0; group < PriorityGroup::kLimit; ++group) {
      // In the traditional model the switch makes a group for each priority with PFC.
      const bool is_looked_up = model_ == SonicModel::kTraditional && port.headroom_is_auto;
      const PrioritySet& with_group = is_looked_up ? node_.pfc : node_.lossless;
      if (with_group.contains(Priority::of(group)))
        out.groups.push_back(lossless_group(port, group));
    }
    for (unsigned queue = 0; queue < Queue::kLimit; ++queue) {
      EgressQueue lowered = lower_queue(port, queue);
      // Queues without a row keep what the platform gives them.
      if (lowered.scheduler.is_known() || lowered.alpha.is_known() || lowered.ecn.is(true))
        out.queues.push_back(std::move(lowered));
    }
    return out;
  }

  const SonicModel model_;
  const design::SystemModel& system_;
  std::map<std::pair<BitRate, Length>, Bytes> row_headroom_;
};

}  // namespace

SonicModel sonic_model_of(const design::AsicModel& asic) {
  return asic.family == design::AsicFamily::kSpectrum ? SonicModel::kDynamic
                                                      : SonicModel::kTraditional;
}

std::vector<SonicRange> sonic_stock_ranges() {
  return {{0, 2, false}, {3, 4, true}, {5, 6, false}};
}

bool sonic_writes_queue(std::uint8_t lossless, unsigned queue) {
  for (const SonicRange& range : sonic_stock_ranges()) {
    if (queue < range.first || queue > range.last) continue;
    for (unsigned q = range.first; q <= range.last; ++q)
      if ((((lossless >> q) & 1U) != 0) != range.lossless) return true;
    return false;
  }
  return ((lossless >> queue) & 1U) != 0;
}

SonicStock sonic_stock(SonicModel model) {
  return model == SonicModel::kDynamic ? SonicStock{3} : SonicStock{-4};
}

std::vector<Length> sonic_common_rows() {
  return {5_m, 40_m, 300_m};
}

Lowered sonic_lower(const Intent& intent, const SwitchIntent& wanted) {
  return Lowerer(intent, wanted).lower();
}

}  // namespace weir::platforms
