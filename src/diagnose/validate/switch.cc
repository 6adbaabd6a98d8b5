// A switch's settings against the design (C7): maps, PFC, headroom, marking, watchdog, MTU.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/name_pattern.h"
#include "base/text.h"
#include "design/file/words.h"
#include "design/tables/platforms.h"
#include "diagnose/core/fixes.h"
#include "diagnose/validate/parts.h"
#include "diagnose/validate/switch_buffers.h"
#include "evidence/as_set.h"
#include "finding/catalog.h"
#include "units/format.h"

namespace weir::diagnose {
namespace {

using finding::Severity;

/// Faults of a switch, collected over its ports: one finding per fault, one line per port.
class Collector {
 public:
  Collector(const evidence::Switch& found, finding::Judgement& out) : found_(found), out_(out) {}

  void wrong(std::string_view id, const std::string& port, std::string text,
             std::optional<Severity> severity = {}) {
    for (finding::Finding& known : findings_) {
      if (known.id != id) continue;
      known.where.port.clear();
      add_line(known, port, text);
      return;
    }
    finding::Where where;
    where.switch_name = found_.name;
    where.port = port;
    const std::string place = port.empty() ? found_.name : fmt::format("{} {}", found_.name, port);
    finding::Finding item = finding::make_finding(id, fmt::format("{} {}.", place, text), where);
    if (severity) item.severity = *severity;
    add_line(item, port, text);
    findings_.push_back(std::move(item));
  }
  [[nodiscard]] bool has(std::string_view id) const {
    return std::any_of(findings_.begin(), findings_.end(),
                       [&](const finding::Finding& entry) { return entry.id == id; });
  }
  void unknown(std::string what, bool is_required = true) {
    const std::string check = fmt::format("{}: {}", found_.name, what);
    for (const finding::Unknown& unknown : out_.unknown)
      if (unknown.check == check) return;
    out_.unknown.push_back({check, "not read",
                            "the switch's configuration: weir validate --switch NAME=FILE",
                            is_required});
  }
  /// What only a configuration says: required where one was given. A lab has none of it, and its
  /// facts have no source.
  void unknown_without_configuration(std::string what) {
    const bool has_configuration =
        std::any_of(found_.ports.begin(), found_.ports.end(),
                    [](const evidence::SwitchPort& port) { return !port.mtu.source().empty(); });
    unknown(std::move(what), has_configuration);
  }
  void finish() {
    for (finding::Finding& finding : findings_) {
      const std::size_t ports = finding.evidence.size();
      if (ports > 1) finding.verdict += fmt::format(" {} more of this kind.", ports - 1);
      fit_fixes(&found_, finding.where.port, finding);
      out_.findings.push_back(std::move(finding));
    }
  }

 private:
  void add_line(finding::Finding& known, const std::string& port, const std::string& text) {
    finding::EvidenceLine line;
    line.source = port.empty() ? found_.name : fmt::format("{} {}", found_.name, port);
    line.line = text;
    known.evidence.push_back(std::move(line));
  }

