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

}  // namespace

/// Of lost packets some are the last of a message, which nobody asks for again: they run into the
/// timer.
bool is_disorder_without_loss(const View& view, const NicView& nic) {
  const std::uint64_t disordered = nic.counts.of(kOutOfOrder).value_or(0);
  const auto timeouts = nic.counts.of("nic.req.ack_timeout.events");
  const auto discards = nic.counts.of("nic.port.rx_discard.packets");
  const auto retried = nic.counts.of("nic.req.retransmit.events");
  return disordered >= view.thresholds().disorder_without_loss && timeouts && *timeouts == 0 &&
         discards.value_or(0) == 0 && retried.value_or(0) == 0;
}

namespace {

/// I17: thousands of packets out of order and not one timeout.
void look_for_order(const View& view, const NicView& nic, Suspicions& out) {
  if (!is_disorder_without_loss(view, nic)) return;
  const std::uint64_t disordered = nic.counts.of(kOutOfOrder).value_or(0);
  out.add(
      {.id = "path.reordering",
       .verdict = fmt::format("{} received {} packets out of order, and no request ran into "
                              "its timer: probably reordering, not loss. Check whether "
                              "switches balance per packet.",
                              name_of(nic), count_text(disordered)),
       .where = nic.where(),
       .confidence = finding::Confidence::kLow,
       // A guess, and no fault at all where it is by design.
       .severity = takes_any_order(nic) ? finding::Severity::kInfo : finding::Severity::kWarning,
       .evidence = {nic.counts.line(kOutOfOrder), nic.counts.line("nic.req.ack_timeout.events")},
       .explains = {{"path.loss", nic.host}}});
}

/// The share of its line that a NIC received in the window: by priority, of the port, or RDMA
/// alone, which is what is marked.
std::optional<double> received_share(const NicView& nic) {
  auto bytes = nic.counts.sum("nic.prio.rx.bytes");
  if (!bytes) bytes = nic.counts.of("nic.port.rx.bytes");
  if (!bytes) bytes = nic.counts.of("nic.rdma.rx.bytes");
  if (!bytes || !nic.speed || nic.speed->raw() <= 0 || nic.counts.window().raw() <= 0)
    return std::nullopt;
  const auto possible = static_cast<double>(bytes_in(nic.counts.window(), *nic.speed).raw());
  return possible <= 0 ? std::nullopt : std::optional(static_cast<double>(*bytes) / possible);
}

/// I21: many marks on a line that is nearly idle. I22: paused much of the time and hardly a CNP.
void look_at_marking_of_host(const View& view, const NicView& nic, Suspicions& out) {
  const Thresholds& limits = view.thresholds();
  const auto marks = nic.counts.of("nic.np.ecn_marked.packets");
  const auto share = received_share(nic);
  if (marks && share && *marks >= limits.marks_on_idle_line && *share < limits.idle_path) {
    out.add({.id = "ecn.thresholds_too_low",
             .verdict = fmt::format("{} received {} marked packets while its line was used {}: "
                                    "probably switches mark from too short a queue.",
                                    name_of(nic), count_text(*marks), percent(*share)),
             .where = first_hop(nic),
             .confidence = finding::Confidence::kMedium,
             .evidence = {nic.counts.line("nic.np.ecn_marked.packets")},
             .explains = {{"dcqcn.too_conservative"}}});
  }
  const auto paused = nic.counts.share_of_window(kPaused, view.rdma());
  const auto pauses = nic.counts.of(kPauses, view.rdma());
  const auto cuts = nic.counts.of(kCuts);
  const bool is_rare = pauses && cuts && *pauses >= limits.pauses_that_matter &&
                       !is_at_least(*cuts, limits.marks_per_pause, *pauses);
  if (paused && *paused >= limits.pause_error && is_rare) {
    out.add({.id = "ecn.thresholds_too_high",
             .verdict = fmt::format("{} was paused {} of the window and handled {} CNPs: its "
                                    "switches mark too late or not at all, and PFC does the work.",
                                    name_of(nic), percent(*paused), count_text(*cuts)),
             .where = first_hop(nic),
             .confidence = finding::Confidence::kMedium,
             .evidence = {nic.counts.line(kPaused, view.rdma()),
                          nic.counts.line(kPauses, view.rdma()), nic.counts.line(kCuts)},
             .explains = {{"pfc.sustained"}}});
  }
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
  // Without a design nobody knows what the switches are meant to do: what a host counts is all.
  if (view.intent() == nullptr && view.ports().empty() && !is_explained(out)) {
    for (const NicView& nic : view.nics()) {
      look_for_order(view, nic, out);
      look_at_marking_of_host(view, nic, out);
    }
  }
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
