// Cumulus Linux (NVUE): the state of a switch with the design loaded, and the commands for it.
//
// Where the design pauses priority 3 alone, as the RoCE bundle (`qos roce`) does, the bundle is the
// base. Every value of the bundle is then set explicitly, because its defaults differ from the
// design (ECN on TC0, probability 100 %, 100 m of cable). Other sets of priorities do without the
// bundle.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "design/file/words.h"
#include "platforms/common/breakout.h"
#include "platforms/common/lower_common.h"
#include "platforms/common/port_groups.h"
#include "platforms/common/statement.h"
#include "platforms/common/systems.h"
#include "platforms/cumulus/nvue.h"
#include "platforms/cumulus/nvue_parse.h"
#include "units/format.h"

namespace weir::platforms {
namespace nvue {

std::string alpha_word(Alpha alpha) {
  std::string word = to_text(alpha);
  std::replace(word.begin(), word.end(), '/', '_');
  return "alpha_" + word;
}

}  // namespace nvue

namespace {

// ---- lower ----

bool uses_bundle(PrioritySet pfc) {
  return pfc == PrioritySet::from_mask(1U << nvue::kRocePriority);
}

class CumulusLowering : Lowering {
 public:
  CumulusLowering(const Intent& intent, const SwitchIntent& node)
      : Lowering(intent, node, vocab::SwitchSystem::kCumulus), pfc_(pausable(node, remarks_)) {}

  Lowered lower() {
    set_maps_by_priority(pfc_, node_.priority_to_queue, [](unsigned pcp) { return pcp; });
    set_watchdog();
    set_pools();
    set_rest();
    for (const SwitchPortIntent& port : node_.ports)
      add_port(port);
    add_channels([](int number) { return fmt::format("bond{}", number); });
    add_vlan("vlan");
    return finish();
  }

 private:
  void set_watchdog() {
    evidence::Watchdog& out = out_.watchdog;
    const bool is_on = has_watchdog(pfc_, "no priority has PFC");
    out.action = known(std::string("drop"));
    if (!is_on) {
      out.detection = known(nvue::kPolling * nvue::kRobustness);
      out.restoration = known(nvue::kPolling);
      return;
    }
    const Duration poll = to_step(std::min(node_.watchdog_detect / 2, node_.watchdog_restore), 1_ms,
                                  nvue::kPolling, nvue::kPollingMost);
    const std::int64_t times = std::clamp<std::int64_t>(
        (node_.watchdog_detect.raw() + poll.raw() / 2) / poll.raw(), 1, nvue::kRobustnessMost);
    out.detection = known(poll * times);
    out.restoration = known(poll);
    remarks_.changed("watchdog detection", node_.watchdog_detect, poll * times,
                     "polling interval (at least 100ms) times robustness");
    remarks_.changed("watchdog restoration", node_.watchdog_restore, poll,
                     "it is one polling interval");
    if (node_.watchdog_action != design::WatchdogAction::kDrop)
      remarks_.add("watchdog action", std::string(design::to_word(node_.watchdog_action)), "drop",
                   "NVUE has no other action");
  }

  void set_pools() {
    const auto& plan = node_.buffers.plan;
    if (!plan || plan->lossy_pool + plan->storage_pool <= 0_B || pfc_.count() == 0) return;
    const Bytes total = node_.buffers.total;
    const Share lossless =
        Share::raw(static_cast<std::int64_t>(Int128{plan->lossless_pool.raw()} * kSharePerWhole /
                                             std::max<std::int64_t>(total.raw(), 1)));
    const unsigned percent = std::clamp(whole_percent(lossless), 1U, 99U);
    const auto pool = [](std::string name, evidence::PoolKind kind, unsigned share) {
      return evidence::Pool{std::move(name), kind, {}, 1_percent * share};
    };
    out_.pools = known(std::vector<evidence::Pool>{
        pool(uses_bundle(pfc_) ? "roce-lossless" : "default-lossless",
             evidence::PoolKind::kLossless, percent),
        pool("default-lossy", evidence::PoolKind::kLossy, 100 - percent)});
    if (plan->storage_pool > 0_B || plan->reserved_pool > 0_B)
      remarks_.add("buffer pools", "lossless, lossy, storage, reserved", "lossless and lossy",
                   "NVUE has one pool per kind");
  }

