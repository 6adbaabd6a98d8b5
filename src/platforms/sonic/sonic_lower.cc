// What a SONiC switch will hold once the rendered CONFIG_DB is loaded.
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

using design::Intent;
using design::SwitchIntent;
using design::SwitchPortIntent;
using evidence::EgressQueue;
using evidence::GroupBuffer;
using evidence::SwitchPort;

constexpr Bytes kMinMtu = 68_B;  // sonic-port.yang: mtu 68..9216

class Lowerer {
 public:
  Lowerer(const Intent& intent, const SwitchIntent& wanted)
      : intent_(intent),
        wanted_(wanted),
        model_(sonic_model_of(*wanted.asic)),
        system_(design::system_model(design::SwitchSystem::kSonic)) {}

  Lowered lower() {
    evidence::Switch& state = out_.state;
    state.name = wanted_.name;
    state.platform = known(std::string(vocab::names_of(vocab::SwitchSystem::kSonic).name));
    state.buffer_model =
        known(std::string(model_ == SonicModel::kDynamic ? "dynamic" : "traditional"));
    for (const SwitchPortIntent& port : wanted_.ports)
      note_cable(port);
    lower_maps();
    lower_watchdog();
    lower_pools();
    lower_rest();
    for (const SwitchPortIntent& port : wanted_.ports)
      state.ports.push_back(lower_port(port));
    if (has_gateway(intent_, wanted_))
      interface_named(state, fmt::format("Vlan{}", intent_.vlan), "svi").mtu =
          known(widest_mtu(state));
    out_.remarks = remarks_.take();
    return std::move(out_);
  }

 private:
  void lower_maps() {
    evidence::Switch& state = out_.state;
    if (wanted_.trust == design::Trust::kDscp) {
      std::array<std::optional<TrafficClass>, 64> dscp;
      for (unsigned d = 0; d < Dscp::kLimit; ++d)
        dscp.at(d) = TrafficClass::of(wanted_.dscp_to_priority.at(d).value());
      state.dscp_to_tc = known(dscp);
    } else {
      std::array<std::optional<TrafficClass>, 8> pcp;
      for (unsigned p = 0; p < Pcp::kLimit; ++p)
        pcp.at(p) = TrafficClass::of(wanted_.pcp_to_priority.at(p).value());
      state.pcp_to_tc = known(pcp);
    }
    state.tc_to_queue = known(wanted_.priority_to_queue);
    state.tc_to_group = known(wanted_.priority_to_pg);
    state.pfc_to_queue = known(wanted_.priority_to_queue);
    if (wanted_.rewrites_dscp) state.tc_to_dscp = known(rewrite_map(wanted_));
  }

  /// Whole milliseconds within the range of the YANG model.
  Duration milliseconds(std::string what, Duration wanted, Duration low, Duration high) {
    const Duration becomes = to_step(wanted, 1_ms, low, high);
    if (becomes != wanted)
      remarks_.add(std::move(what), to_text(wanted), to_text(becomes),
                   fmt::format("whole milliseconds from {} to {}", to_text(low), to_text(high)));
    return becomes;
  }

  void lower_watchdog() {
    evidence::Watchdog& watchdog = out_.state.watchdog;
    const bool is_on = wanted_.watchdog && !wanted_.ports.empty();
    watchdog.enabled = known(is_on);
    if (!is_on) return;
    watchdog.detection =
        known(milliseconds("watchdog detection", wanted_.watchdog_detect,
                           system_.watchdog_detect_min, system_.watchdog_detect_max));
    watchdog.restoration =
        known(milliseconds("watchdog restoration", wanted_.watchdog_restore,
                           system_.watchdog_restore_min, system_.watchdog_restore_max));
    watchdog.action = known(std::string(design::to_word(wanted_.watchdog_action)));
  }

  void lower_pools() {
    using evidence::PoolKind;
    const design::BufferIntent& buffers = wanted_.buffers;
    // Headroom that rounding adds is taken from what is shared: the buffer does not grow.
    Bytes headroom_sum;
    for (const SwitchPortIntent& port : wanted_.ports)
      headroom_sum += headroom_of(port) * wanted_.lossless.count();
    const Bytes headroom = headroom_sum / std::max(buffers.headroom_oversubscription, 1);
    const Bytes shared =
        std::max(buffers.lossless_shared - (headroom - buffers.headroom_pool), 0_B);
    if (buffers.lossless_shared < 0_B)
      remarks_.add("shared buffer of the lossless classes", to_text(buffers.lossless_shared), "0B",
                   "headroom alone is more than the buffer");
    std::vector<evidence::Pool> pools = {
        {"ingress_lossless_pool", PoolKind::kLossless, shared, {}}};
    const bool has_pool =
        model_ == SonicModel::kTraditional || buffers.headroom_oversubscription > 1;
    if (has_pool)
      pools.push_back({"ingress_lossless_pool xoff", PoolKind::kHeadroom, headroom, {}});
    const Bytes lossy = buffers.plan ? buffers.plan->lossy_pool + buffers.plan->storage_pool : 0_B;
    if (lossy > 0_B) pools.push_back({"ingress_lossy_pool", PoolKind::kLossy, lossy, {}});
    if (buffers.plan && buffers.plan->storage_pool > 0_B)
      remarks_.add("a buffer pool of its own for storage", to_text(buffers.plan->storage_pool),
                   "part of ingress_lossy_pool",
                   "priority group 0 carries every lossy class, and a group has one pool");
    pools.push_back({"egress_lossless_pool", PoolKind::kLossless, buffers.total, {}});
    out_.state.pools = known(pools);
    if (model_ == SonicModel::kDynamic) {
      out_.state.headroom_oversubscription =
          known(static_cast<unsigned>(buffers.headroom_oversubscription));
    }
  }

