// D3: traffic that should be RDMA and goes through the kernel: the NIC counts RDMA separately, and
// that counter does not move while the port is busy. A job falls back to sockets as a whole, so
// both ends of every connection show it; the host where most of it starts or ends is the cause.
//
// A NIC without RDMA is no proof: a host outside the job has some TCP of its own. What it moves
// through the kernel must be as much as others move as RDMA; where nobody moves RDMA there is
// nothing to compare with, and a job over sockets stays a guess.
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

/// The lower of the two in the middle: beside one of few that talks to the host in question, the
/// other is the usual one.
std::uint64_t lower_median(std::vector<std::uint64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
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
    const auto usual = static_cast<double>(lower_median(others));
    if (static_cast<double>(use.kernel()) < limits.over_usual * usual) return false;
  }
  const Duration window = use.nic->counts.window();
  if (!use.nic->speed || window.raw() <= 0) return !others.empty();
  const auto possible = static_cast<double>(bytes_in(window, *use.nic->speed).raw());
  const double limit = others.empty() ? limits.job_of_line : limits.job_of_line_compared;
  return static_cast<double>(use.kernel()) > limit * possible;
}

/// The middle one of the NICs that move RDMA. Absent where there is none.
struct RdmaPeers {
  std::uint64_t rdma = 0;
  std::uint64_t kernel = 0;
};

std::optional<RdmaPeers> rdma_peers(const std::vector<Use>& with_rdma) {
  if (with_rdma.empty()) return std::nullopt;
  std::vector<std::uint64_t> rdma;
  std::vector<std::uint64_t> kernel;
  for (const Use& use : with_rdma) {
    rdma.push_back(use.rdma);
    kernel.push_back(use.kernel());
  }
  return RdmaPeers{lower_median(std::move(rdma)), lower_median(std::move(kernel))};
}

/// Beyond what its peers move through the kernel too, it moves there what they move as RDMA.
bool is_worth_rdma(const Thresholds& limits, const Use& use, const RdmaPeers& peers) {
  const std::uint64_t more = use.kernel() > peers.kernel ? use.kernel() - peers.kernel : 0;
  return is_at_least(more, limits.job_of_peers, peers.rdma);
}

/// Its own traffic alone looks like a job.
bool fills_line(const Thresholds& limits, const Use& use) {
  const Duration window = use.nic->counts.window();
  if (!use.nic->speed || window.raw() <= 0) return false;
  const auto possible = static_cast<double>(bytes_in(window, *use.nic->speed).raw());
  return static_cast<double>(use.kernel()) > limits.job_of_line * possible;
}

void report_sockets(const Use& use, std::size_t without_rdma, const std::optional<RdmaPeers>& peers,
                    Suspicions& out) {
  std::vector<finding::EvidenceLine> lines = {use.nic->counts.line("nic.rdma.tx_unicast.bytes"),
                                              use.nic->counts.line("nic.rdma.rx_unicast.bytes")};
  if (without_rdma > 1) {
    lines.push_back(
        fact_line("all hosts", fmt::format("NICs without RDMA traffic: {}", without_rdma)));
  }
  const std::string moved =
      fmt::format("{} moved {} bytes through the kernel and {} as RDMA", name_of(*use.nic),
                  count_text(use.kernel()), count_text(use.rdma));
  Suspicion sockets{
      .id = "nccl.socket_fallback",
      .verdict = peers ? fmt::format("{}, where others move {} as RDMA: the job runs over TCP "
                                     "sockets.",
                                     moved, count_text(peers->rdma))
                       : moved +
                             ", and no other NIC was seen with RDMA: either the job runs over "
                             "TCP sockets, or no RDMA job ran.",
      .where = use.nic->where(),
      .confidence = peers ? finding::Confidence::kMedium : finding::Confidence::kLow,
      .evidence = std::move(lines),
      .explains = {{"path.loss"}, {"dscp.unmarked"}, {"pfc.sustained"}, {"trust.not_dscp"}}};
  // A guess between two things: a note.
  if (!peers) sockets.severity = finding::Severity::kInfo;
  out.add(std::move(sockets));
}

}  // namespace

void look_for_sockets(const View& view, Suspicions& out) {
  const Thresholds& limits = view.thresholds();
  std::vector<Use> without_rdma;
  std::vector<Use> with_rdma;
  for (const NicView& nic : view.nics()) {
    const auto use = socket_use_of(nic);
    if (!use || use->all < limits.bytes_that_matter) continue;
    const double share = static_cast<double>(use->rdma) / static_cast<double>(use->all);
    (share <= 1 - limits.rdma_share ? without_rdma : with_rdma).push_back(*use);
  }
  const auto most =
      std::max_element(without_rdma.begin(), without_rdma.end(),
                       [](const Use& a, const Use& b) { return a.kernel() < b.kernel(); });
  if (most == without_rdma.end()) return;
  const std::optional<RdmaPeers> peers = rdma_peers(with_rdma);
  const bool stands_out = is_a_job(view, *most) && !is_one_of_many(limits, *most, without_rdma);
  const bool is_shown = peers ? stands_out && is_worth_rdma(limits, *most, *peers)
                              : stands_out || fills_line(limits, *most);
  if (is_shown) report_sockets(*most, without_rdma.size(), peers, out);
}

}  // namespace weir::diagnose