  void set_rest() {
    const int ratio = node_.buffers.headroom_oversubscription;
    out_.headroom_oversubscription = known(static_cast<unsigned>(
        pfc_.count() == 0 ? 1 : std::min<std::int64_t>(ratio, nvue::kOversubscriptionMost)));
    out_.load_balancing =
        known(balancing_without_spray("adaptive routing chooses a path per packet"));
    out_.ecmp_seed = known(static_cast<unsigned>(node_.ecmp_seed));
    if (node_.forwarding == design::Forwarding::kStoreAndForward)
      remarks_.add("forwarding", "store-and-forward", "", "NVUE cannot change the forwarding mode");
    out_.lldp = known(true);
    out_.telemetry.gnmi = known(intent_.telemetry.gnmi);
    out_.telemetry.sflow = known(intent_.telemetry.sflow);
    if (intent_.telemetry.gnmi || intent_.telemetry.sflow)
      out_.telemetry.interval = known(to_step(intent_.telemetry.interval, 1_s, 1_s, 86'400_s));
  }

  void add_port(const SwitchPortIntent& from) {
    SwitchPort port = announcing_port(from, pfc_);
    const bool pauses = node_.global_pause && pfc_.count() == 0;
    if (node_.global_pause && !pauses)
      remarks_.add("802.3x pause", "on", "off", "a port can have PFC or link pause, not both",
                   from.name);
    port.global_pause = known(pauses);
    for (unsigned p = 0; p < 8; ++p)
      if (pfc_.contains(Priority::of(p))) add_group(from, p, port);
    for (unsigned q = 0; q < 8; ++q)
      if (node_.queues.at(q).used || is_of_bundle(q)) add_queue(from, q, port);
    port_named(out_, port.name) = std::move(port);
  }

  [[nodiscard]] bool is_of_bundle(unsigned queue) const {
    return uses_bundle(pfc_) &&
           (queue == 0 || queue == nvue::kRocePriority || queue == nvue::kCnpPriority);
  }

  /// One number for all ports.
  [[nodiscard]] Bytes largest_reserve() {
    if (!reserve_) {
      reserve_ = 0_B;
      for (const SwitchPortIntent& port : node_.ports)
        reserve_ = std::max(*reserve_, lossless_reserve(node_, port));
      remarks_.changed("reserved buffer per lossless group", node_.buffers.reserved_per_group,
                       *reserve_, "must cover the pipeline latency (NVIDIA's formula)");
    }
    return *reserve_;
  }

  void add_group(const SwitchPortIntent& from, unsigned priority, SwitchPort& port) {
    const design::BufferIntent& buffers = node_.buffers;
    const bool is_static = buffers.threshold == design::Threshold::kStatic;
    GroupBuffer& group = group_at(port, PriorityGroup::of(priority));
    group.lossless = known(true);
    if (const Bytes reserve = largest_reserve(); reserve > 0_B) group.reserved = known(reserve);
    if (!is_static) group.alpha = known(ingress_alpha(node_, remarks_));
    port.cable_length = known(cable_length(from, remarks_));
    group.headroom_auto = known(from.headroom_is_auto && !is_static);
    if (*group.headroom_auto) return;
    // Sized by hand: the port buffer is what may be filled before XOFF, and the headroom.
    const Bytes cell = buffers.cell;
    const Bytes xoff = whole_cells_up(is_static ? buffers.static_xoff : nvue::kPipeline, cell);
    const design::SystemModel& system = design::system_model(node_.system);
    const Bytes headroom =
        std::clamp(whole_cells_up(from.headroom, cell), whole_cells_up(system.headroom_min, cell),
                   whole_cells_down(system.headroom_max, cell));
    const Bytes xon = whole_cells_down(std::max(xoff - buffers.xon_offset, 0_B), cell);
    group.xoff = known(xoff);
    group.headroom = known(headroom);
    group.xon = known(xoff - xon);
    remarks_.changed("headroom", from.headroom, headroom,
                     fmt::format("in cells of {}B, from {} to {}", cell.raw(),
                                 to_text(system.headroom_min), to_text(system.headroom_max)),
                     from.name);
    if (is_static)
      remarks_.changed("XOFF", buffers.static_xoff, xoff,
                       fmt::format("counted in cells of {}B", cell.raw()), from.name);
  }

  void add_queue(const SwitchPortIntent& from, unsigned index, SwitchPort& port) {
    EgressQueue& queue = queue_at(port, Queue::of(index));
    const design::Share8& share = node_.queues.at(index);
    const bool is_lossless = is_queue_of(node_, pfc_, index);
    set_marking(from, is_lossless, queue);
    // A queue that only the bundle uses keeps the bundle's scheduling.
    if (share.used)
      set_scheduler(share.scheduling == design::Scheduling::kStrict, percents_.at(index), queue);
    else
      set_scheduler(index == nvue::kCnpPriority, nvue::kRoceWeight, queue);
    queue.max_rate = known(limit_of(node_, from, index));
    if (share.used && !is_lossless)
      queue.alpha = known(clamp_alpha(node_, node_.buffers.egress_alpha, "egress alpha", remarks_));
  }

  PrioritySet pfc_;
  std::optional<Bytes> reserve_;
};

Lowered lower_cumulus(const Intent& intent, const SwitchIntent& node) {
  return CumulusLowering(intent, node).lower();
}

// ---- render ----

/// "swp1-4,swp7": names of one prefix in runs.
std::string plain_ranges(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size();) {
    const auto number = [&](std::size_t at) {
      const std::size_t digits = names[at].find_last_not_of("0123456789") + 1;
      return std::pair(names[at].substr(0, digits), names[at].substr(digits));
    };
    std::size_t last = i;
    const auto [prefix, first] = number(i);
    while (last + 1 < names.size() && number(last + 1).first == prefix &&
           number(last + 1).second ==
               std::to_string(parse_u64(number(last).second).value_or(0) + 1))
      ++last;
    out += fmt::format("{}{}{}", out.empty() ? "" : ",", names[i],
                       last > i ? "-" + number(last).second : "");
    i = last + 1;
  }
  return out;
}

/// The same with sub-ports of cages that are split alike: "swp1-64s0-1".
std::string ranges(const std::vector<std::string>& names) {
  struct Cage {
    std::string name;
    std::vector<std::string> subs;  // "0", "1"; none: the whole cage
  };
  std::vector<Cage> cages;
  for (const std::string& name : names) {
    const std::size_t at = name.find('s', 3);  // behind "swp1"
    const std::string cage = name.substr(0, at);
    if (cages.empty() || cages.back().name != cage || at == std::string::npos)
      cages.push_back({cage, {}});
    if (at != std::string::npos) cages.back().subs.push_back(name.substr(at + 1));
  }
  std::string out;
  for (std::size_t i = 0; i < cages.size();) {
    std::vector<std::string> alike;
    std::size_t end = i;
    for (; end < cages.size() && cages[end].subs == cages[i].subs; ++end)
      alike.push_back(cages[end].name);
    const std::string subs = cages[i].subs.empty() ? "" : "s" + plain_ranges(cages[i].subs);
    const std::string runs = plain_ranges(alike);
    for (const std::string_view run : split(runs, ','))
      out += fmt::format("{}{}{}", out.empty() ? "" : ",", run, subs);
    i = end;
  }
  return out;
}

/// Settings as paths; the commands and the tree are two ways to print them.
class NvueWriter {
 public:
  void why(std::string_view text) { lines_.push_back({{}, "", std::string(text)}); }
  void set(std::string_view path, std::string_view value) {
    std::vector<std::string> words = words_of(path);
    lines_.push_back({std::move(words), std::string(value), ""});
  }
  void set(std::string_view path, std::int64_t value) { set(path, std::to_string(value)); }

