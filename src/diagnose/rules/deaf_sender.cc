// I12 and I13: CNPs arrive and the NIC does not act on them, or on some only; or they never arrive.
#include <algorithm>

#include <fmt/format.h>

#include "diagnose/rules/rule.h"

namespace weir::diagnose {
namespace {

void look_at(const View& view, const NicView& nic, Suspicions& out) {
  const auto handled = nic.counts.of("nic.rp.cnp_handled.packets");
  const auto ignored = nic.counts.of("nic.rp.cnp_ignored.packets");
  const auto arrived = nic.counts.of("nic.prio.rx.packets", view.cnp());
  const std::uint64_t enough = view.thresholds().cnps_that_matter;
  // What the NIC itself calls an ignored CNP is one; its priority may hold other packets too.
  const std::uint64_t few_ignored = view.thresholds().ignored_cnps_that_matter;
  const bool is_deaf = handled && *handled == 0 &&
                       (ignored.value_or(0) >= few_ignored || arrived.value_or(0) >= enough);
  const bool is_wanted = nic.wanted == nullptr || nic.wanted->ecn_rp != PrioritySet();
  const bool is_read = nic.facts != nullptr && nic.facts->ecn.rp.is_known();
  const bool is_off = is_read && !nic.facts->ecn.rp->contains(Priority::of(view.rdma()));
  if (!is_wanted || (!is_deaf && !is_off)) return;
  const std::uint64_t came = std::max(ignored.value_or(0), arrived.value_or(0));
  finding::Finding finding = finding::make_finding(
      "rp.disabled",
      is_deaf ? fmt::format("{} got {} CNPs and handled none: it does not slow down.", name_of(nic),
                            came)
              : fmt::format("{} does not slow down on CNPs: its reaction point is off for "
                            "priority {}.",
                            name_of(nic), view.rdma()),
      nic.where());
  finding.where.priority = std::to_string(view.rdma());
  finding.confidence = is_off ? finding::Confidence::kCertain : finding::Confidence::kHigh;
  if (is_off) {
    finding.evidence.push_back(fact_line(
        nic.counts.source(), fmt::format("ECN reaction: off for priority {}", view.rdma())));
  }
  if (handled) finding.evidence.push_back(nic.counts.line("nic.rp.cnp_handled.packets"));
  if (ignored) finding.evidence.push_back(nic.counts.line("nic.rp.cnp_ignored.packets"));
  if (arrived.value_or(0) > 0)
    finding.evidence.push_back(nic.counts.line("nic.prio.rx.packets", view.cnp()));
  std::vector<Consequence> explains = congestion_anywhere();
  explains.push_back({"cnp.lost"});
  out.add(std::move(finding), std::move(explains));
}

/// I13: it slows down on some CNPs and ignores others, those of another priority or type.
void look_at_ignored(const View& view, const NicView& nic, Suspicions& out) {
  const auto handled = nic.counts.of("nic.rp.cnp_handled.packets");
  const auto ignored = nic.counts.of("nic.rp.cnp_ignored.packets");
  if (!handled || !ignored || *handled == 0 || *ignored < view.thresholds().cnps_that_matter)
    return;
  const auto all = static_cast<double>(*handled + *ignored);
  if (static_cast<double>(*ignored) < view.thresholds().cnps_ignored * all) return;
  finding::Finding finding = finding::make_finding(
      "rp.disabled",
      fmt::format("{} ignored {} of {} CNPs: its reaction point is off for the priority they were "
                  "meant for; if it is on, the firmware is next.",
                  name_of(nic), *ignored, *handled + *ignored),
      nic.where());
  finding.confidence = finding::Confidence::kMedium;
  finding.evidence.push_back(nic.counts.line("nic.rp.cnp_ignored.packets"));
  finding.evidence.push_back(nic.counts.line("nic.rp.cnp_handled.packets"));
  out.add(std::move(finding), {{"cnp.lost"}, {"pfc.sustained"}});
}

/// Soft evidence: counted at different moments, and only where every host of the design is seen.
void look_for_lost_cnps(const View& view, Suspicions& out) {
  if (view.intent() == nullptr || view.nics().size() < view.intent()->nic_count) return;
  std::uint64_t sent = 0;
  std::uint64_t heard = 0;
  for (const NicView& nic : view.nics()) {
    const auto one = nic.counts.of("nic.np.cnp_sent.packets");
    const auto handled = nic.counts.of("nic.rp.cnp_handled.packets");
    if (!one || !handled) return;
    sent += *one;
    heard += *handled + nic.counts.of("nic.rp.cnp_ignored.packets").value_or(0);
  }
  if (sent < view.thresholds().cnps_sent_that_matter ||
      static_cast<double>(heard) > view.thresholds().cnps_heard * static_cast<double>(sent))
    return;
  finding::Finding finding = finding::make_finding(
      "cnp.lost", fmt::format("Receivers sent {} CNPs, senders got {}: they are lost on the way.",
                              sent, heard));
  finding.confidence = finding::Confidence::kMedium;
  out.add(std::move(finding), congestion_anywhere());
}

}  // namespace

void look_for_deaf_senders(const View& view, Suspicions& out) {
  bool can_see = view.nics().empty();
  for (const NicView& nic : view.nics()) {
    can_see = can_see || nic.counts.of("nic.rp.cnp_handled.packets").has_value() ||
              (nic.facts != nullptr && nic.facts->ecn.rp.is_known());
    look_at(view, nic, out);
    look_at_ignored(view, nic, out);
  }
  look_for_lost_cnps(view, out);
  if (!can_see) {
    out.cannot_tell("reaction points", "no NIC showed rp_cnp_handled",
                    "cat /sys/class/infiniband/<device>/ports/1/hw_counters/rp_*");
  }
}

}  // namespace weir::diagnose
