// I15: PFC climbs while RDMA is dropped, because it protects another priority, or none.
#include <fmt/format.h>

#include "diagnose/rules/rule.h"
#include "units/format.h"

namespace weir::diagnose {
namespace {

std::vector<Consequence> priority_consequences() {
  return {{"headroom.too_small"}, {"path.loss"}, {"pfc.sustained"}, {"pfc.multiple_priorities"}};
}

bool wants_pfc(const View& view, PrioritySet wanted, bool has_design) {
  return !has_design || wanted.contains(Priority::of(view.rdma()));
}

/// Some device of the case protects the RDMA priority: then the convention holds here.
bool somebody_protects(const View& view) {
  const Priority rdma = Priority::of(view.rdma());
  for (const NicView& nic : view.nics())
    if (nic.pfc && nic.pfc->contains(rdma)) return true;
  for (const PortView& port : view.ports())
    if (port.facts != nullptr && port.facts->pfc.is_known() && port.facts->pfc->contains(rdma))
      return true;
  return false;
}

void look_at(const View& view, const NicView& nic, bool is_convention, Suspicions& out) {
  const Priority rdma = Priority::of(view.rdma());
  if (!nic.pfc || nic.pfc->contains(rdma)) return;
  if (!wants_pfc(view, nic.wanted != nullptr ? nic.wanted->pfc : PrioritySet(),
                 nic.wanted != nullptr)) {
    return;
  }
  if (nic.wanted == nullptr && !is_convention && nic.pfc->count() == 0) return;
  const bool is_off = nic.pfc->count() == 0;
  const bool is_read = nic.facts != nullptr && nic.facts->qos.pfc.is_known();
  finding::Finding finding = finding::make_finding(
      is_off ? "pfc.off" : "pfc.wrong_priority",
      is_off ? fmt::format("{} has PFC on no priority: it neither pauses nor stops when it is "
                           "paused.",
                           name_of(nic))
             : fmt::format("{} has PFC on priority {}, RDMA is in priority {}: its switch's pauses "
                           "do not stop it.",
                           name_of(nic), to_text(*nic.pfc), view.rdma()),
      nic.where());
  finding.where.priority = std::to_string(view.rdma());
  finding.confidence = is_read ? finding::Confidence::kCertain : finding::Confidence::kHigh;
  finding.evidence.push_back(fact_line(
      nic.counts.source(),
      is_read ? fmt::format("PFC: expected priority {}, found {}", view.rdma(), to_text(*nic.pfc))
              : fmt::format("pause counters exist for priority {} only, as with PFC on those",
                            to_text(*nic.pfc))));
  if (nic.port) {
    const Counts& counts = view.ports()[*nic.port].counts;
    if (counts.of("switch.prio.pause_tx.frames", view.rdma()).value_or(0) > 0)
      finding.evidence.push_back(counts.line("switch.prio.pause_tx.frames", view.rdma()));
    if (counts.sum("switch.pg.drop_headroom.packets").value_or(0) > 0)
      finding.evidence.push_back(counts.line("switch.pg.drop_headroom.packets"));
  }
  out.add(std::move(finding), priority_consequences());
}

void look_at_switch_priority(const View& view, const std::string& name, Suspicions& out) {
  const Priority rdma = Priority::of(view.rdma());
  std::vector<finding::EvidenceLine> lines;
  std::optional<PrioritySet> found;
  const PortView* first = nullptr;
  for (const PortView* port : view.ports_of(name)) {
    if (port->facts == nullptr) continue;
    const auto& pfc =
        port->facts->pfc_active.is_known() ? port->facts->pfc_active : port->facts->pfc;
    if (!pfc.is_known() || pfc->contains(rdma)) continue;
    if (!wants_pfc(view, port->wanted_switch != nullptr ? port->wanted_switch->pfc : PrioritySet(),
                   port->wanted_switch != nullptr)) {
      continue;
    }
    if (first == nullptr) first = port;
    found = *pfc;
    if (lines.size() < 4) {
      lines.push_back(fact_line(name_of(*port), fmt::format("PFC: expected priority {}, found {}",
                                                            view.rdma(), to_text(*pfc))));
    }
  }
  if (first == nullptr) return;
  finding::Where where;
  where.switch_name = name;
  if (lines.size() == 1) where.port = first->name;
  where.priority = std::to_string(view.rdma());
  const bool is_off = found->count() == 0;
  finding::Finding finding = finding::make_finding(
      is_off ? "pfc.off" : "pfc.wrong_priority",
      fmt::format("{} has PFC on {}, RDMA is in priority {}.", name,
                  is_off ? std::string("no priority") : "priority " + to_text(*found), view.rdma()),
      where);
  finding.evidence = std::move(lines);
  out.add(std::move(finding), priority_consequences());
}

}  // namespace

void look_for_pfc_priority(const View& view, Suspicions& out) {
  const bool is_convention = somebody_protects(view);
  bool can_see = view.nics().empty();
  for (const NicView& nic : view.nics()) {
    can_see = can_see || nic.pfc.has_value();
    look_at(view, nic, is_convention, out);
  }
  for (const std::string& name : view.switches())
    look_at_switch_priority(view, name, out);
  if (!can_see) {
    out.cannot_tell("PFC of the NICs", "neither the setting nor pause counters were read",
                    "dcb pfc show dev <netdev>, or mlnx_qos -i <netdev>");
  }
}

}  // namespace weir::diagnose