  const evidence::Switch& found_;
  finding::Judgement& out_;
  std::vector<finding::Finding> findings_;
};

std::string expected(std::string_view what, std::string_view wanted, std::string_view found) {
  return fmt::format("{}: expected {}, found {}", what, wanted, found);
}

/// Code points in one text: "24-25,27".
std::string ranges(const std::vector<unsigned>& codes) {
  std::string out;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    std::size_t last = i;
    while (last + 1 < codes.size() && codes[last + 1] == codes[last] + 1)
      ++last;
    out += fmt::format("{}{}", out.empty() ? "" : ",", codes[i]);
    if (last > i) out += fmt::format("-{}", codes[last]);
    i = last;
  }
  return out;
}

void check_map(const evidence::Switch& found, const design::SwitchIntent& wanted, Collector& out) {
  const bool by_dscp = wanted.trust == design::Trust::kDscp;
  if (by_dscp && !found.dscp_to_tc.is_known()) return out.unknown("DSCP map");
  if (!by_dscp && !found.pcp_to_tc.is_known() && !found.dscp_to_tc.is_known())
    return out.unknown("PCP map");
  if (!found.dscp_to_tc.is_known()) return;
  // Systems number classes differently; what counts is the PFC priority that protects them.
  const std::array<Priority, 8> number = evidence::priority_of_class(found);
  for (unsigned d = 0; d < Dscp::kLimit; ++d) {
    const Priority priority = wanted.dscp_to_priority.at(d);
    const auto tc = found.dscp_to_tc->at(d);
    // DSCPs of lossless classes must be right; best effort may be wherever the vendor puts it.
    const bool is_lossless = wanted.lossless.contains(priority);
    const bool becomes_lossless = tc && wanted.lossless.contains(number.at(tc->value()));
    if (tc && number.at(tc->value()) == priority) continue;
    if (!is_lossless && !becomes_lossless) continue;
    out.wrong("dscp.unmapped_hop", "",
              expected(fmt::format("DSCP {}", d), fmt::format("class {}", priority.value()),
                       tc ? fmt::format("class {}", tc->value()) : std::string("no entry")));
  }
}

const evidence::EgressQueue* find_queue(const evidence::SwitchPort& port, Queue queue) {
  const auto at =
      std::find_if(port.queues.begin(), port.queues.end(),
                   [&](const evidence::EgressQueue& known) { return known.queue == queue; });
  return at == port.queues.end() ? nullptr : &*at;
}

/// Traffic in a queue without a bandwidth share: a default map puts it there (EOS: DSCP 0 in class
/// 1), while the shares follow the design's map.
void check_default_map(const evidence::Switch& found, Collector& out) {
  if (!found.dscp_to_tc.is_known() || !found.tc_to_queue.is_known() || found.ports.empty()) return;
  const evidence::SwitchPort& port = found.ports.front();
  const bool has_shares =
      std::any_of(port.queues.begin(), port.queues.end(),
                  [](const evidence::EgressQueue& item) { return item.scheduler.is_known(); });
  if (!has_shares || port.trust.is(evidence::TrustMode::kPcp)) return;
  std::array<std::vector<unsigned>, 8> lost;
  for (unsigned d = 0; d < Dscp::kLimit; ++d) {
    const auto tc = found.dscp_to_tc->at(d);
    if (!tc) continue;
    const Queue queue = found.tc_to_queue->at(tc->value());
    const evidence::EgressQueue* at = find_queue(port, queue);
    const bool has_none = at == nullptr || (at->weight.is_known() && *at->weight == 0);
    if (has_none) lost.at(queue.value()).push_back(d);
  }
  for (unsigned q = 0; q < 8; ++q)
    if (!lost.at(q).empty())
      out.wrong(
          "dscp.default_map", "",
          fmt::format("DSCP {}: in queue {}, which has no bandwidth share", ranges(lost.at(q)), q));
}

/// CNPs must not be paused.
void check_cnps(const evidence::Switch& found, const design::SwitchIntent& wanted,
                const design::Intent& intent, Collector& out) {
  if (!found.dscp_to_tc.is_known() || !found.tc_to_queue.is_known()) return;
  const std::array<Priority, 8> number = evidence::priority_of_class(found);
  PrioritySet paused;
  for (const evidence::SwitchPort& port : found.ports)
    if (port.pfc.is_known())
      paused = PrioritySet::from_mask(static_cast<std::uint8_t>(paused.mask() | port.pfc->mask()));
  if (intent.hosts.empty() || intent.hosts.front().nics.empty()) return;
  const design::NicIntent& nic = intent.hosts.front().nics.front();
  const auto tc = found.dscp_to_tc->at(nic.cnp_dscp.value());
  if (!tc || wanted.lossless.contains(nic.cnp_priority)) return;
  if (!paused.contains(number.at(tc->value()))) return;
  out.wrong("cnp.lossless", "",
            fmt::format("DSCP {} (CNP): expected a class without PFC, found class {} with PFC",
                        nic.cnp_dscp.value(), tc->value()));
}

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

void check_scheduling(const evidence::SwitchPort& port, const design::SwitchIntent& wanted,
                      Collector& out) {
  for (const evidence::EgressQueue& queue : port.queues) {
    const design::Share8& share = wanted.queues.at(queue.queue.value());
    if (!share.used || !queue.scheduler.is_known()) continue;
    const bool is_strict = *queue.scheduler == evidence::Scheduler::kStrict;
    const bool wants_strict = share.scheduling == design::Scheduling::kStrict;
    const auto word = [](bool strict) { return std::string(strict ? "strict" : "weighted"); };
    if (is_strict != wants_strict)
      out.wrong("config.differs", port.name,
                expected(fmt::format("scheduling of queue {}", queue.queue.value()),
                         word(wants_strict), word(is_strict)),
                Severity::kWarning);
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

}  // namespace

void validate_switch(const evidence::Switch& found, const design::SwitchIntent& wanted,
                     const design::Intent& whole, finding::Judgement& judgement) {
  Collector out(found, judgement);
  if (found.platform.is_known() && *found.platform != design::to_word(wanted.system))
    out.wrong("config.differs", "",
              expected("system", std::string(design::to_word(wanted.system)), *found.platform));
  const Ports ports = ports_of(found, wanted);
  report_missing_ports(found, wanted, ports, out);
  check_map(found, wanted, out);
  check_default_map(found, out);
  check_cnps(found, wanted, whole, out);
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
  if (!ports.are_of_another_box()) check_ports(found, wanted, whole, wrong, out);
  out.finish();
}

}  // namespace weir::diagnose
