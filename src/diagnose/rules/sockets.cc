// D3: traffic that should be RDMA and goes through the kernel: the NIC counts RDMA separately, and
// that counter does not move while the port is busy. A job falls back to sockets as a whole, so
// both ends of every connection show it; the host where most of it starts or ends is the cause.
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

std::optional<Use> socket_use_of(const NicView& nic) {
  const auto rx = nic.counts.of("nic.rdma.rx_unicast.bytes");
  const auto tx = nic.counts.of("nic.rdma.tx_unicast.bytes");
  const auto port_rx = nic.counts.sum("nic.prio.rx.bytes");
  const auto port_tx = nic.counts.sum("nic.prio.tx.bytes");
  if (!rx || !tx || !port_rx || !port_tx) return std::nullopt;
  return Use{&nic, *port_rx + *port_tx, *rx + *tx};
}

/// Hosts that are not part of the job have no RDMA either, and their kernel traffic varies. The two
/// ends of a connection may be alike; from usual_hosts on it is the usual amount.
bool is_one_of_many(const Thresholds& limits, const Use& use,
                    const std::vector<Use>& without_rdma) {
  std::vector<std::uint64_t> others;
  for (const Use& other : without_rdma)
    if (other.nic->host != use.nic->host) others.push_back(other.kernel());
  std::sort(others.rbegin(), others.rend());
  return others.size() >= std::max<std::size_t>(limits.usual_hosts, 2) &&
         static_cast<double>(use.kernel()) < limits.over_usual * static_cast<double>(others[1]);
}

/// Every host has some kernel traffic. With no other host to compare with, a job is what fills a
/// good part of the line.
bool is_a_job(const View& view, const Use& use) {
  const Thresholds& limits = view.thresholds();
  std::vector<std::uint64_t> others;
  for (const NicView& other : view.nics()) {
    const auto theirs = socket_use_of(other);
    if (theirs && other.host != use.nic->host) others.push_back(theirs->kernel());
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
    const auto use = socket_use_of(nic);
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
  std::vector<finding::EvidenceLine> lines = {most->nic->counts.line("nic.rdma.tx_unicast.bytes"),
                                              most->nic->counts.line("nic.rdma.rx_unicast.bytes")};
  if (without_rdma.size() > 1) {
    lines.push_back(
        fact_line("all hosts", fmt::format("NICs without RDMA traffic: {}", without_rdma.size())));
  }
  out.add({.id = "nccl.socket_fallback",
           .verdict =
               fmt::format("{} moved {} bytes through the kernel and {} as RDMA: the job runs "
                           "over TCP sockets.",
                           name_of(*most->nic), count_text(most->kernel()), count_text(most->rdma)),
           .where = most->nic->where(),
           .confidence = finding::Confidence::kHigh,
           .evidence = std::move(lines),
           .explains = {{"path.loss"}, {"dscp.unmarked"}, {"pfc.sustained"}, {"trust.not_dscp"}}});
}

}  // namespace weir::diagnose
