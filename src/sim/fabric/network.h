#pragma once
// What the engine is given: plain structures, no defaults taken from anywhere else. An adapter
// turns a design's intent (HostIntent, SwitchIntent) into a Network; the reader of the peer's files
// (sim/peer/hpcc.h) makes one too.
//
// A node is a switch or a NIC. A NIC has exactly one link: a server with eight rails is eight NICs.
// The ports of a node are numbered in the order of `links`. All configuration is by value and
// small; `check_network` says in words what the engine cannot take.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "design/file/choices.h"
#include "sim/engine/dcqcn.h"
#include "sim/fabric/ids.h"
#include "units/qos_code.h"
#include "units/quantity.h"

namespace weir::sim {

/// Above every jumbo frame; check_network() refuses more. Tables by frame size are this long.
inline constexpr std::int64_t kLargestFrame = 16384;

/// Which world the engine simulates. `kHpcc` makes the simplifications of the HPCC ns-3 simulator,
/// so that an independent engine can be compared flow by flow.
enum class Model : std::uint8_t { kNative, kHpcc };

enum class NodeKind : std::uint8_t { kNic, kSwitch };

struct Node {
  NodeKind kind = NodeKind::kNic;
  std::uint32_t config = 0;  // index into `switches` or `nics`
  std::string name;
};

struct Link {
  NodeId a{0};
  NodeId b{0};
  BitRate rate;
  Duration propagation;               // cable and PHY/FEC, one way; > 0
  std::uint64_t error_threshold = 0;  // a frame is lost with this / 2^32 in either direction …
  bool errors_to_b_only = false;      // … or only on its way to b
  bool up = true;
};

/// Bytes on the wire: Ethernet 14 + FCS 4 + IPv4 20 + UDP 8 + BTH 12 + ICRC 4.
struct WireFormat {
  std::int64_t data_header = 62;
  std::int64_t reth = 16;       // on the first packet of a WRITE and on a READ request
  std::int64_t ack_frame = 66;  // header + AETH 4
  std::int64_t cnp_frame = 78;  // header + 16 reserved bytes
  std::int64_t pfc_frame = 64;
  std::int64_t gap = 20;  // preamble 8 and inter-frame gap 12: wire time, never buffer
};

struct Wred {
  bool enabled = false;
  Bytes min;
  Bytes max;
  Share max_probability;
};

using design::CnpScope;
using design::Forwarding;
using design::LoadBalancing;
using design::MarkAt;
using design::Scheduling;
using design::Trust;
using design::WatchdogAction;

struct EgressQueue {
  Scheduling scheduling = Scheduling::kDwrr;
  std::int64_t weight = 1;  // quantum in units of one MTU
  Wred wred;
  Bytes reserved;
  std::optional<Alpha> alpha;  // dynamic egress limit; none: the queue may use the whole buffer
};

struct IngressGroup {
  bool lossless = false;
  Bytes reserved;
  std::optional<Alpha> alpha;             // none: no limit but the pool
  std::optional<Bytes> static_threshold;  // instead of alpha: a fixed XOFF
  Bytes headroom;    // beyond XOFF, while the pause takes effect (lossless only)
  Bytes xon_offset;  // resume when this far below XOFF
};

struct Watchdog {
  Duration detection;  // 0: no watchdog
  Duration restoration;
  WatchdogAction action = WatchdogAction::kDrop;
};

struct SwitchConfig {
  Bytes buffer;
  Bytes cell = Bytes::raw(1);          // buffers are charged in whole cells …
  Bytes descriptor;                    // … the first of which also holds this
  std::array<IngressGroup, 8> groups;  // by priority group
  std::array<EgressQueue, 8> queues;   // by queue
  std::vector<Bytes> port_headroom;    // by local port, instead of the groups' (cables differ)
  std::vector<Alpha> port_alpha;       // by local port, instead of the groups' (port rates differ)
  std::vector<Wred> port_wred;         // by local port, instead of the queues' (port rates differ)
  std::uint8_t port_wred_queues = 0xFF;  // the queues that port_wred is for
  std::vector<Bytes> port_mtu;           // by local port, both ways, instead of `mtu`
  std::optional<Bytes> headroom_pool;    // shared by all lossless groups instead of summed up
  std::optional<Bytes> lossy_pool;       // shared by the lossy groups alone; none: one pool for all

  Trust trust = Trust::kDscp;
  std::array<std::uint8_t, 64> dscp_to_class{};
  std::uint8_t untrusted_class = 0;  // under PCP trust: frames here carry no VLAN tag
  std::array<std::uint8_t, 8> class_to_queue{0, 1, 2, 3, 4, 5, 6, 7};
  std::array<std::uint8_t, 8> class_to_group{0, 1, 2, 3, 4, 5, 6, 7};
  std::array<std::uint8_t, 8> group_to_priority{0, 1, 2, 3, 4, 5, 6, 7};  // in pause frames sent
  std::array<std::uint8_t, 8> priority_to_queue{0, 1, 2, 3, 4, 5, 6, 7};  // on pause received
  PrioritySet pfc;  // priorities whose pause is sent and honoured
  std::uint16_t pause_quanta = 0xFFFF;
  Duration pfc_reaction;  // pause frame received -> transmission stops

  MarkAt mark_at = MarkAt::kDequeue;
  Forwarding forwarding = Forwarding::kStoreAndForward;
  Duration pipeline;  // buffer admission (last bit in; cut-through: first bits) -> egress queue
  Bytes mtu = Bytes::raw(9216);  // largest frame, FCS included
  Watchdog watchdog;
  std::uint64_t ecmp_seed = 0;
  LoadBalancing balancing = LoadBalancing::kEcmp;

