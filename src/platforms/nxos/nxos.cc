// Cisco NX-OS (Nexus 9000, eight queues): three kinds of policy that must agree.
//
// A qos-group is both traffic class and queue: `match dscp 26` → qos-group 3 → c-8q-nq3 pauses with
// pfc-cos 3 → c-out-8q-q3 sends it. The traffic class in the state is therefore the design's queue.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "design/file/words.h"
#include "platforms/common/breakout.h"
#include "platforms/common/lower_common.h"
#include "platforms/common/port_groups.h"
#include "platforms/common/systems.h"
#include "platforms/nxos/nxos_parse.h"
#include "units/format.h"

namespace weir::platforms {
namespace {

// ---- lower ----

class NxosLowering : Lowering {
 public:
  NxosLowering(const Intent& intent, const SwitchIntent& node)
      : Lowering(intent, node, vocab::SwitchSystem::kNxos),
        pfc_(one_per_queue(pausable(node, remarks_))) {}

  Lowered lower() {
    set_maps();
    set_watchdog();
    out_.load_balancing = known(balancing(node_, remarks_));
    out_.ecmp_seed = known(static_cast<unsigned>(node_.ecmp_seed));
    out_.cut_through = known(node_.forwarding == design::Forwarding::kCutThrough);
    out_.lldp = known(true);
    set_telemetry(86'400_s);
    remark_buffers();
    for (const SwitchPortIntent& port : node_.ports)
      add_port(port);
    add_channels([](int number) { return fmt::format("port-channel{}", number); });
    add_vlan("Vlan");
    return finish();
  }

 private:
  /// A network-qos class pauses with one CoS: of two priorities in one queue the lower one.
  PrioritySet one_per_queue(PrioritySet wanted) {
    PrioritySet kept;
    std::array<bool, 8> taken{};
    for (unsigned p = 0; p < 8; ++p) {
      if (!wanted.contains(Priority::of(p))) continue;
      bool& is_taken = taken.at(node_.priority_to_queue.at(p).value());
      if (is_taken) {
        remarks_.add("PFC", fmt::format("priority {}", p), "",
                     fmt::format("queue {} can pause with one priority only",
                                 node_.priority_to_queue.at(p).value()));
        continue;
      }
      is_taken = true;
      kept.insert(Priority::of(p));
    }
    return kept;
  }

  [[nodiscard]] unsigned queue_of(unsigned priority) const {
    return node_.priority_to_queue.at(priority).value();
  }

  void set_maps() {
    std::array<Queue, 8> queues{};
    std::array<Queue, 8> paused{};
    std::array<PriorityGroup, 8> groups{};
    std::array<std::optional<Dscp>, 8> rewrites{};
    const auto by_priority = rewrite_map(node_);
    for (unsigned i = 0; i < 8; ++i) {
      queues.at(i) = Queue::of(i);
      paused.at(i) = Queue::of(i);
    }
    for (unsigned p = 8; p-- > 0;) {
      if (by_priority.at(p)) rewrites.at(queue_of(p)) = by_priority.at(p);
      if (!pfc_.contains(Priority::of(p))) continue;
      paused.at(p) = Queue::of(queue_of(p));
      groups.at(queue_of(p)) = PriorityGroup::of(p);
    }
    const auto class_of = [&](unsigned priority) { return queue_of(priority); };
    set_trusted_map(class_of);
    out_.tc_to_queue = known(queues);
    out_.tc_to_group = known(groups);
    out_.pfc_to_queue = known(paused);
    out_.tc_to_dscp = known(rewrites);
  }

  void set_watchdog() {
    using namespace nxos_cli;
    evidence::Watchdog& out = out_.watchdog;
    const bool is_on = has_watchdog(pfc_, "there is no no-drop queue");
    out.action = known(std::string("drop"));
    out.detection = known(kInterval * kShutdown);
    out.restoration = known(kInterval * kRestore);
    if (!is_on) return;
    if (node_.watchdog_action == design::WatchdogAction::kAlert) {
      out.action = known(std::string("alert"));
    } else if (node_.watchdog_action == design::WatchdogAction::kForward) {
      remarks_.add("watchdog action", "forward", "drop", "NX-OS can drop or only log");
    }
    // The shortest interval that the multipliers allow.
    const Duration interval = to_step(node_.watchdog_detect / kShutdownMost + kInterval / 2,
                                      kInterval, kInterval, kIntervalMost);
    const auto times = [&](Duration wanted, std::int64_t most) {
      return std::clamp<std::int64_t>((wanted.raw() + interval.raw() / 2) / interval.raw(), 1,
                                      most);
    };
    out.detection = known(interval * times(node_.watchdog_detect, kShutdownMost));
    out.restoration = known(interval * times(node_.watchdog_restore, kRestoreMost));
    const std::string why = "a multiple of the watchdog interval (100ms to 1s)";
    remarks_.changed("watchdog detection", node_.watchdog_detect, *out.detection, why);
    remarks_.changed("watchdog restoration", node_.watchdog_restore, *out.restoration, why);
  }

  void remark_buffers() {
    const design::BufferIntent& buffers = node_.buffers;
    remark_no_pools("NX-OS");
    if (pfc_.count() == 0) return;
    if (buffers.threshold == design::Threshold::kDynamic)
      remarks_.add("alpha", to_text(buffers.alpha), "",
                   "the command is not verified for Nexus 9000; the platform default applies");
    if (buffers.reserved_per_group > 0_B)
      remarks_.add("reserved buffer", to_text(buffers.reserved_per_group), "",
                   "NX-OS cannot reserve buffer per port and group");
    remark_no_shared_headroom("NX-OS has headroom per port only");
  }

  void add_port(const SwitchPortIntent& from) {
    SwitchPort port = announcing_port(from, pfc_);
    port.max_rate = known(BitRate());
    if (from.shaper)
      remarks_.add("port shaper", to_text(*from.shaper), "", "NX-OS shapes queues, not ports",
                   from.name);
    for (unsigned p = 0; p < 8; ++p)
      if (pfc_.contains(Priority::of(p))) add_group(from, p, port);
    for (unsigned q = 0; q < 8; ++q)
      add_cli_queue(from, q, is_queue_of(node_, pfc_, q), port);
    port_named(out_, port.name) = std::move(port);
  }

  void add_group(const SwitchPortIntent& from, unsigned priority, SwitchPort& port) {
    using namespace nxos_cli;
    const design::BufferIntent& buffers = node_.buffers;
    const bool is_static = buffers.threshold == design::Threshold::kStatic;
    const design::SystemModel& system = design::system_model(node_.system);
    GroupBuffer& group = group_at(port, PriorityGroup::of(priority));
    group.lossless = known(true);
    group.headroom_auto =
        known(from.headroom_is_auto && !is_static && from.cable <= system.auto_headroom_limit);
    if (*group.headroom_auto) return;
    const Bytes xoff = is_static ? std::clamp(whole_cells_up(buffers.static_xoff, buffers.cell),
                                              kLeastThreshold, kMostBuffer / 2)
                                 : kPauseThreshold;
    const Bytes xon =
        is_static ? std::max(xoff - buffers.xon_offset, kLeastThreshold) : kResumeThreshold;
    const Bytes headroom =
        std::min(whole_cells_up(from.headroom, buffers.cell), kMostBuffer - xoff);
    group.xoff = known(xoff);
    group.xon = known(xoff - xon);
    group.headroom = known(headroom);
    const std::string why =
        fmt::format("in cells of {}B, from 5000B to 268435456B", buffers.cell.raw());
    remarks_.changed("headroom", from.headroom, headroom, why, from.name);
    if (!is_static) return;
    remarks_.changed("XOFF", buffers.static_xoff, xoff, why, from.name);
    remarks_.changed("XON offset", buffers.xon_offset, xoff - xon, "the minimum threshold is 5000B",
                     from.name);
  }

  PrioritySet pfc_;
};

Lowered lower_nxos(const Intent& intent, const SwitchIntent& node) {
  return NxosLowering(intent, node).lower();
}

// ---- render ----

/// "24-31,48" of the codes that have this class.
template <class Map>
std::string codes_of(const Map& map, unsigned tc) {
  std::string out;
  for (unsigned c = 0; c < map.size(); ++c) {
    if (map.at(c)->value() != tc) continue;
    unsigned last = c;
    while (last + 1 < map.size() && map.at(last + 1)->value() == tc)
      ++last;
    out += fmt::format("{}{}", out.empty() ? "" : ",", c);
    if (last > c) out += fmt::format("-{}", last);
    c = last;
  }
  return out;
}

std::string class_name(std::string_view kind, unsigned queue) {
  return queue == 0 ? fmt::format("{}-default", kind) : fmt::format("{}{}", kind, queue);
}

class NxosPrinter : CliPrinter {
 public:
  NxosPrinter(const Intent& intent, const SwitchIntent& node, const Lowered& lowered)
      : CliPrinter(lowered, "  "), intent_(intent), node_(node) {}

