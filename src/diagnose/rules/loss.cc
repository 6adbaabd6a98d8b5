// I9, I28: RDMA packets were lost or arrived out of order. A consequence of many faults; where none
// of them shows, it is reported alone, with the cause unknown.
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

void look_at_loss(const NicView& nic, bool is_lossy, Suspicions& out) {
  std::uint64_t sum = 0;
  for (const std::string_view id : kLossSigns) {
    // Where packets may come in any order, their order says nothing of loss.
    if (id == "nic.resp.out_of_sequence.packets" && takes_any_order(nic)) continue;
    sum += nic.counts.of(id).value_or(0);
  }
  if (sum == 0) return;
  Suspicion loss{
      .id = "path.loss",
      .verdict =
          is_lossy
              ? fmt::format("{} counted {} retransmission events; switches dropped packets of "
                            "lossy classes only.",
                            name_of(nic), sum)
              : fmt::format("{} counted {} retransmission events: packets were lost or arrived "
                            "out of order. The place is not known.",
                            name_of(nic), sum),
      .where = nic.where(),
      .confidence = finding::Confidence::kLow,  // the loss is certain, its cause is not known
      .evidence = moved_lines(nic.counts, kLossSigns)};
  if (is_lossy) loss.severity = finding::Severity::kInfo;
  out.add(std::move(loss));
}

}  // namespace

void look_for_loss(const View& view, Suspicions& out) {
  const bool is_lossy = is_lossy_loss(view);
  bool can_see = view.nics().empty();
  for (const NicView& nic : view.nics()) {
    can_see =
        can_see || std::any_of(std::begin(kLossSigns), std::end(kLossSigns),
                               [&](std::string_view id) { return nic.counts.of(id).has_value(); });
    look_at_loss(nic, is_lossy, out);
  }
  if (!can_see) {
    out.cannot_tell("loss", "no NIC showed its retransmission counters",
                    "cat /sys/class/infiniband/<device>/ports/1/hw_counters/*");
  }
}

}  // namespace weir::diagnose
