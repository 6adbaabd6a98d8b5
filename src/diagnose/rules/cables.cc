// Both ends of a cable, and both ends of the fabric. A pause frame that one end sent and the other
// did not count stopped nothing; RDMA that left in its priority and arrived in another was
// re-marked on the way.
#include <fmt/format.h>

#include "base/count_text.h"
#include "base/text.h"
#include "diagnose/core/shape.h"
#include "diagnose/rules/rule.h"

namespace weir::diagnose {
namespace {

/// One end of a cable, for one direction of pause frames.
struct CableEnd {
  std::string name;
  const Counts& counts;
  std::string_view counter;
};

void report_unheard(const View& view, const CableEnd& sender, const CableEnd& receiver,
                    finding::Where where, Suspicions& out) {
  const unsigned rdma = view.rdma();
  const auto sent = sender.counts.of(sender.counter, rdma);
  const auto received = receiver.counts.of(receiver.counter, rdma);
  if (!sent || !received || *received > 0) return;
  if (*sent < view.thresholds().pauses_that_matter) return;
  out.add({.id = "pfc.off",
           .verdict = fmt::format("{} sent {} pause frames on priority {}, {} counted none: PFC is "
                                  "off at that end.",
                                  sender.name, count_text(*sent), rdma, receiver.name),
           .where = with_priority(view, std::move(where)),
           .confidence = finding::Confidence::kMedium,
           .evidence = {sender.counts.line(sender.counter, rdma),
                        receiver.counts.line(receiver.counter, rdma)},
           .explains = {{"headroom.too_small"}, {"path.loss"}, {"pfc.sustained"}}});
}

void look_at_cable(const View& view, const NicView& nic, const PortView& port, Suspicions& out) {
  // A NIC known to have PFC on another priority has a finding of its own.
  const bool nic_protects = !nic.pfc || nic.pfc->contains(Priority::of(view.rdma()));
  if (nic_protects) {
    report_unheard(view, {name_of(port), port.counts, "switch.prio.pause_tx.frames"},
                   {name_of(nic), nic.counts, "nic.prio.pause_rx.frames"}, nic.where(), out);
  }
  report_unheard(view, {name_of(nic), nic.counts, "nic.prio.pause_tx.frames"},
                 {name_of(port), port.counts, "switch.prio.pause_rx.frames"}, port.where(), out);
}

/// Sent by all NICs in the RDMA priority, and received by all in it. Bytes in flight while the
/// snapshots were taken are in one sum only, hence a wide threshold.
void look_at_both_ends(const View& view, Suspicions& out) {
  // A host or switch known to classify differently has a finding of its own.
  for (const Candidate& candidate : out.candidates())
    if (candidate.finding.id.starts_with("dscp.") || candidate.finding.id.starts_with("trust."))
      return;
  const bool is_pair = view.intent() == nullptr && view.nics().size() == 2;
  if (!is_pair && !sees_every_nic(view)) return;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t elsewhere = 0;
  const NicView* most = nullptr;
  std::uint64_t most_elsewhere = 0;
  for (const NicView& nic : view.nics()) {
    const auto tx = nic.counts.of("nic.prio.tx.bytes", view.rdma());
    const auto rx = nic.counts.of("nic.prio.rx.bytes", view.rdma());
    const auto all = nic.counts.sum("nic.prio.rx.bytes");
    if (!tx || !rx || !all) return;
    sent += *tx;
    received += *rx;
    elsewhere += *all - *rx;
    if (most == nullptr || *all - *rx > most_elsewhere) {
      most = &nic;
      most_elsewhere = *all - *rx;
    }
  }
  const Thresholds& limits = view.thresholds();
  if (sent < limits.bytes_that_matter || is_at_least(received, limits.arrives_in_priority, sent) ||
      !is_at_least(elsewhere, limits.found_elsewhere, sent - received))
    return;
  const bool is_one = is_at_least(most_elsewhere, limits.at_one_place, elsewhere);
  out.add({.id = "dscp.rewritten",
           .verdict = fmt::format("{} bytes left in priority {}, {} arrived in it and {} in "
                                  "others{}: the DSCP is rewritten on the path, or receivers map "
                                  "it differently.",
                                  count_text(sent), view.rdma(), count_text(received),
                                  count_text(elsewhere),
                                  is_one ? ", most at " + name_of(*most) : std::string()),
           .where = is_one ? most->where() : finding::Where(),
           .confidence = finding::Confidence::kMedium,
           .evidence = {most->counts.line("nic.prio.rx.bytes", view.rdma())},
           .explains = {{"path.loss"}, {"pfc.sustained"}}});
}

/// The link as each end sees it. One of the two is stale, or looks at another port.
void look_at_states(const NicView& nic, const PortView& port, Suspicions& out) {
  if (nic.facts == nullptr || port.facts == nullptr || !nic.facts->link.up.is_known() ||
      !port.facts->up.is_known() || *nic.facts->link.up == *port.facts->up)
    return;
  const auto state = [](bool up) { return up ? "up" : "down"; };
  out.add({.id = "telemetry.sources_disagree",
           .verdict = fmt::format("{} is {} as the host sees it and {} as {} sees it: one of the "
                                  "two is stale, or of another port.",
                                  name_of(nic), state(*nic.facts->link.up), state(*port.facts->up),
                                  name_of(port)),
           .where = nic.where(),
           .evidence = {
               fact_line(nic.counts.source(), fmt::format("link: {}", state(*nic.facts->link.up))),
               fact_line(name_of(port), fmt::format("link: {}", state(*port.facts->up)))}});
}

}  // namespace

void look_at_cables(const View& view, Suspicions& out) {
  look_at_wiring(view, out);
  for (const NicView& nic : view.nics()) {
    if (!nic.port) continue;
    look_at_cable(view, nic, view.ports()[*nic.port], out);
    look_at_states(nic, view.ports()[*nic.port], out);
  }
}

void look_at_ends(const View& view, Suspicions& out) {
  look_at_both_ends(view, out);
}

}  // namespace weir::diagnose
