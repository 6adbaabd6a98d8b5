// One hop of the proof: what a NIC or a switch does with a packet of a class, and whether that
// is what the class requires.
#include <fmt/format.h>

#include "design/file/words.h"
#include "design/prove/prove_walk.h"
#include "units/format.h"

namespace weir::design {
namespace {

bool is_rdma(TrafficKind kind) {
  return kind != TrafficKind::kCnp;
}

std::string_view is_or_are(TrafficKind kind) {
  return kind == TrafficKind::kData ? "is" : "are";
}

finding::Where place_of(const HostIntent& host, const NicIntent& nic) {
  finding::Where where;
  where.host = host.name;
  where.rail = std::to_string(nic.rail);
  where.device = nic.device;
  return where;
}

std::string name_of(const HostIntent& host, const NicIntent& nic) {
  return fmt::format("{} {}", host.name, nic.device);
}

Break broken(std::string_view id, finding::Where where, std::string reason) {
  return {Proven::kBroken, std::string(id), std::move(reason), std::move(where)};
}
Break unknown(finding::Where where, std::string reason) {
  return {Proven::kUnknown, {}, std::move(reason), std::move(where)};
}

// ---- a NIC ----

/// What the job asks for, unless the NIC forces a byte of its own (OFED's traffic_class).
struct JobMark {
  TosByte tos;
  bool is_forced = false;
};
JobMark mark_of(const ProofCase& c, const HostIntent& host, const NicIntent& nic) {
  // Only the vendor's driver can force a byte.
  if (nic.force_traffic_class && host.stack == HostStack::kOfed) return {nic.traffic_class, true};
  return {*c.design.nccl.traffic_class, false};
}

ChainStep job_step(const ProofCase& c, const HostIntent& host, const NicIntent& nic) {
  if (nic.trust == Trust::kPcp)
    return {"job", fmt::format("service level {}", *c.design.nccl.service_level)};
  const JobMark mark = mark_of(c, host, nic);
  const std::string forced =
      mark.is_forced ? fmt::format("traffic class {}, NIC forces {}",
                                   to_text(*c.design.nccl.traffic_class), to_text(mark.tos))
                     : fmt::format("traffic class {}", to_text(mark.tos));
  return {"job", fmt::format("{}: DSCP {}", forced, to_text(dscp_of(mark.tos)))};
}

/// Why RDMA leaves a NIC outside of its class.
Break wrong_mark(const ProofCase& c, const HostIntent& host, const NicIntent& nic,
                 Priority priority) {
  const auto where = [&] { return place_of(host, nic); };
  if (nic.trust != *c.design.trust) {
    return broken("trust.mixed", where(),
                  fmt::format("{} trusts {}, the fabric {}: RDMA leaves in priority {}, not {}",
                              name_of(host, nic), to_word(nic.trust), to_word(*c.design.trust),
                              to_text(priority), to_text(c.rdma)));
  }
  if (nic.trust == Trust::kPcp) {
    return broken("dscp.unmarked", where(),
                  fmt::format("{} trusts PCP and the job's service level is {}: RDMA leaves in "
                              "priority {}, not {}",
                              name_of(host, nic), *c.design.nccl.service_level, to_text(priority),
                              to_text(c.rdma)));
  }
  const TosByte tos = mark_of(c, host, nic).tos;
  return broken("dscp.tos_confusion", where(),
                fmt::format("traffic class {} is DSCP {}, which {} sends in priority {}, not {}",
                            to_text(tos), to_text(dscp_of(tos)), name_of(host, nic),
                            to_text(priority), to_text(c.rdma)));
}

std::optional<Break> check_sender(const ProofCase& c, TrafficKind kind, const HostIntent& host,
                                  const NicIntent& nic, Priority priority) {
  const auto where = [&] { return place_of(host, nic); };
  if (is_rdma(kind)) {
    if (priority != c.rdma) return wrong_mark(c, host, nic, priority);
    if (nic.global_pause)
      return broken("pause.global_on", where(),
                    fmt::format("{} has 802.3x on, so PFC is not in effect", name_of(host, nic)));
    if (!nic.pfc.contains(priority))
      return broken(nic.pfc.count() == 0 ? "pfc.off" : "pfc.wrong_priority", where(),
                    fmt::format("{} does not obey a pause of priority {} (PFC: {})",
                                name_of(host, nic), to_text(priority), to_text(nic.pfc)));
    if (kind == TrafficKind::kData && !nic.ecn_rp.contains(priority))
      return broken("rp.disabled", where(),
                    fmt::format("{} does not slow down for CNPs in priority {}", name_of(host, nic),
                                to_text(priority)));
    return std::nullopt;
  }
  if (priority == c.rdma)
    return broken(
        "cnp.shares_rdma_priority", where(),
        fmt::format("{} sends CNPs in RDMA's priority {}", name_of(host, nic), to_text(priority)));
  if (nic.pfc.contains(priority))
    return broken("cnp.lossless", where(),
                  fmt::format("{} can be paused in priority {}, which CNPs use", name_of(host, nic),
                              to_text(priority)));
  return std::nullopt;
}

// ---- a switch ----

struct Seen {
  std::optional<Priority> priority;
  std::string how;  // "trust dscp, DSCP 26 -> priority 3"
  std::optional<Break> broken;
};

finding::Where place_of(const Hop& hop, const HopPort& port) {
  finding::Where where;
  where.switch_name = hop.name;
  where.port = port.name;
  if (hop.source != "design") where.file = hop.source;
  return where;
}

std::string name_of(const Hop& hop, const HopPort& port) {
  return fmt::format("{} {}", hop.name, port.name);
}

Seen by_dscp(const Hop& hop, const HopPort& port, const OnWire& wire, Detail detail) {
  if (!hop.dscp_to_priority)
    return {{}, {}, unknown(place_of(hop, port), fmt::format("DSCP map of {}", hop.name))};
  const auto entry = hop.dscp_to_priority->at(wire.dscp.value());
  if (!entry) {
    return {{},
            {},
            broken("dscp.unmapped_hop", place_of(hop, port),
                   fmt::format("{} has no entry for DSCP {}", hop.name, to_text(wire.dscp)))};
  }
  if (detail == Detail::kNone) return {entry, {}, {}};
  return {entry,
          fmt::format("trust dscp, DSCP {} -> priority {}", to_text(wire.dscp), to_text(*entry)),
          {}};
}

Seen by_pcp(const Hop& hop, const HopPort& port, const OnWire& wire, Detail detail) {
  if (!wire.pcp) return {Priority(), "trust pcp, no tag -> priority 0", {}};
  if (!hop.pcp_to_priority)
    return {{}, {}, unknown(place_of(hop, port), fmt::format("PCP map of {}", hop.name))};
  const auto entry = hop.pcp_to_priority->at(wire.pcp->value());
  const Priority priority = entry.value_or(Priority());
  if (detail == Detail::kNone) return {priority, {}, {}};
  return {priority,
          fmt::format("trust pcp, PCP {} -> priority {}", to_text(*wire.pcp), to_text(priority)),
          {}};
}

Seen see(const Hop& hop, const HopPort& port, const OnWire& wire, Detail detail) {
  if (!port.trust)
    return {{}, {}, unknown(place_of(hop, port), fmt::format("trust of {}", name_of(hop, port)))};
  switch (*port.trust) {
    case HopTrust::kDscp: return by_dscp(hop, port, wire, detail);
    case HopTrust::kPcp: return by_pcp(hop, port, wire, detail);
    case HopTrust::kNothing: return {Priority(), "trusts neither DSCP nor PCP -> priority 0", {}};
  }
  return {};
}

/// A class in the wrong priority: which setting causes it?
Break wrong_priority(const ProofCase& c, TrafficKind kind, const OnWire& wire, const Hop& hop,
                     const HopPort& port, Priority priority) {
  const Priority wanted = is_rdma(kind) ? c.rdma : c.cnp;
  const std::string_view what = title_of(kind);
  if (wire.rewriter) {
    finding::Where where;
    where.switch_name = c.hops[*wire.rewriter].name;
    return broken("dscp.rewritten", where,
                  fmt::format("{} rewrites the TOS byte: at {} {} {} in priority {}, not {}",
                              c.hops[*wire.rewriter].name, name_of(hop, port), what,
                              is_or_are(kind), to_text(priority), to_text(wanted)));
  }
  if (*port.trust == HopTrust::kPcp && !wire.pcp) {
    return broken(
        "trust.mixed", place_of(hop, port),
        fmt::format("{} trusts PCP, and {} {} without a tag there (untagged, or routed on the "
                    "way): priority {}, not {}",
                    name_of(hop, port), what, is_or_are(kind), to_text(priority), to_text(wanted)));
  }
  const auto wanted_trust = *c.design.trust == Trust::kDscp ? HopTrust::kDscp : HopTrust::kPcp;
  if (*port.trust != wanted_trust) {
    return broken("trust.mixed", place_of(hop, port),
                  fmt::format("{} trusts {}, the fabric {}: {} {} in priority {} there, not {}",
                              name_of(hop, port),
                              *port.trust == HopTrust::kDscp  ? "DSCP"
                              : *port.trust == HopTrust::kPcp ? "PCP"
                                                              : "neither DSCP nor PCP",
                              wanted_trust == HopTrust::kDscp ? "DSCP" : "PCP", what,
                              is_or_are(kind), to_text(priority), to_text(wanted)));
  }
  return broken("dscp.unmapped_hop", place_of(hop, port),
                fmt::format("{} sends {} (DSCP {}) to priority {}, not {}", hop.name, what,
                            to_text(wire.dscp), to_text(priority), to_text(wanted)));
}

/// The pause that this port sends for `priority` must stop the very place in which the packets wait
/// behind it.
std::optional<Break> check_pause_reaches(const ProofCase& c, const OnWire& wire, const Hop& hop,
                                         const HopPort& port, Priority priority) {
  if (!wire.from_switch) {
    if (wire.priority == priority) return std::nullopt;
    return broken("pfc.wrong_priority", place_of(hop, port),
                  fmt::format("{} pauses priority {}, and the NIC sends RDMA in {}",
                              name_of(hop, port), to_text(priority), to_text(wire.priority)));
  }
  const Hop& behind = c.hops[*wire.from_switch];
  const HopPort& out = behind.ports[wire.from_port];
  if (!out.pfc)
    return unknown(place_of(behind, out), fmt::format("PFC of {}", name_of(behind, out)));
  if (!out.pfc->contains(priority)) {
    return broken(out.pfc->count() == 0 ? "pfc.off" : "pfc.wrong_priority", place_of(behind, out),
                  fmt::format("{} does not obey the pause of priority {} that {} sends (PFC: {})",
                              name_of(behind, out), to_text(priority), name_of(hop, port),
                              to_text(*out.pfc)));
  }
  if (!behind.pfc_to_queue)
    return unknown(place_of(behind, out),
                   fmt::format("which queue a pause stops on {}", behind.name));
  const Queue stopped = behind.pfc_to_queue->at(priority.value());
  if (stopped == wire.queue) return std::nullopt;
  return broken(
      "pfc.wrong_priority", place_of(behind, out),
      fmt::format("a pause of priority {} stops queue {} of {}, and RDMA waits in queue {}",
                  to_text(priority), to_text(stopped), name_of(behind, out), to_text(wire.queue)));
}

std::optional<Break> check_lossless_entry(const ProofCase& c, TrafficKind kind, const OnWire& wire,
                                          const Hop& hop, const HopPort& port, Priority priority) {
  const auto where = [&] { return place_of(hop, port); };
  if (!port.pfc) return unknown(where(), fmt::format("PFC of {}", name_of(hop, port)));
  if (port.link_pause.value_or(false))
    return broken("pause.global_on", where(),
                  fmt::format("{} has 802.3x on, so PFC is not in effect", name_of(hop, port)));
  if (!port.pfc->contains(priority)) {
    if (priority != c.rdma) return wrong_priority(c, kind, wire, hop, port, priority);
    return broken(port.pfc->count() == 0 ? "pfc.off" : "pfc.wrong_priority", where(),
                  fmt::format("{} sends no pauses for priority {} (PFC: {}): what does not fit is "
                              "dropped",
                              name_of(hop, port), to_text(priority), to_text(*port.pfc)));
  }
  if (priority != c.rdma) return wrong_priority(c, kind, wire, hop, port, priority);
  if (!hop.priority_to_group)
    return unknown(where(), fmt::format("priority groups of {}", hop.name));
  const PriorityGroup group = hop.priority_to_group->at(priority.value());
  const auto lossless = port.lossless_groups.at(group.value());
  if (!lossless)
    return unknown(where(), fmt::format("group {} of {}", to_text(group), name_of(hop, port)));
  if (!*lossless) {
    return broken("headroom.too_small", where(),
                  fmt::format("group {} of {} is not lossless: PFC is on and has no headroom to "
                              "work with",
                              to_text(group), name_of(hop, port)));
  }
  return check_pause_reaches(c, wire, hop, port, priority);
}

std::optional<Break> check_cnp_entry(const ProofCase& c, const OnWire& wire, const Hop& hop,
                                     const HopPort& port, Priority priority) {
  const auto where = [&] { return place_of(hop, port); };
  if (!port.pfc) return unknown(where(), fmt::format("PFC of {}", name_of(hop, port)));
  if (priority == c.rdma && wire.rewriter)
    return wrong_priority(c, TrafficKind::kCnp, wire, hop, port, priority);
  if (priority == c.rdma)
    return broken("cnp.shares_rdma_priority", where(),
                  fmt::format("{} puts CNPs (DSCP {}) into RDMA's priority {}", hop.name,
                              to_text(wire.dscp), to_text(priority)));
  if (port.pfc->contains(priority))
    return broken("cnp.lossless", where(),
                  fmt::format("{} pauses priority {}, in which CNPs arrive", name_of(hop, port),
                              to_text(priority)));
  return std::nullopt;
}

std::optional<Break> check_rdma_queue(TrafficKind kind, const Hop& hop, const HopPort& port,
                                      Queue queue) {
  const HopQueue& at = port.queues.at(queue.value());
  const auto where = [&] { return place_of(hop, port); };
  if (kind == TrafficKind::kData) {
    if (!at.marks)
      return unknown(where(),
                     fmt::format("ECN of {} queue {}", name_of(hop, port), to_text(queue)));
    if (!*at.marks)
      return broken("ecn.off_on_lossless", where(),
                    fmt::format("{} does not mark in queue {}: only PFC slows RDMA there",
                                name_of(hop, port), to_text(queue)));
  }
  if (!at.served)
    return unknown(where(),
                   fmt::format("scheduler of {} queue {}", name_of(hop, port), to_text(queue)));
  if (!*at.served)
    return broken("class.no_guarantee", where(),
                  fmt::format("queue {} of {} has no share of the line: RDMA may wait for ever",
                              to_text(queue), name_of(hop, port)));
  return std::nullopt;
}

std::optional<Break> check_cnp_queue(const ProofCase& c, const Hop& hop, const HopPort& port,
                                     const OnWire& wire, Priority priority, Queue queue) {
  const HopQueue& at = port.queues.at(queue.value());
  const auto where = [&] { return place_of(hop, port); };
  if (queue == hop.priority_to_queue->at(c.rdma.value())) {
    return broken(
        "class.shared_queue", where(),
        fmt::format("{} puts CNPs into queue {}, behind RDMA", name_of(hop, port), to_text(queue)));
  }
  if (!at.strict)
    return unknown(where(),
                   fmt::format("scheduler of {} queue {}", name_of(hop, port), to_text(queue)));
  // A queue of their own with a share is enough; a shared one must at least be strict.
  const bool is_own = queue == c.cnp_queue && at.served.value_or(false);
  if (*at.strict || is_own) return std::nullopt;
  if (priority != c.cnp) return wrong_priority(c, TrafficKind::kCnp, wire, hop, port, priority);
  return broken(
      "class.no_guarantee", where(),
      fmt::format("queue {} of {} is {}: CNPs come late", to_text(queue), name_of(hop, port),
                  at.served.value_or(false) ? "weighted and not CNPs' own"
                                            : "neither strict nor has a share"));
}

std::string queue_text(const HopPort& port, Queue queue, TrafficKind kind) {
  const HopQueue& at = port.queues.at(queue.value());
  std::string text = fmt::format("queue {}", to_text(queue));
  if (at.strict) text += *at.strict ? ", strict" : ", weighted";
  if (kind == TrafficKind::kData && at.marks) text += *at.marks ? ", ECN marks" : ", no ECN";
  return text;
}

/// Tags do not cross a router.
bool routes(const ProofCase& c, std::uint32_t node) {
  const int tier = c.intent.switches[node].tier;
  return tier >= (c.intent.l3_from == Boundary::kSpine ? 2 : 1);
}

}  // namespace

Hop hop_of(const SwitchIntent& node) {
  Hop hop;
  hop.name = node.name;
  hop.source = "design";
  hop.dscp_to_priority.emplace();
  for (unsigned d = 0; d < Dscp::kLimit; ++d)
    hop.dscp_to_priority->at(d) = node.dscp_to_priority.at(d);
  hop.pcp_to_priority.emplace();
  for (unsigned p = 0; p < Pcp::kLimit; ++p)
    hop.pcp_to_priority->at(p) = node.pcp_to_priority.at(p);
  hop.priority_to_queue = node.priority_to_queue;
  hop.priority_to_group = node.priority_to_pg;
  hop.pfc_to_queue = node.priority_to_queue;
  HopPort common;
  common.trust = node.trust == Trust::kDscp ? HopTrust::kDscp : HopTrust::kPcp;
  common.pfc = node.pfc;
  common.link_pause = node.global_pause;
  common.rewrites = node.rewrites_dscp;
  common.lossless_groups.fill(false);
  std::array<bool, 8> lossless_queues{};
  for (unsigned p = 0; p < Priority::kLimit; ++p) {
    if (!node.lossless.contains(Priority::of(p))) continue;
    common.lossless_groups.at(node.priority_to_pg.at(p).value()) = true;
    lossless_queues.at(node.priority_to_queue.at(p).value()) = true;
  }
  for (unsigned q = 0; q < Queue::kLimit; ++q) {
    const Share8& queue = node.queues.at(q);
    const bool is_strict = queue.used && queue.scheduling == Scheduling::kStrict;
    common.queues.at(q) = {false, is_strict, is_strict || queue.minimum > Share()};
  }
  for (const SwitchPortIntent& port : node.ports) {
    HopPort hop_port = common;
    hop_port.name = port.name;
    for (unsigned q = 0; q < Queue::kLimit; ++q)
      hop_port.queues.at(q).marks = lossless_queues.at(q) && port.wred.ecn;
    hop.ports.push_back(std::move(hop_port));
  }
  return hop;
}

namespace {

std::string sender_text(TrafficKind kind, const NicIntent& nic, Dscp dscp, Priority priority) {
  std::string what =
      nic.trust == Trust::kDscp
          ? fmt::format("trust dscp, DSCP {} -> priority {}", to_text(dscp), to_text(priority))
          : fmt::format("trust pcp, {} -> priority {}", is_rdma(kind) ? "service level" : "CNP",
                        to_text(priority));
  what += fmt::format(" -> traffic class {}", to_text(nic.priority_to_tc.at(priority.value())));
  what += nic.pfc.contains(priority) ? "; obeys PFC" : "; not under PFC";
  if (kind == TrafficKind::kData)
    what += nic.ecn_rp.contains(priority) ? "; reaction point on" : "; reaction point off";
  return what;
}

std::string entry_text(const Hop& hop, const HopPort& port, const std::string& how,
                       Priority priority) {
  std::string what = how;
  if (hop.priority_to_group)
    what += fmt::format(" -> group {}", to_text(hop.priority_to_group->at(priority.value())));
  if (!port.pfc) return what;
  return what + (port.pfc->contains(priority)
                     ? fmt::format(", lossless: PFC {}", to_text(*port.pfc))
                     : ", lossy");
}

std::string receiver_text(TrafficKind kind, const NicIntent& nic, Priority priority) {
  if (!is_rdma(kind)) return "receives";
  std::string what = fmt::format("priority {}", to_text(priority));
  what += nic.pfc.contains(priority) ? ", pauses when its buffer fills" : ", sends no pauses";
  if (kind == TrafficKind::kData)
    what += nic.ecn_np.count() > 0 ? "; notification point on" : "; notification point off";
  return what;
}

std::optional<Break> check_receiver(const ProofCase& c, TrafficKind kind, const OnWire& wire,
                                    const HostIntent& host, const NicIntent& nic,
                                    Priority priority) {
  if (!is_rdma(kind)) return std::nullopt;
  if (priority != c.rdma && wire.rewriter) {
    finding::Where where;
    where.switch_name = c.hops[*wire.rewriter].name;
    return broken(
        "dscp.rewritten", where,
        fmt::format("{} rewrites the TOS byte: {} receives RDMA in priority {}, not {}",
                    where.switch_name, name_of(host, nic), to_text(priority), to_text(c.rdma)));
  }
  // Without a tag the receive buffer under PCP trust is that of priority 0; the sender's side has
  // said so already where trust differs.
  if (nic.trust == Trust::kDscp && !nic.pfc.contains(priority)) {
    return broken(nic.pfc.count() == 0 ? "pfc.off" : "pfc.wrong_priority", place_of(host, nic),
                  fmt::format("{} does not pause for priority {} when its receive buffer fills "
                              "(PFC: {})",
                              name_of(host, nic), to_text(priority), to_text(nic.pfc)));
  }
  if (kind == TrafficKind::kData && nic.ecn_np.count() == 0)
    return broken("np.disabled", place_of(host, nic),
                  fmt::format("{} sends no CNPs for marked packets (notification point off)",
                              name_of(host, nic)));
  return std::nullopt;
}

}  // namespace

Passed leave_nic(const ProofCase& c, TrafficKind kind, const HostIntent& host, const NicIntent& nic,
                 Detail detail) {
  Passed passed;
  const Dscp dscp = is_rdma(kind) ? dscp_of(mark_of(c, host, nic).tos) : nic.cnp_dscp;
  const auto level = Priority::make(static_cast<std::uint64_t>(*c.design.nccl.service_level));
  passed.priority = nic.trust == Trust::kDscp ? nic.dscp_to_priority.at(dscp.value())
                    : is_rdma(kind)           ? level.value_or(Priority())
                                              : nic.cnp_priority;
  if (detail == Detail::kSteps) {
    if (is_rdma(kind)) passed.steps.push_back(job_step(c, host, nic));
    passed.steps.push_back({name_of(host, nic), sender_text(kind, nic, dscp, passed.priority)});
  }
  passed.broken = check_sender(c, kind, host, nic, passed.priority);
  passed.out.dscp = dscp;
  passed.out.priority = passed.priority;
  if (nic.vlan != 0) passed.out.pcp = Pcp::of(passed.priority.value());
  return passed;
}

Passed enter_switch(const ProofCase& c, TrafficKind kind, const OnWire& wire, std::uint32_t node,
                    std::uint32_t port_index, Detail detail) {
  const Hop& hop = c.hops[node];
  const HopPort& port = hop.ports[port_index];
  const auto place = [&] { return fmt::format("{} {} in", hop.name, port.name); };
  Passed passed;
  passed.out = wire;
  Seen seen = see(hop, port, wire, detail);
  if (seen.broken) {
    passed.broken = std::move(seen.broken);
    const bool is_known = passed.broken->proven == Proven::kBroken;
    if (detail == Detail::kSteps)
      passed.steps.push_back({place(), is_known ? "no entry" : "not known"});
    return passed;
  }
  passed.priority = *seen.priority;
  if (detail == Detail::kSteps)
    passed.steps.push_back({place(), entry_text(hop, port, seen.how, passed.priority)});
  passed.broken = is_rdma(kind) ? check_lossless_entry(c, kind, wire, hop, port, passed.priority)
                                : check_cnp_entry(c, wire, hop, port, passed.priority);
  return passed;
}

Passed leave_switch(const ProofCase& c, TrafficKind kind, const OnWire& wire, const Passed& entered,
                    std::uint32_t node, std::uint32_t port_index, Detail detail) {
  const Hop& hop = c.hops[node];
  const HopPort& port = hop.ports[port_index];
  Passed passed;
  passed.priority = entered.priority;
  const auto add_step = [&](std::string what) {
    if (detail == Detail::kSteps)
      passed.steps.push_back({fmt::format("{} {} out", hop.name, port.name), std::move(what)});
  };
  if (!hop.priority_to_queue) {
    add_step("not known");
    passed.broken = unknown(place_of(hop, port), fmt::format("queues of {}", hop.name));
    return passed;
  }
  const Queue queue = hop.priority_to_queue->at(entered.priority.value());
  if (detail == Detail::kSteps) add_step(queue_text(port, queue, kind));
  passed.broken = is_rdma(kind) ? check_rdma_queue(kind, hop, port, queue)
                                : check_cnp_queue(c, hop, port, wire, entered.priority, queue);
  passed.out = wire;
  passed.out.from_switch = node;
  passed.out.from_port = port_index;
  passed.out.queue = queue;
  passed.out.priority = entered.priority;
  if (routes(c, node)) passed.out.pcp.reset();
  if (!port.rewrites.value_or(false)) return passed;
  const Dscp now = hop.priority_to_dscp
                       ? hop.priority_to_dscp->at(entered.priority.value()).value_or(wire.dscp)
                       : Dscp();
  if (now == wire.dscp) return passed;
  if (detail == Detail::kSteps)
    passed.steps.back().what +=
        fmt::format("; rewrites DSCP {} to {}", to_text(wire.dscp), to_text(now));
  passed.out.dscp = now;
  passed.out.rewriter = node;
  return passed;
}

Passed arrive_at_nic(const ProofCase& c, TrafficKind kind, const OnWire& wire,
                     const HostIntent& host, const NicIntent& nic, Detail detail) {
  Passed passed;
  passed.out = wire;
  passed.priority = nic.trust == Trust::kDscp ? nic.dscp_to_priority.at(wire.dscp.value())
                    : wire.pcp                ? Priority::of(wire.pcp->value())
                                              : Priority();
  if (detail == Detail::kSteps)
    passed.steps.push_back({name_of(host, nic), receiver_text(kind, nic, passed.priority)});
  passed.broken = check_receiver(c, kind, wire, host, nic, passed.priority);
  return passed;
}

}  // namespace weir::design
