// A switch's settings against the design (C7): maps, PFC, headroom, marking, watchdog, MTU.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/name_pattern.h"
#include "base/text.h"
#include "design/file/words.h"
#include "design/tables/platforms.h"
#include "diagnose/validate/collector.h"
#include "diagnose/validate/parts.h"
#include "diagnose/validate/switch_buffers.h"
#include "diagnose/validate/switch_classes.h"
#include "evidence/as_set.h"
#include "finding/thresholds.h"
#include "units/format.h"

namespace weir::diagnose {
namespace {

using finding::Severity;

/// Buffers were sized although RDMA is not in the class they are for.
void check_order_of_work(const evidence::Switch& found, Collector& out) {
  if (!out.has("dscp.unmapped_hop")) return;
  bool is_sized = found.pools.is_known() &&
                  std::any_of(found.pools->begin(), found.pools->end(),
                              [](const evidence::Pool& pool) { return pool.share > Share(); });
  for (const evidence::SwitchPort& port : found.ports)
    for (const evidence::GroupBuffer& group : port.groups)
      is_sized |= group.headroom_auto.is(false);
  if (is_sized)
    out.wrong("buffer.before_classification", "",
              "headroom or pools are configured, but RDMA DSCPs are in another class");
}

void check_watchdog(const evidence::Switch& found, const design::SwitchIntent& wanted,
                    Collector& out) {
  if (!wanted.watchdog) return;
  if (!found.watchdog.enabled.is_known()) return out.unknown("PFC watchdog");
  if (!*found.watchdog.enabled) return out.wrong("watchdog.off", "", "PFC watchdog is off");
  std::set<std::string_view> used;
  for (const design::SwitchPortIntent& port : wanted.ports)
    used.insert(port.name);
  for (const evidence::SwitchPort& port : found.ports)
    if (port.watchdog.is(false) && used.contains(port.name))
      out.wrong("watchdog.off", port.name, "PFC watchdog is off");
  const auto compare = [&](std::string_view what, const evidence::Fact<Duration>& fact,
                           Duration want) {
    if (fact.is_known() && *fact != want) {
      out.wrong("config.differs", "", expected(what, to_text(want), to_text(*fact)),
                Severity::kWarning);
    }
  };
  compare("watchdog detection", found.watchdog.detection, wanted.watchdog_detect);
  compare("watchdog restoration", found.watchdog.restoration, wanted.watchdog_restore);
  const std::string action(design::to_word(wanted.watchdog_action));
  if (found.watchdog.action.is_known() && *found.watchdog.action != action)
    out.wrong("config.differs", "",
              expected("watchdog action", action,
                       *found.watchdog.action == "errdisable" ? "errdisable, which shuts the port"
                                                              : *found.watchdog.action),
              Severity::kWarning);
}

void check_pfc(const evidence::SwitchPort& port, const design::SwitchIntent& wanted,
               Collector& out) {
  const auto& pfc = port.pfc_active.is_known() ? port.pfc_active : port.pfc;
  if (!pfc.is_known()) return out.unknown("PFC");
  if (*pfc == wanted.pfc) return;
  const bool lacks = (pfc->mask() & wanted.pfc.mask()) != wanted.pfc.mask();
  out.wrong(pfc->count() == 0 ? "pfc.off"
            : lacks           ? "pfc.wrong_priority"
                              : "pfc.multiple_priorities",
            port.name,
            expected("PFC", "priority " + to_text(wanted.pfc), "priority " + to_text(*pfc)));
}

/// Headroom sized by the system: right if it assumes the actual cable length.
void check_auto_headroom(const evidence::SwitchPort& port, const design::SwitchIntent& wanted,
                         const design::SwitchPortIntent& intent, Collector& out) {
  const Length limit = design::system_model(wanted.system).auto_headroom_limit;
  if (port.cable_length.is_known()) {
    if (*port.cable_length < intent.cable)
      out.wrong("headroom.too_small", port.name,
                expected("cable length", to_text(intent.cable), to_text(*port.cable_length)));
  } else if (intent.cable > limit) {
    out.wrong("headroom.too_small", port.name,
              fmt::format("cable of {}: expected an explicit pause buffer beyond {}, found none",
                          to_text(intent.cable), to_text(limit)));
  }
}

void check_group(const evidence::SwitchPort& port, const design::SwitchIntent& wanted,
                 const design::SwitchPortIntent& intent, Collector& out) {
  for (unsigned p = 0; p < Priority::kLimit; ++p) {
    if (!wanted.lossless.contains(Priority::of(p))) continue;
    const PriorityGroup group = wanted.priority_to_pg.at(p);
    const auto at =
        std::find_if(port.groups.begin(), port.groups.end(),
                     [&](const evidence::GroupBuffer& known) { return known.group == group; });
    // Without PFC there is no such group, and that is a finding of its own.
    if (at == port.groups.end() && port.pfc.is_known() && !port.pfc->contains(Priority::of(p)))
      continue;
    if (at == port.groups.end() || (!at->headroom.is_known() && !at->headroom_auto.is(true))) {
      out.unknown("headroom");
      continue;
    }
    const Bytes least = std::min(intent.headroom_need, intent.headroom);
    if (!at->headroom.is_known()) {
      check_auto_headroom(port, wanted, intent, out);
    } else if (*at->headroom < least) {
      out.wrong("headroom.too_small", port.name,
                expected("headroom", to_text(least), to_text(*at->headroom)));
    }
    // NVIDIA's formula: the reserve covers the pipeline between the pause and its effect.
    const bool is_spectrum =
        wanted.asic != nullptr && wanted.asic->family == design::AsicFamily::kSpectrum;
    if (is_spectrum && at->reserved.is(0_B) && wanted.buffers.reserved_per_group > 0_B)
      out.wrong("config.differs", port.name,
                expected(fmt::format("reserved buffer of priority group {}", group.value()),
                         approximate(wanted.buffers.reserved_per_group), "none"),
                Severity::kWarning);
    if (at->alpha.is_known() && wanted.buffers.threshold == design::Threshold::kDynamic &&
        *at->alpha != wanted.buffers.alpha)
      out.wrong("config.differs", port.name,
                expected("alpha", to_text(wanted.buffers.alpha), to_text(*at->alpha)),
                Severity::kWarning);
  }
}

void check_thresholds(const evidence::SwitchPort& port, const evidence::EgressQueue& queue,
                      const design::SwitchPortIntent& intent, Collector& out) {
  const auto wrong = [&](std::string_view what, Bytes want, Bytes found) {
    out.wrong(found < want ? "ecn.thresholds_too_low" : "ecn.thresholds_too_high", port.name,
              expected(what, to_text(want), to_text(found)));
  };
  if (queue.ecn_min.is_known() && *queue.ecn_min != intent.wred.min) {
    wrong("ECN min threshold", intent.wred.min, *queue.ecn_min);
  } else if (queue.ecn_max.is_known() && *queue.ecn_max != intent.wred.max) {
    wrong("ECN max threshold", intent.wred.max, *queue.ecn_max);
  }
  if (queue.ecn_probability.is_known() && *queue.ecn_probability != intent.wred.probability)
    out.wrong("config.differs", port.name,
              expected("marking probability", to_text(intent.wred.probability),
                       to_text(*queue.ecn_probability)),
              Severity::kWarning);
}

void check_lossless_queue(const evidence::SwitchPort& port, const evidence::EgressQueue& queue,
                          const design::SwitchPortIntent& intent, Collector& out) {
  if (!*queue.ecn) {
    const bool drops = queue.wred_drop.is(true);
    return out.wrong("ecn.off_on_lossless", port.name,
                     drops ? "ECN: expected on, found WRED without ECN, which drops"
                           : "ECN: expected on, found off");
  }
  // The configuration turns ECN on and gives no thresholds.
  const bool has_thresholds = (queue.ecn_min.is_known() && queue.ecn_max.is_known()) ||
                              (queue.ecn_min_share.is_known() && queue.ecn_max_share.is_known());
  const bool was_written = queue.ecn.source().find(':') != std::string::npos;
  if (!has_thresholds && was_written) {
    return out.wrong("ecn.off_on_lossless", port.name,
                     "ECN: expected WRED thresholds, found ECN without any");
  }
  check_thresholds(port, queue, intent, out);
}

/// ECN on queues whose traffic does not react to marks.
void check_lossy_queues(const evidence::SwitchPort& port, const design::SwitchIntent& wanted,
                        Collector& out) {
  for (const evidence::EgressQueue& queue : port.queues) {
    if (!queue.ecn.is(true)) continue;
    bool is_lossless = false;
    for (unsigned p = 0; p < Priority::kLimit; ++p)
      is_lossless |= wanted.lossless.contains(Priority::of(p)) &&
                     wanted.priority_to_queue.at(p) == queue.queue;
    if (!is_lossless)
      out.wrong("ecn.on_lossy", port.name,
                fmt::format("queue {}: expected ECN off, found on", queue.queue.value()));
  }
}

void check_queue(const evidence::SwitchPort& port, const design::SwitchIntent& wanted,
                 const design::SwitchPortIntent& intent, Collector& out) {
  check_lossy_queues(port, wanted, out);
  check_scheduling(port, wanted, out);
  for (unsigned p = 0; p < Priority::kLimit; ++p) {
    if (!wanted.lossless.contains(Priority::of(p))) continue;
    const evidence::EgressQueue* at = find_queue(port, wanted.priority_to_queue.at(p));
    if (intent.wred.ecn) {
      if (at == nullptr || !at->ecn.is_known()) {
        out.unknown("ECN");
        continue;
      }
      check_lossless_queue(port, *at, intent, out);
    }
    const bool limits = at != nullptr && at->max_rate.is_known() && at->max_rate->raw() != 0;
    if (limits && !intent.shaper && wanted.queues.at(at->queue.value()).limit >= 100_percent)
      out.wrong("shaper.on_rdma_path", port.name,
                expected("rate limit", "none", to_text(*at->max_rate)));
  }
}

void check_mtu(const std::string& name, const evidence::Fact<Bytes>& found, Bytes wanted,
               Collector& out) {
  if (!found.is_known()) {
    out.unknown("MTU");
  } else if (*found != wanted) {
    out.wrong("mtu.mismatch", name, expected("MTU", to_text(wanted), to_text(*found)),
              *found < wanted ? Severity::kError : Severity::kInfo);
  }
}

void check_port(const evidence::SwitchPort& port, const design::SwitchIntent& wanted,
                const design::SwitchPortIntent& intent, Collector& out) {
  if (port.up.is(false)) out.wrong("link.degraded", port.name, "link: expected up, found down");
  if (port.speed.is_known() && *port.speed != intent.speed)
    out.wrong("link.degraded", port.name,
              expected("speed", to_text(intent.speed), to_text(*port.speed)));
  const auto wanted_trust =
      wanted.trust == design::Trust::kDscp ? evidence::TrustMode::kDscp : evidence::TrustMode::kPcp;
  if (!port.trust.is_known()) {
    out.unknown("trust");
  } else if (*port.trust != wanted_trust && *port.trust != evidence::TrustMode::kBoth) {
    out.wrong("trust.mixed", port.name,
              expected("trust", to_text(wanted_trust), to_text(*port.trust)));
  }
  if (port.global_pause.is_known() && *port.global_pause && !wanted.global_pause)
    out.wrong("pause.global_on", port.name, "global pause: expected off, found on");
  if (port.rewrites_dscp.is(true) && !wanted.rewrites_dscp)
    out.wrong("dscp.rewritten", port.name, "DSCP: expected unchanged, found rewritten");
  if (port.pfc_negotiated.is(true) && !port.pfc_active.is_known())
    out.wrong("dcbx.willing", port.name,
              "PFC: expected on, found negotiated by DCBX, which leaves it off if the peer sends "
              "no DCBX");
  check_pfc(port, wanted, out);
  check_group(port, wanted, intent, out);
  check_queue(port, wanted, intent, out);
}

/// Port-channels by their members: a number means nothing to the other end. Each port-channel of
/// the design is the one of the switch that has most of its ports.
class ChannelCheck {
 public:
  ChannelCheck(const evidence::Switch& found, const design::SwitchIntent& wanted, Collector& out)
      : found_(found), out_(out) {
    for (const design::SwitchPortIntent& intent : wanted.ports) {
      const auto at =
          std::find_if(found.ports.begin(), found.ports.end(),
                       [&](const evidence::SwitchPort& port) { return port.name == intent.name; });
      if (at == found.ports.end()) continue;
      if (!at->channel.is_known()) {
        if (intent.channel != 0) out_.unknown_without_configuration("port-channels");
        continue;
      }
      ports_.push_back({&intent, *at->channel});
      wanted_[intent.channel].push_back(ports_.back());
      if (!at->channel->empty()) ++sizes_[*at->channel];
    }
  }

