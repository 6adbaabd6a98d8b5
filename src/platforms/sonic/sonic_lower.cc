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
      out_.ports.push_back(lower_port(port));
    add_gateway("Vlan");
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

  void lower_pools() {
    using evidence::PoolKind;
    const design::BufferIntent& buffers = node_.buffers;
    // Headroom added by rounding is taken from the shared part: the buffer does not grow.
    Bytes headroom_sum;
    for (const SwitchPortIntent& port : node_.ports)
      headroom_sum += headroom_of(port) * node_.lossless.count();
    const Bytes headroom = headroom_sum / std::max(buffers.headroom_oversubscription, 1);
    const Bytes shared =
        std::max(buffers.lossless_shared - (headroom - buffers.headroom_pool), 0_B);
    if (buffers.lossless_shared < 0_B)
      remarks_.add("shared buffer of the lossless classes", to_text(buffers.lossless_shared), "0B",
                   "headroom alone exceeds the buffer");
    std::vector<evidence::Pool> pools = {
        {"ingress_lossless_pool", PoolKind::kLossless, shared, {}}};
    const bool has_pool =
        model_ == SonicModel::kTraditional || buffers.headroom_oversubscription > 1;
    if (has_pool)
      pools.push_back({"ingress_lossless_pool xoff", PoolKind::kHeadroom, headroom, {}});
    const Bytes lossy = buffers.plan ? buffers.plan->lossy_pool + buffers.plan->storage_pool : 0_B;
    if (lossy > 0_B) pools.push_back({"ingress_lossy_pool", PoolKind::kLossy, lossy, {}});
    if (buffers.plan && buffers.plan->storage_pool > 0_B)
      remarks_.add("separate buffer pool for storage", to_text(buffers.plan->storage_pool),
                   "part of ingress_lossy_pool",
                   "all lossy classes share priority group 0, and a group has one pool");
    pools.push_back({"egress_lossless_pool", PoolKind::kLossless, buffers.total, {}});
    out_.pools = known(pools);
    if (model_ == SonicModel::kDynamic) {
      out_.headroom_oversubscription =
          known(static_cast<unsigned>(buffers.headroom_oversubscription));
    }
  }

  void lower_rest() {
    out_.load_balancing = known(std::string("ecmp"));
    if (node_.load_balancing != design::LoadBalancing::kEcmp)
      remarks_.add("load balancing", std::string(design::to_word(node_.load_balancing)), "ecmp",
                   "community SONiC has no CONFIG_DB table for it; vendors add their own");
    if (node_.ecmp_seed != 0)
      remarks_.add(
          "ECMP hash seed", std::to_string(node_.ecmp_seed), "",
          fmt::format("not in CONFIG_DB; {}.switch.json sets it through swssconfig", node_.name));
    if (node_.forwarding == design::Forwarding::kStoreAndForward)
      remarks_.add("store-and-forward", "on", "", "CONFIG_DB has no such setting");
    if (node_.global_pause)
      remarks_.add("802.3x pause", "on", "off", "CONFIG_DB has no such setting");
    out_.lldp = known(true);
    const design::TelemetryIntent& telemetry = intent_.telemetry;
    out_.telemetry.gnmi = known(telemetry.gnmi);
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

  /// NVIDIA ASICs resume at a fill level of the group, which must cover the pipeline.
  [[nodiscard]] Bytes dynamic_reserved(const SwitchPortIntent& port) const {
    model::HeadroomInput input;
    const auto model = model::parse_headroom_model(node_.asic->headroom_model);
    if (!model) return node_.buffers.reserved_per_group;
    input.model = *model;
    input.speed = port.speed;
    input.cable = port.cable;
    input.mtu = std::clamp(port.mtu, kMinMtu, system_.max_mtu);
    const auto computed = model::headroom(input);
    const Bytes least = computed && computed->xon ? *computed->xon : 0_B;
    return std::max(least, node_.buffers.reserved_per_group);
  }

  GroupBuffer lossless_group(const SwitchPortIntent& port, unsigned group) {
    GroupBuffer out;
    out.group = PriorityGroup::of(group);
    out.lossless = known(true);
    out.headroom_auto = known(false);
    out.headroom = known(headroom_of(port));
    if (model_ == SonicModel::kDynamic) {
      out.reserved = known(dynamic_reserved(port));
      remarks_.changed("reserved buffer per lossless group", node_.buffers.reserved_per_group,
                       *out.reserved, "must cover the pipeline latency (NVIDIA's formula)");
      remarks_.add("XON", to_text(node_.buffers.xon_offset) + " below XOFF",
                   to_text(*out.reserved) + " in the group",
                   "NVIDIA ASICs have a fill level, not an offset");
    } else {
      out.reserved = known(node_.buffers.reserved_per_group);
      out.xon = known(node_.buffers.xon_offset);
    }
    if (node_.buffers.threshold == design::Threshold::kStatic) {
      out.xoff = known(node_.buffers.static_xoff);
    } else {
      out.alpha = known(ingress_alpha(node_, remarks_));
    }
    return out;
  }

  GroupBuffer lossy_group() {
    GroupBuffer out;
    out.group = PriorityGroup::of(0);
    out.lossless = known(false);
    out.reserved = known(0_B);
    if (node_.buffers.threshold == design::Threshold::kStatic) {
      out.xoff = known(node_.buffers.total);
    } else {
      out.alpha = known(Alpha::from_log2(sonic_stock(model_).ingress_lossy_alpha));
    }
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
      if (node_.lossless.contains(Priority::of(group))) {
        out.groups.push_back(lossless_group(port, group));
      } else if (group == 0) {
        out.groups.push_back(lossy_group());
      }
    }
    for (unsigned queue = 0; queue < Queue::kLimit; ++queue)
      out.queues.push_back(lower_queue(port, queue));
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

SonicStock sonic_stock(SonicModel model) {
  return model == SonicModel::kDynamic ? SonicStock{3, 3} : SonicStock{-1, -4};
}

std::vector<Length> sonic_common_rows() {
  return {5_m, 40_m, 300_m};
}

Lowered sonic_lower(const Intent& intent, const SwitchIntent& wanted) {
  return Lowerer(intent, wanted).lower();
}

}  // namespace weir::platforms
