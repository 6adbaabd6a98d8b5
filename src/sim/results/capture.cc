#include "sim/results/capture.h"

#include <algorithm>
#include <array>

#include <arpa/inet.h>
#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"

namespace weir::sim {
namespace {

constexpr std::uint32_t kFirstQp = 0x100;  // below it are the QPs of management
constexpr std::int64_t kFcs = 4;
constexpr std::uint16_t kIdStep = 3;       // a reader sees at once that it does not follow the PSN
constexpr std::uint8_t kNoCredits = 0x1F;  // AETH: the receiver does not limit by credits
constexpr std::uint8_t kNakSequence = 0x60;
constexpr std::uint8_t kRnrTimer = 0x20 | 14;  // 1 ms, the minimum timer that NICs are set to

std::uint64_t mac_of(NodeId node) {
  return 0x02'57'00'000000ULL + to_index(node);  // locally administered
}

/// The two QPs of a connection: the target's, where data goes, and the source's.
std::uint32_t target_qp(QpId qp) {
  return kFirstQp + 2 * to_index(qp);
}
std::uint32_t source_qp(QpId qp) {
  return kFirstQp + 2 * to_index(qp) + 1;
}

wire::Address parse_address(const std::string& with_prefix) {
  const std::string text = with_prefix.substr(0, with_prefix.find('/'));
  std::array<std::uint8_t, 16> bytes{};
  if (inet_pton(AF_INET, text.c_str(), bytes.data()) == 1)
    return wire::ipv4_address((std::uint32_t{bytes[0]} << 24U) | (std::uint32_t{bytes[1]} << 16U) |
                              (std::uint32_t{bytes[2]} << 8U) | bytes[3]);
  if (inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) return wire::ipv6_address(bytes.data());
  return wire::ipv4_address(0);
}

bool goes_to_target(const Packet& packet) {
  return packet.kind == PacketKind::kData || packet.kind == PacketKind::kDatagram;
}

}  // namespace

Result<PortPlace> find_port(const design::Intent& intent, std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view node = text.substr(0, colon);
  const std::string_view rest = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  std::vector<std::string> names;
  std::uint32_t index = 0;
  for (const design::HostIntent& host : intent.hosts)
    for (std::size_t rail = 0; rail < host.nics.size(); ++rail, ++index) {
      if (host.name == node && (rest.empty() || rest == host.nics[rail].device))
        return PortPlace{NodeId{index}, 0};
      if (rail == 0) names.push_back(host.name);
      names.push_back(fmt::format("{}:{}", host.name, host.nics[rail].device));
    }
  for (const design::SwitchIntent& sw : intent.switches) {
    for (std::size_t port = 0; port < sw.ports.size(); ++port) {
      if (sw.name == node && sw.ports[port].name == rest)
        return PortPlace{NodeId{index}, static_cast<std::uint32_t>(port)};
      names.push_back(fmt::format("{}:{}", sw.name, sw.ports[port].name));
    }
    ++index;
  }
  return not_found_error(
      fmt::format("no port '{}' in the design; a port is HOST, HOST:DEVICE or SWITCH:PORT, as {}{}",
                  text, names.empty() ? "gpu01" : names.back(), did_you_mean(text, names)));
}

CaptureTap::CaptureTap(wire::CaptureWriter writer, PortPlace place, const design::Intent& intent)
    : writer_(std::move(writer)), place_(place) {
  for (const design::HostIntent& host : intent.hosts)
    for (const design::NicIntent& nic : host.nics) {
      addresses_.push_back(parse_address(nic.address));
      vlans_.push_back(nic.vlan);
    }
}

void CaptureTap::watch(const Sim& sim) {
  sim_ = &sim;
  const Network& network = sim.network();
  port_ = sim.port_of(place_.node, place_.local);
  // Local ports count a node's links in their order.
  Table<NodeId, std::uint32_t> next(network.nodes.size(), 0);
  for (const Link& link : network.links) {
    const PortId a = sim.port_of(link.a, next[link.a]++);
    const PortId b = sim.port_of(link.b, next[link.b]++);
    if (a != port_ && b != port_) continue;
    peer_ = a == port_ ? b : a;
    rate_ = link.rate;
    propagation_ = link.propagation;
  }
  WEIR_CHECK(peer_ != kNo<PortId>);
  const Node& node = network.nodes[place_.node];
  reaction_ = node.kind == NodeKind::kNic ? network.nics[node.config].pfc_reaction
                                          : network.switches[node.config].pfc_reaction;
  messages_.resize(network.qps.size());
  ids_.resize(network.qps.size());
  counters_.resize(addresses_.size());
}

void CaptureTap::on_pause(Ps /*at*/, PortId /*port*/, std::uint8_t /*pause*/,
                          std::uint8_t /*resume*/) {}

void CaptureTap::number(PortId port, const Packet& packet) {
  const NodeId node = sim_->node_of(port);
  if (packet.kind != PacketKind::kData || !counters_.contains(node)) return;
  std::vector<std::uint16_t>& ids = ids_[packet.qp];
  if (ids.empty()) ids.resize(kIds);
  counters_[node] = static_cast<std::uint16_t>(counters_[node] + kIdStep);
  ids[packet.psn % kIds] = counters_[node];
}

void CaptureTap::on_frame(Ps at, PortId port, const Packet& packet) {
  number(port, packet);
  if (port != port_ && port != peer_) return;
  write_before(at);
  if (port == port_) {
    const auto later = std::find_if(pending_.begin(), pending_.end(),
                                    [&](const Pending& frame) { return frame.at > at; });
    pending_.insert(later, {at, at, true, packet});
    return;
  }
  const Bytes on_wire = Bytes::raw(packet.size + sim_->network().wire.gap);
  const Ps last_bit = at + (serialization_time(on_wire, rate_) + propagation_).raw();
  const Ps reaction = packet.kind == PacketKind::kPfc ? reaction_.raw() : 0;
  pending_.push_back({last_bit, last_bit + reaction, false, packet});
}

void CaptureTap::on_drop(Ps at, PortId port, const Packet& packet, DropReason reason) {
  if (port != port_) return;
  write_before(at);
  if (reason != DropReason::kBitError && reason != DropReason::kLinkDown) return;
  const auto lost = std::find_if(pending_.begin(), pending_.end(), [&](const Pending& frame) {
    return !frame.is_sent && frame.packet.kind == packet.kind && frame.packet.qp == packet.qp &&
           frame.packet.psn == packet.psn && frame.packet.dst == packet.dst;
  });
  if (lost != pending_.end()) pending_.erase(lost);
}

/// Strictly before: what arrives now may yet turn out to be broken.
void CaptureTap::write_before(Ps at) {
  while (!pending_.empty() && pending_.front().at < at) {
    const Pending frame = pending_.front();
    pending_.pop_front();
    write(frame.at, frame.packet, frame.is_sent);
  }
}

Status CaptureTap::close() {
  for (const Pending& frame : pending_)
    if (frame.counted <= sim_->now()) write(frame.at, frame.packet, frame.is_sent);
  return writer_.close();
}

void CaptureTap::write(Ps at, const Packet& packet, bool is_sent) {
  frame_.clear();
  if (packet.kind == PacketKind::kPfc)
    write_pause(packet, is_sent);
  else if ((packet.flags & kFlagSocket) != 0 || packet.kind == PacketKind::kDatagram)
    write_socket(packet);
  else
    write_roce(packet);
  writer_.add(at / 1000, frame_);
}

void CaptureTap::write_pause(const Packet& packet, bool is_sent) {
  const auto pause = static_cast<std::uint8_t>(packet.aux);
  const auto resume = static_cast<std::uint8_t>(packet.aux >> 8U);
  std::array<std::uint16_t, 8> quanta{};
  for (std::size_t i = 0; i < quanta.size(); ++i)
    if (((pause >> i) & 1U) != 0) quanta[i] = static_cast<std::uint16_t>(packet.psn);
  const NodeId node = sim_->node_of(is_sent ? port_ : peer_);
  wire::encode_pfc(mac_of(node), static_cast<std::uint8_t>(pause | resume), quanta, frame_);
}

NodeId CaptureTap::sender_of(const Packet& packet) const {
  const QueuePair& qp = sim_->network().qps[packet.qp];
  return goes_to_target(packet) ? qp.source : qp.target;
}

std::vector<wire::VlanTag> CaptureTap::tags(const Packet& packet, NodeId from) const {
  if (vlans_[from] == 0) return {};
  const Network& network = sim_->network();
  const NicConfig& nic = network.nic_config(from);
  wire::VlanTag tag;
  tag.id = static_cast<std::uint16_t>(vlans_[from]);
  tag.pcp = nic.dscp_to_priority[packet.tos >> 2U];
  return {tag};
}

void CaptureTap::write_socket(const Packet& packet) {
  const NodeId from = sender_of(packet);
  const QueuePair& qp = sim_->network().qps[packet.qp];
  const std::int64_t mtu = sim_->network().nic_config(from).mtu.raw();
  wire::TcpFrame frame;
  frame.source_mac = mac_of(from);
  frame.destination_mac = mac_of(packet.dst);
  frame.tags = tags(packet, from);
  frame.source = addresses_[from];
  frame.destination = addresses_[packet.dst];
  frame.tos = packet.tos;
  frame.ttl = packet.ttl;
  constexpr std::uint16_t kServer = 5201;
  const bool forward = goes_to_target(packet);
  frame.source_port = forward ? qp.source_port : kServer;
  frame.destination_port = forward ? kServer : qp.source_port;
  const auto number = static_cast<std::uint32_t>(std::int64_t{packet.psn} * mtu);
  (forward ? frame.sequence : frame.acknowledged) = number;
  frame.payload = goes_to_target(packet) ? packet.payload : 0;
  const std::int64_t headers = 14 + 4 * static_cast<std::int64_t>(frame.tags.size()) +
                               (frame.source.is_ipv4() ? 20 : 40) + 20;
  const std::int64_t options = packet.size - kFcs - headers - frame.payload;
  frame.option_bytes = static_cast<std::uint8_t>(std::clamp<std::int64_t>(options / 4 * 4, 0, 40));
  wire::encode_tcp(frame, frame_);
}

void CaptureTap::read_messages() {
  const auto all = sim_->messages();
  for (const MessageId m : IdRange<MessageId>(messages_read_, all.end_id()))
    messages_[all[m].qp].push_back(m);
  messages_read_ = all.end_id();
}

/// How many messages of the QP end before `psn`: those that an ACK of it completes.
std::uint32_t CaptureTap::messages_before(const Packet& packet) {
  read_messages();
  const std::vector<MessageId>& list = messages_[packet.qp];
  const auto end = std::partition_point(list.begin(), list.end(), [&](MessageId index) {
    const MessageRecord& message = sim_->messages()[index];
    return message.end_psn() <= packet.psn;
  });
  return static_cast<std::uint32_t>(end - list.begin());
}

const MessageRecord* CaptureTap::message_of(const Packet& packet) {
  const std::uint32_t place = messages_before(packet);
  const std::vector<MessageId>& list = messages_[packet.qp];
  return place < list.size() ? &sim_->messages()[list[place]] : nullptr;
}

void CaptureTap::set_data(const Packet& packet, wire::RoceFrame& frame) {
  const bool first = (packet.flags & kFlagFirst) != 0;
  const bool last = (packet.flags & kFlagLast) != 0;
  // Offsets of first, middle, last and only within an operation's opcodes.
  const auto part = [&](std::uint8_t base, std::uint8_t only) {
    if (first && last) return only;
    return static_cast<std::uint8_t>(base + (first ? 0 : last ? 2 : 1));
  };
  switch (sim_->network().qps[packet.qp].operation) {
    case Operation::kSend: frame.opcode = part(0, 4); break;
    case Operation::kWrite: frame.opcode = part(6, 10); break;
    case Operation::kRead: frame.opcode = part(13, 16); break;
  }
  frame.payload = packet.payload;
  frame.ack_request = (packet.flags & (kFlagLast | kFlagAckRequest)) != 0 &&
                      sim_->network().qps[packet.qp].operation != Operation::kRead;
  frame.syndrome = kNoCredits;
  if (const MessageRecord* message = message_of(packet); message != nullptr) {
    frame.dma_length = static_cast<std::uint32_t>(message->size);
    frame.msn = messages_before(packet) + 1;
  }
}

void CaptureTap::write_roce(const Packet& packet) {
  const NodeId from = sender_of(packet);
  const QueuePair& qp = sim_->network().qps[packet.qp];
  wire::RoceFrame frame;
  frame.source_mac = mac_of(from);
  frame.destination_mac = mac_of(packet.dst);
  frame.tags = tags(packet, from);
  frame.source = addresses_[from];
  frame.destination = addresses_[packet.dst];
  frame.tos = packet.tos;
  frame.ttl = packet.ttl;
  frame.source_port = qp.source_port;
  frame.destination_qp = goes_to_target(packet) ? target_qp(packet.qp) : source_qp(packet.qp);
  frame.psn = packet.psn & wire::kPsnMask;
  frame.rkey = to_index(packet.qp) + 1;
  switch (packet.kind) {
    case PacketKind::kData: set_data(packet, frame); break;
    case PacketKind::kAck:  // the engine names the next one expected, the wire the last one had
      frame.opcode = 17;
      frame.syndrome = kNoCredits;
      frame.msn = messages_before(packet);
      frame.psn = (packet.psn - 1) & wire::kPsnMask;
      break;
    case PacketKind::kNak:
    case PacketKind::kRnr:
      frame.opcode = 17;
      frame.syndrome = packet.kind == PacketKind::kNak ? kNakSequence : kRnrTimer;
      frame.msn = messages_before(packet);
      break;
    case PacketKind::kReadRequest:
      frame.opcode = 12;
      frame.ack_request = true;
      if (const MessageRecord* message = message_of(packet); message != nullptr) {
        const Network& network = sim_->network();
        const std::int64_t mtu = network.nics[network.nodes[qp.source].config].mtu.raw();
        frame.dma_length = static_cast<std::uint32_t>(
            message->size - std::int64_t{packet.psn - message->first_psn} * mtu);
      }
      break;
    case PacketKind::kCnp:
      frame.opcode = wire::kCnpOpcode;
      frame.becn = true;
      frame.psn = 0;
      break;
    case PacketKind::kPfc:
    case PacketKind::kDatagram: WEIR_UNREACHABLE("not RoCE");
  }
  if (packet.kind == PacketKind::kData && !ids_[packet.qp].empty())
    frame.ip_id = ids_[packet.qp][packet.psn % kIds];
  wire::encode(frame, frame_);
}

}  // namespace weir::sim
