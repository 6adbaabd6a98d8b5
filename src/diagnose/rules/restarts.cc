// I27 and I28: senders that restart at a low rate, and a NIC that retransmits without a request.
// Loss explains both; if nothing was lost, the congestion is sustained, or a timer is too short.
#include <fmt/format.h>

#include "base/count_text.h"
#include "base/text.h"
#include "diagnose/core/shape.h"
#include "diagnose/rules/rule.h"

namespace weir::diagnose {
namespace {

constexpr std::string_view kRestarts = "nic.rp.slow_restart.events";
constexpr std::string_view kSentAgain = "nic.req.retransmit.events";
constexpr std::string_view kRequests = "nic.req.seq_nak_received.packets";

void look_at_restarts(const View& view, const NicView& nic, Suspicions& out) {
  constexpr std::string_view kCnpsHandled = "nic.rp.cnp_handled.packets";
  const std::uint64_t restarts = nic.counts.of(kRestarts).value_or(0);
  if (restarts < view.thresholds().restarts_that_matter) return;
  std::vector<finding::EvidenceLine> lines = {nic.counts.line(kRestarts)};
  if (nic.counts.of(kCnpsHandled)) lines.push_back(nic.counts.line(kCnpsHandled));
  out.add({.id = "congestion.sustained",
           .verdict = fmt::format("{} restarted {} connections at a low rate: congestion is "
                                  "sustained, or DCQCN overshoots whenever it recovers.",
                                  name_of(nic), count_text(restarts)),
           .where = nic.where(),
           .confidence = finding::Confidence::kMedium,
           .evidence = std::move(lines)});
}

void add_timer(const NicView& nic, std::uint64_t again, std::string_view why, Suspicions& out) {
  out.add({.id = "transport.timer_below_rtt",
           .verdict = fmt::format("{} retransmitted {} packets without a request, and {}.",
                                  name_of(nic), count_text(again), why),
           .where = nic.where(),
           .confidence = finding::Confidence::kMedium,
           .evidence = {nic.counts.line(kSentAgain), nic.counts.line(kRequests)},
           .explains = {{"path.loss", nic.host}}});
}

/// Retransmitted without a request and without drops: the timer is shorter than the round trip.
void look_at_timers(const NicView& nic, Suspicions& out) {
  const std::uint64_t again = nic.counts.of(kSentAgain).value_or(0);
  const auto asked = nic.counts.of(kRequests);
  if (again == 0 || asked != std::optional<std::uint64_t>(0)) return;
  add_timer(nic, again, "no switch dropped any: its timer is shorter than the round trip", out);
}

/// Where no switch was read: no receiver missed a packet, none asked for one, and as many arrived
/// twice as were sent again. A host that takes seconds to answer, because its CPU is busy, does
/// this to a healthy fabric.
bool has_all_arrived(const View& view) {
  std::uint64_t again = 0;
  std::uint64_t twice = 0;
  for (const NicView& nic : view.nics()) {
    const auto missed = nic.counts.of("nic.resp.out_of_sequence.packets");
    const auto arrived = nic.counts.of("nic.resp.duplicate_request.packets");
    const auto asked = nic.counts.of(kRequests);
    if (!missed || !arrived || !asked || *missed > 0 || *asked > 0) return false;
    again += nic.counts.of(kSentAgain).value_or(0);
    twice += *arrived;
  }
  return again > 0 && twice >= again;
}

void look_at_late_answers(const NicView& nic, Suspicions& out) {
  const std::uint64_t again = nic.counts.of(kSentAgain).value_or(0);
  if (again == 0) return;
  add_timer(nic, again, "the receivers had them already: answers came later than its timer waits",
            out);
}

}  // namespace

void look_for_timers(const View& view, Suspicions& out) {
  const auto drops = drops_of_switches(view);
  if (drops == std::optional<std::uint64_t>(0))
    for (const NicView& nic : view.nics())
      look_at_timers(nic, out);
  if (!drops && has_all_arrived(view))
    for (const NicView& nic : view.nics())
      look_at_late_answers(nic, out);
}

void look_for_restarts(const View& view, Suspicions& out) {
  for (const NicView& nic : view.nics())
    look_at_restarts(view, nic, out);
}

}  // namespace weir::diagnose
