#include "wire/analysis.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/check.h"

namespace weir::wire {
namespace {

constexpr std::uint16_t kMostSearches = 512;
constexpr std::uint16_t kVotesNeeded = 3;
constexpr int kLongestPairChain = 64;
constexpr std::int64_t kCopyNs = 1000;  // no NAK comes back and is answered in less
constexpr std::int64_t kNotMeasured = std::numeric_limits<std::int64_t>::min();

std::uint64_t mix(std::uint64_t value) {  // finaliser of MurmurHash3
  value ^= value >> 33U;
  value *= 0xFF51AFD7ED558CCDULL;
  value ^= value >> 33U;
  value *= 0xC4CEB9FE1A85EC53ULL;
  return value ^ (value >> 33U);
}

std::uint64_t hash_pair(const Address& from, const Address& to) {
  return mix(from.low * 3 + mix(to.low + mix(from.high + to.high * 5)));
}

std::uint64_t hash_key(const FlowKey& key) {
  return mix(key.qp + hash_pair(key.source, key.destination));
}

/// Numbers that a READ of `bytes` takes, if a packet holds `mtu`.
std::uint32_t packets_of(std::uint32_t bytes, std::uint32_t mtu) {
  return std::max<std::uint32_t>(1, bytes / mtu + (bytes % mtu != 0 ? 1 : 0));
}

}  // namespace

void TosTally::add(std::uint8_t tos) {
  for (std::size_t i = 0; i < used_; ++i)
    if (entries_[i].tos == tos) {
      ++entries_[i].packets;
      return;
    }
  if (used_ < entries_.size())
    entries_[used_++] = {tos, 1};
  else
    ++others_;
}

std::optional<std::uint8_t> TosTally::dscp() const {
  std::optional<std::uint8_t> best;
  std::uint64_t most = 0;
  for (const Entry& entry : entries()) {
    std::uint64_t sum = 0;
    for (const Entry& other : entries())
      if (other.tos >> 2U == entry.tos >> 2U) sum += other.packets;
    if (sum > most) {
      most = sum;
      best = static_cast<std::uint8_t>(entry.tos >> 2U);
    }
  }
  return best;
}

std::uint64_t TosTally::with_ecn(std::uint8_t ecn) const {
  std::uint64_t sum = 0;
  for (const Entry& entry : entries())
    if ((entry.tos & 3U) == ecn) sum += entry.packets;
  return sum;
}

void Naks::add(std::uint8_t syndrome) {
  const Syndrome kind = syndrome_kind(syndrome);
  if (kind == Syndrome::kRnr) ++rnr;
  if (kind != Syndrome::kNak) return;
  switch (syndrome_value(syndrome)) {
    case kNakSequence: ++sequence; break;
    case kNakInvalidRequest: ++invalid_request; break;
    case kNakRemoteAccess: ++remote_access; break;
    case kNakRemoteOperation: ++remote_operation; break;
    default: ++reserved; break;
  }
}

Moment& Moment::operator+=(const Moment& other) {
  packets += other.packets;
  bytes += other.bytes;
  ce += other.ce;
  cnps += other.cnps;
  repeats += other.repeats;
  pauses += other.pauses;
  return *this;
}

std::uint64_t Totals::tos_packets(std::uint8_t tos_byte) const {
  std::uint64_t sum = 0;
  for (const auto& role : tos)
    sum += role[tos_byte];
  return sum;
}

Analysis::Analysis(std::size_t most_flows)
    : most_flows_(std::max<std::size_t>(most_flows, 1)),
      slots_(std::bit_ceil(most_flows_ * 2), kNoFlow),
      pair_slots_(slots_.size(), kNoFlow) {}

void Analysis::add(const Record& record) {
  WEIR_CHECK(!is_finished_);
  if (totals_.packets == 0) {
    totals_.first_ns = record.time_ns;
    totals_.last_ns = record.time_ns;
  } else if (record.time_ns < totals_.last_ns) {
    ++totals_.unordered_time;
  }
  totals_.last_ns = std::max(totals_.last_ns, record.time_ns);
  ++totals_.packets;
  totals_.bytes += record.original;
  decode(record, packet_);
  const std::int64_t offset = record.time_ns - totals_.first_ns;
  switch (packet_.kind) {
    case PacketKind::kRoceV1:
    case PacketKind::kRoceV2: roce(record, packet_, offset); break;
    case PacketKind::kPfc:
    case PacketKind::kPause: pause_frame(packet_, offset); break;
    case PacketKind::kOther: break;
  }
}

void Analysis::pause_frame(const Packet& packet, std::int64_t offset) {
  const bool is_pfc = packet.kind == PacketKind::kPfc;
  ++(is_pfc ? totals_.pfc : totals_.pause);
  ++totals_.over_time.at(offset).pauses;
  auto from =
      std::find_if(totals_.pausers.begin(), totals_.pausers.end(),
                   [&](const PauseSource& source) { return source.mac == packet.source_mac; });
  if (from == totals_.pausers.end()) {
    if (totals_.pausers.size() >= kMostPausers) return;
    from = totals_.pausers.insert(from, PauseSource{packet.source_mac});
  }
  ++(is_pfc ? from->pfc : from->pause);
  for (std::size_t i = 0; is_pfc && i < 8; ++i) {
    if (((packet.pause_classes >> i) & 1U) == 0) continue;
    ++(packet.quanta[i] != 0 ? from->xoff[i] : from->xon[i]);
    from->quanta[i] += packet.quanta[i];
  }
}

void Analysis::roce(const Record& record, const Packet& packet, std::int64_t offset) {
  if (packet.is_cut) {
    ++totals_.cut;
    return;
  }
  const Opcode& code = opcode(packet.opcode);
  const auto role = static_cast<std::size_t>(code.role);
  const bool is_ce = (packet.tos & 3U) == 3;
  ++totals_.roce_packets;
  totals_.roce_bytes += record.original;
  totals_.roce_v1 += packet.kind == PacketKind::kRoceV1 ? 1 : 0;
  totals_.tunnelled += packet.is_tunnelled ? 1 : 0;
  totals_.vlan_tagged += packet.vlan_tags > 0 ? 1 : 0;
  totals_.ipv6 += packet.source.is_ipv4() ? 0 : 1;
  totals_.malformed += packet.is_malformed ? 1 : 0;
  ++totals_.opcodes[packet.opcode];
  ++totals_.tos[role][packet.tos];
  totals_.ce += is_ce ? 1 : 0;
  if (code.role == Role::kData) {
    totals_.payload += packet.payload;
    totals_.padding += packet.pad;
  }
  switch (packet.icrc_state) {
    case IcrcState::kGood: ++totals_.icrc_good; break;
    case IcrcState::kBad: ++totals_.icrc_bad; break;
    case IcrcState::kNotVerifiable: ++totals_.icrc_unverified; break;
  }
  if (code.verb == Verb::kAck && packet.has_extended) {
    totals_.acks += syndrome_kind(packet.syndrome) == Syndrome::kAck ? 1 : 0;
    totals_.naks.add(packet.syndrome);
  }
  Moment& moment = totals_.over_time.at(offset);
  ++moment.packets;
  moment.bytes += record.original;
  moment.ce += is_ce ? 1 : 0;
  moment.cnps += code.role == Role::kCnp ? 1 : 0;

  const std::uint32_t index = find_flow(packet);
  if (index == kNoFlow) {
    ++totals_.flow_overflow;
    return;
  }
  account(flows_[index], record, packet, offset);
  // Numbers of a packet whose ICRC is wrong may be wrong as well: its receiver drops it too.
  if (packet.icrc_state == IcrcState::kBad || packet.is_malformed) return;
  if (!sequence(index, record, packet)) ++totals_.over_time.at(offset).repeats;
}

std::uint32_t Analysis::find_flow(const Packet& packet) {
  const FlowKey key{packet.source, packet.destination, packet.destination_qp};
  if (last_flow_ != kNoFlow && flows_[last_flow_].key == key) return last_flow_;
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash_key(key) & mask;
  while (slots_[slot] != kNoFlow) {
    if (flows_[slots_[slot]].key == key) return last_flow_ = slots_[slot];
    slot = (slot + 1) & mask;
  }
  if (flows_.size() >= most_flows_) return kNoFlow;
  return last_flow_ = add_flow(key, slot, packet);
}

std::uint32_t Analysis::add_flow(const FlowKey& key, std::size_t slot, const Packet& packet) {
  const auto index = static_cast<std::uint32_t>(flows_.size());
  slots_[slot] = index;
  Flow& flow = flows_.emplace_back();
  flow.key = key;
  flow.is_v1 = packet.kind == PacketKind::kRoceV1;
  flow.source_port = packet.source_port;
  flow.vlan = packet.vlan;
  flow.pcp = packet.pcp;
  flow.ip_id = packet.ip_id;
  flow.ip_id_over_psn = static_cast<std::uint16_t>(packet.ip_id - packet.psn);
  const std::size_t mask = pair_slots_.size() - 1;
  std::size_t at = hash_pair(key.source, key.destination) & mask;
  while (pair_slots_[at] != kNoFlow) {
    const Flow& other = flows_[pair_slots_[at]];
    if (other.key.source == key.source && other.key.destination == key.destination) break;
    at = (at + 1) & mask;
  }
  flow.next_same_pair = pair_slots_[at];
  pair_slots_[at] = index;
  return index;
}

std::uint32_t Analysis::first_of_pair(const Address& from, const Address& to) const {
  const std::size_t mask = pair_slots_.size() - 1;
  std::size_t at = hash_pair(from, to) & mask;
  while (pair_slots_[at] != kNoFlow) {
    const Flow& flow = flows_[pair_slots_[at]];
    if (flow.key.source == from && flow.key.destination == to) return pair_slots_[at];
    at = (at + 1) & mask;
  }
  return kNoFlow;
}

void Analysis::account(Flow& flow, const Record& record, const Packet& packet,
                       std::int64_t offset) {
  const Opcode& code = opcode(packet.opcode);
  const auto role = static_cast<std::size_t>(code.role);
  if (flow.packets == 0) flow.first_ns = record.time_ns;
  if (code.role != Role::kCnp && code.transport != Transport::kUnknown &&
      (flow.transport == Transport::kUnknown || flow.transport == Transport::kCnp))
    flow.transport = code.transport;
  if (code.role == Role::kCnp && flow.transport == Transport::kUnknown)
    flow.transport = Transport::kCnp;
  // CNPs have a source port of their own on some NICs.
  if (code.role != Role::kCnp) {
    if (flow.by_role[0] + flow.by_role[1] == 0) flow.source_port = packet.source_port;
    flow.ports_vary = flow.ports_vary || packet.source_port != flow.source_port;
  }
  flow.ip_id_varies = flow.ip_id_varies || packet.ip_id != flow.ip_id;
  flow.ip_id_is_free = flow.ip_id_is_free ||
                       static_cast<std::uint16_t>(packet.ip_id - packet.psn) != flow.ip_id_over_psn;
  flow.last_ns = record.time_ns;
  ++flow.packets;
  flow.bytes += record.original;
  ++flow.by_role[role];
  flow.tos[role].add(packet.tos);
  flow.ce += (packet.tos & 3U) == 3 ? 1 : 0;
  flow.becn += packet.becn ? 1 : 0;
  if (code.role == Role::kData) flow.payload += packet.payload;
  if (code.verb == Verb::kAck && packet.has_extended) {
    flow.acks += syndrome_kind(packet.syndrome) == Syndrome::kAck ? 1 : 0;
    flow.naks.add(packet.syndrome);
  }
  flow.icrc_bad += packet.icrc_state == IcrcState::kBad ? 1 : 0;
  flow.bytes_over_time.at(offset) += record.original;
}

/// A sender that counts its packets in the IPv4 identification says which of two left first. One
/// that leaves it constant, or derives it from the PSN, says nothing.
Age Analysis::age_of(const Flow& flow, const Packet& packet) {
  if (!flow.ip_id_varies || !flow.ip_id_is_free) return Age::kNotKnown;
  const auto ahead = static_cast<std::int16_t>(packet.ip_id - flow.newest_ip_id);
  return ahead > 0 ? Age::kRepetition : Age::kOriginal;
}

/// The same packet a second time: not sent again, but captured at two places (a mirror of both
/// directions of a port, two interfaces) or doubled on the way.
bool Analysis::is_copy(const Flow& flow, const Record& record, const Packet& packet) const {
  if (packet.icrc_state != IcrcState::kGood) return false;
  const Flow::Recent& earlier = flow.recent[packet.psn % Flow::kRecent];
  if (earlier.psn != packet.psn || earlier.icrc != packet.icrc || earlier.ip_id != packet.ip_id)
    return false;
  if (earlier.ttl != packet.ttl || earlier.interface != record.interface) return true;
  if (record.time_ns - earlier.at_ns < kCopyNs) return true;
  return flow.ip_id_varies && flow.ip_id_is_free;  // a NIC that numbers every packet it sends
}

/// False: a packet that came again.
bool Analysis::sequence(std::uint32_t index, const Record& record, const Packet& packet) {
  const Opcode& code = opcode(packet.opcode);
  Flow& flow = flows_[index];
  if (code.role == Role::kCnp || code.transport == Transport::kUnknown) return true;
  if (code.transport == Transport::kUd || code.transport == Transport::kRd) {
    // Numbers of a datagram QP run over all its destinations: they say nothing about one of them.
    message(flow, packet, code);
    return true;
  }
  if (is_copy(flow, record, packet)) {
    ++flow.duplicates;
    return true;
  }
  flow.recent[packet.psn % Flow::kRecent] = {packet.psn,       packet.icrc,  record.time_ns,
                                             record.interface, packet.ip_id, packet.ttl};
  const std::uint64_t before = flow.retransmitted();
  if (code.is_response)
    response(index, record, packet, code);
  else
    request(index, record, packet, code);
  return flows_[index].retransmitted() == before;
}

void Analysis::request(std::uint32_t index, const Record& record, const Packet& packet,
                       const Opcode& code) {
  Flow& flow = flows_[index];
  bool may_jump = false;
  if (flow.read_is_open && flow.requests.has_started()) {
    // The path MTU is not on the wire: any of the five may explain the step over a READ.
    const std::int32_t step = psn_difference(packet.psn, flow.read_psn);
    for (std::uint32_t mtu = 256; mtu <= 4096 && step > 0; mtu *= 2)
      may_jump = may_jump || packets_of(flow.read_bytes, mtu) == static_cast<std::uint32_t>(step);
  }
  const Arrival arrival = flow.requests.feed(packet.psn, 1, may_jump, age_of(flow, packet));
  const bool is_new = arrival != Arrival::kAgain && arrival != Arrival::kFill;
  if (is_new) flow.newest_ip_id = packet.ip_id;
  if (code.verb == Verb::kReadRequest && packet.has_extended) {
    flow.read_is_open = true;
    flow.read_psn = packet.psn;
    flow.read_bytes = packet.dma_length;
    if (!is_new && flow.other_way != kNoFlow)
      flows_[flow.other_way].responses.asked_again(packet.psn);
  } else if (is_new) {
    flow.read_is_open = false;
  }
  Flow::Sent& sent = flow.sent[packet.psn % Flow::kSent];
  sent.psn = packet.psn;
  sent.at_ns = is_new ? record.time_ns : kNotMeasured;  // which of the two was answered?
  if (is_new || arrival == Arrival::kFill) message(flow, packet, code);
}

void Analysis::response(std::uint32_t index, const Record& record, const Packet& packet,
                        const Opcode& code) {
  find_other_way(index, packet.psn);
  Flow& flow = flows_[index];
  Flow* asker = flow.other_way == kNoFlow ? nullptr : &flows_[flow.other_way];
  if (code.verb == Verb::kReadResponse) {
    // Other answers come between READs: only within one are the numbers without gaps.
    const bool starts = code.part == Part::kFirst || code.part == Part::kOnly;
    flow.responses.feed(packet.psn, 1, starts);
    if (starts && asker != nullptr) answered(*asker, packet.psn, record.time_ns);
    return;
  }
  if (asker == nullptr) return;
  if (code.verb == Verb::kAtomicAck || syndrome_kind(packet.syndrome) == Syndrome::kAck)
    answered(*asker, packet.psn, record.time_ns);
  else if (syndrome_kind(packet.syndrome) == Syndrome::kNak &&
           syndrome_value(packet.syndrome) == kNakSequence)
    asker->requests.asked_again(packet.psn);
}

void Analysis::message(Flow& flow, const Packet& packet, const Opcode& code) {
  const bool starts = code.part == Part::kFirst || code.part == Part::kOnly;
  const bool ends = code.part == Part::kLast || code.part == Part::kOnly;
  switch (code.verb) {
    case Verb::kWrite:
    case Verb::kReadRequest:
      if (starts && packet.has_extended) flow.message_bytes.add(packet.dma_length);
      break;
    case Verb::kSend:
      flow.message_so_far = (starts ? 0 : flow.message_so_far) + packet.payload;
      if (ends) flow.message_bytes.add(flow.message_so_far);
      break;
    case Verb::kReadResponse:
    case Verb::kAck:
    case Verb::kAtomicAck:
    case Verb::kCompareSwap:
    case Verb::kFetchAdd:
    case Verb::kResync:
    case Verb::kCnp:
    case Verb::kUnknown: break;
  }
}

void Analysis::answered(Flow& asker, std::uint32_t psn, std::int64_t at_ns) {
  Flow::Sent& sent = asker.sent[psn % Flow::kSent];
  if (sent.psn != psn) return;
  sent.psn = 0xFFFFFFFFU;
  if (sent.at_ns == kNotMeasured || at_ns < sent.at_ns) return;
  asker.ack_ns.add(static_cast<std::uint64_t>(at_ns - sent.at_ns));
}

void Analysis::find_other_way(std::uint32_t index, std::uint32_t psn) {
  Flow& flow = flows_[index];
  if (flow.other_way != kNoFlow || flow.searches >= kMostSearches) return;
  ++flow.searches;
  std::uint32_t found = kNoFlow;
  bool same_port = false;
  int matches = 0;
  int candidates = 0;
  const std::uint32_t first = first_of_pair(flow.key.destination, flow.key.source);
  int steps = 0;
  for (std::uint32_t at = first; at != kNoFlow && steps < kLongestPairChain; ++steps) {
    const Flow& other = flows_[at];
    const bool fits = other.other_way == kNoFlow && other.transport == flow.transport;
    candidates += fits && other.requests.has_started() ? 1 : 0;
    if (fits && other.sent[psn % Flow::kSent].psn == psn) {
      // The kernel derives the port from both QPs: the same both ways, unless another was chosen.
      const bool is_same = other.source_port == flow.source_port;
      if (is_same && !same_port) {
        same_port = true;
        matches = 0;
      }
      if (is_same == same_port) {
        found = at;
        ++matches;
      }
    }
    at = other.next_same_pair;
  }
  if (matches != 1) return;
  flow.votes = flow.candidate == found ? static_cast<std::uint16_t>(flow.votes + 1) : 1;
  flow.candidate = found;
  const bool is_alone = candidates == 1 && flow.next_same_pair == kNoFlow &&
                        first_of_pair(flow.key.source, flow.key.destination) == index;
  if (!is_alone && flow.votes < kVotesNeeded) return;
  flow.other_way = found;
  flows_[found].other_way = index;
}

void Analysis::finish() {
  WEIR_CHECK(!is_finished_);
  is_finished_ = true;
  for (Flow& flow : flows_) {
    flow.requests.finish();
    flow.responses.finish();
    totals_.duplicates += flow.duplicates;
    totals_.retransmitted += flow.retransmitted();
    totals_.out_of_order += flow.out_of_order();
    totals_.gaps += flow.gaps();
    totals_.lost += flow.lost();
    totals_.restarts += flow.requests.counts().restarts + flow.responses.counts().restarts;
    totals_.message_bytes += flow.message_bytes;
    totals_.ack_ns += flow.ack_ns;
  }
}

}  // namespace weir::wire