  void lower_rest() {
    evidence::Switch& state = out_.state;
    state.load_balancing = known(std::string("ecmp"));
    if (wanted_.load_balancing != design::LoadBalancing::kEcmp)
      remarks_.add("load balancing", std::string(design::to_word(wanted_.load_balancing)), "ecmp",
                   "CONFIG_DB of the community's SONiC has no table for it; vendors add their own");
    if (wanted_.ecmp_seed != 0)
      remarks_.add(
          "seed of the ECMP hash", std::to_string(wanted_.ecmp_seed), "",
          fmt::format("not in CONFIG_DB; {}.switch.json sets it through swssconfig", wanted_.name));
    if (wanted_.forwarding == design::Forwarding::kStoreAndForward)
      remarks_.add("store-and-forward", "on", "", "CONFIG_DB has no such setting");
    if (wanted_.global_pause)
      remarks_.add("802.3x pause", "on", "off", "CONFIG_DB has no such setting");
    state.lldp = known(true);
    const design::TelemetryIntent& telemetry = intent_.telemetry;
    state.telemetry.gnmi = known(telemetry.gnmi);
    state.telemetry.sflow = known(telemetry.sflow);
    state.telemetry.queue_monitor = known(true);
    state.telemetry.ecn_counters = known(true);
    // flexcounter: 100 ms to 30 s are what counterpoll takes for queues (sonic-utilities 691b1bb).
    state.telemetry.interval =
        known(milliseconds("interval of counters", telemetry.interval, 100_ms, 30_s));
    if (telemetry.sflow)
      remarks_.add("sFlow collector", "on", "on, without a collector", "the design names none");
  }

  Bytes lower_mtu(const SwitchPortIntent& port) {
    const Bytes mtu = port_mtu(wanted_, port, remarks_);
    if (mtu >= kMinMtu) return mtu;
    remarks_.add("MTU", to_text(mtu), to_text(kMinMtu), "the smallest that sonic-port takes",
                 port.name);
    return kMinMtu;
  }

  // ---- headroom ----

