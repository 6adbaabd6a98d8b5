// I16: one MTU on the path differs. A host with a smaller one drops what the others send; so does a
// switch port.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "diagnose/rules/rule.h"
#include "units/format.h"

namespace weir::diagnose {
namespace {

/// What most NICs have: the reference if no design gives one. Absent without a majority.
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

/// One end: the MTU it has and should have, where known, and the packets it dropped as too long.
struct MtuEnd {
  std::string name;
  finding::Where where;
  const Counts& counts;
  std::string_view dropped_id;
  std::optional<Bytes> found;
  std::optional<Bytes> wanted;
  std::optional<Bytes> active;  // of RDMA
};

void look_at_mtu(const MtuEnd& end, std::vector<Consequence> explains, Suspicions& out) {
  const bool is_small = end.found && end.wanted && *end.found < *end.wanted;
  const std::uint64_t dropped = end.counts.of(end.dropped_id).value_or(0);
  if (!is_small && dropped == 0) return;
  const std::string drops = fmt::format("dropped {} packets as too long", dropped);
  Suspicion mismatch{
      .id = "mtu.mismatch",
      .verdict =
          is_small
              ? fmt::format("{} has MTU {} instead of {}{}.", end.name, in_bytes(*end.found),
                            in_bytes(*end.wanted), dropped > 0 ? " and " + drops : std::string())
              : fmt::format("{} {}: its MTU is smaller than the senders'.", end.name, drops),
      .where = end.where,
      .confidence = is_small ? finding::Confidence::kCertain : finding::Confidence::kHigh,
      .explains = std::move(explains)};
  if (is_small) {
    mismatch.evidence.push_back(fact_line(
        end.name,
        fmt::format("MTU: expected {}, found {}", in_bytes(*end.wanted), in_bytes(*end.found))));
    if (end.active) {
      mismatch.evidence.push_back(
          fact_line(end.name, fmt::format("active RDMA MTU: {}", in_bytes(*end.active))));
    }
  }
  if (dropped > 0) mismatch.evidence.push_back(end.counts.line(end.dropped_id));
  out.add(std::move(mismatch));
}

std::optional<Bytes> known_mtu(const evidence::Fact<Bytes>& fact) {
  return fact.is_known() ? std::optional(*fact) : std::nullopt;
}

}  // namespace

void look_for_mtu(const View& view, Suspicions& out) {
  const std::optional<Bytes> usual = usual_mtu(view);
  for (const NicView& nic : view.nics()) {
    MtuEnd end{name_of(nic), nic.where(), nic.counts, "nic.port.rx_oversize.packets"};
    end.wanted = nic.wanted != nullptr ? std::optional(nic.wanted->mtu) : usual;
    if (nic.facts != nullptr) {
      end.found = known_mtu(nic.facts->link.mtu);
      end.active = known_mtu(nic.facts->link.active_mtu);
    }
    look_at_mtu(end, congestion_anywhere({"receiver.slow"}), out);
  }
  for (const PortView& port : view.ports()) {
    MtuEnd end{name_of(port), port.where(), port.counts, "switch.port.drop_mtu.packets"};
    if (port.wanted != nullptr) end.wanted = port.wanted->mtu;
    if (port.facts != nullptr) end.found = known_mtu(port.facts->mtu);
    look_at_mtu(end, congestion_anywhere(), out);
  }
}

}  // namespace weir::diagnose
