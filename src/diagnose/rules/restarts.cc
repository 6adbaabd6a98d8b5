// I27 and I28: senders that begin again at the bottom, and a NIC that sends again though nobody
// asked it to. Loss explains both; where nothing was lost, the congestion lasts, or a timer is too
// short.
#include <fmt/format.h>

#include "base/count_text.h"
#include "base/text.h"
#include "diagnose/core/shape.h"
#include "diagnose/rules/rule.h"

namespace weir::diagnose {
namespace {

constexpr std::string_view kRestarts = "nic.rp.slow_restart.events";
constexpr std::string_view kSentAgain = "nic.req.retransmit.events";

std::string restart_number(std::uint64_t value) {
  return count_text(value);
}

void look_at_restarts(const View& view, const NicView& nic, Suspicions& out) {
  const std::uint64_t restarts = nic.counts.of(kRestarts).value_or(0);
  if (restarts < view.thresholds().restarts_that_matter) return;
  finding::Finding finding = finding::make_finding(
      "congestion.sustained",
      fmt::format("{} let {} connections begin again at a low rate: the congestion lasts, or DCQCN "
                  "overshoots whenever it recovers.",
                  name_of(nic), restart_number(restarts)),
      nic.where());
  finding.confidence = finding::Confidence::kMedium;
  finding.evidence.push_back(nic.counts.line(kRestarts));
  if (nic.counts.of("nic.rp.cnp_handled.packets"))
    finding.evidence.push_back(nic.counts.line("nic.rp.cnp_handled.packets"));
  out.add(std::move(finding));
}

/// Sent again, nobody asked for it, and nobody dropped it: the timer is shorter than the way.
void look_at_timers(const View& view, const NicView& nic, Suspicions& out) {
  const std::uint64_t again = nic.counts.of(kSentAgain).value_or(0);
  const auto asked = nic.counts.of("nic.req.seq_nak_received.packets");
  const bool nothing_dropped = drops_of_switches(view) == std::optional<std::uint64_t>(0);
  if (again == 0 || !nothing_dropped || asked != std::optional<std::uint64_t>(0)) return;
  finding::Finding finding = finding::make_finding(
      "transport.timer_below_rtt",
      fmt::format("{} sent {} packets again, no receiver asked for them and no switch dropped any: "
                  "its timer is shorter than the round trip.",
                  name_of(nic), restart_number(again)),
      nic.where());
  finding.confidence = finding::Confidence::kMedium;
  finding.evidence.push_back(nic.counts.line(kSentAgain));
  finding.evidence.push_back(nic.counts.line("nic.req.seq_nak_received.packets"));
  out.add(std::move(finding), {{"path.loss", nic.host}});
}

}  // namespace

void look_for_timers(const View& view, Suspicions& out) {
  for (const NicView& nic : view.nics())
    look_at_timers(view, nic, out);
}

void look_for_restarts(const View& view, Suspicions& out) {
  for (const NicView& nic : view.nics())
    look_at_restarts(view, nic, out);
}

}  // namespace weir::diagnose
