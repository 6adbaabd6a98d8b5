// I9, I28: RDMA packets were lost or overtook each other. A consequence of many faults; where none
// of them shows, it stands alone and says that the cause is not known.
#include <algorithm>

#include <fmt/format.h>

#include "diagnose/rules/rule.h"

namespace weir::diagnose {
namespace {

constexpr std::string_view kLossSigns[] = {
    "nic.resp.out_of_sequence.packets",  "nic.req.seq_nak_received.packets",
    "nic.req.implied_nak.events",        "nic.req.ack_timeout.events",
    "nic.req.retry_exceeded.events",     "nic.req.retransmit.events",
    "nic.req.retransmit_timeout.events",
};

/// Switches dropped, and nothing of a lossless class: what was lost was allowed to be.
bool is_lossy_loss(const View& view) {
  std::uint64_t lossy = 0;
  std::uint64_t all = 0;
  for (const PortView& port : view.ports()) {
    std::uint64_t here = 0;
    for (const std::string_view id :
         {"switch.queue.drop_tail.packets", "switch.queue.drop_wred.packets",
          "switch.pg.drop_admission.packets"}) {
      here += port.counts.sum(id).value_or(0);
    }
    lossy += here;
    // Where a port shows no total, its lossless drops are all that can be added.
    all += port.counts.of("switch.port.drop.packets")
               .value_or(here + port.counts.sum("switch.pg.drop_headroom.packets").value_or(0));
  }
  return lossy > 0 && all == lossy;
}

void look_at(const NicView& nic, bool is_lossy, Suspicions& out) {
  std::vector<finding::EvidenceLine> lines;
  std::uint64_t sum = 0;
  for (const std::string_view id : kLossSigns) {
    const std::uint64_t amount = nic.counts.of(id).value_or(0);
    if (amount == 0) continue;
    lines.push_back(nic.counts.line(id));
    sum += amount;
  }
  if (sum == 0) return;
  finding::Finding finding = finding::make_finding(
      "path.loss",
      is_lossy ? fmt::format("{} lost packets of a lossy class: {} signs of it, and the switches "
                             "dropped in no lossless one.",
                             name_of(nic), sum)
               : fmt::format("{} lost packets, or they overtook each other: {} signs of it. "
                             "Nothing here shows where.",
                             name_of(nic), sum),
      nic.where());
  finding.confidence = finding::Confidence::kLow;  // the loss is sure, its cause is not known
  if (is_lossy) finding.severity = finding::Severity::kInfo;
  finding.evidence = std::move(lines);
  out.add(std::move(finding));
}

}  // namespace

void look_for_loss(const View& view, Suspicions& out) {
  const bool is_lossy = is_lossy_loss(view);
  bool can_see = view.nics().empty();
  for (const NicView& nic : view.nics()) {
    can_see =
        can_see || std::any_of(std::begin(kLossSigns), std::end(kLossSigns),
                               [&](std::string_view id) { return nic.counts.of(id).has_value(); });
    look_at(nic, is_lossy, out);
  }
  if (!can_see) {
    out.cannot_tell("loss", "no NIC showed its retransmission counters",
                    "cat /sys/class/infiniband/<device>/ports/1/hw_counters/*");
  }
}

}  // namespace weir::diagnose