  /// The commands so far take effect before the next; the tree has no order.
  void apply() { lines_.push_back({{}, "nv config apply -y", ""}); }

  [[nodiscard]] std::string commands() const {
    std::string out;
    for (const Line& line : lines_) {
      if (line.path.empty() && line.comment.empty()) {
        out += line.value + "\n";
        continue;
      }
      if (!line.comment.empty()) {
        out += comment("#", line.comment);
        continue;
      }
      out += "nv set";
      for (const std::string& word : line.path)
        out += " " + word;
      if (!line.value.empty()) out += " " + line.value;
      out += "\n";
    }
    return out;
  }
  [[nodiscard]] std::string tree() const {
    Node root;
    for (const Line& line : lines_) {
      if (line.path.empty()) continue;
      Node* at = &root;
      for (const std::string& word : line.path)
        at = &at->child(word);
      at->value = line.value;
    }
    std::string out;
    root.print(2, out);
    return "- set:\n" + out;
  }

 private:
  struct Line {
    std::vector<std::string> path;
    std::string value;
    std::string comment;
  };
  struct Node {
    std::string key;
    std::string value;
    std::vector<Node> children;

    Node& child(const std::string& name) {
      for (Node& node : children)
        if (node.key == name) return node;
      children.push_back({name, "", {}});
      return children.back();
    }
    void print(std::size_t depth, std::string& out) const {
      for (const Node& child : children) {
        const bool is_number = child.key.find_first_not_of("0123456789") == std::string::npos;
        out += std::string(depth * 2, ' ') + (is_number ? "'" + child.key + "'" : child.key) + ":";
        if (!child.children.empty()) {
          out += "\n";
          child.print(depth + 1, out);
        } else {
          out += child.value.empty() ? " {}\n" : " " + child.value + "\n";
        }
      }
    }
  };
  std::vector<Line> lines_;
};

class CumulusPrinter {
 public:
  CumulusPrinter(const Intent& intent, const SwitchIntent& node, const Lowered& lowered)
      : intent_(intent), node_(node), state_(lowered.state), remarks_(lowered.remarks) {}

