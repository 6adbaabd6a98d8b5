// A lowered state as Junos `set` commands, with comments that say why.
#include <algorithm>
#include <bitset>

#include <fmt/format.h>

#include "base/text.h"
#include "design/file/words.h"
#include "platforms/common/breakout.h"
#include "platforms/common/lower_common.h"
#include "platforms/common/port_groups.h"
#include "platforms/junos/junos.h"
#include "units/format.h"

namespace weir::platforms {
namespace {

constexpr std::string_view kCos = "set class-of-service";

std::string bits6(unsigned code_point) {
  return std::bitset<6>(code_point).to_string();
}
std::string bits3(unsigned code_point) {
  return std::bitset<3>(code_point).to_string();
}

/// Blocks of lines that are equal but for their name share it; the first of a kind gets the plain
/// one. `@` stands for the name.
class Blocks {
 public:
  std::string name_of(const std::string& wanted, const std::string& block) {
    std::string name = wanted;
    for (int i = 2;; ++i) {
      const auto at = std::find_if(named_.begin(), named_.end(),
                                   [&](const auto& row) { return row.first == name; });
      if (at == named_.end()) break;
      if (at->second == block) return name;
      name = fmt::format("{}-{}", wanted, i);
    }
    named_.emplace_back(name, block);
    return name;
  }
  [[nodiscard]] std::string text() const {
    std::string out;
    for (const auto& [name, block] : named_) {
      std::string_view rest = block;
      for (auto at = rest.find('@'); at != std::string_view::npos; at = rest.find('@')) {
        out += rest.substr(0, at);
        out += name;
        rest.remove_prefix(at + 1);
      }
      out += rest;
    }
    return out;
  }

 private:
  std::vector<std::pair<std::string, std::string>> named_;
};

class Writer {
 public:
  Writer(const design::Intent& intent, const design::SwitchIntent& wanted, const JunosPlan& plan)
      : intent_(intent), wanted_(wanted), plan_(plan), state_(plan.lowered.state) {}

  std::string write() {
    bind_channels();
    for (const SwitchPort& port : state_.ports)
      bind_port(port);
    std::string out = head();
    out += fmt::format("set system host-name {}\n", state_.name);
    out += cages();
    out += classes() + classifier() + rewrite() + buffers();
    out +=
        note(
            "PFC per port: the code points that may be paused, and the cable length. The switch "
            "computes headroom from cable length and MRU. A received pause stops the queue under "
            "`output`: every such queue must be listed. The watchdog drops what a stuck receiver "
            "would hold forever.") +
        pauses_.text();
    out += note(
               "ECN marking in percent of the queue: Junos has no thresholds in bytes. Above the "
               "last fill-level everything is marked.") +
           drops_.text();
    out += note("Minimum shares of the line rate, management included; CNPs are served first.") +
           schedulers_.text() + maps_.text();
    out += note("Ports.") + bindings_ + rest();
    return out;
  }

 private:
  static std::string note(std::string_view text) { return "\n" + comment("##", text); }

  [[nodiscard]] std::string head() const {
    std::string out = comment(
        "##", fmt::format("{} - {}, {} ({}). Load: configure; load set FILE; commit check; commit "
                          "confirmed 5. Buffer changes interrupt traffic on all ports briefly.",
                          state_.name, is_ptx(*wanted_.asic) ? "Juniper PTX" : "Juniper QFX",
                          wanted_.asic->title, "weir render --to junos"));
    return out + remarks_comment("##", plan_.lowered.remarks);
  }

  /// Older boxes split a port under `chassis`, the others under `interfaces`; never both (JVD).
  [[nodiscard]] std::string cages() const {
    const std::vector<UsedCage> changed = changed_cages(wanted_);
    if (changed.empty()) return {};
    std::string out = note("Cages that are split: the speed is that of each sub-port.");
    const bool is_old = wanted_.model->name == "qfx5220-32cd";
    for (const UsedCage& cage : changed) {
      const std::string head = is_old
                                   ? fmt::format("set chassis fpc 0 pic 0 port {}", cage.cage - 1)
                                   : fmt::format("set interfaces {}", cage.name);
      if (cage.is_split()) out += fmt::format("{} number-of-sub-ports {}\n", head, cage.mode.ports);
      out += fmt::format("{} speed {}\n", head, speed_word(cage.mode.speed));
    }
    return out;
  }