  Rendered print() {
    print_head("by weir render --to nxos, for the Nexus 9000 with eight queues.");
    line("feature lldp");
    if (!channels_of(state_).empty()) line("feature lacp");
    print_cages();
    print_features();
    print_watchdog();
    bar();
    if (first_ != nullptr) {
      print_classification();
      print_network();
      print_queuing();
      print_pause_buffers();
      line("system qos");
      line("  service-policy type network-qos WEIR-NETWORK");
      line("  service-policy type queuing output WEIR-OUT");
      bar();
    }
    print_channels();
    for (const SwitchPort& port : state_.ports)
      print_port(port);
    print_interfaces();
    return {{{state_.name + ".nxos.cfg", std::move(out_)}}, remarks_};
  }

 private:
  void print_cages() {
    bool is_first = true;
    for (const CageRun& run : runs_of(changed_cages(node_))) {
      if (!run.first.is_split()) continue;
      if (is_first)
        why("Cages that are split; a cage with another map needs `no interface breakout` first.");
      is_first = false;
      line("interface breakout module 1 port {} map {}-{}x",
           run.first.cage == run.last.cage ? std::to_string(run.first.cage)
                                           : fmt::format("{}-{}", run.first.cage, run.last.cage),
           speed_word(run.first.mode.speed), run.first.mode.ports);
    }
  }

