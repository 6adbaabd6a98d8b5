// What a single host suggests about switches that were not read. Each symptom here has one cause
// that is likelier than the others, and none is proof: every finding is a guess (confidence low)
// and says what to check. Made only if nothing is wrong with the host itself and a design says that
// its switches mark before they pause and lose nothing.
#include <algorithm>

#include <fmt/format.h>

#include "base/count_text.h"
#include "diagnose/rules/rule.h"

namespace weir::diagnose {
namespace {

constexpr std::string_view kAsked = "nic.req.seq_nak_received.packets";
constexpr std::string_view kOutOfOrder = "nic.resp.out_of_sequence.packets";
constexpr std::string_view kPaused = "nic.prio.pause_rx.microseconds";
constexpr std::string_view kPauses = "nic.prio.pause_rx.frames";
constexpr std::string_view kCuts = "nic.rp.cnp_handled.packets";
constexpr std::string_view kSent = "nic.prio.tx.packets";
constexpr std::string_view kReceived = "nic.prio.rx.packets";
constexpr std::string_view kRdmaReceived = "nic.rdma.rx_unicast.packets";

/// The switch at the other end of its cable, if LLDP names it.
finding::Where first_hop(const NicView& nic) {
  finding::Where where;
  if (nic.facts != nullptr && nic.facts->link.neighbour.is_known())
    where.switch_name = nic.facts->link.neighbour->system;
  return where.switch_name.empty() ? nic.where() : where;
}

std::string its_switch(const NicView& nic) {
  const std::string name = first_hop(nic).switch_name;
  return name.empty() ? "its switch" : name;
}

void guess(Suspicion suspicion, const NicView& nic, Suspicions& out) {
  suspicion.confidence = finding::Confidence::kLow;
  suspicion.explains = {{"path.loss", nic.host}};
  out.add(std::move(suspicion));
}

/// A reachable peer acknowledges at least once per message, in whatever priority.
bool is_never_answered(const View& view, const NicView& nic) {
  const auto received = nic.counts.of(kReceived, view.rdma());
  return nic.counts.of(kSent, view.rdma()).value_or(0) >= view.thresholds().unanswered_packets &&
         received && *received == 0 && nic.counts.of(kRdmaReceived).value_or(0) == 0;
}

void guess_lost_way(const View& view, const NicView& nic, Suspicions& out) {
  guess(
      {.id = "routing.loop",
       .verdict = fmt::format("{} sent {} RDMA packets and received none: probably a routing loop "
                              "or a missing route. Check the routes to its peers on {} and above, "
                              "and whether the peers are up.",
                              name_of(nic), count_text(*nic.counts.of(kSent, view.rdma())),
                              its_switch(nic)),
       .where = first_hop(nic),
       .evidence = {nic.counts.line(kSent, view.rdma()), nic.counts.line(kReceived, view.rdma())}},
      nic, out);
}

/// A sender gets many CNPs before the queue ahead of it is full; if it is paused instead, the
/// switch has little buffer.
bool is_stopped_early(const View& view, const NicView& nic) {
  const auto share = nic.counts.share_of_window(kPaused, view.rdma());
  const auto pauses = nic.counts.of(kPauses, view.rdma());
  const auto cuts = nic.counts.of(kCuts);
  return share && *share >= view.thresholds().pause_warning && pauses && *pauses > 0 && cuts &&
         static_cast<double>(*cuts) <
             view.thresholds().cnps_per_pause * static_cast<double>(*pauses);
}

void guess_small_buffer(const View& view, const NicView& nic, Suspicions& out) {
  guess(
      {.id = "buffer.too_small",
       .verdict = fmt::format("{} was paused {} times ({} of the window) and handled only {} CNPs: "
                              "probably the lossless pool of {} is too small. Check its pool and "
                              "alpha, then its ECN thresholds, then for a slow receiver.",
                              name_of(nic), count_text(*nic.counts.of(kPauses, view.rdma())),
                              percent(*nic.counts.share_of_window(kPaused, view.rdma())),
                              count_text(*nic.counts.of(kCuts)), its_switch(nic)),
       .where = with_priority(view, first_hop(nic)),
       .severity = finding::Severity::kWarning,
       .evidence = {nic.counts.line(kPauses, view.rdma()), nic.counts.line(kPaused, view.rdma()),
                    nic.counts.line(kCuts)}},
      nic, out);
}

/// Loss that this host does not cause: by how often, and by whether PFC was active during it.
void guess_loss(const View& view, const NicView& nic, Suspicions& out) {
  const std::uint64_t asked = nic.counts.of(kAsked).value_or(0);
  const std::uint64_t disordered = nic.counts.of(kOutOfOrder).value_or(0);
  const std::uint64_t sent = nic.counts.of(kSent, view.rdma()).value_or(0);
  if (asked + disordered == 0 || sent == 0) return;
  const bool is_paused = nic.counts.of(kPauses, view.rdma()).value_or(0) > 0;
  const bool is_often =
      static_cast<double>(asked) > view.thresholds().asked_again * static_cast<double>(sent);
  const std::string seen =
      fmt::format("{} received {} retransmission requests and {} packets out of order",
                  name_of(nic), count_text(asked), count_text(disordered));
  Suspicion loss{.evidence = {nic.counts.line(kAsked), nic.counts.line(kOutOfOrder)}};
  if (is_paused) {
    loss.id = "headroom.too_small";
    loss.where = first_hop(nic);
    loss.verdict = fmt::format(
        "{} while {} paused it: probably the data in flight did not fit. "
        "Check the headroom and the lossless drops of {}.",
        seen, its_switch(nic), its_switch(nic));
  } else if (is_often) {
    loss.id = "path.reordering";
    loss.verdict = fmt::format(
        "{}, too many to be loss in a lossless class: probably reordering. "
        "Check whether switches balance per packet, and the drops of {}.",
        seen, its_switch(nic));
  } else {
    loss.id = "link.physical_errors";
    loss.verdict = fmt::format(
        "{}, was not paused, and its own link is clean: probably a bad cable "
        "further on. Check CRC errors and drops of the switches on its path.",
        seen);
  }
  guess(std::move(loss), nic, out);
}

/// Something is known to be wrong with the host or the fabric: no need to guess.
bool is_explained(Suspicions& out) {
  return std::any_of(out.candidates().begin(), out.candidates().end(), [](const Candidate& known) {
    return known.finding.severity != finding::Severity::kInfo &&
           known.finding.id != "pfc.sustained";
  });
}

bool is_one_host(const View& view) {
  return view.intent() != nullptr && view.ports().empty() && !view.nics().empty() &&
         std::all_of(view.nics().begin(), view.nics().end(),
                     [&](const NicView& nic) { return nic.host == view.nics().front().host; });
}

}  // namespace

void look_from_one_host(const View& view, Suspicions& out) {
  if (!is_one_host(view) || is_explained(out)) return;
  for (const NicView& nic : view.nics()) {
    if (is_never_answered(view, nic)) {
      guess_lost_way(view, nic, out);
    } else if (is_stopped_early(view, nic)) {
      guess_small_buffer(view, nic, out);
    } else {
      guess_loss(view, nic, out);
    }
  }
}

}  // namespace weir::diagnose
