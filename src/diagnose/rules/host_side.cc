// I20: the host itself is the bottleneck. The NIC's receive buffer overran, or PCIe stalled:
// packets wait for the host, and the NIC pauses its switch or drops.
#include <fmt/format.h>

#include "base/count_text.h"
#include "diagnose/rules/rule.h"

namespace weir::diagnose {
namespace {

struct Sign {
  std::string_view counter;
  std::string_view words;
};
constexpr Sign kSigns[] = {
    {"nic.pcie.buffer_overflow.packets", "buffer towards PCIe overflowed"},
    {"nic.ibspec.buffer_overrun.events", "receive buffer overran"},
    {"nic.pcie.stalled_write.events", "PCIe writes stalled"},
};

void look_at_host_side(const View& view, const NicView& nic, Suspicions& out) {
  const Sign* first = nullptr;
  std::vector<finding::EvidenceLine> lines;
  for (const Sign& sign : kSigns) {
    if (nic.counts.of(sign.counter).value_or(0) == 0) continue;
    if (first == nullptr) first = &sign;
    lines.push_back(nic.counts.line(sign.counter));
  }
  if (first == nullptr) return;
  const std::uint64_t pauses = nic.counts.of("nic.prio.pause_tx.frames", view.rdma()).value_or(0);
  const std::uint64_t drops = nic.counts.of("nic.port.rx_discard.packets").value_or(0);
  // A stall without pauses or drops is a busy host, not a fault.
  const bool has_paused =
      pauses > 0 || nic.counts.of("nic.prio.pause_tx.microseconds", view.rdma()).value_or(0) > 0;
  const bool is_only_stalled = first == &kSigns[2] && !has_paused && drops == 0;
  if (pauses > 0) lines.push_back(nic.counts.line("nic.prio.pause_tx.frames", view.rdma()));
  Suspicion slow{
      .id = "receiver.slow",
      .verdict = fmt::format(
          "{}: {}{}: PCIe, IOMMU or memory of the host cannot keep up.", name_of(nic), first->words,
          pauses > 0  ? fmt::format(", and it sent {} pauses", count_text(pauses))
          : drops > 0 ? fmt::format(", and it dropped {} packets", count_text(drops))
                      : std::string()),
      .where = nic.where(),
      .confidence =
          pauses > 0 || drops > 0 ? finding::Confidence::kHigh : finding::Confidence::kMedium,
      .evidence = std::move(lines)};
  if (is_only_stalled) {
    slow.severity = finding::Severity::kInfo;
  } else {
    slow.explains = congestion_anywhere();
    slow.explains.push_back({"receiver.slow", nic.host});
    slow.explains.push_back({"port.discards", nic.host});
  }
  out.add(std::move(slow));
}

/// Without relaxed ordering each write of the NIC waits for the one before it. Off is no fault by
/// itself: it is the reason where the NIC pauses its switch.
void look_at_ordering(const View& view, const NicView& nic, Suspicions& out) {
  const auto paused = nic.counts.share_of_window("nic.prio.pause_tx.microseconds", view.rdma());
  if (nic.facts == nullptr || !nic.facts->pcie.relaxed_ordering.is(false) || !paused ||
      *paused < view.thresholds().pause_warning)
    return;
  out.add(
      {.id = "pcie.relaxed_ordering_wrong",
       .verdict = fmt::format("{} paused its switch {} of the window, and PCIe relaxed ordering "
                              "is off: its writes to memory wait for each other.",
                              name_of(nic), percent(*paused)),
       .where = nic.where(),
       .confidence = finding::Confidence::kMedium,
       .evidence = {fact_line(nic.counts.source(), "PCIe relaxed ordering: off"),
                    nic.counts.line("nic.prio.pause_tx.microseconds", view.rdma())}});
}

}  // namespace

void look_for_host_bottlenecks(const View& view, Suspicions& out) {
  for (const NicView& nic : view.nics()) {
    look_at_host_side(view, nic, out);
    look_at_ordering(view, nic, out);
  }
}

}  // namespace weir::diagnose