  [[nodiscard]] std::string classes() const {
    std::string out =
        note("Forwarding classes: one queue each; lossless ones have a PFC priority.");
    for (const JunosClass& cls : plan_.classes) {
      const std::string head = fmt::format("{} forwarding-classes class {}", kCos, cls.name);
      out += fmt::format("{} queue-num {}\n", head, cls.queue);
      if (cls.is_lossless) out += fmt::format("{} no-loss\n", head);
      if (cls.pfc_priority) out += fmt::format("{} pfc-priority {}\n", head, *cls.pfc_priority);
    }
    return out;
  }

  [[nodiscard]] const JunosClass* class_of(TrafficClass tc) const {
    for (const JunosClass& cls : plan_.classes)
      if (cls.traffic_class == tc.value()) return &cls;
    return nullptr;
  }

  [[nodiscard]] std::string classifier() const {
    const bool by_dscp = state_.dscp_to_tc.is_known();
    std::string out = note(
        "Every code point is listed: the default classifier sends DSCP 48 and 56 to "
        "network-control.");
    const auto add = [&](std::string_view kind, const std::string& bits, TrafficClass tc) {
      const JunosClass* const cls = class_of(tc);
      if (cls == nullptr) return;
      out += fmt::format(
          "{} classifiers {} ROCE forwarding-class {} loss-priority low "
          "code-points {}\n",
          kCos, kind, cls->name, bits);
    };
    if (by_dscp) {
      for (unsigned d = 0; d < Dscp::kLimit; ++d)
        add("dscp", bits6(d), *state_.dscp_to_tc->at(d));
    } else {
      for (unsigned p = 0; p < Pcp::kLimit; ++p)
        add("ieee-802.1", bits3(p), *state_.pcp_to_tc->at(p));
    }
    return out;
  }

  [[nodiscard]] std::string rewrite() const {
    if (!state_.tc_to_dscp.is_known()) return {};
    std::string out = note("Packets are re-marked on egress.");
    for (unsigned tc = 0; tc < TrafficClass::kLimit; ++tc) {
      const JunosClass* const cls = class_of(TrafficClass::of(tc));
      const auto dscp = state_.tc_to_dscp->at(tc);
      if (cls == nullptr || !dscp) continue;
      out += fmt::format(
          "{} rewrite-rules dscp ROCE forwarding-class {} loss-priority low "
          "code-point {}\n",
          kCos, cls->name, bits6(dscp->value()));
    }
    return out;
  }

  [[nodiscard]] std::string buffers() const {
    if (!state_.pools.is_known()) return {};
    std::string out = note(
        "The shared buffer: partitions must add up to 100 %, and lossless and lossy must be equal "
        "at ingress and egress. dynamic-threshold is alpha: 7 is 1, one step doubles it.");
    for (const evidence::Pool& pool : *state_.pools) {
      const auto blank = pool.name.find(' ');
      const std::string head = fmt::format("{} shared-buffer {} buffer-partition {}", kCos,
                                           pool.name.substr(0, blank), pool.name.substr(blank + 1));
      out += fmt::format("{} percent {}\n", head, percent_of(pool.share));
      if (pool.kind == evidence::PoolKind::kHeadroom) continue;
      if (const auto alpha = alpha_of(pool))
        out += fmt::format("{} dynamic-threshold {}\n", head, alpha->log2() + 7);
    }
    return out;
  }

  /// From the first port: it is the same on all.
  [[nodiscard]] std::optional<Alpha> alpha_of(const evidence::Pool& pool) const {
    if (state_.ports.empty()) return std::nullopt;
    const bool lossless = pool.kind == evidence::PoolKind::kLossless;
    const SwitchPort& port = state_.ports.front();
    if (pool.name.starts_with("ingress")) {
      for (const evidence::GroupBuffer& group : port.groups)
        if (group.lossless.is(lossless)) return *group.alpha;
      return std::nullopt;
    }
    for (const EgressQueue& queue : port.queues)
      if (is_lossless(queue) == lossless) return *queue.alpha;
    return std::nullopt;
  }
  [[nodiscard]] bool is_lossless(const EgressQueue& queue) const {
    for (const JunosClass& cls : plan_.classes)
      if (cls.queue == queue.queue.value()) return cls.is_lossless;
    return false;
  }

  // ---- a port ----

  /// MTU, pause and classes of a LAG are those of its ae interface; Junos refuses most of them on a
  /// member.
  void bind_channels() {
    const auto channels = channels_of(state_);
    if (channels.empty()) return;
    bindings_ +=
        fmt::format("set chassis aggregated-devices ethernet device-count {}\n", channels.size());
    for (const auto& [channel, first] : channels) {
      const design::PortRef peer = intent_of(wanted_, first->name).peer;
      bindings_ += fmt::format("set interfaces {} description \"{}\"\n", channel,
                               intent_.switches[peer.node].name);
      bindings_ += fmt::format("set interfaces {} aggregated-ether-options lacp active\n", channel);
      bind(channel, *first, "aggregated-ether-options");
    }
  }