  void print_features() {
    if (*state_.telemetry.gnmi) line("feature grpc");
    if (*state_.telemetry.sflow) {
      line("feature sflow");
      line("sflow counter-poll-interval {}", state_.telemetry.interval->raw() / (1_s).raw());
    }
    why("A different hash seed per switch: with equal seeds, flows polarise onto the same links.");
    line("ip load-sharing address source-destination port source-destination universal-id {}",
         *state_.ecmp_seed);
    if (!state_.load_balancing.is("ecmp")) {
      line("hardware profile dlb");
      line("  mode {}", state_.load_balancing.is("spray") ? "per-packet" : "flowlet");
    }
    if (!*state_.cut_through) line("switching-mode store-forward");
  }

  void print_watchdog() {
    if (!*state_.watchdog.enabled) return;
    why("The watchdog must be on here and on every interface. Interval x multiplier is the time to "
        "detect a storm, and to restore the queue.");
    using namespace nxos_cli;
    // The shortest interval that divides both times, as lowering chose it.
    Duration interval = kInterval;
    while (state_.watchdog.detection->raw() % interval.raw() != 0 ||
           state_.watchdog.restoration->raw() % interval.raw() != 0 ||
           *state_.watchdog.detection > interval * kShutdownMost ||
           *state_.watchdog.restoration > interval * kRestoreMost)
      interval += kInterval;
    line("priority-flow-control watch-dog-interval on");
    line("priority-flow-control watch-dog interval {}", interval.raw() / (1_ms).raw());
    line("priority-flow-control watch-dog shutdown-multiplier {}",
         state_.watchdog.detection->raw() / interval.raw());
    line("priority-flow-control auto-restore multiplier {}",
         state_.watchdog.restoration->raw() / interval.raw());
  }

