// I12 and I13: CNPs arrive and the NIC ignores all or some of them; or they never arrive.
#include <algorithm>

#include <fmt/format.h>

#include "diagnose/rules/rule.h"

namespace weir::diagnose {
namespace {

constexpr std::string_view kHandled = "nic.rp.cnp_handled.packets";
constexpr std::string_view kIgnored = "nic.rp.cnp_ignored.packets";

void look_at_reaction(const View& view, const NicView& nic, Suspicions& out) {
  const auto handled = nic.counts.of(kHandled);
  const auto ignored = nic.counts.of(kIgnored);
  const auto arrived = nic.counts.of("nic.prio.rx.packets", view.cnp());
  const Thresholds& limits = view.thresholds();
  // What the NIC itself counts as an ignored CNP is one; the CNP priority may hold other packets.
  const bool is_deaf = handled && *handled == 0 &&
                       (ignored.value_or(0) >= limits.ignored_cnps_that_matter ||
                        arrived.value_or(0) >= limits.cnps_that_matter);
  const bool is_wanted = nic.wanted == nullptr || nic.wanted->ecn_rp != PrioritySet();
  const bool is_read = nic.facts != nullptr && nic.facts->ecn.rp.is_known();
  const bool is_off = is_read && !nic.facts->ecn.rp->contains(Priority::of(view.rdma()));
  if (!is_wanted || (!is_deaf && !is_off)) return;
  Suspicion deaf{
      .id = "rp.disabled",
      .verdict =
          is_deaf ? fmt::format("{} received {} CNPs and handled none: it does not slow down.",
                                name_of(nic), std::max(ignored.value_or(0), arrived.value_or(0)))
                  : fmt::format("{} ignores CNPs: its reaction point (RP) is off on priority {}.",
                                name_of(nic), view.rdma()),
      // Without a design or anything that shows RDMA's class the priority is assumed.
      .where = view.intent() != nullptr || view.shown_class() || is_off
                   ? with_priority(view, nic.where())
                   : nic.where(),
      .confidence = is_off ? finding::Confidence::kCertain : finding::Confidence::kHigh,
      .explains = congestion_anywhere({"cnp.lost"})};
  if (is_off) {
    deaf.evidence.push_back(
        fact_line(nic.counts.source(), fmt::format("ECN RP: off on priority {}", view.rdma())));
  }
  if (handled) deaf.evidence.push_back(nic.counts.line(kHandled));
  if (ignored) deaf.evidence.push_back(nic.counts.line(kIgnored));
  if (arrived.value_or(0) > 0)
    deaf.evidence.push_back(nic.counts.line("nic.prio.rx.packets", view.cnp()));
  out.add(std::move(deaf));
}

/// It handles some CNPs and ignores others.
bool ignores_some(const View& view, const NicView& nic) {
  const auto handled = nic.counts.of(kHandled);
  const auto ignored = nic.counts.of(kIgnored);
  if (!ignored || handled == std::optional<std::uint64_t>(0)) return false;
  const Thresholds& limits = view.thresholds();
  return *ignored >= limits.cnps_that_matter &&
         is_at_least(*ignored, limits.cnps_ignored_some, handled.value_or(0) + *ignored);
}

/// I13: those of another priority or type.
void look_at_ignored(const View& view, const NicView& nic, Suspicions& out) {
  if (!ignores_some(view, nic)) return;
  const auto handled = nic.counts.of(kHandled);
  const auto ignored = nic.counts.of(kIgnored);
  const std::uint64_t all = handled.value_or(0) + *ignored;
  const Thresholds& limits = view.thresholds();
  const std::string how_many =
      handled ? fmt::format("{} of {} CNPs", *ignored, all) : fmt::format("{} CNPs", *ignored);
  Suspicion some{
      .id = "rp.disabled",
      .verdict = fmt::format("{} ignored {}: its reaction point (RP) is off on the priority they "
                             "belong to; if it is on, check the firmware.",
                             name_of(nic), how_many),
      .where = nic.where(),
      .confidence = finding::Confidence::kMedium,
      .evidence = {nic.counts.line(kIgnored), nic.counts.line(kHandled)},
      .explains = {{"cnp.lost"}, {"pfc.sustained"}}};
  if (!is_at_least(*ignored, limits.cnps_ignored, all)) some.severity = finding::Severity::kWarning;
  out.add(std::move(some));
}

/// Counted at different moments, and only where every host of the design was read.
void look_for_lost_cnps(const View& view, Suspicions& out) {
  if (view.intent() == nullptr || view.nics().size() < view.intent()->nic_count) return;
  std::uint64_t sent = 0;
  std::uint64_t heard = 0;
  for (const NicView& nic : view.nics()) {
    const auto cnps = nic.counts.of("nic.np.cnp_sent.packets");
    const auto handled = nic.counts.of(kHandled);
    if (!cnps || !handled) return;
    sent += *cnps;
    heard += *handled + nic.counts.of(kIgnored).value_or(0);
  }
  if (sent < view.thresholds().cnps_sent_that_matter ||
      static_cast<double>(heard) > view.thresholds().cnps_heard * static_cast<double>(sent))
    return;
  out.add({.id = "cnp.lost",
           .verdict = fmt::format("Receivers sent {} CNPs, senders received {}: CNPs are lost on "
                                  "the path.",
                                  sent, heard),
           .confidence = finding::Confidence::kMedium,
           .explains = congestion_anywhere()});
}

}  // namespace

bool ignores_cnps(const View& view, const NicView& nic) {
  const bool ignores_all =
      nic.counts.of(kHandled) == std::optional<std::uint64_t>(0) &&
      nic.counts.of(kIgnored).value_or(0) >= view.thresholds().ignored_cnps_that_matter;
  return ignores_all || ignores_some(view, nic);
}

void look_for_deaf_senders(const View& view, Suspicions& out) {
  bool can_see = view.nics().empty();
  for (const NicView& nic : view.nics()) {
    can_see = can_see || nic.counts.of(kHandled).has_value() ||
              (nic.facts != nullptr && nic.facts->ecn.rp.is_known());
    look_at_reaction(view, nic, out);
    look_at_ignored(view, nic, out);
  }
  look_for_lost_cnps(view, out);
  if (!can_see) {
    out.cannot_tell("reaction points", "no NIC showed rp_cnp_handled",
                    "cat /sys/class/infiniband/<device>/ports/1/hw_counters/rp_*");
  }
}

}  // namespace weir::diagnose