  void bind_port(const SwitchPort& port) {
    bindings_ += fmt::format("set interfaces {} description \"{}\"\n", port.name,
                             peer_text(intent_, intent_of(wanted_, port.name)));
    if (is_bundled(port))
      bindings_ +=
          fmt::format("set interfaces {} ether-options 802.3ad {}\n", port.name, *port.channel);
    else
      bind(port.name, port, "ether-options");
  }

  /// What `port` is set to, on the interface `name`.
  void bind(const std::string& name, const SwitchPort& port, std::string_view options) {
    const std::string head = fmt::format("{} interfaces {}", kCos, name);
    bindings_ += fmt::format("set interfaces {} mtu {}\n", name, port.mtu->raw());
    bindings_ += fmt::format("set interfaces {} {} {}\n", name, options,
                             *port.global_pause ? "flow-control" : "no-flow-control");
    for (const evidence::SwitchInterface& svi : state_.interfaces) {
      const bool is_member =
          svi.members.is_known() &&
          std::find(svi.members->begin(), svi.members->end(), name) != svi.members->end();
      if (svi.kind != "svi" || !is_member) continue;
      const std::string bridged =
          fmt::format("set interfaces {} unit 0 family ethernet-switching", name);
      bindings_ += fmt::format("{} interface-mode trunk\n", bridged);
      bindings_ += fmt::format("{} vlan members v{}\n", bridged, svi.name.substr(4));
    }
    if (port.pfc->count() > 0)
      bindings_ += fmt::format("{} congestion-notification-profile {}\n", head, pause_name(port));
    bindings_ += fmt::format("{} scheduler-map {}\n", head, map_name(port));
    if (port.max_rate->raw() != 0)
      bindings_ += fmt::format("{} shaping-rate {}k\n", head, port.max_rate->raw() / 1000);
    const bool by_dscp = port.trust.is(evidence::TrustMode::kDscp);
    bindings_ +=
        fmt::format("{} unit 0 classifiers {} ROCE\n", head, by_dscp ? "dscp" : "ieee-802.1");
    if (*port.rewrites_dscp) bindings_ += fmt::format("{} unit 0 rewrite-rules dscp ROCE\n", head);
  }

  std::string pause_name(const SwitchPort& port) {
    const std::string head = fmt::format("{} congestion-notification-profile @", kCos);
    std::string block;
    if (*port.watchdog) {
      const evidence::Watchdog& watchdog = state_.watchdog;
      const Duration poll = *watchdog.detection <= 1_s ? Duration(100_ms) : Duration(1_s);
      block += fmt::format("{} pfc-watchdog poll-interval {}\n", head, poll.raw() / (1_ms).raw());
      block += fmt::format("{} pfc-watchdog detection {}\n", head,
                           watchdog.detection->raw() / poll.raw());
      block += fmt::format("{} pfc-watchdog recovery {}\n", head,
                           watchdog.restoration->raw() / (1_ms).raw());
      block += fmt::format("{} pfc-watchdog watchdog-action {}\n", head, *watchdog.action);
    }
    const std::int64_t metres = port.cable_length->raw() / (1_m).raw();
    block += fmt::format("{} input cable-length {}\n", head, metres);
    for (const JunosClass& cls : plan_.classes) {
      if (!cls.pfc_priority || !port.pfc->contains(Priority::of(*cls.pfc_priority))) continue;
      for (const std::string& point : code_points(cls.traffic_class)) {
        block += fmt::format("{} input {} pfc\n", head, point);
        block += fmt::format("{} input {} mru {}\n", head, point, port.mtu->raw());
      }
      block += fmt::format("{} output ieee-802.1 code-point {} flow-control-queue {}\n", head,
                           bits3(*cls.pfc_priority), cls.queue);
    }
    return pauses_.name_of(fmt::format("PFC-{}M", metres), block);
  }

  [[nodiscard]] std::vector<std::string> code_points(unsigned tc) const {
    std::vector<std::string> out;
    if (state_.dscp_to_tc.is_known()) {
      for (unsigned d = 0; d < Dscp::kLimit; ++d)
        if (state_.dscp_to_tc->at(d)->value() == tc) out.push_back("dscp code-point " + bits6(d));
    } else {
      for (unsigned p = 0; p < Pcp::kLimit; ++p)
        if (state_.pcp_to_tc->at(p)->value() == tc)
          out.push_back("ieee-802.1 code-point " + bits3(p));
    }
    return out;
  }