  Rendered print() {
    print_cages();
    w_.set("system hostname", state_.name);
    print_bonds();
    print_mtu();
    if (state_.ports.empty()) return files();
    first_ = &state_.ports.front();
    if (uses_bundle(*first_->pfc)) {
      w_.why(
          "NVIDIA's RoCE profile as the base. Every value of it is set again below, because its "
          "defaults differ: ECN also on TC 0, 150000B to 1500000B at 100 %, 100 m of cable.");
      w_.set("qos roce mode", "lossless");
      w_.set("qos roce state", "enabled");
    }
    print_maps();
    print_scheduling();
    print_marking();
    print_pfc();
    print_buffers();
    print_watchdog();
    print_rest();
    return files();
  }

 private:
  Rendered files() {
    const std::string head =
        comment("#", fmt::format("{}: QoS of a lossless RoCEv2 fabric, by weir render --to "
                                 "cumulus. NVUE from 5.15; before it `enable on` instead of `state "
                                 "enabled`.",
                                 state_.name)) +
        remarks_comment("#", remarks_);
    return {{{state_.name + ".nv", head + w_.commands() + "nv config apply\nnv config save\n"},
             {state_.name + ".startup.yaml", head + w_.tree()}},
            remarks_};
  }

  /// First and applied alone: a split port exists only after that.
  void print_cages() {
    const std::vector<CageRun> runs = runs_of(changed_cages(node_));
    if (runs.empty()) return;
    w_.why("Cages that are split. Applied first: their sub-ports exist only then.");
    for (const CageRun& run : runs) {
      const std::string cages = fmt::format("interface {} link", ranges(run.names));
      const design::CageMode& mode = run.first.mode;
      if (!run.first.is_split()) {
        w_.set(cages + " speed", fmt::format("{}G", mode.speed.raw() / (1_Gbps).raw()));
        continue;
      }
      w_.set(fmt::format("{} breakout {}x", cages, mode.ports), "");
      const int usual = node_.model->block_of(run.first.cage).lanes / mode.ports;
      if (run.first.lanes_per_port() != usual)
        w_.set(fmt::format("{} breakout {}x lanes-per-port", cages, mode.ports),
               run.first.lanes_per_port());
    }
    w_.apply();
  }

  void print_bonds() {
    const auto bonds = channels_of(state_);
    if (bonds.empty()) return;
    w_.why(
        "Parallel links as one bond. MTU and QoS are the bond's: NVUE rejects QoS on a member. The "
        "watchdog is set port by port.");
    for (const evidence::SwitchInterface& bond : state_.interfaces) {
      if (bond.kind != "port-channel") continue;
      const std::string path = fmt::format("interface {}", bond.name);
      w_.set(path + " type", "bond");
      w_.set(path + " bond mode", "lacp");
      w_.set(fmt::format("{} bond member {}", path, ranges(*bond.members)), "");
    }
  }

  /// What MTU and QoS are said of: the ports, and the bonds in place of their members.
  [[nodiscard]] std::string targets(const std::vector<std::string>& names) const {
    std::vector<std::string> out;
    for (const std::string& name : names) {
      const SwitchPort& port = port_of(state_, name);
      const std::string& target = is_bundled(port) ? *port.channel : name;
      if (std::find(out.begin(), out.end(), target) == out.end()) out.push_back(target);
    }
    return ranges(out);
  }