  void check() {
    for (const auto& [number, ports] : wanted_)
      if (number != 0) find_home(number, ports);
    for (const Port& port : ports_)
      check(port);
    for (const auto& [number, home] : homes_)
      if (const evidence::SwitchInterface* const channel = interface(home))
        check_mtu(home, channel->mtu, wanted_.at(number).front().intent->mtu, out_);
  }

  /// The MTU of a port that is its port-channel's is judged there.
  [[nodiscard]] bool has_judged_mtu_of(const evidence::SwitchPort& port) const {
    if (!port.channel.is_known() || port.channel->empty() || owner(*port.channel) == 0)
      return false;
    const evidence::SwitchInterface* const channel = interface(*port.channel);
    return channel != nullptr && channel->mtu.is_known() && port.mtu.is(*channel->mtu);
  }

 private:
  struct Port {
    const design::SwitchPortIntent* intent;
    std::string channel;  // as found
  };

  [[nodiscard]] const evidence::SwitchInterface* interface(const std::string& name) const {
    for (const evidence::SwitchInterface& each : found_.interfaces)
      if (each.kind == "port-channel" && each.name == name) return &each;
    return nullptr;
  }
  /// The port-channel of the design that this one is; 0: none.
  [[nodiscard]] int owner(const std::string& channel) const {
    for (const auto& [number, home] : homes_)
      if (home == channel) return number;
    return 0;
  }