  std::string map_name(const SwitchPort& port) {
    std::string block;
    for (const JunosClass& cls : plan_.classes) {
      for (const EgressQueue& queue : port.queues) {
        if (queue.queue.value() != cls.queue) continue;
        const std::string scheduler = scheduler_name(cls, queue);
        if (!scheduler.empty())
          block += fmt::format("{} scheduler-maps @ forwarding-class {} scheduler {}\n", kCos,
                               cls.name, scheduler);
      }
    }
    return maps_.name_of("ROCE", block);
  }

  std::string scheduler_name(const JunosClass& cls, const EgressQueue& queue) {
    const std::string head = fmt::format("{} schedulers @", kCos);
    std::string block;
    if (queue.scheduler.is_known()) {
      block += *queue.scheduler == evidence::Scheduler::kStrict
                   ? fmt::format("{} priority strict-high\n", head)
                   : fmt::format("{} transmit-rate percent {}\n", head, *queue.weight);
    }
    if (queue.max_share.is_known())
      block += fmt::format("{} shaping-rate percent {}\n", head, percent_of(*queue.max_share));
    if (queue.ecn.is(true)) {
      block += fmt::format("{} drop-profile-map loss-priority any protocol any drop-profile {}\n",
                           head, drop_name(queue));
      block += fmt::format("{} explicit-congestion-notification\n", head);
    }
    return block.empty() ? block : schedulers_.name_of(cls.name, block);
  }

  std::string drop_name(const EgressQueue& queue) {
    const std::string head = fmt::format("{} drop-profiles @ interpolate", kCos);
    const std::int64_t min = percent_of(*queue.ecn_min_share);
    const std::int64_t max = percent_of(*queue.ecn_max_share);
    return drops_.name_of(
        "ROCE-ECN", fmt::format("{0} fill-level {1}\n{0} fill-level {2}\n{0} drop-probability 0\n"
                                "{0} drop-probability {3}\n",
                                head, min, max, percent_of(*queue.ecn_probability)));
  }

  // ---- the rest ----

  [[nodiscard]] std::string rest() const {
    std::string out = note("Neighbours, paths and watermarks.");
    out += "set protocols lldp interface all\n";
    const std::string hash = "set forwarding-options enhanced-hash-key";
    out += fmt::format("{} hash-seed {}\n", hash, *state_.ecmp_seed);
    if (state_.load_balancing.is("adaptive")) out += hash + " ecmp-dlb flowlet\n";
    if (state_.load_balancing.is("spray")) out += hash + " ecmp-dlb per-packet\n";
    if (*state_.cut_through) out += "set forwarding-options cut-through\n";
    if (*state_.telemetry.queue_monitor)
      out += "set chassis fpc 0 traffic-manager buffer-monitor-enable\n";
    if (*state_.telemetry.sflow) {
      out += fmt::format("set protocols sflow polling-interval {}\n",
                         state_.telemetry.interval->raw() / (1_s).raw());
      for (const SwitchPort& port : state_.ports)
        out += fmt::format("set protocols sflow interfaces {}.0\n", port.name);
    }
    for (const evidence::SwitchInterface& svi : state_.interfaces) {
      if (svi.kind != "svi") continue;
      const std::string vlan = svi.name.substr(4);
      out += fmt::format("set vlans v{0} vlan-id {0}\n", vlan);
      if (!svi.mtu.is_known()) continue;
      out += fmt::format("set vlans v{0} l3-interface irb.{0}\n", vlan);
      out += fmt::format("set interfaces irb unit {} family inet mtu {}\n", vlan, svi.mtu->raw());
    }
    return out;
  }

  const design::Intent& intent_;
  const design::SwitchIntent& wanted_;
  const JunosPlan& plan_;
  const evidence::Switch& state_;
  Blocks pauses_;
  Blocks drops_;
  Blocks schedulers_;
  Blocks maps_;
  std::string bindings_;
};

}  // namespace

Rendered junos_render(const design::Intent& intent, const design::SwitchIntent& wanted) {
  const JunosPlan plan = junos_plan(intent, wanted);
  Rendered out;
  out.remarks = plan.lowered.remarks;
  out.files.push_back({wanted.name + ".set", Writer(intent, wanted, plan).write()});
  return out;
}

}  // namespace weir::platforms