  void print_mtu() {
    w_.why("Host frames with RoCE headers fit on every hop.");
    for (const auto& [mtu, names] : ports_by<std::int64_t>(
             state_, [](const SwitchPort& p) { return std::optional(p.mtu->raw()); }))
      w_.set(fmt::format("interface {} link mtu", targets(names)), mtu);
    for (const evidence::SwitchInterface& interface : state_.interfaces) {
      if (interface.kind != "svi") continue;
      w_.set(fmt::format("bridge domain br_default vlan {}", interface.name.substr(4)), "");
      if (interface.members.is_known())
        w_.set(fmt::format("interface {} bridge domain br_default", ranges(*interface.members)),
               "");
      if (!interface.mtu.is_known()) continue;
      w_.set(fmt::format("interface {} type", interface.name), "svi");
      w_.set(fmt::format("interface {} link mtu", interface.name), interface.mtu->raw());
    }
  }

  template <class Map>
  void print_code_points(std::string_view kind, const Map& map) {
    for (unsigned tc = 0; tc < 8; ++tc) {
      std::string codes;
      for (unsigned c = 0; c < map.size(); ++c)
        if (map.at(c)->value() == tc) codes += fmt::format("{}{}", codes.empty() ? "" : ",", c);
      if (!codes.empty())
        w_.set(fmt::format("qos mapping default-global {} {} switch-priority", kind, codes), tc);
    }
  }

  void print_maps() {
    const bool by_dscp = first_->trust.is(evidence::TrustMode::kDscp);
    w_.why(by_dscp ? "Classify by DSCP: routed frames keep it, but lose their VLAN tag."
                   : "The design classifies by the 802.1p bits of tagged frames.");
    w_.set("qos mapping default-global trust", by_dscp ? "l3" : "l2");
    print_code_points("dscp", *state_.dscp_to_tc);
    if (!by_dscp) print_code_points("pcp", *state_.pcp_to_tc);
    for (unsigned p = 0; p < 8; ++p)
      w_.set(fmt::format("qos egress-queue-mapping default-global switch-priority {} traffic-class",
                         p),
             state_.tc_to_queue->at(p).value());
    if (!first_->rewrites_dscp.is(true)) return;
    w_.set("qos remark default-global rewrite", "l3");
    for (unsigned p = 0; p < 8; ++p)
      if (const auto dscp = state_.tc_to_dscp->at(p))
        w_.set(fmt::format("qos remark default-global switch-priority {} dscp", p), dscp->value());
  }

  [[nodiscard]] std::string class_of(unsigned queue) const {
    std::string out;
    for (unsigned p = 0; p < 8; ++p)
      if (!intent_.class_names.at(p).empty() && node_.priority_to_queue.at(p).value() == queue)
        out += fmt::format("{}{}", out.empty() ? "" : ", ", intent_.class_names.at(p));
    return out;
  }

  void print_scheduling() {
    std::string who;
    for (const EgressQueue& queue : first_->queues)
      if (const std::string name = class_of(queue.queue.value()); !name.empty())
        who += fmt::format("{}TC {} {}", who.empty() ? "" : ", ", queue.queue.value(), name);
    w_.why(
        fmt::format("Shares under load ({}): the design's minimums, scaled to 100 %. Every class "
                    "in use has a share, management included.",
                    who));
    for (const EgressQueue& queue : first_->queues) {
      const std::string path =
          fmt::format("qos egress-scheduler default-global traffic-class {}", queue.queue.value());
      const bool is_strict = queue.scheduler.is(evidence::Scheduler::kStrict);
      w_.set(path + " mode", is_strict ? "strict" : "dwrr");
      if (!is_strict) w_.set(path + " bw-percent", *queue.weight);
    }
    print_shapers();
  }

