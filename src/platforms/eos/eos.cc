// Arista EOS, in two dialects. 7060X (Tomahawk, Trident): queues are `uc-tx-queue`, and one buffer
// profile serves the whole switch (`platform trident mmu`). 7280R/7800R (Jericho): queues are
// `tx-queue`, virtual output queues whose headroom EOS computes.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "design/file/words.h"
#include "platforms/common/breakout.h"
#include "platforms/common/lower_common.h"
#include "platforms/common/port_groups.h"
#include "platforms/common/systems.h"
#include "platforms/eos/eos_parse.h"
#include "units/format.h"

namespace weir::platforms {
namespace {

bool is_jericho(const SwitchIntent& node) {
  return node.asic->family == design::AsicFamily::kJericho;
}

// ---- lower ----

class EosLowering : Lowering {
 public:
  EosLowering(const Intent& intent, const SwitchIntent& node)
      : Lowering(intent, node, vocab::SwitchSystem::kEos), pfc_(pausable(node, remarks_)) {}

  Lowered lower() {
    set_maps();
    set_watchdog();
    set_balancing();
    out_.lldp = known(true);
    set_telemetry(3'600_s);
    out_.telemetry.queue_monitor = known(true);
    out_.telemetry.ecn_counters = known(true);
    set_box();
    for (const SwitchPortIntent& port : node_.ports)
      add_port(port);
    add_channels([](int number) { return fmt::format("Port-Channel{}", number); });
    add_vlan("Vlan");
    return finish();
  }

 private:
  void set_maps() {
    const PrioritySet used = used_priorities(node_, intent_);
    for (unsigned p = 0; p < 8; ++p)
      queues_.at(p) = used.contains(Priority::of(p)) ? node_.priority_to_queue.at(p) : Queue::of(p);
    Queue& control = queues_.at(eos_cli::kControlClass);
    remarks_.changed("queue of traffic class 7", control, Queue::of(eos_cli::kControlClass),
                     "traffic class and queue 7 are reserved for the control plane");
    control = Queue::of(eos_cli::kControlClass);
    set_maps_by_priority(pfc_, queues_, eos_cli::default_class);
  }

  void set_watchdog() {
    evidence::Watchdog& out = out_.watchdog;
    const bool is_on = has_watchdog(pfc_, "no priority has PFC");
    out.action = known(std::string(is_on ? design::to_word(node_.watchdog_action) : "errdisable"));
    if (!is_on) return;
    const auto lowered = [&](std::string what, Duration wanted) {
      const Duration kept = to_step(wanted, 10_ms, 10_ms, 60_s);
      remarks_.changed(std::move(what), wanted, kept, "in steps of 10ms, at most 60s");
      return known(kept);
    };
    out.detection = lowered("watchdog detection", node_.watchdog_detect);
    out.restoration = lowered("watchdog restoration", node_.watchdog_restore);
  }

  void set_balancing() {
    std::string mode = balancing_without_spray("EOS balances by load, not per packet");
    if (mode == "adaptive" && is_jericho(node_)) {
      remarks_.add("load balancing", "adaptive", "ecmp",
                   "only Tomahawk and Trident have dynamic load balancing");
      mode = "ecmp";
    }
    out_.load_balancing = known(mode);
    remarks_.add("ECMP hash seed", std::to_string(node_.ecmp_seed), "",
                 "the command differs between platforms; not supported here");
  }

  /// What one profile sets for all ports.
  void set_box() {
    const design::BufferIntent& buffers = node_.buffers;
    const bool is_cut_through = node_.forwarding == design::Forwarding::kCutThrough;
    if (!is_jericho(node_)) {
      out_.cut_through = known(is_cut_through);
    } else if (is_cut_through) {
      remarks_.add("forwarding", "cut-through", "store-and-forward",
                   "Jericho buffers whole packets in virtual output queues");
    }
    remark_no_pools("EOS");
    remark_no_shared_headroom("the platform decides how headroom is shared");
    if (pfc_.count() == 0) return;
    if (buffers.threshold == design::Threshold::kStatic)
      remarks_.add("XOFF", to_text(buffers.static_xoff), "",
                   "EOS has dynamic thresholds only: alpha is used");
    if (buffers.xon_offset > 0_B)
      remarks_.add("XON offset", to_text(buffers.xon_offset), "",
                   "the unit of `ingress resume` is not documented; the platform default applies");
    if (is_jericho(node_)) return set_jericho();
    Bytes least = Bytes::max();
    for (const SwitchPortIntent& port : node_.ports) {
      least = std::min(least, port.headroom);
      headroom_ = std::max(headroom_, port.headroom);
    }
    if (least != headroom_ && !node_.ports.empty())
      remarks_.add("headroom", to_text(least) + " to " + to_text(headroom_) + " by port",
                   to_text(whole_cells_up(headroom_, buffers.cell)),
                   "one buffer profile for the whole switch: sized for the longest cable");
    headroom_ = whole_cells_up(headroom_, buffers.cell);
    alpha_ = ingress_alpha(node_, remarks_);
    egress_alpha_ = clamp_alpha(node_, buffers.egress_alpha, "egress alpha", remarks_);
  }

  void set_jericho() {
    const std::string why = "Jericho buffers are not set through `platform trident mmu`";
    remarks_.add("alpha", to_text(node_.buffers.alpha), "", why);
    if (node_.buffers.reserved_per_group > 0_B)
      remarks_.add("reserved buffer", to_text(node_.buffers.reserved_per_group), "", why);
    for (const SwitchPortIntent& port : node_.ports)
      if (!port.headroom_is_auto)
        remarks_.add("headroom", to_text(port.headroom), "", why, port.name);
  }

  void add_port(const SwitchPortIntent& from) {
    SwitchPort port = announcing_port(from, pfc_);
    for (unsigned p = 0; p < 8; ++p) {
      if (!pfc_.contains(Priority::of(p))) continue;
      GroupBuffer& group = group_at(port, PriorityGroup::of(p));
      group.lossless = known(true);
      group.headroom_auto = known(is_jericho(node_));
      if (is_jericho(node_)) continue;
      group.headroom = known(headroom_);
      group.alpha = known(alpha_);
      if (node_.buffers.reserved_per_group > 0_B)
        group.reserved = known(node_.buffers.reserved_per_group);
    }
    for (unsigned q = 0; q < 8; ++q)
      if (node_.queues.at(q).used) add_queue(from, q, port);
    port_named(out_, port.name) = std::move(port);
  }

  void add_queue(const SwitchPortIntent& from, unsigned index, SwitchPort& port) {
    bool is_lossless = false;
    for (unsigned p = 0; p < 8; ++p)
      is_lossless |= pfc_.contains(Priority::of(p)) && queues_.at(p) == Queue::of(index);
    EgressQueue& queue = add_cli_queue(from, index, is_lossless, port);
    if (!is_lossless && !is_jericho(node_) && pfc_.count() > 0) queue.alpha = known(egress_alpha_);
  }

  PrioritySet pfc_;
  std::array<Queue, 8> queues_{};
  Bytes headroom_;
  Alpha alpha_;
  Alpha egress_alpha_;
};

Lowered lower_eos(const Intent& intent, const SwitchIntent& node) {
  return EosLowering(intent, node).lower();
}

// ---- render ----

std::string seconds_text(Duration time) {
  const std::int64_t ms = time.raw() / (1_ms).raw();
  std::string text = fmt::format("{}.{:03}", ms / 1000, ms % 1000);
  while (text.back() == '0')
    text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

class EosPrinter : CliPrinter {
 public:
  EosPrinter(const SwitchIntent& node, const Lowered& lowered)
      : CliPrinter(lowered, "   "),
        node_(node),
        queue_word_(is_jericho(node) ? "tx-queue" : "uc-tx-queue") {}

  Rendered print() {
    print_head(
        fmt::format("by weir render --to eos, for the {}.",
                    is_jericho(node_) ? "7280R and 7800R (Jericho)" : "7060X (Tomahawk, Trident)"));
    bar();
    if (first_ != nullptr) {
      print_buffers();
      print_maps();
      print_profiles();
      print_watchdog();
    }
    print_rest();
    print_channels();
    for (const SwitchPort& port : state_.ports)
      print_port(port);
    print_interfaces();
    out_ += "end\n";
    return {{{state_.name + ".eos.cfg", std::move(out_)}}, remarks_};
  }

 private:
  void print_buffers() {
    if (first_->groups.empty() || is_jericho(node_)) return;
    const GroupBuffer& group = first_->groups.front();
    why("Buffers of the whole switch: headroom for the longest cable, and the share of the free "
        "buffer "
        "that a priority group may use before it pauses.");
    line("platform trident mmu queue profile ROCE");
    line("   ingress threshold {}", to_text(*group.alpha));
    line("   ingress headroom bytes {}", group.headroom->raw());
    if (group.reserved.is_known()) line("   ingress reserved bytes {}", group.reserved->raw());
    for (const EgressQueue& queue : first_->queues)
      if (queue.alpha.is_known())
        line("   egress unicast queue {} threshold {}", queue.queue.value(), to_text(*queue.alpha));
    bar();
    line("platform trident mmu queue profile ROCE apply");
    bar();
  }

  template <class Map>
  void print_code_points(std::string_view kind, const Map& map) {
    for (unsigned tc = 0; tc < 8; ++tc) {
      std::string codes;
      for (unsigned c = 0; c < map.size(); ++c)
        if (map.at(c)->value() == tc) codes += fmt::format(" {}", c);
      if (!codes.empty()) line("qos map {}{} to traffic-class {}", kind, codes, tc);
    }
  }

  void print_maps() {
    why("The complete map, because the default swaps classes 0 and 1 (DSCP 0-7 in class 1).");
    print_code_points("dscp", *state_.dscp_to_tc);
    if (first_->trust.is(evidence::TrustMode::kPcp)) print_code_points("cos", *state_.pcp_to_tc);
    for (unsigned p = 0; p < eos_cli::kControlClass; ++p)
      line("qos map traffic-class {} to tx-queue {}", p, state_.tc_to_queue->at(p).value());
    if (first_->rewrites_dscp.is(true)) {
      line("qos rewrite dscp");
      for (unsigned p = 0; p < 8; ++p)
        if (const auto dscp = state_.tc_to_dscp->at(p))
          line("qos map traffic-class {} to dscp {}", p, dscp->value());
    }
    bar();
  }

  void print_profiles() {
    why_shares("lossless");
    int n = 0;
    for (const auto& [key, names] : ports_by_queues(state_)) {
      const std::string profile = numbered("ROCE", ++n);
      for (const std::string& name : names)
        profile_of_[name] = profile;
      print_profile(profile, port_of(state_, names.front()));
    }
  }

  void print_profile(const std::string& profile, const SwitchPort& port) {
    line("qos profile {}", profile);
    line("   qos trust {}", port.trust.is(evidence::TrustMode::kDscp) ? "dscp" : "cos");
    if (*port.max_rate > BitRate()) line("   shape rate {} kbps", kilobits(*port.max_rate));
    for (const EgressQueue& queue : port.queues) {
      line("   !");
      line("   {} {}", queue_word_, queue.queue.value());
      if (queue.scheduler.is(evidence::Scheduler::kStrict)) {
        line("      priority strict");
      } else {
        line("      no priority");
        line("      bandwidth percent {}", *queue.weight);
      }
      if (*queue.max_rate > BitRate()) line("      shape rate {} kbps", kilobits(*queue.max_rate));
      if (*queue.ecn) line("      random-detect ecn {}", thresholds(queue, "max-mark-probability"));
    }
    if (port.pfc->count() > 0) {
      line("   !");
      line("   priority-flow-control on");
      for (unsigned p = 0; p < 8; ++p)
        if (port.pfc->contains(Priority::of(p)))
          line("   priority-flow-control priority {} no-drop", p);
    }
    if (*port.watchdog) {
      line("   priority-flow-control pause watchdog");
      if (state_.watchdog.action.is("alert"))
        line("   priority-flow-control pause watchdog port action notify-only");
      if (state_.watchdog.action.is("drop"))
        line("   priority-flow-control pause watchdog port action drop");
    }
    bar();
  }

  void print_watchdog() {
    if (!*state_.watchdog.enabled) return;
    why("Polling is at most half of the shorter time. The default action would shut the port "
        "down.");
    const Duration shorter = std::min(*state_.watchdog.detection, *state_.watchdog.restoration);
    const std::string base = "priority-flow-control pause watchdog";
    line("{} default timeout {}", base, seconds_text(*state_.watchdog.detection));
    line("{} default recovery-time {}", base, seconds_text(*state_.watchdog.restoration));
    line("{} default polling-interval {}", base,
         seconds_text(std::min(shorter / 2, Duration(30_s))));
    if (state_.watchdog.action.is("drop")) line("{} action drop", base);
    if (state_.watchdog.action.is("forward")) line("{} action no-drop", base);
    bar();
  }

  void print_rest() {
    line("lldp run");
    if (state_.cut_through.is_known())
      line("switch forwarding-mode {}", *state_.cut_through ? "cut-through" : "store-and-forward");
    if (state_.load_balancing.is("adaptive"))
      line("ip hardware fib load-balance distribution dynamic");
    why("Count queue watermarks and marked packets: without them ECN cannot be observed.");
    line("queue-monitor length");
    line("hardware counter feature ecn out");
    if (*state_.telemetry.sflow) {
      line("sflow polling-interval {}", state_.telemetry.interval->raw() / (1_s).raw());
      line("sflow run");
    }
    if (*state_.telemetry.gnmi) {
      line("management api gnmi");
      line("   transport grpc default");
    }
    bar();
  }

  /// Of a port that is not its whole cage at the native speed: rate and lanes.
  void print_speed(const SwitchPort& port) {
    const design::CagePort& place = design_port(port).place;
    if (place.cage == 0 || place.mode.ports < 2) return;
    line("   speed {}-{}", speed_word(place.mode.speed), place.mode.lanes / place.mode.ports);
  }
  [[nodiscard]] const SwitchPortIntent& design_port(const SwitchPort& port) const {
    return intent_of(node_, port.name);
  }

  /// Whether the profile of a port-channel or those of its members hold differs by platform: both
  /// have it. The MTU is the port-channel's.
  void print_channels() {
    for_each_channel([&](const std::string& channel, const SwitchPort& first) {
      begin_port(channel, first);
      line("   service-profile {}", profile_of_[first.name]);
      bar();
    });
  }

  void print_port(const SwitchPort& port) {
    begin_port(port.name, port, !is_bundled(port));
    print_speed(port);
    print_membership(port);
    if (*port.dcbx) line("   dcbx mode ieee");
    line("   service-profile {}", profile_of_[port.name]);
    for (const EgressQueue& queue : port.queues) {
      if (!*queue.ecn) continue;
      line("   {} {}", queue_word_, queue.queue.value());
      line("      random-detect ecn count");
    }
    bar();
  }

  const SwitchIntent& node_;
  const std::string_view queue_word_;
  std::map<std::string, std::string> profile_of_;
};

Rendered render_eos(const Intent& intent, const SwitchIntent& node) {
  const Lowered lowered = lower_eos(intent, node);
  return EosPrinter(node, lowered).print();
}

}  // namespace

Platform eos() {
  return platform_row(
      {.system = design::SwitchSystem::kEos,
       .how_load = "configure session; copy NODE.eos.cfg session-config; show diffs; commit",
       .lower = lower_eos,
       .render = render_eos,
       .recognises = eos_cli::looks_like,
       .parse = eos_cli::parse});
}

}  // namespace weir::platforms
