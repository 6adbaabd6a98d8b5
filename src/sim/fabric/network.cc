#include "sim/fabric/network.h"

#include <algorithm>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "sim/engine/congestion_control.h"

namespace weir::sim {
namespace {

constexpr std::int64_t kLargestCell = 32768;  // real ones have about 200 B; SharedBuffer::charge_of

std::string name_of(const Network& network, NodeId node) {
  const std::string& name = network.nodes[node].name;
  return name.empty() ? fmt::format("node {}", to_index(node)) : name;
}

constexpr std::size_t kMostNodes = std::size_t{1} << 22U;
constexpr std::size_t kMostLinks = std::size_t{1} << 25U;  // events name ports in 27 bits
constexpr std::uint32_t kMostPorts = 0xFFFF;               // of one switch

Status check_nodes(const Network& network) {
  if (network.nodes.empty() || network.nodes.size() > kMostNodes)
    return invalid_error(fmt::format("a network of {} nodes; 1 to {} can be simulated",
                                     network.nodes.size(), kMostNodes));
  if (network.links.size() > kMostLinks)
    return invalid_error(fmt::format("a network of {} links; {} can be simulated",
                                     network.links.size(), kMostLinks));
  for (const NodeId n : network.nodes.ids()) {
    const Node& node = network.nodes[n];
    const std::size_t configs =
        node.kind == NodeKind::kSwitch ? network.switches.size() : network.nics.size();
    if (node.config >= configs)
      return invalid_error(fmt::format("{} has no configuration", name_of(network, n)));
  }
  return {};
}

/// Times of frames on the wire are kept in 32 bits of picoseconds. Designs begin at 1 Gb/s; a
/// calibrated host may be slower.
bool can_carry(const Network& network, BitRate rate) {
  if (rate.raw() <= 0) return false;
  Bytes largest = Bytes::raw(network.wire.data_header + network.wire.reth + network.wire.gap);
  for (const NicConfig& nic : network.nics)
    largest = std::max(largest, nic.mtu + Bytes::raw(network.wire.data_header + network.wire.reth +
                                                     network.wire.gap));
  return serialization_time(largest, rate).raw() <= std::int64_t{UINT32_MAX};
}

Status check_links(const Network& network) {
  Table<NodeId, std::uint32_t> links_of(network.nodes.size(), 0);
  for (const LinkId id : network.links.ids()) {
    const Link& link = network.links[id];
    const std::uint32_t l = to_index(id);
    if (!network.nodes.contains(link.a) || !network.nodes.contains(link.b) || link.a == link.b)
      return invalid_error(fmt::format("link {} does not join two nodes", l));
    if (!can_carry(network, link.rate))
      return invalid_error(fmt::format("link {} ({} - {}) is too slow: a frame takes over 4 ms", l,
                                       name_of(network, link.a), name_of(network, link.b)));
    if (link.propagation.raw() <= 0)
      return invalid_error(fmt::format("link {} ({} - {}) has no propagation delay; 1 ps at least",
                                       l, name_of(network, link.a), name_of(network, link.b)));
    ++links_of[link.a];
    ++links_of[link.b];
  }
  for (const NodeId n : network.nodes.ids()) {
    if (network.nodes[n].kind == NodeKind::kNic && links_of[n] != 1)
      return invalid_error(fmt::format("{} is a NIC with {} links; a NIC has one",
                                       name_of(network, n), links_of[n]));
    if (links_of[n] > kMostPorts)
      return invalid_error(fmt::format("{} has {} links; a switch has at most {}",
                                       name_of(network, n), links_of[n], kMostPorts));
  }
  return {};
}

Status check_switch(const Network& network, NodeId node, std::int64_t ports) {
  const SwitchConfig& config = network.switch_config(node);
  const std::string name = name_of(network, node);
  if (config.cell.raw() < 1) return invalid_error(fmt::format("{}: a cell of no bytes", name));
  if (config.cell.raw() + config.descriptor.raw() > kLargestCell)
    return invalid_error(fmt::format("{}: a cell and descriptor of {} B; at most {}", name,
                                     config.cell.raw() + config.descriptor.raw(), kLargestCell));
  if (config.mtu.raw() > kLargestFrame)
    return invalid_error(
        fmt::format("{}: frames of {} B; at most {}", name, config.mtu.raw(), kLargestFrame));
  for (const Bytes mtu : config.port_mtu)
    if (mtu.raw() > kLargestFrame)
      return invalid_error(
          fmt::format("{}: frames of {} B; at most {}", name, mtu.raw(), kLargestFrame));
  std::int64_t promised = config.headroom_pool ? config.headroom_pool->raw() : 0;
  if (config.lossy_pool) promised += config.lossy_pool->raw();
  for (std::int64_t port = 0; port < ports; ++port) {
    for (const IngressGroup& group : config.groups) {
      promised += group.reserved.raw();
      if (!group.lossless || config.headroom_pool) continue;
      const auto p = static_cast<std::size_t>(port);
      promised +=
          p < config.port_headroom.size() ? config.port_headroom[p].raw() : group.headroom.raw();
    }
  }
  if (promised > config.buffer.raw())
    return invalid_error(fmt::format(
        "{}: reserves and headroom of {} ports take {} B of a buffer of {} B; nothing is shared",
        name, ports, promised, config.buffer.raw()));
  for (std::size_t q = 0; q < 8; ++q)
    if (config.queues[q].wred.enabled && config.queues[q].wred.min > config.queues[q].wred.max)
      return invalid_error(fmt::format("{}: WRED of queue {}: minimum above maximum", name, q));
  for (std::size_t i = 0; i < 64; ++i)
    if (config.dscp_to_class[i] > 7)
      return invalid_error(
          fmt::format("{}: DSCP {} maps to class {}", name, i, config.dscp_to_class[i]));
  return {};
}

Status check_traffic(const Network& network) {
  for (const NicConfig& nic : network.nics) {
    const std::int64_t frame = nic.mtu.raw() + network.wire.data_header + network.wire.reth;
    if (nic.mtu.raw() < 1 || frame > kLargestFrame)
      return invalid_error(fmt::format("a NIC with an MTU of {} B; 1 to {} fit", nic.mtu.raw(),
                                       kLargestFrame - network.wire.data_header));
    if (find_congestion_algorithm(nic.congestion_control) == nullptr)
      return invalid_error(
          fmt::format("a NIC with the unknown congestion control '{}'", nic.congestion_control));
    if (nic.accepts_reordering && nic.recovery != Recovery::kSelective)
      return invalid_error("a NIC accepts reordering only with selective recovery");
    if (nic.receive_buffer.raw() > 0 && nic.receive_xon > nic.receive_xoff)
      return invalid_error("a NIC's receive buffer resumes above its pause threshold");
  }
  for (const QpId id : network.qps.ids()) {
    const QueuePair& qp = network.qps[id];
    const std::uint32_t q = to_index(id);
    for (const NodeId end : {qp.source, qp.target})
      if (!network.nodes.contains(end) || network.nodes[end].kind != NodeKind::kNic)
        return invalid_error(fmt::format("QP {}: an end that is not a NIC", q));
    if (qp.source == qp.target) return invalid_error(fmt::format("QP {} ends where it begins", q));
  }
  Table<QpId, Time> last(network.qps.size());
  for (const Message& message : network.messages) {
    if (!network.qps.contains(message.qp))
      return invalid_error(
          fmt::format("a message on QP {} of {}", to_index(message.qp), network.qps.size()));
    if (message.post < last[message.qp])
      return invalid_error(
          fmt::format("messages of QP {} are not in the order of posting", to_index(message.qp)));
    last[message.qp] = message.post;
  }
  return {};
}

/// What set-up reserves is counted before it is reserved: frames that fit into the buffers, into
/// the wires, and events of messages.
Status check_size(const Network& network) {
  // Ids of frames have 32 bits, and a frame 32 B: 64 GiB of addresses. The buffers of a large
  // fabric may hold more, and are never all full; those of one switch are not that large.
  constexpr Int128 kMostFrames = Int128{1} << 31U;
  constexpr std::int64_t kSmallestFrame = 60;  // of Ethernet, without its check sequence
  for (const NodeId n : network.nodes.ids()) {
    if (network.nodes[n].kind != NodeKind::kSwitch) continue;
    const SwitchConfig& config = network.switch_config(n);
    const std::int64_t frames = config.buffer.raw() / std::max(config.cell.raw(), kSmallestFrame);
    if (frames > kMostFrames)
      return invalid_error(fmt::format(
          "the buffer of {} holds {} frames; the simulator has room for {}: is its size right?",
          name_of(network, n), frames, static_cast<std::int64_t>(kMostFrames)));
  }
  Int128 in_flight = 0;
  for (const Link& link : network.links)
    in_flight += Int128{link.propagation.raw()} * link.rate.raw() /
                 (Int128{kPicosecondsPerSecond} * 8 * kSmallestFrame);
  if (in_flight > kMostFrames)
    return invalid_error(fmt::format(
        "the links of the fabric hold more than {} frames: are their lengths and speeds right?",
        static_cast<std::int64_t>(kMostFrames)));
  constexpr std::int64_t kMostPackets = std::numeric_limits<std::uint32_t>::max();
  for (const Message& message : network.messages) {
    const NodeId source = network.qps[message.qp].source;
    const std::int64_t mtu = network.nic_config(source).mtu.raw();
    if (message.size.raw() / mtu >= kMostPackets)
      return invalid_error(fmt::format("a message of {} B is more than {} packets of {} B",
                                       message.size.raw(), kMostPackets, mtu));
  }
  return {};
}

}  // namespace

Status check_network(const Network& network) {
  WEIR_TRY_STATUS(check_nodes(network));
  WEIR_TRY_STATUS(check_links(network));
  Table<NodeId, std::int64_t> ports(network.nodes.size(), 0);
  for (const Link& link : network.links) {
    ++ports[link.a];
    ++ports[link.b];
  }
  for (const NodeId n : network.nodes.ids())
    if (network.nodes[n].kind == NodeKind::kSwitch)
      WEIR_TRY_STATUS(check_switch(network, n, ports[n]));
  WEIR_TRY_STATUS(check_traffic(network));
  WEIR_TRY_STATUS(check_size(network));
  for (const LinkChange& change : network.changes)
    if (!network.links.contains(change.link))
      return invalid_error(
          fmt::format("a change of link {} of {}", to_index(change.link), network.links.size()));
  return {};
}

}  // namespace weir::sim