  void find_home(int number, const std::vector<Port>& ports) {
    std::map<std::string, int> votes;
    for (const Port& port : ports)
      if (!port.channel.empty() && owner(port.channel) == 0) ++votes[port.channel];
    const auto most =
        std::max_element(votes.begin(), votes.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != votes.end()) homes_[number] = most->first;
  }

  /// "Port-Channel1 with Ethernet5": the other ports of the design's port-channel.
  [[nodiscard]] std::string wanted_text(const Port& port, const std::string& home) const {
    std::vector<std::string> others;
    for (const Port& other : wanted_.at(port.intent->channel))
      if (other.intent != port.intent) others.push_back(other.intent->name);
    return fmt::format("{} with {}", home.empty() ? "one" : home, ports_text(others));
  }

  void check(const Port& port) {
    const std::string found = port.channel.empty() ? "none" : port.channel;
    const std::string& name = port.intent->name;
    if (port.intent->channel != 0) {
      const auto home = homes_.find(port.intent->channel);
      if (home != homes_.end() && home->second == port.channel) return;
      out_.wrong(
          "ports.differ", name,
          expected("port-channel",
                   wanted_text(port, home == homes_.end() ? std::string() : home->second), found));
    } else if (!port.channel.empty() && owner(port.channel) != 0) {
      out_.wrong("ports.differ", name, expected("port-channel", "none", found));
    } else if (!port.channel.empty() && sizes_.at(port.channel) > 1) {
      out_.wrong("ports.differ", name,
                 expected("port-channel", "none (the design's links have no `lag: on`)", found),
                 Severity::kWarning);
    }
  }

