// I20: the host itself is the bottleneck. The NIC's own buffer overran, or its PCIe side stalled:
// what arrives waits for the host, and the NIC pauses its switch or drops.
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
    {"nic.pcie.buffer_overflow.packets", "its buffer towards PCIe overflowed"},
    {"nic.ibspec.buffer_overrun.events", "its receive buffer overran"},
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
  // A stall that nobody else noticed is a busy host, not a fault.
  const bool is_only_stalled = first == &kSigns[2] && pauses == 0 && drops == 0;
  finding::Finding finding = finding::make_finding(
      "receiver.slow",
      fmt::format("{}: {}{}: PCIe, the IOMMU or the memory of the host does not take what the wire "
                  "brings.",
                  name_of(nic), first->words,
                  pauses > 0  ? fmt::format(" and it sent {} pauses", count_text(pauses))
                  : drops > 0 ? fmt::format(" and it dropped {} packets", count_text(drops))
                              : std::string()),
      nic.where());
  finding.confidence =
      pauses > 0 || drops > 0 ? finding::Confidence::kHigh : finding::Confidence::kMedium;
  if (is_only_stalled) finding.severity = finding::Severity::kInfo;
  if (pauses > 0) lines.push_back(nic.counts.line("nic.prio.pause_tx.frames", view.rdma()));
  finding.evidence = std::move(lines);
  std::vector<Consequence> explains;
  if (!is_only_stalled) {
    explains = congestion_anywhere();
    explains.push_back({"receiver.slow", nic.host});
    explains.push_back({"port.discards", nic.host});
  }
  out.add(std::move(finding), std::move(explains));
}

}  // namespace

void look_for_host_bottlenecks(const View& view, Suspicions& out) {
  for (const NicView& nic : view.nics())
    look_at_host_side(view, nic, out);
}

}  // namespace weir::diagnose