  void print_shapers() {
    using Limits = std::vector<std::int64_t>;  // the port's, then those of its queues
    int n = 0;
    for (const auto& [limits, names] :
         ports_by<Limits>(state_, [](const SwitchPort& port) -> std::optional<Limits> {
           Limits out = {port.max_rate->raw() / 1000};
           for (const EgressQueue& queue : port.queues)
             out.push_back(queue.max_rate->raw() / 1000);
           const bool has_any = std::any_of(out.begin(), out.end(), [](auto r) { return r > 0; });
           return has_any ? std::optional(out) : std::nullopt;
         })) {
      const std::string profile = fmt::format("weir-limit-{}", ++n);
      if (n == 1)
        w_.why("Limits in kb/s: of classes at access ports, and the shapers of the design.");
      if (limits[0] > 0)
        w_.set(fmt::format("qos egress-shaper {} port-max-rate", profile), limits[0]);
      for (std::size_t i = 0; i < first_->queues.size(); ++i)
        if (limits[i + 1] > 0)
          w_.set(fmt::format("qos egress-shaper {} traffic-class {} max-rate", profile,
                             first_->queues[i].queue.value()),
                 limits[i + 1]);
      w_.set(fmt::format("interface {} qos egress-shaper profile", targets(names)), profile);
    }
  }

  void print_profile(const std::string& profile, const SwitchPort& port) {
    for (const EgressQueue& queue : port.queues) {
      const std::string path =
          fmt::format("qos congestion-control {} traffic-class {}", profile, queue.queue.value());
      if (*queue.ecn) {
        w_.set(path + " min-threshold", queue.ecn_min->raw());
        w_.set(path + " max-threshold", queue.ecn_max->raw());
        w_.set(path + " probability", percent_of(*queue.ecn_probability));
      }
      w_.set(path + " ecn", *queue.ecn ? "enable" : "disable");
      w_.set(path + " red", "disable");
    }
  }

  void print_marking() {
    using Marks = std::vector<std::int64_t>;
    w_.why(
        "ECN marks only the lossless queue, well before PFC pauses it. RED stays off: packets that "
        "cannot be marked are not dropped.");
    int n = 0;
    for (const auto& [marks, names] :
         ports_by<Marks>(state_, [](const SwitchPort& port) -> std::optional<Marks> {
           Marks out;
           for (const EgressQueue& queue : port.queues)
             if (*queue.ecn)
               out.insert(out.end(), {queue.ecn_min->raw(), queue.ecn_max->raw(),
                                      queue.ecn_probability->raw()});
           return out;
         })) {
      const std::string profile = n == 0 ? "default-global" : fmt::format("weir-ecn-{}", n);
      print_profile(profile, port_of(state_, names[0]));
      if (n++ > 0)
        w_.set(fmt::format("interface {} qos congestion-control profile", targets(names)), profile);
    }
  }

  void print_pfc() {
    if (first_->global_pause.is(true)) {
      w_.why("802.3x pause, as the design has it: it stops all classes of a port at once.");
      w_.set("qos link-pause weir-pause tx", "enable");
      w_.set("qos link-pause weir-pause rx", "enable");
    }
    const auto pausing = ports_by<int>(state_, [](const SwitchPort& port) {
      return port.global_pause.is(true) ? std::optional(1) : std::nullopt;
    });
    for (const auto& [key, names] : pausing)
      w_.set(fmt::format("interface {} qos link-pause profile", targets(names)), "weir-pause");
    if (first_->groups.empty()) return;
    w_.why(
        "PFC on the lossless priority, in both directions. The switch computes headroom from the "
        "cable length, so there is one profile per length.");
    using Key = std::vector<std::int64_t>;
    for (const auto& [key, names] :
         ports_by<Key>(state_, [](const SwitchPort& port) -> std::optional<Key> {
           const GroupBuffer& group = port.groups.front();
           if (*group.headroom_auto) return Key{port.cable_length->raw()};
           return Key{port.cable_length->raw(), group.headroom->raw(), group.xoff->raw(),
                      group.xon->raw()};
         }))
      print_pfc_profile(key, names);
  }

  void print_pfc_profile(const std::vector<std::int64_t>& key,
                         const std::vector<std::string>& names) {
    const std::int64_t metres = key[0] / (1_m).raw();
    std::string name = fmt::format("roce-{}m", metres);
    if (key.size() > 1) name += fmt::format("-{}", key[1]);
    const std::string path = "qos pfc " + name;
    for (const GroupBuffer& group : first_->groups)
      w_.set(fmt::format("{} switch-priority {}", path, group.group.value()), "");
    w_.set(path + " tx", "enable");
    w_.set(path + " rx", "enable");
    w_.set(path + " cable-length", metres);
    if (key.size() > 1) {
      w_.why("Sizes from the design: NVIDIA recommends to leave these to the switch.");
      w_.set(path + " port-buffer", key[1] + key[2]);
      w_.set(path + " xoff-threshold", key[2]);
      w_.set(path + " xon-threshold", key[2] - key[3]);
    }
    w_.set(fmt::format("interface {} qos pfc profile", targets(names)), name);
  }

