// I25: PFC on more than the RDMA priority. Each lossless priority takes headroom from the shared
// buffer, and traffic that could be dropped pauses the fabric instead.
#include <fmt/format.h>

#include "diagnose/rules/rule.h"
#include "units/format.h"

namespace weir::diagnose {
namespace {

PrioritySet only_rdma(const View& view) {
  PrioritySet set;
  set.insert(Priority::of(view.rdma()));
  return set;
}

/// The RDMA priority is among them, and others that are not wanted.
bool is_too_wide(const View& view, PrioritySet found, PrioritySet wanted) {
  return found.contains(Priority::of(view.rdma())) &&
         (found.mask() & static_cast<unsigned>(~wanted.mask() & 0xFF)) != 0;
}

constexpr std::size_t kWideLines = 6;

/// Pause frames of other priorities than RDMA, as long as there are fewer than kWideLines lines.
void add_pauses(const View& view, const Counts& counts, std::string_view scope,
                std::vector<finding::EvidenceLine>& lines) {
  for (unsigned p = 0; p < 8; ++p) {
    if (p == view.rdma()) continue;
    for (const std::string_view tail : {"pause_rx.frames", "pause_tx.frames"}) {
      const std::string id = fmt::format("{}.{}", scope, tail);
      if (counts.of(id, p).value_or(0) > 0 && lines.size() < kWideLines)
        lines.push_back(counts.line(id, p));
    }
  }
}

std::string wide_verdict(const std::string& name, PrioritySet found, PrioritySet wanted,
                         bool has_design) {
  return fmt::format("{} has PFC on priorities {}; {} {} only.", name, to_text(found),
                     has_design ? "the design has" : "RDMA uses", to_text(wanted));
}

std::vector<Consequence> wide_consequences() {
  return {{"buffer.too_small"}, {"pfc.sustained"}, {"path.loss"}};
}

/// Pauses are counted on a priority that the setting leaves out: the counter is what happens.
void look_at_pauses_elsewhere(const NicView& nic, PrioritySet wanted, Suspicions& out) {
  PrioritySet counted;
  std::vector<finding::EvidenceLine> lines;
  for (unsigned p = 0; p < 8; ++p) {
    if (wanted.contains(Priority::of(p))) continue;
    for (const std::string_view id : {"nic.prio.pause_rx.frames", "nic.prio.pause_tx.frames"}) {
      if (nic.counts.of(id, p).value_or(0) == 0) continue;
      counted.insert(Priority::of(p));
      if (lines.size() < kWideLines) lines.push_back(nic.counts.line(id, p));
    }
  }
  if (counted.count() == 0) return;
  out.add({.id = "pfc.multiple_priorities",
           .verdict = fmt::format("{} counts pauses on priority {}, and PFC is set on {} only: the "
                                  "counter shows what is in effect.",
                                  name_of(nic), to_text(counted), to_text(wanted)),
           .where = nic.where(),
           .confidence = finding::Confidence::kHigh,
           .evidence = std::move(lines),
           .explains = wide_consequences()});
}

void look_at_wide(const View& view, const NicView& nic, Suspicions& out) {
  if (!nic.pfc) return;
  const PrioritySet wanted = nic.wanted != nullptr ? nic.wanted->pfc : only_rdma(view);
  const bool is_set = nic.facts != nullptr && nic.facts->qos.pfc.is_known();
  if (is_set && *nic.pfc == wanted) look_at_pauses_elsewhere(nic, wanted, out);
  if (!is_too_wide(view, *nic.pfc, wanted)) return;
  const bool is_read = nic.facts != nullptr && nic.facts->qos.pfc.is_known();
  std::vector<finding::EvidenceLine> lines = {fact_line(
      nic.counts.source(),
      is_read ? fmt::format("PFC: expected {}, found {}", to_text(wanted), to_text(*nic.pfc))
              : fmt::format("pause counters exist for priorities {}", to_text(*nic.pfc)))};
  add_pauses(view, nic.counts, "nic.prio", lines);
  out.add({.id = "pfc.multiple_priorities",
           .verdict = wide_verdict(name_of(nic), *nic.pfc, wanted, nic.wanted != nullptr),
           .where = nic.where(),
           .confidence = is_read ? finding::Confidence::kCertain : finding::Confidence::kHigh,
           .evidence = std::move(lines),
           .explains = wide_consequences()});
}

/// 802.3x pause stops every class of the port. The counter of MAC control frames may count PFC
/// too, so it says something only where PFC counts none.
void look_at_global_pause(const View& view, const NicView& nic, Suspicions& out) {
  const auto frames = [&](std::string_view id) { return nic.counts.of(id).value_or(0); };
  const bool is_counted = frames("nic.pause.rx.frames") + frames("nic.pause.tx.frames") > 0;
  const auto received = nic.counts.sum("nic.prio.pause_rx.frames");
  const auto sent = nic.counts.sum("nic.prio.pause_tx.frames");
  const bool pfc_is_quiet = received && sent && *received + *sent == 0;
  const std::uint64_t control =
      frames("nic.mac.pause_control_rx.frames") + frames("nic.mac.pause_control_tx.frames");
  const bool is_other = pfc_is_quiet && control >= view.thresholds().pauses_that_matter;
  if (!is_counted && !is_other) return;
  constexpr std::string_view kIds[] = {"nic.pause.rx.frames", "nic.pause.tx.frames",
                                       "nic.mac.pause_control_rx.frames",
                                       "nic.mac.pause_control_tx.frames"};
  out.add({.id = "pause.global_on",
           .verdict = fmt::format("{} counts 802.3x pause frames{}: the whole port is paused, not "
                                  "one class.",
                                  name_of(nic), pfc_is_quiet ? " and no PFC pauses" : ""),
           .where = nic.where(),
           .confidence = finding::Confidence::kHigh,
           .evidence = moved_lines(nic.counts, kIds),
           .explains = {{"pfc.sustained"}, {"congestion.sustained"}}});
}

/// Something shows that RDMA is in this priority: PFC that is set, or pauses. Otherwise it is
/// only what is usual, and pauses on another one alone are those of another plan.
bool is_rdma_shown(const View& view) {
  const Priority rdma = Priority::of(view.rdma());
  const auto has = [&](const auto& pfc) { return pfc.is_known() && pfc->contains(rdma); };
  const auto counts = [&](const Counts& all, std::string_view scope) {
    for (const std::string_view tail : {"pause_rx.frames", "pause_tx.frames"})
      if (all.of(fmt::format("{}.{}", scope, tail), view.rdma()).value_or(0) > 0) return true;
    return false;
  };
  for (const NicView& nic : view.nics())
    if ((nic.pfc && nic.pfc->contains(rdma)) || counts(nic.counts, "nic.prio")) return true;
  for (const std::string& name : view.switches())
    for (const PortView* port : view.ports_of(name)) {
      const bool is_set =
          port->facts != nullptr && (has(port->facts->pfc) || has(port->facts->pfc_active));
      if (is_set || port->wanted_switch != nullptr || counts(port->counts, "switch.prio"))
        return true;
    }
  return false;
}

void look_at_wide_switch(const View& view, const std::string& name, bool is_shown,
                         Suspicions& out) {
  Suspicion wide{.id = "pfc.multiple_priorities",
                 .where = {.switch_name = name},
                 .explains = wide_consequences()};
  for (const PortView* port : view.ports_of(name)) {
    const PrioritySet wanted =
        port->wanted_switch != nullptr ? port->wanted_switch->pfc : only_rdma(view);
    const bool is_read = port->facts != nullptr && port->facts->pfc.is_known();
    if (is_read && is_too_wide(view, *port->facts->pfc, wanted)) {
      if (wide.verdict.empty()) {
        wide.verdict =
            wide_verdict(name, *port->facts->pfc, wanted, port->wanted_switch != nullptr);
        wide.evidence.push_back(
            fact_line(name_of(*port), fmt::format("PFC: expected {}, found {}", to_text(wanted),
                                                  to_text(*port->facts->pfc))));
      }
      add_pauses(view, port->counts, "switch.prio", wide.evidence);
      continue;
    }
    std::vector<finding::EvidenceLine> paused;
    add_pauses(view, port->counts, "switch.prio", paused);
    if (is_read || paused.empty() || wanted != only_rdma(view) || !is_shown) continue;
    if (wide.verdict.empty()) {
      wide.verdict = fmt::format("{} sends or receives pauses on other priorities than {}.", name,
                                 view.rdma());
      wide.confidence = finding::Confidence::kHigh;
    }
    if (wide.evidence.size() < kWideLines) wide.evidence.push_back(paused.front());
  }
  if (!wide.verdict.empty()) out.add(std::move(wide));
}

}  // namespace

void look_for_pfc_too_wide(const View& view, Suspicions& out) {
  const bool is_shown = is_rdma_shown(view);
  for (const std::string& name : view.switches())
    look_at_wide_switch(view, name, is_shown, out);
  for (const NicView& nic : view.nics()) {
    look_at_wide(view, nic, out);
    look_at_global_pause(view, nic, out);
  }
}

}  // namespace weir::diagnose
