// I15: pauses grow while RDMA is dropped, because PFC is on another priority, or on none.
#include <algorithm>

#include <fmt/format.h>

#include "diagnose/rules/rule.h"
#include "units/format.h"

namespace weir::diagnose {
namespace {

constexpr std::string_view kTailDrops = "switch.queue.drop_tail.packets";

std::vector<Consequence> priority_consequences() {
  return {{"headroom.too_small"}, {"path.loss"}, {"pfc.sustained"}, {"pfc.multiple_priorities"}};
}

/// `intent` of a NIC or switch; null without a design.
template <class Intent>
bool wants_pfc(const View& view, const Intent* intent) {
  return intent == nullptr || intent->pfc.contains(Priority::of(view.rdma()));
}

/// Some device has PFC on the RDMA priority: then the convention applies here.
bool any_protects(const View& view) {
  const Priority rdma = Priority::of(view.rdma());
  for (const NicView& nic : view.nics())
    if (nic.pfc && nic.pfc->contains(rdma)) return true;
  for (const PortView& port : view.ports())
    if (port.facts != nullptr && port.facts->pfc.is_known() && port.facts->pfc->contains(rdma))
      return true;
  return false;
}

const evidence::Fact<PrioritySet>& pfc_in_effect(const evidence::SwitchPort& port) {
  return port.pfc_active.is_known() ? port.pfc_active : port.pfc;
}

/// Hosts protect one priority and switches another, and nothing shows which of them RDMA uses: who
/// is wrong is not known. The name of one at the other end; empty where this is not so.
std::string name_of_other_side(const View& view, bool is_host) {
  if (view.intent() != nullptr || view.shown_class()) return {};
  const auto protects = [&](const PrioritySet* pfc) {
    return pfc != nullptr && pfc->contains(Priority::of(view.rdma()));
  };
  std::string hosts;
  std::string switches;
  for (const NicView& nic : view.nics())
    if (hosts.empty() && protects(nic.pfc ? &*nic.pfc : nullptr)) hosts = name_of(nic);
  for (const PortView& port : view.ports())
    if (switches.empty() && port.facts != nullptr &&
        protects(pfc_in_effect(*port.facts).is_known() ? &*pfc_in_effect(*port.facts) : nullptr))
      switches = name_of(port);
  if (is_host) return hosts.empty() ? switches : std::string();
  return switches.empty() ? hosts : std::string();
}

std::string text_of_both(const std::string& name, PrioritySet found, const std::string& other,
                         unsigned priority) {
  return fmt::format(
      "{} has PFC on priority {}, {} on priority {}: neither stops for the other, "
      "and which of the two RDMA uses is not shown.",
      name, to_text(found), other, priority);
}

void add_shown_class(const View& view, std::vector<finding::EvidenceLine>& lines) {
  if (view.shown_class()) lines.push_back(fact_line("", view.shown_class()->why));
}

std::string verdict_of(const View& view, const NicView& nic, const std::string& other) {
  if (nic.pfc->count() == 0)
    return fmt::format("{} has PFC on no priority: it neither sends nor obeys pauses.",
                       name_of(nic));
  if (!other.empty()) return text_of_both(name_of(nic), *nic.pfc, other, view.rdma());
  return fmt::format(
      "{} has PFC on priority {}, RDMA uses priority {}: pauses from its switch do "
      "not stop it.",
      name_of(nic), to_text(*nic.pfc), view.rdma());
}

void look_at_nic_priority(const View& view, const NicView& nic, bool is_convention,
                          Suspicions& out) {
  const Priority rdma = Priority::of(view.rdma());
  if (!nic.pfc || nic.pfc->contains(rdma)) return;
  if (!wants_pfc(view, nic.wanted)) return;
  if (nic.wanted == nullptr && !is_convention && nic.pfc->count() == 0) return;
  const bool is_off = nic.pfc->count() == 0;
  const bool is_read = nic.facts != nullptr && nic.facts->qos.pfc.is_known();
  const std::string other = is_off ? std::string() : name_of_other_side(view, true);
  Suspicion wrong{
      .id = is_off ? "pfc.off" : "pfc.wrong_priority",
      .verdict = verdict_of(view, nic, other),
      .where = other.empty() ? with_priority(view, nic.where()) : nic.where(),
      .confidence = is_read ? finding::Confidence::kCertain : finding::Confidence::kHigh,
      .evidence = {fact_line(
          nic.counts.source(),
          is_read
              ? fmt::format("PFC: expected priority {}, found {}", view.rdma(), to_text(*nic.pfc))
              : fmt::format("pause counters exist for priority {} only, so PFC is on there",
                            to_text(*nic.pfc)))},
      .explains = priority_consequences()};
  if (!is_off) add_shown_class(view, wrong.evidence);
  if (nic.port) {
    const Counts& counts = view.ports()[*nic.port].counts;
    if (counts.of("switch.prio.pause_tx.frames", view.rdma()).value_or(0) > 0)
      wrong.evidence.push_back(counts.line("switch.prio.pause_tx.frames", view.rdma()));
    if (counts.sum("switch.pg.drop_headroom.packets").value_or(0) > 0)
      wrong.evidence.push_back(counts.line("switch.pg.drop_headroom.packets"));
  }
  out.add(std::move(wrong));
}

/// Without a design a port without any PFC, beside others that have it, may lead anywhere; one that
/// drops from the queue of RDMA leads to a host of ours.
bool may_be_without(const View& view, const PortView& port, bool others_have_it) {
  if (port.facts->up.is(false)) return true;
  if (port.counts.of(kTailDrops, view.rdma()).value_or(0) > 0) return false;
  if (port.wanted != nullptr || pfc_in_effect(*port.facts)->count() > 0) return false;
  return others_have_it;
}

/// Whether a port of the switch has PFC on the priority of RDMA.
bool any_port_protects(const View& view, const std::string& name) {
  const auto ports = view.ports_of(name);
  return std::any_of(ports.begin(), ports.end(), [&](const PortView* port) {
    return port->facts != nullptr && pfc_in_effect(*port->facts).is_known() &&
           pfc_in_effect(*port->facts)->contains(Priority::of(view.rdma()));
  });
}

void look_at_switch_priority(const View& view, const std::string& name, Suspicions& out) {
  const Priority rdma = Priority::of(view.rdma());
  std::vector<finding::EvidenceLine> lines;
  std::optional<PrioritySet> found;
  const PortView* first = nullptr;
  const bool others_have_it = any_port_protects(view, name);
  for (const PortView* port : view.ports_of(name)) {
    if (port->facts == nullptr) continue;
    const auto& pfc = pfc_in_effect(*port->facts);
    if (!pfc.is_known() || pfc->contains(rdma)) continue;
    if (!wants_pfc(view, port->wanted_switch) || may_be_without(view, *port, others_have_it))
      continue;
    if (first == nullptr) first = port;
    found = *pfc;
    if (lines.size() < 4) {
      lines.push_back(fact_line(name_of(*port), fmt::format("PFC: expected priority {}, found {}",
                                                            view.rdma(), to_text(*pfc))));
    }
  }
  if (first == nullptr) return;
  const bool is_off = found->count() == 0;
  const std::string other = is_off ? std::string() : name_of_other_side(view, false);
  finding::Where where = switch_place(view, name);
  if (!other.empty()) where.priority.clear();
  const bool is_one = lines.size() == 1;
  if (is_one) where.port = first->name;
  if (!is_off) add_shown_class(view, lines);
  if (first->counts.of(kTailDrops, view.rdma()).value_or(0) > 0)
    lines.push_back(first->counts.line(kTailDrops, view.rdma()));
  out.add(
      {.id = is_off ? "pfc.off" : "pfc.wrong_priority",
       .verdict =
           other.empty()
               ? fmt::format("{} has PFC on {}, RDMA uses priority {}.",
                             is_one ? name_of(*first) : name,
                             is_off ? "no priority" : "priority " + to_text(*found), view.rdma())
               : text_of_both(is_one ? name_of(*first) : name, *found, other, view.rdma()),
       .where = where,
       .evidence = std::move(lines),
       .explains = priority_consequences()});
}

}  // namespace

void look_for_pfc_priority(const View& view, Suspicions& out) {
  const bool is_convention = any_protects(view);
  bool can_see = view.nics().empty();
  for (const NicView& nic : view.nics()) {
    can_see = can_see || nic.pfc.has_value() ||
              nic.counts.of("nic.prio.pause_rx.frames", view.rdma()).value_or(0) > 0 ||
              nic.counts.of("nic.prio.pause_tx.frames", view.rdma()).value_or(0) > 0;
    look_at_nic_priority(view, nic, is_convention, out);
  }
  for (const std::string& name : view.switches())
    look_at_switch_priority(view, name, out);
  if (!can_see) {
    out.cannot_tell("PFC on the NICs", "neither the setting nor pause counters were read",
                    "dcb pfc show dev <netdev>, or mlnx_qos -i <netdev>");
  }
}

}  // namespace weir::diagnose