  [[nodiscard]] std::string name_of(unsigned queue) const {
    for (unsigned p = 0; p < 8; ++p) {
      if (intent_.class_names.at(p).empty() || node_.priority_to_queue.at(p).value() != queue)
        continue;
      std::string name = intent_.class_names.at(p);
      std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
        return static_cast<char>(c == '_' ? '-' : std::toupper(c));
      });
      return fmt::format("WEIR-{}-{}", name, queue);
    }
    return fmt::format("WEIR-GROUP-{}", queue);
  }

  [[nodiscard]] std::string matched(unsigned queue) const {
    return state_.dscp_to_tc.is_known() ? codes_of(*state_.dscp_to_tc, queue)
                                        : codes_of(*state_.pcp_to_tc, queue);
  }

  void print_classification() {
    const bool by_dscp = state_.dscp_to_tc.is_known();
    why("The code points of each class. Everything else is group 0.");
    for (unsigned q = 1; q < 8; ++q) {
      const std::string codes = matched(q);
      if (codes.empty()) continue;
      line("class-map type qos match-any {}", name_of(q));
      line("  match {} {}", by_dscp ? "dscp" : "cos", codes);
    }
    bar();
    line("policy-map type qos WEIR-CLASSIFY");
    for (unsigned q = 1; q < 8; ++q) {
      if (matched(q).empty()) continue;
      line("  class {}", name_of(q));
      line("    set qos-group {}", q);
      if (first_->rewrites_dscp.is(true) && state_.tc_to_dscp->at(q))
        line("    set dscp {}", state_.tc_to_dscp->at(q)->value());
    }
    line("  class class-default");
    line("    set qos-group 0");
    if (first_->rewrites_dscp.is(true) && state_.tc_to_dscp->at(0))
      line("    set dscp {}", state_.tc_to_dscp->at(0)->value());
    bar();
  }

  void print_network() {
    why("Every class needs an MTU: the default is 1500.");
    line("policy-map type network-qos WEIR-NETWORK");
    for (unsigned q = 7; q < 8; --q) {
      const bool is_needed = q == 0 || paused_with(q) || !matched(q).empty();
      if (!is_needed) continue;
      line("  class type network-qos {}", q == 0 ? "c-8q-nq-default" : class_name("c-8q-nq", q));
      if (const auto cos = paused_with(q)) line("    pause pfc-cos {}", *cos);
      line("    mtu {}", design::system_model(node_.system).max_mtu.raw());
    }
    bar();
  }

  [[nodiscard]] std::optional<unsigned> paused_with(unsigned queue) const {
    for (unsigned p = 0; p < 8; ++p)
      if (first_->pfc->contains(Priority::of(p)) && state_.pfc_to_queue->at(p).value() == queue)
        return p;
    return std::nullopt;
  }

  void print_queuing() {
    why_shares("no-drop");
    int n = 0;
    for (const auto& [key, names] : ports_by_queues(state_)) {
      const std::string policy = numbered("WEIR-OUT", ++n);
      for (const std::string& name : names)
        if (n > 1) out_policy_[name] = policy;
      line("policy-map type queuing {}", policy);
      int level = 0;
      const SwitchPort& port = port_of(state_, names.front());
      const std::vector<EgressQueue>& queues = port.queues.get();
      for (auto queue = queues.rbegin(); queue != queues.rend(); ++queue)
        print_queue(*queue, level);
      bar();
    }
  }