  void print_buffers() {
    if (state_.pools.is_known()) {
      w_.why("Pools of the packet buffer, at most 100 % in total.");
      for (const evidence::Pool& pool : *state_.pools)
        w_.set(fmt::format("qos traffic-pool {} memory-percent", pool.name),
               percent_of(pool.share));
    }
    const std::string base = "qos advance-buffer-config default-global";
    if (!first_->groups.empty()) {
      const GroupBuffer& group = first_->groups.front();
      if (group.alpha.is_known())
        w_.set(base + " ingress-lossless-buffer shared-alpha", nvue::alpha_word(*group.alpha));
      if (group.reserved.is_known())
        w_.set(base + " ingress-lossless-buffer reserved", group.reserved->raw());
    }
    for (const EgressQueue& queue : first_->queues)
      if (queue.alpha.is_known())
        w_.set(fmt::format("{} egress-lossy-buffer traffic-class {} shared-alpha", base,
                           queue.queue.value()),
               nvue::alpha_word(*queue.alpha));
    if (*state_.headroom_oversubscription <= 1) return;
    w_.why("One headroom pool for all ports: they never need their headroom all at the same time.");
    w_.set(base + " shared-headroom oversubscription-ratio", *state_.headroom_oversubscription);
    w_.set(fmt::format("interface {} qos shared-headroom-pool", targets(all_ports())), "enabled");
  }

  void print_watchdog() {
    if (!*state_.watchdog.enabled) return;
    w_.why(
        "A queue that is paused for polling-interval x robustness is drained by dropping; it is "
        "restored after one interval without pause.");
    const std::int64_t poll = state_.watchdog.restoration->raw();
    w_.set("qos pfc-watchdog polling-interval", poll / (1_ms).raw());
    w_.set("qos pfc-watchdog robustness", state_.watchdog.detection->raw() / poll);
    w_.set(fmt::format("interface {} qos pfc-watchdog state", ranges(all_ports())), "enabled");
  }

  [[nodiscard]] std::vector<std::string> all_ports() const {
    std::vector<std::string> all;
    for (const SwitchPort& port : state_.ports)
      all.push_back(port.name);
    return all;
  }

  void print_rest() {
    if (first_->dcbx.is(true)) {
      w_.why("LLDP is on by default; DCBX announces the QoS of the switch to the NICs.");
      for (const std::string_view tlv : {"dcbx-pfc", "dcbx-ets", "dcbx-ets-recomm"})
        w_.set(fmt::format("system lldp tlv egress-policy {} state", tlv), "enabled");
    }
    if (state_.load_balancing.is("adaptive")) w_.set("router adaptive-routing state", "enabled");
    w_.why(
        "A different hash seed per switch: with equal seeds, flows polarise onto the same links.");
    w_.set("system forwarding hash-seed", *state_.ecmp_seed);
    if (*state_.telemetry.gnmi) w_.set("system gnmi-server state", "enabled");
    if (*state_.telemetry.sflow) w_.set("system sflow state", "enabled");
    if (state_.telemetry.interval.is_known())
      w_.set("system telemetry interface-stats sample-interval",
             state_.telemetry.interval->raw() / (1_s).raw());
  }

  const Intent& intent_;
  const SwitchIntent& node_;
  const evidence::Switch& state_;
  const std::vector<Remark>& remarks_;
  const SwitchPort* first_ = nullptr;
  NvueWriter w_;
};

Rendered render_cumulus(const Intent& intent, const SwitchIntent& node) {
  const Lowered lowered = lower_cumulus(intent, node);
  return CumulusPrinter(intent, node, lowered).print();
}

}  // namespace

Platform cumulus() {
  return platform_row(
      {.system = design::SwitchSystem::kCumulus,
       .how_load = "bash NODE.nv on the switch, or nv config replace NODE.startup.yaml and apply",
       .lower = lower_cumulus,
       .render = render_cumulus,
       .recognises = nvue::looks_like,
       .parse = nvue::parse});
}

}  // namespace weir::platforms