  /// Of a queue of a local port.
  [[nodiscard]] const Wred& wred_at(std::uint32_t local, std::uint32_t queue) const {
    const bool is_by_port = local < port_wred.size() && ((port_wred_queues >> queue) & 1U) != 0;
    return is_by_port ? port_wred[local] : queues[queue].wred;
  }
};

enum class Recovery : std::uint8_t { kGoBack0, kGoBackN, kSelective };

struct NicConfig {
  std::string_view congestion_control = "dcqcn";  // find_congestion_algorithm()
  DcqcnConfig dcqcn;
  bool rp_enabled = true;              // reaction point: acts on CNPs
  bool np_enabled = true;              // notification point: answers CE with CNPs
  Duration cnp_interval;               // at most one CNP per QP in this time …
  CnpScope cnp_scope = CnpScope::kQp;  // … or per peer, or per port
  Duration cnp_delay;                  // from the mark to the CNP
  Duration message_latency;        // from a post to the NIC: PCIe and both NICs, once per message
  Duration cnp_capacity_interval;  // at most one CNP per NIC in this time; 0: no limit
  Dscp cnp_dscp = Dscp::of(48);
  Priority cnp_priority = Priority::of(6);  // under PCP trust
  Trust trust = Trust::kDscp;
  std::array<std::uint8_t, 64> dscp_to_priority{};
  PrioritySet pfc;  // priorities whose pause is honoured and sent
  std::uint16_t pause_quanta = 0xFFFF;
  Duration pfc_reaction;
  PrioritySet strict;                    // priorities served before the round robin of the others
  std::optional<Priority> ack_priority;  // ACKs leave the NIC on this one; none: the data's
  Bytes mtu = Bytes::raw(4096);          // payload of a full packet
  Bytes max_frame = Bytes::raw(9216);    // larger frames are dropped on receipt
  std::uint32_t ack_every = 1;  // one ACK for so many packets (and for each message's last)
  Recovery recovery = Recovery::kGoBackN;
  bool accepts_reordering = false;  // keeps early packets without a NAK; needs kSelective
  Duration nak_interval;            // a repeated gap is NAKed again after this; 0: once
  Duration ack_timeout;             // 0: none
  std::uint32_t retries = 7;
  Duration rnr_delay = Duration::raw(10'000'000'000);  // the responder's minimum RNR timer
  std::uint32_t rnr_retries = 7;                       // 7: for ever (InfiniBand)
  Bytes receive_buffer;                                // 0: never fills
  BitRate drain;                                       // PCIe, out of the receive buffer
  Bytes receive_xoff;
  Bytes receive_xon;
  std::int64_t window = 0;           // bytes in flight a QP may have; 0: no limit
  bool window_follows_rate = false;  // the window shrinks with the QP's rate
};

enum class Operation : std::uint8_t { kWrite, kSend, kRead };

/// A queue pair, in the direction of its data. A READ is posted by `target` and answered by
/// `source`.
struct QueuePair {
  NodeId source{0};  // NICs
  NodeId target{0};
  std::uint16_t source_port = 49152;  // UDP: what spreads QPs over paths
  std::uint8_t tos = 0;               // DSCP << 2 | ECN as the application asks for it
  std::uint8_t service_level = 0;     // the priority under PCP trust
  Operation operation = Operation::kWrite;
  bool is_socket = false;       // stands for a connection of the kernel: no RDMA to the NIC
  std::int64_t start_rate = 0;  // bit/s of the reaction point at the start; 0: line rate
  std::int32_t receives = -1;   // posted receives (SEND); -1: always enough
  Duration receive_repost;      // a used receive is posted again after this
};

struct Message {
  QpId qp{0};
  Bytes size;
  Time post;
};

struct LinkChange {
  Time at;
  LinkId link{0};
  bool up = false;
  Duration reroute;  // the fabric finds other paths after this; 0 = at once
};

/// Paths computed elsewhere, for the model `hpcc`: next[switch][destination] as
/// neighbours.
struct ExplicitRoutes {
  Table<NodeId, Table<NodeId, std::vector<NodeId>>> next;
};

struct Network {
  Model model = Model::kNative;
  std::uint64_t seed = 1;
  /// Replicas of a run have the same load and draw anew what is random in it: source ports,
  /// arrivals, marks, losses, spraying.
  std::uint64_t replica = 0;
  WireFormat wire;
  Table<NodeId, Node> nodes;
  Table<LinkId, Link> links;
  std::vector<SwitchConfig> switches;
  std::vector<NicConfig> nics;
  Table<QpId, QueuePair> qps;
  Table<MessageId, Message> messages;  // of one QP: in the order of posting
  std::vector<LinkChange> changes;     // in the order of time
  std::optional<ExplicitRoutes> routes;
  std::size_t spare_messages = 0;  // room for messages that a driver posts during the run
  std::uint8_t ttl = 64;
  std::uint64_t peer_streams = 0;  // model `hpcc`: random streams used up before the run

  /// The seed of everything that differs between replicas.
  [[nodiscard]] std::uint64_t replica_seed() const { return seed ^ replica; }

  /// REQUIRES: `node` is a NIC (a switch).
  [[nodiscard]] NicConfig& nic_config(NodeId node) { return nics[nodes[node].config]; }
  [[nodiscard]] const NicConfig& nic_config(NodeId node) const { return nics[nodes[node].config]; }
  [[nodiscard]] const SwitchConfig& switch_config(NodeId node) const {
    return switches[nodes[node].config];
  }
};

/// Whether the engine can take it; the error names the node or link and what is wrong with it.
[[nodiscard]] Status check_network(const Network& network);

}  // namespace weir::sim
