// I19: the application posts too few receives: messages arrive and have nowhere to go. The receiver
// says so (RNR), the sender waits and sends again. Not the fabric. Two ends: what one turned away
// the others were told; where the sender alone is seen, its peer is meant.
#include <fmt/format.h>

#include "base/count_text.h"
#include "diagnose/rules/rule.h"

namespace weir::diagnose {
namespace {

constexpr std::string_view kRefused = "nic.resp.out_of_buffer.packets";
constexpr std::string_view kTold = "nic.req.rnr_nak_received.packets";
constexpr std::string_view kGaveUp = "nic.req.rnr_retry_exceeded.events";

std::string receive_number(std::uint64_t value) {
  return count_text(value);
}

std::vector<Consequence> receive_consequences() {
  return {{"path.loss"},       {"ecmp.imbalance"},       {"dcqcn.too_conservative"},
          {"path.reordering"}, {"congestion.sustained"}, {"transport.timer_below_rtt"}};
}

/// The sender that was told most often to wait.
const NicView* most_told(const View& view) {
  const NicView* most = nullptr;
  std::uint64_t told = 0;
  for (const NicView& nic : view.nics()) {
    const std::uint64_t here =
        nic.counts.of(kTold).value_or(0) + nic.counts.of(kGaveUp).value_or(0);
    if (here <= told) continue;
    told = here;
    most = &nic;
  }
  return most;
}

void add_sender(const NicView& sender, finding::Finding& out) {
  for (const std::string_view id : {kTold, kGaveUp})
    if (sender.counts.of(id).value_or(0) > 0) out.evidence.push_back(sender.counts.line(id));
  if (sender.counts.of(kGaveUp).value_or(0) > 0) out.severity = finding::Severity::kError;
}

}  // namespace

void look_for_few_receives(const View& view, Suspicions& out) {
  const NicView* sender = most_told(view);
  bool is_seen = false;
  for (const NicView& nic : view.nics()) {
    const std::uint64_t refused = nic.counts.of(kRefused).value_or(0);
    if (refused == 0) continue;
    is_seen = true;
    finding::Finding finding = finding::make_finding(
        "app.receives_too_few",
        fmt::format("{} turned {} messages away because no receive was posted for them{}.",
                    name_of(nic), receive_number(refused),
                    sender != nullptr && sender != &nic
                        ? fmt::format(", and {} was told to wait", name_of(*sender))
                        : std::string()),
        nic.where());
    finding.confidence = finding::Confidence::kHigh;
    finding.evidence.push_back(nic.counts.line(kRefused));
    if (sender != nullptr) add_sender(*sender, finding);
    out.add(std::move(finding), receive_consequences());
  }
  if (is_seen || sender == nullptr) return;
  finding::Finding finding = finding::make_finding(
      "app.receives_too_few",
      fmt::format("{} was told {} times to wait: its peer has posted no receive for its messages.",
                  name_of(*sender), receive_number(sender->counts.of(kTold).value_or(0))),
      sender->where());
  finding.confidence = finding::Confidence::kMedium;
  add_sender(*sender, finding);
  out.add(std::move(finding), receive_consequences());
}

}  // namespace weir::diagnose
