#include "wire/join.h"

#include <algorithm>

namespace weir::wire {
namespace {

constexpr std::uint8_t kNotEct = 0;
constexpr std::uint8_t kCe = 3;

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value;
  hash *= 0x9E3779B97F4A7C15ULL;
  return hash ^ (hash >> 29U);
}

std::uint64_t identity_of(const Packet& packet, std::uint32_t flow) {
  std::uint64_t hash = mix(flow, (std::uint64_t{packet.opcode} << 32U) | packet.psn);
  hash = mix(hash, (std::uint64_t{packet.ip_id} << 32U) | packet.icrc);
  return mix(hash, (std::uint64_t{packet.syndrome} << 32U) | packet.payload);
}

}  // namespace

int JoinedFlow::upstream() const {
  if (higher_ttl_first > higher_ttl_second) return 0;
  if (higher_ttl_second > higher_ttl_first) return 1;
  if (ce_only[1] > ce_only[0]) return 0;
  if (ce_only[0] > ce_only[1]) return 1;
  if (only[0] > 0 && only[1] == 0) return 0;
  if (only[1] > 0 && only[0] == 0) return 1;
  return -1;
}

Join::Join(std::size_t window, std::size_t most_flows) : window_(window), most_flows_(most_flows) {}

int Join::wants(std::array<std::int64_t, 2> next) const {
  if (!has_offset_) return sides_[0].fed <= sides_[1].fed ? 0 : 1;
  return next[0] - offset_ns_ <= next[1] ? 0 : 1;
}

std::uint32_t Join::flow_of(const Packet& packet) {
  const FlowKey key{packet.source, packet.destination, packet.destination_qp};
  const auto found = index_.find(key);
  if (found != index_.end()) return found->second;
  if (flows_.size() >= most_flows_) return kNoFlow;
  const auto index = static_cast<std::uint32_t>(flows_.size());
  flows_.emplace_back().key = key;
  index_.emplace(key, index);
  return index;
}

void Join::matched(const Waiting& first, const Waiting& second) {
  JoinedFlow& flow = flows_[first.flow];
  if (flow.matched == 0) flow.first_match = {first.time_ns, second.time_ns};
  flow.last_match = {first.time_ns, second.time_ns};
  ++flow.matched;
  if (!has_offset_) {
    has_offset_ = true;
    offset_ns_ = first.time_ns - second.time_ns;
  }
  flow.higher_ttl_first += first.ttl > second.ttl ? 1 : 0;
  flow.higher_ttl_second += second.ttl > first.ttl ? 1 : 0;
  if (first.tos >> 2U != second.tos >> 2U) {
    ++flow.remarked;
    flow.dscp_first = static_cast<std::uint8_t>(first.tos >> 2U);
    flow.dscp_second = static_cast<std::uint8_t>(second.tos >> 2U);
  }
  const auto a = static_cast<std::uint8_t>(first.tos & 3U);
  const auto b = static_cast<std::uint8_t>(second.tos & 3U);
  if (a == b) return;
  if (a == kNotEct || b == kNotEct)
    ++flow.ecn_erased;
  else if (a == kCe)
    ++flow.ce_only[0];
  else if (b == kCe)
    ++flow.ce_only[1];
}

void Join::settle(int side, const Waiting& waiting, bool is_last) {
  JoinedFlow& flow = flows_[waiting.flow];
  const auto s = static_cast<std::size_t>(side);
  if (flow.matched > 0 && waiting.time_ns >= flow.first_match[s] &&
      waiting.time_ns <= flow.last_match[s])
    ++flow.only[s];
  else if (!is_last)
    ++totals_.undecided;
}

/// Out of the index, not out of the window. REQUIRES: there is one.
Join::Waiting& Join::Side::take_first(std::uint64_t identity) {
  const auto found = index.find(identity);
  Waiting& first = at(found->second.first);
  if (first.next == 0)
    index.erase(found);
  else
    found->second.first = first.next;
  return first;
}

/// Takes the oldest packet of a side out of the window.
void Join::retire(int side) {
  Side& from = sides_[static_cast<std::size_t>(side)];
  const Waiting waiting = from.waiting.front();
  if (!waiting.is_matched) {
    from.take_first(waiting.identity);  // the oldest of the window is the oldest of its kind
    settle(side, waiting, false);
  }
  from.waiting.pop_front();
  ++from.front;
}

void Join::add(int side, std::int64_t time_ns, const Packet& packet) {
  Side& here = sides_[static_cast<std::size_t>(side)];
  Side& there = sides_[static_cast<std::size_t>(1 - side)];
  ++here.fed;
  if (packet.kind != PacketKind::kRoceV2 && packet.kind != PacketKind::kRoceV1) return;
  if (packet.is_cut) return;
  const std::uint32_t flow = flow_of(packet);
  if (flow == kNoFlow) {
    ++totals_.undecided;
    return;
  }
  const Waiting waiting{identity_of(packet, flow), time_ns, 0, flow, packet.tos, packet.ttl, false};
  if (there.index.contains(waiting.identity)) {
    Waiting& other = there.take_first(waiting.identity);
    other.is_matched = true;
    side == 0 ? matched(waiting, other) : matched(other, waiting);
    return;
  }
  const std::uint64_t place = here.front + here.waiting.size();
  const auto [alike, is_first] = here.index.try_emplace(waiting.identity, Alike{place, place});
  if (!is_first) {
    here.at(alike->second.last).next = place;
    alike->second.last = place;
  }
  here.waiting.push_back(waiting);
  if (here.waiting.size() > window_) retire(side);
}

void Join::finish() {
  for (const int side : {0, 1})
    for (const Waiting& waiting : sides_[static_cast<std::size_t>(side)].waiting)
      if (!waiting.is_matched) settle(side, waiting, true);
  for (const JoinedFlow& flow : flows_) {
    totals_.matched += flow.matched;
    totals_.remarked += flow.remarked;
    totals_.ecn_erased += flow.ecn_erased;
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
      totals_.only[side] += flow.only[side];
      totals_.ce_only[side] += flow.ce_only[side];
    }
    if (const int side = flow.upstream(); side >= 0)
      totals_.lost += flow.only[static_cast<std::size_t>(side)];
  }
}

}  // namespace weir::wire