  /// The length that CABLE_LENGTH names.
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
    const auto model = model::parse_headroom_model(wanted_.asic->headroom_model);
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
    if (cable == port.cable) return;
    const bool is_row = model_ == SonicModel::kTraditional;
    remarks_.add("cable length", to_text(port.cable), to_text(cable),
                 is_row ? "rounded up to a row of pg_profile_lookup.ini" : "whole metres",
                 port.name);
  }

  Bytes headroom_of(const SwitchPortIntent& port) {
    if (model_ == SonicModel::kDynamic) return port.headroom;
    const Bytes largest = row_headroom_.at({port.speed, cable_of(port)});
    if (largest != port.headroom)
      remarks_.add(fmt::format("headroom of ports with {} at {}", to_text(port.speed),
                               to_text(cable_of(port))),
                   to_text(port.headroom), to_text(largest),
                   "one profile for each speed and row; the largest serves all");
    return largest;
  }

  /// NVIDIA's ASICs resume at a size of the group itself, which must cover the pipeline.
  [[nodiscard]] Bytes dynamic_reserved(const SwitchPortIntent& port) const {
    model::HeadroomInput input;
    const auto model = model::parse_headroom_model(wanted_.asic->headroom_model);
    if (!model) return wanted_.buffers.reserved_per_group;
    input.model = *model;
    input.speed = port.speed;
    input.cable = port.cable;
    input.mtu = std::clamp(port.mtu, kMinMtu, system_.max_mtu);
    const auto computed = model::headroom(input);
    const Bytes least = computed && computed->xon ? *computed->xon : 0_B;
    return std::max(least, wanted_.buffers.reserved_per_group);
  }

  GroupBuffer lossless_group(const SwitchPortIntent& port, unsigned group) {
    GroupBuffer out;
    out.group = PriorityGroup::of(group);
    out.lossless = known(true);
    out.headroom_auto = known(false);
    out.headroom = known(headroom_of(port));
    if (model_ == SonicModel::kDynamic) {
      out.reserved = known(dynamic_reserved(port));
      if (*out.reserved != wanted_.buffers.reserved_per_group)
        remarks_.add("guaranteed buffer of a lossless group",
                     to_text(wanted_.buffers.reserved_per_group), to_text(*out.reserved),
                     "must cover the pipeline's latency (NVIDIA's formula)");
      remarks_.add("where a pause ends", to_text(wanted_.buffers.xon_offset) + " below XOFF",
                   "at " + to_text(*out.reserved) + " of the group",
                   "NVIDIA's ASICs know a size, not an offset");
    } else {
      out.reserved = known(wanted_.buffers.reserved_per_group);
      out.xon = known(wanted_.buffers.xon_offset);
    }
    if (wanted_.buffers.threshold == design::Threshold::kStatic) {
      out.xoff = known(wanted_.buffers.static_xoff);
    } else {
      out.alpha = known(ingress_alpha(wanted_, remarks_));
    }
    return out;
  }

  GroupBuffer lossy_group() {
    GroupBuffer out;
    out.group = PriorityGroup::of(0);
    out.lossless = known(false);
    out.reserved = known(0_B);
    if (wanted_.buffers.threshold == design::Threshold::kStatic) {
      out.xoff = known(wanted_.buffers.total);
    } else {
      out.alpha = known(Alpha::from_log2(sonic_stock(model_).ingress_lossy_alpha));
    }
    return out;
  }

  // ---- queues ----

  [[nodiscard]] bool is_lossless_queue(unsigned queue) const {
    for (unsigned p = 0; p < Priority::kLimit; ++p)
      if (wanted_.lossless.contains(Priority::of(p)) &&
          wanted_.priority_to_queue.at(p).value() == queue)
        return true;
    return false;
  }

  void lower_marking(const SwitchPortIntent& port, EgressQueue& out) {
    const design::WredIntent& wred = port.wred;
    out.ecn = known(wred.ecn);
    out.wred_drop = known(wred.ecn);
    if (!wred.ecn) return;
    const Bytes max = std::max(wred.min, wred.max);
    if (max != wred.max)
      remarks_.add("WRED maximum", to_text(wred.max), to_text(max),
                   "must not be below the minimum");
    if (wred.mark_at == design::MarkAt::kEnqueue)
      remarks_.add("marking at enqueue", "on", "", "CONFIG_DB has no such setting");
    out.ecn_min = known(wred.min);
    out.ecn_max = known(max);
    out.ecn_probability = known(marking_probability(wanted_, port, remarks_));
  }

  EgressQueue lower_queue(const SwitchPortIntent& port, unsigned queue) {
    const design::Share8& share = wanted_.queues.at(queue);
    EgressQueue out;
    out.queue = Queue::of(queue);
    out.ecn = known(false);
    out.wred_drop = known(false);
    const bool lossless = is_lossless_queue(queue);
    if (lossless) lower_marking(port, out);
    out.alpha = known(
        lossless ? clamp_alpha(wanted_, wanted_.buffers.egress_alpha, "egress alpha", remarks_)
                 : Alpha::from_log2(sonic_stock(model_).egress_lossy_alpha));
    out.max_rate = known(BitRate());
    if (!share.used) return out;
    const bool strict = share.scheduling == design::Scheduling::kStrict;
    out.scheduler = known(strict ? evidence::Scheduler::kStrict : evidence::Scheduler::kWeighted);
    if (!strict) {
      out.weight = known(percents_.at(queue));
    }
    out.max_rate = known(limit_of(wanted_, port, queue));
    return out;
  }

  SwitchPort lower_port(const SwitchPortIntent& port) {
    SwitchPort out;
    out.name = port.name;
    out.speed = known(port.speed);
    out.mtu = known(lower_mtu(port));
    out.trust = known(wanted_.trust == design::Trust::kDscp ? evidence::TrustMode::kDscp
                                                            : evidence::TrustMode::kPcp);
    out.pfc = known(wanted_.pfc);
    out.pfc_negotiated = known(false);
    out.global_pause = known(false);
    out.watchdog = known(wanted_.watchdog);
    out.rewrites_dscp = known(wanted_.rewrites_dscp);
    out.max_rate = known(port.shaper ? whole_kilobits_down(*port.shaper) : BitRate());
    out.dcbx = known(false);
    out.cable_length = known(cable_of(port));
    for (unsigned group = 0; group < PriorityGroup::kLimit; ++group) {
      if (wanted_.lossless.contains(Priority::of(group))) {
        out.groups.push_back(lossless_group(port, group));
      } else if (group == 0) {
        out.groups.push_back(lossy_group());
      }
    }
    for (unsigned queue = 0; queue < Queue::kLimit; ++queue)
      out.queues.push_back(lower_queue(port, queue));
    return out;
  }

  const Intent& intent_;
  const SwitchIntent& wanted_;
  const SonicModel model_;
  const design::SystemModel& system_;
  std::map<std::pair<BitRate, Length>, Bytes> row_headroom_;
  const std::array<unsigned, 8> percents_ = queue_percents(wanted_);
  Remarks remarks_;
  Lowered out_;
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
