// I19: the application posts too few receives. The receiver answers messages with RNR NAKs, the
// sender waits and retransmits. Not the fabric. Both ends count it; if only the sender was read,
// its peer is meant.
#include <fmt/format.h>

#include "base/count_text.h"
#include "diagnose/rules/rule.h"

namespace weir::diagnose {
namespace {

constexpr std::string_view kNoReceive = "nic.resp.out_of_buffer.packets";
constexpr std::string_view kNaks = "nic.req.rnr_nak_received.packets";
constexpr std::string_view kGaveUp = "nic.req.rnr_retry_exceeded.events";

std::vector<Consequence> receive_consequences() {
  return {{"path.loss"},       {"ecmp.imbalance"},       {"dcqcn.too_conservative"},
          {"path.reordering"}, {"congestion.sustained"}, {"transport.timer_below_rtt"}};
}

/// The sender with most RNR NAKs.
const NicView* most_naks(const View& view) {
  const NicView* most = nullptr;
  std::uint64_t naks = 0;
  for (const NicView& nic : view.nics()) {
    const std::uint64_t here =
        nic.counts.of(kNaks).value_or(0) + nic.counts.of(kGaveUp).value_or(0);
    if (here <= naks) continue;
    naks = here;
    most = &nic;
  }
  return most;
}

Suspicion too_few(std::string verdict, const NicView& at, finding::Confidence confidence,
                  const NicView* sender) {
  Suspicion few{.id = "app.receives_too_few",
                .verdict = std::move(verdict),
                .where = at.where(),
                .confidence = confidence,
                .explains = receive_consequences()};
  if (sender == nullptr) return few;
  constexpr std::string_view kAtSender[] = {kNaks, kGaveUp};
  few.evidence = moved_lines(sender->counts, kAtSender);
  if (sender->counts.of(kGaveUp).value_or(0) > 0) few.severity = finding::Severity::kError;
  return few;
}

}  // namespace

void look_for_few_receives(const View& view, Suspicions& out) {
  const NicView* sender = most_naks(view);
  bool is_seen = false;
  for (const NicView& nic : view.nics()) {
    const std::uint64_t rejected = nic.counts.of(kNoReceive).value_or(0);
    if (rejected == 0) continue;
    is_seen = true;
    Suspicion few = too_few(fmt::format("{} rejected {} messages because no receive was posted{}.",
                                        name_of(nic), count_text(rejected),
                                        sender != nullptr && sender != &nic
                                            ? fmt::format("; {} got RNR NAKs", name_of(*sender))
                                            : std::string()),
                            nic, finding::Confidence::kHigh, sender);
    few.evidence.insert(few.evidence.begin(), nic.counts.line(kNoReceive));
    out.add(std::move(few));
  }
  if (is_seen || sender == nullptr) return;
  out.add(too_few(fmt::format("{} got {} RNR NAKs: its peer posts too few receives.",
                              name_of(*sender), count_text(sender->counts.of(kNaks).value_or(0))),
                  *sender, finding::Confidence::kMedium, sender));
}

}  // namespace weir::diagnose
