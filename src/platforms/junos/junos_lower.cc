// The state of a Junos switch once the rendered statements are committed.
#include <algorithm>

#include <fmt/format.h>

#include "design/file/words.h"
#include "model/buffers.h"
#include "platforms/common/lower_common.h"
#include "platforms/junos/junos.h"
#include "units/format.h"

namespace weir::platforms {
namespace {

constexpr Bytes kMinMtu = 256_B;  // junos-conf-interfaces: mtu 256..16000

/// The defaults of the ingress lossy partition (Juniper's QFX5K buffer post): threshold 10 = 2^3.
constexpr int kIngressLossyAlpha = 3;
constexpr int kEgressLossyAlpha = 0;

std::string class_name(const std::string& designed, unsigned queue) {
  if (designed.empty()) return fmt::format("queue{}", queue);
  std::string name = designed;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

class Lowerer : Lowering {
 public:
  Lowerer(const Intent& intent, const SwitchIntent& node)
      : Lowering(intent, node, vocab::SwitchSystem::kJunos),
        system_(design::system_model(design::SwitchSystem::kJunos)),
        is_ptx_(is_ptx(*node.asic)) {}

  JunosPlan plan() {
    find_classes();
    lower_code_points();
    set_class_maps(classes_, out_);
    if (node_.rewrites_dscp) lower_rewrite();
    lower_watchdog();
    lower_pools();
    lower_rest();
    for (const SwitchPortIntent& port : node_.ports)
      port_named(out_, port.name) = lower_port(port);
    add_channels([](int number) { return fmt::format("ae{}", number - 1); });
    add_vlan("irb.", 14_B);  // irb counts the IP packet, without the Ethernet header
    return {finish(), std::move(classes_)};
  }

 private:
  // ---- classes ----

  /// One forwarding class per queue: Junos schedules classes, and each class has its own queue.
  void find_classes() {
    paused_ = pausable(node_, remarks_);
    const PrioritySet used = used_priorities(node_, intent_);
    for (unsigned queue = 0; queue < Queue::kLimit; ++queue) {
      std::vector<unsigned> priorities;
      for (unsigned p = 0; p < Priority::kLimit; ++p)
        if (used.contains(Priority::of(p)) && node_.priority_to_queue.at(p).value() == queue)
          priorities.push_back(p);
      if (!priorities.empty()) add_class(queue, priorities);
    }
    assign_traffic_classes(classes_);
    for (const JunosClass& cls : classes_)
      for (unsigned p = 0; p < Priority::kLimit; ++p)
        if (used.contains(Priority::of(p)) && node_.priority_to_queue.at(p).value() == cls.queue)
          class_of_.at(p) = cls.traffic_class;
  }

  void add_class(unsigned queue, const std::vector<unsigned>& priorities) {
    JunosClass out;
    out.queue = queue;
    out.name = class_name(intent_.class_names.at(priorities.front()), queue);
    for (const unsigned p : priorities) {
      const bool is_lossless = node_.lossless.contains(Priority::of(p));
      if (!is_lossless && !paused_.contains(Priority::of(p))) continue;
      if (out.pfc_priority) {
        remarks_.add(fmt::format("PFC of priority {}", p), "on",
                     fmt::format("that of priority {}", *out.pfc_priority),
                     "they share a queue, and a forwarding class has one pfc-priority");
        continue;
      }
      out.pfc_priority = p;
      out.is_lossless = is_lossless;
      out.name = class_name(intent_.class_names.at(p), queue);
    }
    if (out.is_lossless && lossless_++ >= system_.max_lossless_priorities) {
      remarks_.add(
          "lossless class " + out.name, "no-loss", "lossy",
          fmt::format("at most {} classes can be no-loss", system_.max_lossless_priorities));
      out.is_lossless = false;
    }
    classes_.push_back(std::move(out));
  }

  void lower_code_points() {
    const auto class_at = [&](unsigned priority) { return class_of_.at(priority); };
    set_trusted_map(class_at);
    // Junos enables PFC per code point: a class without code points cannot have it.
    for (const JunosClass& cls : classes_) {
      if (!cls.pfc_priority || !paused_.contains(Priority::of(*cls.pfc_priority))) continue;
      if (has_code_point(cls.traffic_class)) {
        pfc_.insert(Priority::of(*cls.pfc_priority));
      } else {
        remarks_.add(fmt::format("PFC of priority {}", *cls.pfc_priority), "on", "",
                     "Junos enables PFC per code point, and this class has none");
      }
    }
  }

  [[nodiscard]] bool has_code_point(unsigned traffic_class) const {
    const auto is_it = [&](const std::optional<TrafficClass>& tc) {
      return tc && tc->value() == traffic_class;
    };
    if (out_.dscp_to_tc.is_known())
      return std::any_of(out_.dscp_to_tc->begin(), out_.dscp_to_tc->end(), is_it);
    return std::any_of(out_.pcp_to_tc->begin(), out_.pcp_to_tc->end(), is_it);
  }

  void lower_rewrite() {
    const auto by_priority = rewrite_map(node_);
    std::array<std::optional<Dscp>, 8> map{};
    for (unsigned p = 0; p < Priority::kLimit; ++p)
      if (by_priority.at(p)) map.at(class_of_.at(p)) = by_priority.at(p);
    out_.tc_to_dscp = known(map);
  }

  // ---- the switch ----

  void lower_watchdog() {
    evidence::Watchdog& watchdog = out_.watchdog;
    const bool is_on = node_.watchdog && !node_.ports.empty() && pfc_.count() > 0;
    watchdog.enabled = known(is_on);
    if (!is_on) return;
    // Detection is 2 to 10 polls of 100 ms to 1 s.
    const Duration wanted = node_.watchdog_detect;
    const Duration step = wanted <= 1_s ? Duration(100_ms) : Duration(1_s);
    watchdog.detection =
        known(to_step(wanted, step, system_.watchdog_detect_min, system_.watchdog_detect_max));
    remarks_.changed("watchdog detection", wanted, *watchdog.detection,
                     "2 to 10 polls of 100ms or 1s");
    watchdog.restoration = known(to_step(node_.watchdog_restore, 1_ms, system_.watchdog_restore_min,
                                         system_.watchdog_restore_max));
    remarks_.changed("watchdog restoration", node_.watchdog_restore, *watchdog.restoration,
                     "200ms to 1s");
    const bool can = node_.watchdog_action != design::WatchdogAction::kAlert;
    watchdog.action = known(std::string(can ? design::to_word(node_.watchdog_action) : "drop"));
    if (!can)
      remarks_.add("watchdog action", "alert", "drop", "Junos has no action that only reports");
    if (node_.watchdog_action == design::WatchdogAction::kForward)
      remarks_.add("watchdog action", "forward", "forward", "needs Junos 24.4R1 or later");
  }

  void lower_pools() {
    using enum evidence::PoolKind;
    if (is_ptx_) {
      remarks_.add("buffer partitions and alpha", to_text(node_.buffers.alpha), "",
                   "a PTX has virtual output queues and neither of them");
      return;
    }
    const JunosPartitions parts = junos_partitions(node_);
    const auto share = [](unsigned percent) { return 1_percent * percent; };
    out_.pools = known(std::vector<evidence::Pool>{
        {"ingress lossless", kLossless, {}, share(parts.lossless)},
        {"ingress lossless-headroom", kHeadroom, {}, share(parts.headroom)},
        {"ingress lossy", kLossy, {}, share(parts.lossy)},
        {"egress lossless", kLossless, {}, share(parts.lossless)},
        {"egress lossy", kLossy, {}, share(parts.lossy)}});
    remarks_.add("headroom of all ports", to_text(node_.buffers.headroom_pool),
                 fmt::format("{} %", parts.headroom), "a whole percent of the buffer, rounded up");
    if (node_.buffers.plan && node_.buffers.plan->storage_pool > 0_B)
      remarks_.add("separate buffer pool for storage", to_text(node_.buffers.plan->storage_pool),
                   "part of lossy",
                   "Junos has the partitions lossless, lossless-headroom and lossy");
    if (node_.buffers.threshold == design::Threshold::kStatic)
      remarks_.add("static XOFF", to_text(node_.buffers.static_xoff),
                   "alpha " + to_text(node_.buffers.alpha), "Junos has dynamic thresholds only");
    if (node_.buffers.reserved_per_group > 0_B)
      remarks_.add("reserved buffer per group", to_text(node_.buffers.reserved_per_group), "",
                   "Junos dedicates a percentage to all ports; the default is kept");
    remarks_.add("XON", to_text(node_.buffers.xon_offset) + " below XOFF", "",
                 "the switch decides");
  }

  void lower_rest() {
    out_.load_balancing = known(balancing(node_, remarks_));
    out_.ecmp_seed = known(node_.ecmp_seed);
    out_.lldp = known(true);
    const bool is_fast = node_.forwarding == design::Forwarding::kCutThrough;
    out_.cut_through = known(is_fast && !is_ptx_);
    if (is_fast && is_ptx_) remarks_.add("cut-through", "on", "off", "a PTX is store-and-forward");
    evidence::Telemetry& telemetry = out_.telemetry;
    telemetry.queue_monitor = known(!is_ptx_);
    telemetry.gnmi = known(false);
    telemetry.sflow = known(intent_.telemetry.sflow);
    if (intent_.telemetry.gnmi)
      remarks_.add("gNMI", "on", "",
                   "Junos needs the name of a certificate, which the design does not have");
    if (!intent_.telemetry.sflow) return;
    telemetry.interval = known(to_step(intent_.telemetry.interval, 1_s, 1_s, 3600_s));
    remarks_.add("sFlow collector", "on", "on, without a collector", "the design has no collector");
  }

  // ---- a port ----

  GroupBuffer group(unsigned index, bool lossless) {
    GroupBuffer out;
    out.group = PriorityGroup::of(index);
    out.lossless = known(lossless);
    if (lossless) out.headroom_auto = known(true);
    if (!is_ptx_)
      out.alpha =
          known(lossless ? ingress_alpha(node_, remarks_) : Alpha::from_log2(kIngressLossyAlpha));
    return out;
  }

  void lower_marking(const SwitchPortIntent& port, EgressQueue& out) {
    const design::WredIntent& wred = port.wred;
    out.ecn = known(wred.ecn);
    out.wred_drop = known(wred.ecn);
    if (!wred.ecn) return;
    const Bytes whole = junos_largest_queue(node_);
    const auto percent = [&](Bytes size, std::int64_t low, std::int64_t high) {
      const Int128 nearest = (Int128{size.raw()} * 100 + whole.raw() / 2) / whole.raw();
      return std::clamp(static_cast<std::int64_t>(std::min<Int128>(nearest, 100)), low, high);
    };
    const std::int64_t min = percent(wred.min, 1, 99);
    const std::int64_t max = percent(wred.max, min + 1, 100);
    const auto tell = [&](std::string what, Bytes wanted, std::int64_t becomes) {
      remarks_.add(std::move(what), to_text(wanted),
                   fmt::format("{} %, {}", becomes, approximate(whole * becomes / 100)),
                   is_ptx_
                       ? fmt::format("percent of a queue that is taken for a port's part of the "
                                     "deep buffer, {}",
                                     approximate(whole))
                       : fmt::format("percent of the largest queue, {}", approximate(whole)),
                   port.name);
    };
    tell("marking starts", wred.min, min);
    tell("everything is marked", wred.max, max);
    out.ecn_min_share = known(1_percent * min);
    out.ecn_max_share = known(1_percent * max);
    out.ecn_probability = known(marking_probability(node_, port, remarks_));
  }

  EgressQueue lower_queue(const SwitchPortIntent& port, const JunosClass& cls) {
    const design::Share8& share = node_.queues.at(cls.queue);
    EgressQueue out = plain_queue(cls.queue);
    if (cls.is_lossless) lower_marking(port, out);
    if (!is_ptx_)
      out.alpha = known(
          cls.is_lossless ? clamp_alpha(node_, node_.buffers.egress_alpha, "egress alpha", remarks_)
                          : Alpha::from_log2(kEgressLossyAlpha));
    out.max_rate = known(BitRate());
    if (!share.used) return out;
    set_scheduler(share.scheduling == design::Scheduling::kStrict, percents_.at(cls.queue), out);
    if (!port.is_access || share.limit >= 100_percent) return out;
    const unsigned limit = std::max(whole_percent(share.limit), 1U);
    out.max_rate = {};
    out.max_share = known(1_percent * limit);
    if (*out.max_share != share.limit)
      remarks_.add(fmt::format("limit of queue {}", cls.queue), to_text(share.limit),
                   fmt::format("{} %", limit), "whole percents", port.name);
    return out;
  }

  SwitchPort lower_port(const SwitchPortIntent& port) {
    SwitchPort out = base_port(port, pfc_);
    raise_mtu(kMinMtu, "the Junos minimum", out);
    if (pfc_.count() > 0) out.cable_length = known(cable_length(port, remarks_));
    if (!port.headroom_is_auto)
      remarks_.add("headroom", to_text(port.headroom), "",
                   "Junos computes it from cable length and MRU", port.name);
    out.groups.push_back(group(0, false));
    for (const JunosClass& cls : classes_) {
      const bool lossless = cls.is_lossless && pfc_.contains(Priority::of(*cls.pfc_priority));
      if (lossless)
        group_at(out, PriorityGroup::of(*cls.pfc_priority)) = group(*cls.pfc_priority, true);
      queue_at(out, Queue::of(cls.queue)) = lower_queue(port, cls);
    }
    return out;
  }

  const design::SystemModel& system_;
  const bool is_ptx_;
  PrioritySet paused_;  // of the design
  PrioritySet pfc_;     // what Junos can express
  int lossless_ = 0;
  std::array<unsigned, 8> class_of_{};  // traffic class of each priority in use
  std::vector<JunosClass> classes_;
};

}  // namespace

bool assign_traffic_classes(std::vector<JunosClass>& classes) {
  std::stable_sort(classes.begin(), classes.end(),
                   [](const JunosClass& a, const JunosClass& b) { return a.queue < b.queue; });
  std::array<bool, TrafficClass::kLimit> is_taken{};
  std::vector<JunosClass*> later;
  for (JunosClass& cls : classes) {
    if (cls.pfc_priority && !is_taken.at(*cls.pfc_priority)) {
      cls.traffic_class = *cls.pfc_priority;
      is_taken.at(*cls.pfc_priority) = true;
    } else {
      later.push_back(&cls);
    }
  }
  bool fits = true;
  for (JunosClass* const cls : later) {
    const unsigned wanted = cls->queue;
    if (wanted < is_taken.size() && !is_taken.at(wanted)) {
      cls->traffic_class = wanted;
      is_taken.at(wanted) = true;
      continue;
    }
    const auto free = std::find(is_taken.begin(), is_taken.end(), false);
    if (free == is_taken.end()) {
      fits = false;
      continue;
    }
    *free = true;
    cls->traffic_class = static_cast<unsigned>(free - is_taken.begin());
  }
  return fits;
}

void set_class_maps(const std::vector<JunosClass>& classes, evidence::Switch& state) {
  std::array<Queue, 8> queues{};
  std::array<PriorityGroup, 8> groups{};
  std::array<Queue, 8> paused{};
  for (unsigned p = 0; p < Priority::kLimit; ++p)
    paused.at(p) = Queue::of(p);  // the default: a pause of priority p stops queue p
  for (const JunosClass& cls : classes) {
    if (cls.queue >= Queue::kLimit) continue;  // multidestination
    queues.at(cls.traffic_class) = Queue::of(cls.queue);
    if (!cls.pfc_priority) continue;
    if (cls.is_lossless) groups.at(cls.traffic_class) = PriorityGroup::of(*cls.pfc_priority);
    paused.at(*cls.pfc_priority) = Queue::of(cls.queue);
  }
  state.tc_to_queue = known(queues);
  state.tc_to_group = known(groups);
  state.pfc_to_queue = known(paused);
}

bool is_ptx(const design::AsicModel& asic) {
  return asic.deep_buffer > 0_B;
}

JunosPartitions junos_partitions(const SwitchIntent& wanted) {
  const design::BufferIntent& buffers = wanted.buffers;
  const std::int64_t total = std::max<std::int64_t>(buffers.total.raw(), 1);
  const auto percent_up = [&](Bytes part) {
    return static_cast<std::int64_t>((Int128{part.raw()} * 100 + total - 1) / total);
  };
  // Where classes share one pool, a tenth is lossy, as in Juniper's validated design (66/24/10).
  constexpr std::int64_t kLossy = 10;
  const bool is_carved = buffers.plan && buffers.plan->lossy_pool > 0_B;
  const Bytes lossy = is_carved ? buffers.plan->lossy_pool + buffers.plan->storage_pool : 0_B;
  JunosPartitions out;
  const std::int64_t lossy_part =
      std::clamp<std::int64_t>(is_carved ? percent_up(lossy) : kLossy, 1, 98);
  const std::int64_t headroom =
      std::clamp<std::int64_t>(percent_up(buffers.headroom_pool), 1, 99 - lossy_part);
  out.lossy = static_cast<unsigned>(lossy_part);
  out.headroom = static_cast<unsigned>(headroom);
  out.lossless = static_cast<unsigned>(100 - lossy_part - headroom);
  return out;
}

Bytes junos_largest_queue(const SwitchIntent& wanted) {
  if (is_ptx(*wanted.asic)) {
    const auto ports = static_cast<std::int64_t>(std::max<std::size_t>(wanted.ports.size(), 1));
    return std::max(wanted.asic->deep_buffer / ports, 1_B);
  }
  const design::SystemModel& system = design::system_model(design::SwitchSystem::kJunos);
  const Alpha alpha = std::clamp(wanted.buffers.egress_alpha, system.min_alpha, system.max_alpha);
  const Bytes lossless =
      share_of(std::max(wanted.buffers.total, 0_B), 1_percent * junos_partitions(wanted).lossless);
  return std::max(model::dynamic_threshold(lossless, alpha, 1), 1_B);
}

JunosPlan junos_plan(const Intent& intent, const SwitchIntent& wanted) {
  return Lowerer(intent, wanted).plan();
}

Lowered junos_lower(const Intent& intent, const SwitchIntent& wanted) {
  return junos_plan(intent, wanted).lowered;
}

}  // namespace weir::platforms