  const evidence::Switch& found_;
  Collector& out_;
  std::vector<Port> ports_;
  std::map<int, std::vector<Port>> wanted_;  // by port-channel of the design
  std::map<std::string, int> sizes_;         // ports of the design in each port-channel found
  std::map<int, std::string> homes_;
};

/// "Vlan100", "irb.100": 100; 0 where the interface is no VLAN.
int vlan_number(const evidence::SwitchInterface& svi) {
  const std::size_t digits = svi.name.find_first_of("0123456789");
  if (svi.kind != "svi" || digits == std::string::npos) return 0;
  const auto number = parse_u64(svi.name.substr(digits));
  return number && *number <= 4094 ? static_cast<int>(*number) : 0;
}

/// The VLANs that a port is a member of, by itself or by its port-channel.
std::vector<int> vlans_of(const evidence::Switch& found, const evidence::SwitchPort& port) {
  std::vector<int> out;
  for (const evidence::SwitchInterface& svi : found.interfaces) {
    if (vlan_number(svi) == 0 || !svi.members.is_known()) continue;
    const bool is_member =
        std::any_of(svi.members->begin(), svi.members->end(), [&](const std::string& member) {
          return member == port.name ||
                 (port.channel.is_known() && !port.channel->empty() && member == *port.channel);
        });
    if (is_member) out.push_back(vlan_number(svi));
  }
  return out;
}

/// Where the VLAN of the design is bridged, its ports carry it; where it ends, those above do not.
void check_vlan(const evidence::Switch& found, const design::SwitchIntent& wanted,
                const design::Intent& whole, Collector& out) {
  const int gateway = whole.l3_from == design::Boundary::kLeaf    ? 1
                      : whole.l3_from == design::Boundary::kSpine ? 2
                                                                  : 0;
  if (whole.vlan == 0 || wanted.tier > gateway) return;
  const std::string what = fmt::format("VLAN {}", whole.vlan);
  const bool has_any = std::any_of(
      found.interfaces.begin(), found.interfaces.end(), [](const evidence::SwitchInterface& svi) {
        return vlan_number(svi) != 0 && svi.members.is_known() && !svi.members->empty();
      });
  if (!has_any) return out.unknown_without_configuration("ports of " + what);
  for (const design::SwitchPortIntent& intent : wanted.ports) {
    const auto port =
        std::find_if(found.ports.begin(), found.ports.end(),
                     [&](const evidence::SwitchPort& known) { return known.name == intent.name; });
    if (port == found.ports.end()) continue;
    const std::vector<int> vlans = vlans_of(found, *port);
    const bool is_member = std::find(vlans.begin(), vlans.end(), whole.vlan) != vlans.end();
    const bool is_down = intent.is_access || whole.switches[intent.peer.node].tier < wanted.tier;
    const bool is_wanted = is_down || wanted.tier < gateway;
    if (is_member == is_wanted) continue;
    if (!is_wanted) {
      out.wrong("ports.differ", intent.name, expected(what, "no member, it is routed", "a member"));
      continue;
    }
    std::vector<std::string> others;
    for (const int vlan : vlans)
      others.push_back(std::to_string(vlan));
    out.wrong("ports.differ", intent.name,
              expected(what, "a member",
                       others.empty() ? "none" : "a member of VLAN " + join(others, ", ")));
  }
}

/// The ports of the design, as the configuration has them.
struct Ports {
  std::vector<std::string> missing;  // that the configuration does not have
  std::size_t others = 0;            // that the configuration has and the design does not use
  std::size_t wanted = 0;
  bool are_all_listed = false;  // what the configuration does not have is not there

