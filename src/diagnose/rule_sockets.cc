// D3: traffic that should be RDMA and goes through the kernel: the NIC counts its own RDMA apart,
// and that stands still while the port is busy. A job falls back to sockets as a whole, so both
// ends of every connection show it; the host that all of it begins or ends at is the cause.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "diagnose/rule.h"

namespace weir::diagnose {
namespace {

/// Bytes of a NIC, both ways.
struct Use {
  const NicView* nic = nullptr;
  std::uint64_t all = 0;
  std::uint64_t rdma = 0;

  [[nodiscard]] std::uint64_t kernel() const { return all > rdma ? all - rdma : 0; }
};

std::optional<Use> use_of(const NicView& nic) {
  const auto rx = nic.counts.of("nic.rdma.rx_unicast.bytes");
  const auto tx = nic.counts.of("nic.rdma.tx_unicast.bytes");
  const auto port_rx = nic.counts.sum("nic.prio.rx.bytes");
  const auto port_tx = nic.counts.sum("nic.prio.tx.bytes");
  if (!rx || !tx || !port_rx || !port_tx) return std::nullopt;
  return Use{&nic, *port_rx + *port_tx, *rx + *tx};
}

}  // namespace

void look_for_sockets(const View& view, Suspicions& out) {
  const Thresholds& limits = view.thresholds();
  std::optional<Use> most;
  std::uint64_t fell_back = 0;
  for (const NicView& nic : view.nics()) {
    const auto use = use_of(nic);
    if (!use || use->all < limits.bytes_that_matter) continue;
    const double share = static_cast<double>(use->rdma) / static_cast<double>(use->all);
    if (share > 1 - limits.rdma_share) continue;
    ++fell_back;
    if (!most || use->kernel() > most->kernel()) most = use;
  }
  if (!most) return;
  finding::Finding finding = finding::make_finding(
      "nccl.socket_fallback",
      fmt::format("{} moved {} bytes through the kernel and {} as RDMA: the job runs over sockets.",
                  name_of(*most->nic), with_thousands(static_cast<std::int64_t>(most->kernel())),
                  with_thousands(static_cast<std::int64_t>(most->rdma))),
      most->nic->where());
  finding.confidence = finding::Confidence::kHigh;
  finding.evidence.push_back(most->nic->counts.line("nic.rdma.tx_unicast.bytes"));
  finding.evidence.push_back(most->nic->counts.line("nic.rdma.rx_unicast.bytes"));
  if (fell_back > 1)
    finding.evidence.push_back(
        fact_line("all hosts", fmt::format("without RDMA: {} NICs; this one has most", fell_back)));
  out.add(std::move(finding),
          {{"path.loss"}, {"dscp.unmarked"}, {"pfc.sustained"}, {"trust.not_dscp"}});
}

}  // namespace weir::diagnose
