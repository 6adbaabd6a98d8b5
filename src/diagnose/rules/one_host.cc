// What one host alone lets guess of the switches it cannot see. Each sign here has a cause that is
// likelier than the others, and none is proof: every answer is a guess (confidence low), names what
// to look at, and is only made where nothing is wrong with the host itself, and where a design says
// that its switches mark before they pause and lose nothing.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
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

std::string number(std::uint64_t value) {
  return with_thousands(static_cast<std::int64_t>(value));
}

/// The switch at the other end of its cable, where LLDP or the design tells.
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

void guess(finding::Finding finding, const NicView& nic, Suspicions& out) {
  finding.confidence = finding::Confidence::kLow;
  out.add(std::move(finding), {{"path.loss", nic.host}});
}

/// One answer to each message is the least that a reachable peer gives, in whatever priority.
bool is_never_answered(const View& view, const NicView& nic) {
  const auto received = nic.counts.of(kReceived, view.rdma());
  return nic.counts.of(kSent, view.rdma()).value_or(0) >= view.thresholds().unanswered_packets &&
         received && *received == 0 && nic.counts.of(kRdmaReceived).value_or(0) == 0;
}

void guess_lost_way(const View& view, const NicView& nic, Suspicions& out) {
  finding::Finding finding = finding::make_finding(
      "routing.loop",
      fmt::format("{} sent {} RDMA packets and not one came back: most likely they go in a circle "
                  "or nowhere. Look at the routes to its peers on {} and above, and whether the "
                  "peers are up.",
                  name_of(nic), number(*nic.counts.of(kSent, view.rdma())), its_switch(nic)),
      first_hop(nic));
  finding.evidence.push_back(nic.counts.line(kSent, view.rdma()));
  finding.evidence.push_back(nic.counts.line(kReceived, view.rdma()));
  guess(std::move(finding), nic, out);
}

/// A sender is told to slow down many times before the queue ahead of it is full; where it is
/// stopped instead, the switch had little room to begin with.
bool is_stopped_early(const View& view, const NicView& nic) {
  const auto share = nic.counts.share_of_window(kPaused, view.rdma());
  const auto pauses = nic.counts.of(kPauses, view.rdma());
  const auto cuts = nic.counts.of(kCuts);
  return share && *share >= view.thresholds().pause_warning && pauses && *pauses > 0 && cuts &&
         static_cast<double>(*cuts) <
             view.thresholds().cnps_per_pause * static_cast<double>(*pauses);
}

void guess_small_buffer(const View& view, const NicView& nic, Suspicions& out) {
  finding::Finding finding = finding::make_finding(
      "buffer.too_small",
      fmt::format("{} was paused {} times ({} of the window) and told to slow down only {} times: "
                  "most likely {} has too small a pool for lossless traffic. Look at its pool and "
                  "alpha, then at where it begins to mark, then for a receiver that pauses.",
                  name_of(nic), number(*nic.counts.of(kPauses, view.rdma())),
                  percent(*nic.counts.share_of_window(kPaused, view.rdma())),
                  number(*nic.counts.of(kCuts)), its_switch(nic)),
      first_hop(nic));
  finding.where.priority = std::to_string(view.rdma());
  finding.severity = finding::Severity::kWarning;
  finding.evidence.push_back(nic.counts.line(kPauses, view.rdma()));
  finding.evidence.push_back(nic.counts.line(kPaused, view.rdma()));
  finding.evidence.push_back(nic.counts.line(kCuts));
  guess(std::move(finding), nic, out);
}

/// Loss that is not this host's: by how often, and by whether PFC was at work meanwhile.
void guess_loss(const View& view, const NicView& nic, Suspicions& out) {
  const std::uint64_t asked = nic.counts.of(kAsked).value_or(0);
  const std::uint64_t disordered = nic.counts.of(kOutOfOrder).value_or(0);
  const std::uint64_t sent = nic.counts.of(kSent, view.rdma()).value_or(0);
  if (asked + disordered == 0 || sent == 0) return;
  const std::uint64_t pauses = nic.counts.of(kPauses, view.rdma()).value_or(0);
  const bool is_often =
      static_cast<double>(asked) > view.thresholds().asked_again * static_cast<double>(sent);
  const std::string seen =
      fmt::format("{} was asked {} times to send again and got {} packets out of order",
                  name_of(nic), number(asked), number(disordered));
  finding::Finding finding =
      pauses > 0
          ? finding::make_finding(
                "headroom.too_small",
                fmt::format("{}, while {} paused it: most likely what was in flight did not fit. "
                            "Look at the headroom and the lossless drops of {}.",
                            seen, its_switch(nic), its_switch(nic)),
                first_hop(nic))
      : is_often ? finding::make_finding(
                       "path.reordering",
                       fmt::format("{}; so many are hardly lost in a lossless class: most likely "
                                   "they overtake each other. Look whether switches balance "
                                   "packets, and at the drops of {}.",
                                   seen, its_switch(nic)),
                       {})
                 : finding::make_finding(
                       "link.physical_errors",
                       fmt::format("{}, was not paused, and its own cable is clean: most likely a "
                                   "cable further on breaks frames. Look at the CRC errors and the "
                                   "drops of the switches on its way.",
                                   seen),
                       {});
  finding.evidence.push_back(nic.counts.line(kAsked));
  finding.evidence.push_back(nic.counts.line(kOutOfOrder));
  guess(std::move(finding), nic, out);
}

/// Something is wrong with the host itself, or known of the fabric: no need to guess.
bool is_explained(Suspicions& out) {
  return std::any_of(out.candidates().begin(), out.candidates().end(), [](const Candidate& one) {
    return one.finding.severity != finding::Severity::kInfo && one.finding.id != "pfc.sustained";
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