  void print_queue(const EgressQueue& queue, int& level) {
    const unsigned q = queue.queue.value();
    line("  class type queuing {}", q == 0 ? "c-out-8q-q-default" : class_name("c-out-8q-q", q));
    if (queue.scheduler.is(evidence::Scheduler::kStrict)) {
      line("    priority level {}", ++level);
    } else {
      line("    bandwidth remaining percent {}", *queue.weight);
    }
    if (*queue.max_rate > BitRate())
      line("    shape min 0 kbps max {} kbps", kilobits(*queue.max_rate));
    if (*queue.ecn) line("    random-detect {} ecn", thresholds(queue, "drop-probability"));
  }

  void print_pause_buffers() {
    using Key = std::vector<std::int64_t>;
    int n = 0;
    for (const auto& [key, names] :
         ports_by<Key>(state_, [](const SwitchPort& port) -> std::optional<Key> {
           if (port.groups.empty() || *port.groups.front().headroom_auto) return std::nullopt;
           const GroupBuffer& group = port.groups.front();
           return Key{group.headroom->raw(), group.xoff->raw(), group.xon->raw()};
         })) {
      const std::string policy = fmt::format("WEIR-IN-{}", ++n);
      if (n == 1)
        why("Explicit pause buffers: for cables over 100 m, where the switch computes none, and "
            "where "
            "the design sets a size.");
      line("policy-map type queuing {}", policy);
      for (unsigned q = 7; q > 0; --q)
        if (paused_with(q)) print_pause_buffer(class_name("c-in-q", q), key);
      if (paused_with(0)) print_pause_buffer("c-in-q-default", key);
      for (const std::string& name : names)
        in_policy_[name] = policy;
      bar();
    }
  }

  void print_pause_buffer(std::string_view name, const std::vector<std::int64_t>& key) {
    line("  class type queuing {}", name);
    line("    pause buffer-size {} pause-threshold {} resume-threshold {}", key[0] + key[1], key[1],
         key[1] - key[2]);
  }

  void print_policies(const SwitchPort& port) {
    line("  service-policy type qos input WEIR-CLASSIFY");
    if (const auto at = out_policy_.find(port.name); at != out_policy_.end())
      line("  service-policy type queuing output {}", at->second);
    if (const auto at = in_policy_.find(port.name); at != in_policy_.end())
      line("  service-policy type queuing input {}", at->second);
  }

  /// MTU and PFC must be equal on a port-channel and its members, or these are suspended (`show
  /// port-channel compatibility-parameters`); policies are the port-channel's.
  void print_channels() {
    for_each_channel([&](const std::string& channel, const SwitchPort& first) {
      begin_port(channel, first);
      if (first.pfc->count() > 0) line("  priority-flow-control mode on send-tlv");
      print_policies(first);
      bar();
    });
  }

  void print_port(const SwitchPort& port) {
    begin_port(port.name, port);
    if (port.pfc->count() > 0) line("  priority-flow-control mode on send-tlv");
    if (*port.watchdog)
      line("  priority-flow-control watch-dog-interval on{}",
           state_.watchdog.action.is("alert") ? " disable-action" : "");
    if (!is_bundled(port)) print_policies(port);
    print_membership(port);
    bar();
  }

  const Intent& intent_;
  const SwitchIntent& node_;
  std::map<std::string, std::string> out_policy_;
  std::map<std::string, std::string> in_policy_;
};

Rendered render_nxos(const Intent& intent, const SwitchIntent& node) {
  const Lowered lowered = lower_nxos(intent, node);
  return NxosPrinter(intent, node, lowered).print();
}

}  // namespace

Platform nxos() {
  return platform_row({.system = design::SwitchSystem::kNxos,
                       .how_load =
                           "copy NODE.nxos.cfg to bootflash, then copy bootflash:NODE.nxos.cfg "
                           "running-config",
                       .lower = lower_nxos,
                       .render = render_nxos,
                       .recognises = nxos_cli::looks_like,
                       .parse = nxos_cli::parse});
}

}  // namespace weir::platforms
