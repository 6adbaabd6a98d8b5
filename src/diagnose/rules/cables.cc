// Both ends of a cable, and both ends of the fabric. A pause that one end sent and the other did
// not take stopped nobody; RDMA that left in its priority and arrived in another has been marked
// anew on the way.
#include <fmt/format.h>

#include "base/count_text.h"
#include "base/text.h"
#include "diagnose/core/shape.h"
#include "diagnose/rules/rule.h"

namespace weir::diagnose {
namespace {

/// One direction of a cable.
struct Pauses {
  std::optional<std::uint64_t> sent;
  std::optional<std::uint64_t> taken;
};

void report(const View& view, const Pauses& pauses, const std::string& sender,
            const std::string& taker, finding::Where where, finding::EvidenceLine sent,
            finding::EvidenceLine taken, Suspicions& out) {
  if (!pauses.sent || !pauses.taken || *pauses.taken > 0) return;
  if (*pauses.sent < view.thresholds().pauses_that_matter) return;
  where.priority = std::to_string(view.rdma());
  finding::Finding finding = finding::make_finding(
      "pfc.off",
      fmt::format("{} sent {} pauses of priority {} and {} took none of them: PFC is not on at "
                  "that end, so nobody stops.",
                  sender, count_text(*pauses.sent), view.rdma(), taker),
      std::move(where));
  finding.confidence = finding::Confidence::kMedium;
  finding.evidence.push_back(std::move(sent));
  finding.evidence.push_back(std::move(taken));
  out.add(std::move(finding), {{"headroom.too_small"}, {"path.loss"}, {"pfc.sustained"}});
}

void look_at_cable(const View& view, const NicView& nic, const PortView& port, Suspicions& out) {
  const unsigned rdma = view.rdma();
  const auto at_nic = [&](std::string_view id) { return nic.counts.of(id, rdma); };
  const auto at_port = [&](std::string_view id) { return port.counts.of(id, rdma); };
  // A NIC known to have PFC elsewhere has a finding of its own.
  const bool nic_protects = !nic.pfc || nic.pfc->contains(Priority::of(rdma));
  if (nic_protects) {
    report(view, {at_port("switch.prio.pause_tx.frames"), at_nic("nic.prio.pause_rx.frames")},
           name_of(port), name_of(nic), nic.where(),
           port.counts.line("switch.prio.pause_tx.frames", rdma),
           nic.counts.line("nic.prio.pause_rx.frames", rdma), out);
  }
  report(view, {at_nic("nic.prio.pause_tx.frames"), at_port("switch.prio.pause_rx.frames")},
         name_of(nic), name_of(port), port.where(),
         nic.counts.line("nic.prio.pause_tx.frames", rdma),
         port.counts.line("switch.prio.pause_rx.frames", rdma), out);
}

/// Sent by all in RDMA's priority, and received by all in it. Soft: bytes under way when the
/// snapshots were taken are in one sum only, hence a half and not a percent.
void look_at_both_ends(const View& view, Suspicions& out) {
  // A host or a switch that is known to read the marking otherwise has a finding of its own.
  for (const Candidate& one : out.candidates())
    if (one.finding.id.starts_with("dscp.") || one.finding.id.starts_with("trust.")) return;
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
  const auto is_share = [](std::uint64_t part, double share, std::uint64_t whole) {
    return static_cast<double>(part) >= share * static_cast<double>(whole);
  };
  if (sent < limits.bytes_that_matter || is_share(received, limits.arrives_in_priority, sent) ||
      !is_share(elsewhere, limits.found_elsewhere, sent - received))
    return;
  const bool is_one = is_share(most_elsewhere, limits.at_one_place, elsewhere);
  finding::Finding finding = finding::make_finding(
      "dscp.rewritten",
      fmt::format("{} bytes left in priority {}, {} arrived in it and {} in others{}: the marking "
                  "changes on the way, or receivers read it otherwise.",
                  count_text(sent), view.rdma(), count_text(received), count_text(elsewhere),
                  is_one ? fmt::format(", most at {}", name_of(*most)) : std::string()),
      is_one ? most->where() : finding::Where());
  finding.confidence = finding::Confidence::kMedium;
  finding.evidence.push_back(most->counts.line("nic.prio.rx.bytes", view.rdma()));
  out.add(std::move(finding), {{"path.loss"}, {"pfc.sustained"}});
}

}  // namespace

void look_at_cables(const View& view, Suspicions& out) {
  for (const NicView& nic : view.nics())
    if (nic.port) look_at_cable(view, nic, view.ports()[*nic.port], out);
}

void look_at_ends(const View& view, Suspicions& out) {
  look_at_both_ends(view, out);
}

}  // namespace weir::diagnose
