// D3: traffic that should be RDMA and goes through the kernel: the NIC counts its own RDMA apart,
// and that stands still while the port is busy. A job falls back to sockets as a whole, so both
// ends of every connection show it; the host that all of it begins or ends at is the cause.
#include <algorithm>

#include <fmt/format.h>

#include "base/count_text.h"
#include "diagnose/rules/rule.h"

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

/// Hosts that have no part in the job have no RDMA either, and what they move through the kernel
/// differs from one to the next. The two ends of a connection may be alike; three are the usual.
bool is_one_of_many(const Thresholds& limits, const Use& use,
                    const std::vector<Use>& without_rdma) {
  std::vector<std::uint64_t> others;
  for (const Use& one : without_rdma)
    if (one.nic->host != use.nic->host) others.push_back(one.kernel());
  std::sort(others.rbegin(), others.rend());
  return others.size() >= std::max<std::size_t>(limits.usual_hosts, 2) &&
         static_cast<double>(use.kernel()) < limits.over_usual * static_cast<double>(others[1]);
}

/// Every host has some traffic of the kernel's. With nobody to compare with, a job is what fills a
/// good part of the line.
bool is_a_job(const View& view, const Use& use) {
  const Thresholds& limits = view.thresholds();
  std::vector<std::uint64_t> others;
  for (const NicView& other : view.nics()) {
    const auto one = use_of(other);
    if (one && other.host != use.nic->host) others.push_back(one->kernel());
  }
  if (!others.empty()) {
    const auto middle = others.begin() + static_cast<std::ptrdiff_t>(others.size() / 2);
    std::nth_element(others.begin(), middle, others.end());
    if (static_cast<double>(use.kernel()) < limits.over_usual * static_cast<double>(*middle))
      return false;
  }
  const Duration window = use.nic->counts.window();
  if (!use.nic->speed || window.raw() <= 0) return !others.empty();
  const auto possible = static_cast<double>(bytes_in(window, *use.nic->speed).raw());
  const double limit = others.empty() ? limits.job_of_line : limits.job_of_line_compared;
  return static_cast<double>(use.kernel()) > limit * possible;
}

}  // namespace

void look_for_sockets(const View& view, Suspicions& out) {
  const Thresholds& limits = view.thresholds();
  std::vector<Use> without_rdma;
  for (const NicView& nic : view.nics()) {
    const auto use = use_of(nic);
    if (!use || use->all < limits.bytes_that_matter) continue;
    const double share = static_cast<double>(use->rdma) / static_cast<double>(use->all);
    if (share <= 1 - limits.rdma_share) without_rdma.push_back(*use);
  }
  const auto most =
      std::max_element(without_rdma.begin(), without_rdma.end(),
                       [](const Use& a, const Use& b) { return a.kernel() < b.kernel(); });
  if (most == without_rdma.end() || !is_a_job(view, *most) ||
      is_one_of_many(limits, *most, without_rdma))
    return;
  const std::size_t fell_back = without_rdma.size();
  finding::Finding finding = finding::make_finding(
      "nccl.socket_fallback",
      fmt::format("{} moved {} bytes through the kernel and {} as RDMA: the job runs over sockets.",
                  name_of(*most->nic), count_text(most->kernel()), count_text(most->rdma)),
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
