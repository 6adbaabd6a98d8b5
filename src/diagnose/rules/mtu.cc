// I16: one MTU on the path differs. A host with a smaller one drops what the others send it; a
// switch port with a smaller one drops it on the way.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "diagnose/rules/rule.h"
#include "units/format.h"

namespace weir::diagnose {
namespace {

/// What most NICs have: the yardstick where no design gives one. Absent without a majority.
std::optional<Bytes> usual_mtu(const View& view) {
  std::map<std::int64_t, std::size_t> votes;
  std::size_t all = 0;
  for (const NicView& nic : view.nics()) {
    if (nic.facts == nullptr || !nic.facts->link.mtu.is_known()) continue;
    ++votes[nic.facts->link.mtu->raw()];
    ++all;
  }
  const auto best = std::max_element(
      votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (best == votes.end() || best->second * 2 <= all) return std::nullopt;
  return Bytes::raw(best->first);
}

/// As people write MTUs: never rounded to KB.
std::string in_bytes(Bytes bytes) {
  return fmt::format("{}B", bytes.raw());
}

void look_at_mtu(const NicView& nic, const std::optional<Bytes>& usual, Suspicions& out) {
  const std::optional<Bytes> wanted =
      nic.wanted != nullptr ? std::optional(nic.wanted->mtu) : usual;
  const bool is_read = nic.facts != nullptr && nic.facts->link.mtu.is_known();
  const bool is_small = is_read && wanted && *nic.facts->link.mtu < *wanted;
  const std::uint64_t oversize = nic.counts.of("nic.port.rx_oversize.packets").value_or(0);
  if (!is_small && oversize == 0) return;
  finding::Finding finding = finding::make_finding(
      "mtu.mismatch",
      is_small
          ? fmt::format("{} has an MTU of {}, not {}{}.", name_of(nic),
                        in_bytes(*nic.facts->link.mtu), in_bytes(*wanted),
                        oversize > 0 ? fmt::format(": it refused {} packets as too long", oversize)
                                     : std::string())
          : fmt::format("{} refused {} packets as too long: its MTU is smaller than the "
                        "senders'.",
                        name_of(nic), oversize),
      nic.where());
  finding.confidence = is_small ? finding::Confidence::kCertain : finding::Confidence::kHigh;
  if (is_small) {
    finding.evidence.push_back(
        fact_line(nic.counts.source(), fmt::format("MTU: expected {}, found {}", in_bytes(*wanted),
                                                   in_bytes(*nic.facts->link.mtu))));
    if (nic.facts->link.active_mtu.is_known()) {
      finding.evidence.push_back(
          fact_line(nic.counts.source(),
                    fmt::format("RDMA MTU in use: {}", to_text(*nic.facts->link.active_mtu))));
    }
  }
  if (oversize > 0) finding.evidence.push_back(nic.counts.line("nic.port.rx_oversize.packets"));
  std::vector<Consequence> explains = congestion_anywhere();
  explains.push_back({"receiver.slow"});
  out.add(std::move(finding), std::move(explains));
}

void look_at_mtu(const PortView& port, Suspicions& out) {
  const bool is_small = port.facts != nullptr && port.facts->mtu.is_known() &&
                        port.wanted != nullptr && *port.facts->mtu < port.wanted->mtu;
  const std::uint64_t dropped = port.counts.of("switch.port.drop_mtu.packets").value_or(0);
  if (!is_small && dropped == 0) return;
  finding::Finding finding = finding::make_finding(
      "mtu.mismatch",
      is_small ? fmt::format("{} has an MTU of {}, the design's is {}.", name_of(port),
                             to_text(*port.facts->mtu), to_text(port.wanted->mtu))
               : fmt::format("{} dropped {} packets as too long.", name_of(port), dropped),
      port.where());
  finding.confidence = is_small ? finding::Confidence::kCertain : finding::Confidence::kHigh;
  if (is_small) {
    finding.evidence.push_back(fact_line(
        name_of(port), fmt::format("MTU: expected {}, found {}", to_text(port.wanted->mtu),
                                   to_text(*port.facts->mtu))));
  }
  if (dropped > 0) finding.evidence.push_back(port.counts.line("switch.port.drop_mtu.packets"));
  out.add(std::move(finding), congestion_anywhere());
}

}  // namespace

void look_for_mtu(const View& view, Suspicions& out) {
  const std::optional<Bytes> usual = usual_mtu(view);
  for (const NicView& nic : view.nics())
    look_at_mtu(nic, usual, out);
  for (const PortView& port : view.ports())
    look_at_mtu(port, out);
}

}  // namespace weir::diagnose