  /// Another box or another breakout: what has a name of the design may be another port. Names of
  /// other systems than SONiC say the breakout, and one without a line may be there.
  [[nodiscard]] bool are_of_another_box() const {
    return are_all_listed && others > 0 && 2 * missing.size() >= wanted &&
           2 * others >= missing.size();
  }
};

const evidence::SwitchPort* find_port(const evidence::Switch& found, const std::string& name) {
  const auto at =
      std::find_if(found.ports.begin(), found.ports.end(),
                   [&](const evidence::SwitchPort& known) { return known.name == name; });
  return at == found.ports.end() ? nullptr : &*at;
}

/// SONiC's PORT table has every port of the box, with its speed. Elsewhere a port without a line of
/// its own may be there.
bool lists_all_ports(const evidence::Switch& found) {
  return found.platform.is(std::string(design::to_word(vocab::SwitchSystem::kSonic))) &&
         !found.ports.empty() &&
         std::all_of(found.ports.begin(), found.ports.end(),
                     [](const evidence::SwitchPort& port) { return port.speed.is_known(); });
}

Ports ports_of(const evidence::Switch& found, const design::SwitchIntent& wanted) {
  Ports out;
  out.wanted = wanted.ports.size();
  out.are_all_listed = lists_all_ports(found);
  std::set<std::string_view> known;
  for (const evidence::SwitchPort& port : found.ports)
    known.insert(port.name);
  for (const design::SwitchPortIntent& intent : wanted.ports) {
    if (known.erase(intent.name) == 0) out.missing.push_back(intent.name);
  }
  out.others = known.size();
  return out;
}

/// Ports that the design uses and the configuration does not have. Where it has none of them, but
/// others, it is another box or another breakout.
void report_missing_ports(const evidence::Switch& found, const design::SwitchIntent& wanted,
                          const Ports& ports, Collector& out) {
  if (ports.missing.empty()) return;
  const bool has_none = ports.missing.size() == wanted.ports.size();
  const std::string names = ports_text(ports.missing);
  if (ports.others == 0 && !ports.are_all_listed)
    return out.unknown(fmt::format("port{} {}", ports.missing.size() == 1 ? "" : "s", names));
  if (wanted.ports_assumed)
    return out.unknown(
        fmt::format("ports {}: the design has no `model`, so these names are assumed", names));
  std::vector<std::string> here;
  for (const evidence::SwitchPort& port : found.ports)
    here.push_back(port.name);
  out.wrong("ports.differ", "",
            expected("ports", names,
                     has_none           ? ports_text(here)
                     : ports.others > 0 ? "none of them, and ports that the design does not use"
                                        : "none of them in the PORT table"));
  if (!has_none && ports.are_of_another_box())
    out.unknown(
        fmt::format("ports of the design's names: on another box or with another breakout "
                    "they may be other ports ({})",
                    ports_text(here)));
}

void check_ports(const evidence::Switch& found, const design::SwitchIntent& wanted,
                 const design::Intent& whole, const Wrong& wrong, Collector& out) {
  ChannelCheck channels(found, wanted, out);
  channels.check();
  for (const design::SwitchPortIntent& intent : wanted.ports) {
    const evidence::SwitchPort* const port = find_port(found, intent.name);
    if (port == nullptr) continue;
    if (!channels.has_judged_mtu_of(*port)) check_mtu(port->name, port->mtu, intent.mtu, out);
    check_port(*port, wanted, intent, out);
    check_port_buffers(found, *port, wanted, intent, wrong);
  }
  check_vlan(found, wanted, whole, out);
}

/// Headroom for longer cables than there are is lossless, and taken from what all queues share.
void check_wasted_headroom(const evidence::Switch& found, const design::SwitchIntent& wanted,
                           Collector& out) {
  Bytes wasted;
  Length longest;
  Length cable;
  for (const design::SwitchPortIntent& intent : wanted.ports) {
    const evidence::SwitchPort* const port = find_port(found, intent.name);
    if (port == nullptr || !port->cable_length.is_known()) continue;
    if (*port->cable_length <= intent.cable) continue;
    const bool is_explicit = std::any_of(
        port->groups.begin(), port->groups.end(),
        [](const auto& group) { return group.lossless.is(true) && group.headroom_auto.is(false); });
    if (is_explicit) continue;
    const Length over = *port->cable_length - intent.cable;
    const Duration both_ways = Duration::raw(2 * (5_ns).raw() * over.raw() / (1_m).raw());
    wasted += bytes_in(both_ways, intent.speed) * wanted.lossless.count();
    if (*port->cable_length <= longest) continue;
    longest = *port->cable_length;
    cable = intent.cable;
  }
  const int ratio = std::max(wanted.buffers.headroom_oversubscription, 1);
  const Bytes shared = wanted.buffers.lossless_shared;
  const double share = static_cast<double>((wasted / ratio).raw());
  const double least = finding::Thresholds().wasted_headroom * static_cast<double>(shared.raw());
  if (shared <= 0_B || share < least) return;
  out.wrong("config.differs", "",
            fmt::format("{}: headroom for cables that are not there takes {} of the {} that "
                        "lossless classes share",
                        expected("cable length", to_text(cable), to_text(longest)),
                        approximate(wasted / ratio), approximate(shared)),
            Severity::kInfo);
}

}  // namespace

void validate_switch(const evidence::Switch& found, const design::SwitchIntent& wanted,
                     const design::Intent& whole, finding::Judgement& judgement) {
  Collector out(found, judgement);
  if (found.platform.is_known() && *found.platform != design::to_word(wanted.system))
    out.wrong("config.differs", "",
              expected("system", std::string(design::to_word(wanted.system)), *found.platform));
  const Ports ports = ports_of(found, wanted);
  report_missing_ports(found, wanted, ports, out);
  check_classes(found, wanted, whole, out);
  check_order_of_work(found, out);
  check_watchdog(found, wanted, out);
  const Wrong wrong = [&](std::string_view id, const std::string& port, std::string text) {
    out.wrong(id, port, std::move(text));
  };
  check_partitions(found, wanted, wrong);
  if (found.pools.is_known()) {
    for (const evidence::Pool& pool : *found.pools) {
      const bool is_in_bytes = pool.kind == evidence::PoolKind::kLossless && pool.size > 0_B;
      if (!is_in_bytes || pool.size >= wanted.buffers.lossless_shared) continue;
      out.wrong(
          "buffer.too_small", "",
          expected("lossless pool", to_text(wanted.buffers.lossless_shared), to_text(pool.size)));
    }
  }
  if (!ports.are_of_another_box()) {
    check_ports(found, wanted, whole, wrong, out);
    check_wasted_headroom(found, wanted, out);
  }
  out.finish();
}

}  // namespace weir::diagnose
