#pragma once
// One NIC as it was observed. Each struct is followed by the description of its fields (JSON key
// and meaning), so that a new fact is one place: the writer, the reader, the JSON Schema and the
// drawn evidence of the tests are visitors of it (evidence/fields.h says what a visitor is).
#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "evidence/fact.h"
#include "units/qos_code.h"
#include "units/quantity.h"
#include "vocab/nic_drivers.h"
#include "vocab/setting.h"

namespace weir::evidence {

using vocab::DcbxMode;
using vocab::to_text;
using vocab::TrustMode;
using vocab::Tsa;

enum class Stack : std::uint8_t { kInbox, kOfed };
enum class LinkLayer : std::uint8_t { kEthernet, kInfiniband };
enum class Duplex : std::uint8_t { kFull, kHalf };
enum class GidType : std::uint8_t { kInfiniband, kRoceV1, kRoceV2 };
[[nodiscard]] std::string_view to_text(Stack);
[[nodiscard]] std::string_view to_text(GidType);

/// S is T or const T: the same description serves reading and writing.
template <class S, class T>
concept Is = std::same_as<std::remove_const_t<S>, T>;

/// A knob by the name its owner gives it.
struct Parameter {
  std::string name;
  std::int64_t value = 0;
  friend bool operator==(const Parameter&, const Parameter&) = default;
};
template <class V, Is<Parameter> S>
void visit(V& v, S& s) {
  v.field("name", s.name, "as its owner names it");
  v.field("value", s.value, "the number");
}

/// Who is at the other end of the cable, as LLDP says it.
struct Neighbour {
  std::string system;
  std::string port;
  friend bool operator==(const Neighbour&, const Neighbour&) = default;
};
template <class V, Is<Neighbour> S>
void visit(V& v, S& s) {
  v.field("system", s.system, "name of the system at the other end");
  v.field("port", s.port, "its port");
}

/// A layer of the network stack on top of a NIC: a bond, a VLAN, a bridge, an overlay.
struct Layer {
  std::string netdev;
  std::string kind;
  Bytes mtu;
  friend bool operator==(const Layer&, const Layer&) = default;
};
template <class V, Is<Layer> S>
void visit(V& v, S& s) {
  v.field("netdev", s.netdev, "network device");
  v.field("kind", s.kind, "bond, vlan, bridge, vxlan and so on");
  v.field("mtu_bytes", s.mtu, "its MTU");
}

struct Link {
  Fact<bool> up;
  Fact<BitRate> speed;
  Fact<Duplex> duplex;
  Fact<bool> autoneg;
  Fact<Bytes> mtu;         // of the network device
  Fact<Bytes> active_mtu;  // of RDMA: 256 to 4096
  Fact<std::string> fec;   // the active mode, as the driver names it
  Fact<bool> pause_rx;     // 802.3x
  Fact<bool> pause_tx;
  Fact<std::vector<Layer>> layers;
  Fact<Neighbour> neighbour;
  friend bool operator==(const Link&, const Link&) = default;
};
template <class V, Is<Link> S>
void visit(V& v, S& s) {
  v.fact("up", s.up, "carrier");
  v.fact("speed_bps", s.speed, "negotiated speed");
  v.fact("duplex", s.duplex, "full or half");
  v.fact("autoneg", s.autoneg, "speed is negotiated");
  v.fact("mtu_bytes", s.mtu, "MTU of the network device");
  v.fact("active_mtu_bytes", s.active_mtu, "path MTU of RDMA, 256 to 4096");
  v.fact("fec", s.fec, "active forward error correction");
  v.fact("pause_rx", s.pause_rx, "802.3x pause received is obeyed");
  v.fact("pause_tx", s.pause_tx, "802.3x pause is sent");
  v.fact("layers", s.layers, "network devices on top of this one");
  v.fact("neighbour", s.neighbour, "LLDP neighbour");
}

/// Per priority, per traffic class and per code point, as DCB and the vendor's tools show it. A
/// code point without an entry (the firmware's own choice holds) is nullopt.
struct Qos {
  Fact<TrustMode> trust;
  Fact<std::array<std::optional<Priority>, 64>> dscp_to_priority;
  Fact<std::array<TrafficClass, 8>> priority_to_tc;
  Fact<PrioritySet> pfc;
  Fact<unsigned> pfc_classes;  // how many the hardware can pause
  Fact<std::array<Tsa, 8>> tsa;
  Fact<std::array<unsigned, 8>> tc_bandwidth;  // percent
  Fact<std::array<BitRate, 8>> tc_max_rate;    // 0 = no limit
  Fact<std::array<Bytes, 8>> buffer_size;
  Fact<Bytes> buffer_total;
  Fact<std::array<unsigned, 8>> priority_to_buffer;
  Fact<std::array<Bytes, 8>> buffer_xoff;
  Fact<std::array<Bytes, 8>> buffer_xon;
  Fact<Length> cable_length;
  Fact<DcbxMode> dcbx;
  Fact<bool> dcbx_willing;
  Fact<bool> firmware_lldp;  // the NIC's own LLDP agent runs
  Fact<std::string> stall_prevention;
  friend bool operator==(const Qos&, const Qos&) = default;
};
template <class V, Is<Qos> S>
void visit(V& v, S& s) {
  v.fact("trust", s.trust, "what classifies a packet");
  v.fact("dscp_to_priority", s.dscp_to_priority, "by code point; null where there is no entry");
  v.fact("priority_to_tc", s.priority_to_tc, "traffic class of each priority");
  v.fact("pfc", s.pfc, "priorities with PFC enabled");
  v.fact("pfc_classes", s.pfc_classes, "how many priorities the hardware can pause");
  v.fact("tsa", s.tsa, "transmission selection of each traffic class");
  v.fact("tc_bandwidth_percent", s.tc_bandwidth, "ETS share of each traffic class");
  v.fact("tc_max_rate_bps", s.tc_max_rate, "limit of each traffic class; 0 is none");
  v.fact("buffer_size_bytes", s.buffer_size, "receive buffers");
  v.fact("buffer_total_bytes", s.buffer_total, "receive buffer of the port");
  v.fact("priority_to_buffer", s.priority_to_buffer, "receive buffer of each priority");
  v.fact("buffer_xoff_bytes", s.buffer_xoff, "pause threshold of each receive buffer");
  v.fact("buffer_xon_bytes", s.buffer_xon, "release threshold of each receive buffer");
  v.fact("cable_length_mm", s.cable_length, "cable length that the NIC sizes its headroom for");
  v.fact("dcbx", s.dcbx, "who owns QoS: the operating system or the firmware");
  v.fact("dcbx_willing", s.dcbx_willing, "takes settings from the switch");
  v.fact("firmware_lldp", s.firmware_lldp, "the NIC's own LLDP agent runs");
  v.fact("stall_prevention", s.stall_prevention, "when the NIC gives up pausing: default or auto");
}

struct Ecn {
  Fact<PrioritySet> np;  // ConnectX: any of them turns CNPs on for the whole port
  Fact<PrioritySet> rp;
  Fact<Dscp> cnp_dscp;
  Fact<Priority> cnp_priority;
  Fact<std::string> algorithm;              // "dcqcn", or what else the firmware runs
  Fact<std::vector<Parameter>> parameters;  // DCQCN's, by the names of the vendor's files
  friend bool operator==(const Ecn&, const Ecn&) = default;
};
template <class V, Is<Ecn> S>
void visit(V& v, S& s) {
  v.fact("np", s.np, "priorities with the notification point enabled");
  v.fact("rp", s.rp, "priorities with the reaction point enabled");
  v.fact("cnp_dscp", s.cnp_dscp, "code point of CNPs");
  v.fact("cnp_priority", s.cnp_priority, "priority of CNPs");
  v.fact("algorithm", s.algorithm, "congestion control in effect");
  v.fact("parameters", s.parameters, "DCQCN parameters by the names of the vendor's files");
}

struct Gid {
  unsigned index = 0;
  std::string gid;
  GidType type = GidType::kRoceV2;
  std::string netdev;
  friend bool operator==(const Gid&, const Gid&) = default;
};
template <class V, Is<Gid> S>
void visit(V& v, S& s) {
  v.field("index", s.index, "place in the table");
  v.field("gid", s.gid, "the address, as sysfs prints it");
  v.field("type", s.type, "InfiniBand, RoCE v1 or RoCE v2");
  v.field("netdev", s.netdev, "network device it belongs to");
}

struct Rdma {
  Fact<bool> active;  // the port's state
  Fact<std::vector<Gid>> gids;
  Fact<std::optional<TosByte>> traffic_class;  // forced on every queue pair; nullopt = not set
  Fact<std::vector<std::string>> traffic_class_rules;
  Fact<TosByte> cm_tos;  // the default of RDMA-CM connections
  Fact<GidType> cm_mode;
  Fact<bool> adaptive_routing;
  Fact<bool> out_of_order;  // accepts packets out of order
  friend bool operator==(const Rdma&, const Rdma&) = default;
};
template <class V, Is<Rdma> S>
void visit(V& v, S& s) {
  v.fact("active", s.active, "the port's state is active");
  v.fact("gids", s.gids, "address table, empty slots left out");
  v.fact("traffic_class", s.traffic_class, "TOS byte forced on every queue pair; null is not set");
  v.fact("traffic_class_rules", s.traffic_class_rules,
         "the same by address, as the driver shows it");
  v.fact("cm_tos", s.cm_tos, "default TOS byte of RDMA-CM connections");
  v.fact("cm_mode", s.cm_mode, "default RoCE version of RDMA-CM connections");
  v.fact("adaptive_routing", s.adaptive_routing, "marks packets as free to take any path");
  v.fact("out_of_order", s.out_of_order, "accepts packets out of order");
}

struct Rings {
  Fact<unsigned> rx;
  Fact<unsigned> tx;
  Fact<unsigned> rx_max;
  Fact<unsigned> tx_max;
  friend bool operator==(const Rings&, const Rings&) = default;
};
template <class V, Is<Rings> S>
void visit(V& v, S& s) {
  v.fact("rx", s.rx, "receive ring of the network device");
  v.fact("tx", s.tx, "send ring of the network device");
  v.fact("rx_max", s.rx_max, "largest receive ring");
  v.fact("tx_max", s.tx_max, "largest send ring");
}

struct Pcie {
  Fact<std::string> address;            // "0000:18:00.0"
  Fact<std::vector<std::string>> path;  // bridges from the root to the device
  Fact<unsigned> numa_node;
  Fact<unsigned> speed_mtps;  // megatransfers per second and lane: 32000 for Gen5
  Fact<unsigned> speed_mtps_max;
  Fact<unsigned> width;
  Fact<unsigned> width_max;
  Fact<Bytes> max_read_request;
  Fact<bool> relaxed_ordering;
  Fact<bool> acs_redirect;  // a bridge on the path sends peer-to-peer traffic through the root
  Fact<std::vector<unsigned>> irq_numa_nodes;
  friend bool operator==(const Pcie&, const Pcie&) = default;
};
template <class V, Is<Pcie> S>
void visit(V& v, S& s) {
  v.fact("address", s.address, "domain:bus:device.function");
  v.fact("path", s.path, "bridges from the root to the device");
  v.fact("numa_node", s.numa_node, "the memory node it is attached to");
  v.fact("speed_mtps", s.speed_mtps, "megatransfers per second and lane, now");
  v.fact("speed_mtps_max", s.speed_mtps_max, "the same, at most");
  v.fact("width", s.width, "lanes, now");
  v.fact("width_max", s.width_max, "lanes, at most");
  v.fact("max_read_request_bytes", s.max_read_request, "largest read request");
  v.fact("relaxed_ordering", s.relaxed_ordering, "enabled in the device");
  v.fact("acs_redirect", s.acs_redirect, "a bridge on the path redirects peer-to-peer traffic");
  v.fact("irq_numa_nodes", s.irq_numa_nodes, "memory nodes of the interrupts' processors");
}

struct FirmwareSetting {
  std::string name;
  std::string current;  // empty where the tool shows the next boot only
  std::string next_boot;
  friend bool operator==(const FirmwareSetting&, const FirmwareSetting&) = default;
};
template <class V, Is<FirmwareSetting> S>
void visit(V& v, S& s) {
  v.field("name", s.name, "as the vendor's tool names it");
  v.field("current", s.current, "in effect; empty where the tool does not show it");
  v.field("next_boot", s.next_boot, "after the next reset");
}

struct Nic {
  std::string device;  // the RDMA device: "mlx5_0"
  unsigned port = 1;
  Fact<std::string> netdev;
  Fact<unsigned> rail;
  Fact<std::string> model;
  Fact<std::string> driver;
  Fact<std::string> driver_version;
  Fact<Stack> stack;
  Fact<std::string> firmware;
  Fact<std::string> board;  // the vendor's board id (PSID)
  Fact<LinkLayer> link_layer;
  Fact<bool> is_virtual;  // a virtual or sub function: QoS belongs to its physical function
  Fact<std::vector<std::string>> addresses;  // "10.10.1.5/24"
  Link link;
  Qos qos;
  Ecn ecn;
  Rdma rdma;
  Rings rings;
  Pcie pcie;
  Fact<std::vector<FirmwareSetting>> firmware_settings;
  friend bool operator==(const Nic&, const Nic&) = default;
};
template <class V, Is<Nic> S>
void visit(V& v, S& s) {
  v.field("device", s.device, "RDMA device");
  v.field("port", s.port, "its port");
  v.fact("netdev", s.netdev, "network device of the same port");
  v.fact("rail", s.rail, "rail of the design");
  v.fact("model", s.model, "what the card is");
  v.fact("driver", s.driver, "kernel driver");
  v.fact("driver_version", s.driver_version, "its version");
  v.fact("stack", s.stack, "the kernel's own driver or the vendor's");
  v.fact("firmware", s.firmware, "firmware version");
  v.fact("board", s.board, "the vendor's board id");
  v.fact("link_layer", s.link_layer, "Ethernet or InfiniBand");
  v.fact("is_virtual", s.is_virtual, "a virtual or sub function");
  v.fact("addresses", s.addresses, "IP addresses with prefix length");
  v.section("link", s.link, "the link");
  v.section("qos", s.qos, "classification, PFC, scheduling, buffers");
  v.section("ecn", s.ecn, "congestion control");
  v.section("rdma", s.rdma, "the RDMA port");
  v.section("rings", s.rings, "rings of the network device; RDMA does not use them");
  v.section("pcie", s.pcie, "where it sits");
  v.fact("firmware_settings", s.firmware_settings, "settings kept in the card");
}

/// The family of the NIC's driver; kAny where it is not known.
[[nodiscard]] vocab::Driver driver_of(const Nic& nic);
/// … or its driver is not known.
[[nodiscard]] bool may_be_mlx5(const Nic& nic);

}  // namespace weir::evidence
