#pragma once
// Evidence: what was observed about a host or a fabric, by whom, when, and with which gaps.
//
// A live host, a bundle sent by mail, a simulated fabric and a pasted text all end in this one
// shape; diagnosis reads it and cannot tell them apart. Everything observed is a Fact, so that "not
// permitted" never turns into "off". Lists of things (NICs, GPUs, switches, ports) hold what was
// found; a thing that should be there and is not shows by its absence, and a gap says where nobody
// could look.
//
// Counters stand in the snapshots, in order of time: the first and the last bound the window of a
// test.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "counters/snapshot.h"
#include "evidence/fact.h"
#include "units/qos_code.h"
#include "units/quantity.h"

namespace weir::evidence {

enum class Origin : std::uint8_t { kLive, kBundle, kLab, kText };
enum class Stack : std::uint8_t { kInbox, kOfed };
enum class LinkLayer : std::uint8_t { kEthernet, kInfiniband };
enum class Duplex : std::uint8_t { kFull, kHalf };
enum class TrustMode : std::uint8_t { kDscp, kPcp, kBoth, kPort, kNone };
enum class Tsa : std::uint8_t { kStrict, kCbs, kEts, kVendor };  // 802.1Q transmission selection
enum class DcbxMode : std::uint8_t { kOs, kFirmware };
enum class GidType : std::uint8_t { kInfiniband, kRoceV1, kRoceV2 };
enum class Iommu : std::uint8_t { kOff, kIdentity, kTranslating };
enum class Distance : std::uint8_t { kPix, kPxb, kPhb, kNode, kSys };  // as nvidia-smi names them
enum class Scheduler : std::uint8_t { kStrict, kWeighted };
enum class PoolKind : std::uint8_t { kLossless, kLossy, kHeadroom, kReserved };

[[nodiscard]] std::string_view to_text(Origin);
[[nodiscard]] std::string_view to_text(Stack);
[[nodiscard]] std::string_view to_text(LinkLayer);
[[nodiscard]] std::string_view to_text(Duplex);
[[nodiscard]] std::string_view to_text(TrustMode);
[[nodiscard]] std::string_view to_text(Tsa);
[[nodiscard]] std::string_view to_text(DcbxMode);
[[nodiscard]] std::string_view to_text(GidType);
[[nodiscard]] std::string_view to_text(Iommu);
[[nodiscard]] std::string_view to_text(Distance);
[[nodiscard]] std::string_view to_text(Scheduler);
[[nodiscard]] std::string_view to_text(PoolKind);

struct Provenance {
  std::string host;  // who was observed; empty for a whole fabric
  std::string time;  // RFC 3339, UTC
  std::string tool;  // "weir 0.1.0"
  Origin origin = Origin::kLive;
  bool simulated = false;  // made by the simulator: never to be shown as measured
  std::string detail;      // the bundle's file, the lab's directory, the seed

  friend bool operator==(const Provenance&, const Provenance&) = default;
};

/// A knob by the name its owner gives it.
struct Parameter {
  std::string name;
  std::int64_t value = 0;
  friend bool operator==(const Parameter&, const Parameter&) = default;
};
struct NamedText {
  std::string name;
  std::string value;
  friend bool operator==(const NamedText&, const NamedText&) = default;
};

/// Who is at the other end of the cable, as LLDP says it.
struct Neighbour {
  std::string system;
  std::string port;
  friend bool operator==(const Neighbour&, const Neighbour&) = default;
};

// ---- the host ----

/// A layer of the network stack on top of a NIC: a bond, a VLAN, a bridge, an overlay.
struct Layer {
  std::string netdev;
  std::string kind;
  Bytes mtu;
  friend bool operator==(const Layer&, const Layer&) = default;
};

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

struct Ecn {
  Fact<PrioritySet> np;  // ConnectX: any of them turns CNPs on for the whole port
  Fact<PrioritySet> rp;
  Fact<Dscp> cnp_dscp;
  Fact<Priority> cnp_priority;
  Fact<std::string> algorithm;              // "dcqcn", or what else the firmware runs
  Fact<std::vector<Parameter>> parameters;  // DCQCN's, by the names of the vendor's files
  friend bool operator==(const Ecn&, const Ecn&) = default;
};

struct Gid {
  unsigned index = 0;
  std::string gid;
  GidType type = GidType::kRoceV2;
  std::string netdev;
  friend bool operator==(const Gid&, const Gid&) = default;
};

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

struct Rings {
  Fact<unsigned> rx;
  Fact<unsigned> tx;
  Fact<unsigned> rx_max;
  Fact<unsigned> tx_max;
  friend bool operator==(const Rings&, const Rings&) = default;
};

struct Pcie {
  Fact<std::string> address;            // "0000:18:00.0"
  Fact<std::vector<std::string>> path;  // bridges from the root to the device
  Fact<unsigned> numa_node;
  Fact<unsigned> speed_mtps;  // megatransfers a second of a lane: 32000 for Gen5
  Fact<unsigned> speed_mtps_max;
  Fact<unsigned> width;
  Fact<unsigned> width_max;
  Fact<Bytes> max_read_request;
  Fact<bool> relaxed_ordering;
  Fact<bool> acs_redirect;  // a bridge on the path sends peer-to-peer traffic through the root
  Fact<std::vector<unsigned>> irq_numa_nodes;
  friend bool operator==(const Pcie&, const Pcie&) = default;
};

struct FirmwareSetting {
  std::string name;
  std::string current;  // empty where the tool shows the next boot only
  std::string next_boot;
  friend bool operator==(const FirmwareSetting&, const FirmwareSetting&) = default;
};

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

/// The family of the NIC's driver; kAny where it is not known.
[[nodiscard]] counters::Driver driver_of(const Nic& nic);
/// … or its driver is not known.
[[nodiscard]] bool may_be_mlx5(const Nic& nic);

struct Gpu {
  unsigned index = 0;
  Fact<std::string> model;
  Fact<std::string> driver;
  Fact<bool> open_kernel_module;
  Pcie pcie;
  friend bool operator==(const Gpu&, const Gpu&) = default;
};

struct GpuDistance {
  std::string nic;  // device
  unsigned gpu = 0;
  Fact<Distance> distance;
  friend bool operator==(const GpuDistance&, const GpuDistance&) = default;
};

struct Host {
  Fact<std::string> kernel;
  Fact<std::string> os;
  Fact<std::string> architecture;
  Fact<std::string> ofed;  // release; missing (absent) where the stack is the kernel's own
  Fact<unsigned> cpus;
  Fact<unsigned> numa_nodes;
  Fact<std::optional<Bytes>> memlock;  // of the observing process; nullopt = unlimited
  Fact<std::vector<NamedText>> sysctls;
  Fact<std::string> command_line;
  Fact<Iommu> iommu;
  Fact<std::vector<std::string>> modules;
  Fact<bool> peermem;  // GPU memory is open to the RDMA stack through a module …
  Fact<bool> dmabuf;   // … or through dma-buf
  Fact<bool> lldpad_running;
  Fact<bool> uverbs_visible;
  Fact<bool> in_container;
  Fact<std::string> rdma_namespaces;       // "shared", "exclusive"
  Fact<std::vector<NamedText>> nccl_conf;  // what every job on the host inherits
  friend bool operator==(const Host&, const Host&) = default;
};

// ---- switches ----

struct Watchdog {
  Fact<bool> enabled;
  Fact<Duration> detection;
  Fact<Duration> restoration;
  Fact<std::string> action;
  friend bool operator==(const Watchdog&, const Watchdog&) = default;
};

/// Systems carve in bytes or in percent; which of the two a configuration says is not zero.
struct Pool {
  std::string name;
  PoolKind kind = PoolKind::kLossless;
  Bytes size;
  Share share;  // of the whole buffer
  friend bool operator==(const Pool&, const Pool&) = default;
};

/// Ingress accounting of a priority group on a port.
struct GroupBuffer {
  PriorityGroup group;
  Fact<bool> lossless;
  Fact<Bytes> reserved;
  Fact<bool> headroom_auto;  // the system sizes it from speed and cable length on its own
  Fact<Bytes> headroom;
  Fact<Bytes> xoff;  // where it is static
  Fact<Bytes> xon;   // offset below xoff
  Fact<Alpha> alpha;
  friend bool operator==(const GroupBuffer&, const GroupBuffer&) = default;
};

struct EgressQueue {
  Queue queue;
  Fact<bool> ecn;
  Fact<Bytes> ecn_min;
  Fact<Bytes> ecn_max;
  Fact<Share> ecn_min_share;  // … or as shares of the largest queue, where the system says it so
  Fact<Share> ecn_max_share;
  Fact<Share> ecn_probability;
  Fact<unsigned> ecn_weight;  // of the average queue; 0 = the queue as it is now
  Fact<bool> wred_drop;       // between the thresholds packets that cannot be marked are dropped
  Fact<Scheduler> scheduler;
  Fact<unsigned> weight;
  Fact<BitRate> max_rate;  // 0 = no limit …
  Fact<Share> max_share;   // … or as a share of the port, where the system says it so
  Fact<Alpha> alpha;       // egress share of the free buffer
  Fact<bool> stuck;        // the watchdog holds it
  friend bool operator==(const EgressQueue&, const EgressQueue&) = default;
};

struct SwitchPort {
  std::string name;
  Fact<Neighbour> neighbour;
  Fact<bool> up;
  Fact<BitRate> speed;
  Fact<Bytes> mtu;
  Fact<std::string> fec;
  Fact<TrustMode> trust;
  Fact<PrioritySet> pfc;         // as configured
  Fact<PrioritySet> pfc_active;  // as in effect: DCBX may decide otherwise
  Fact<bool> pfc_negotiated;     // DCBX decides whether PFC is in effect
  Fact<bool> global_pause;
  Fact<bool> watchdog;       // of this port, where it is switched port by port
  Fact<bool> rewrites_dscp;  // of what leaves by it
  Fact<BitRate> max_rate;    // shaper of the whole port; 0 = none …
  Fact<Share> max_share;     // … or as a share of its speed
  Fact<bool> lldp;
  Fact<bool> dcbx;  // DCBX is spoken on it
  Fact<Length> cable_length;
  std::vector<GroupBuffer> groups;
  std::vector<EgressQueue> queues;
  friend bool operator==(const SwitchPort&, const SwitchPort&) = default;
};

/// An interface over ports: a port-channel, or a VLAN's gateway.
struct SwitchInterface {
  std::string name;
  std::string kind;  // "port-channel" "svi"
  Fact<Bytes> mtu;
  Fact<std::vector<std::string>> members;
  friend bool operator==(const SwitchInterface&, const SwitchInterface&) = default;
};

struct Telemetry {
  Fact<bool> gnmi;
  Fact<bool> sflow;
  Fact<Duration> interval;
  Fact<bool> queue_monitor;  // watermarks of queues are kept
  Fact<bool> ecn_counters;   // marked packets are counted
  friend bool operator==(const Telemetry&, const Telemetry&) = default;
};

struct Switch {
  std::string name;
  Fact<std::string> platform;  // "cumulus" "eos" "nxos" "junos" "sonic"
  Fact<std::string> model;
  Fact<std::string> asic;
  Fact<std::string> version;
  Fact<std::array<std::optional<TrafficClass>, 64>> dscp_to_tc;
  Fact<std::array<std::optional<TrafficClass>, 8>> pcp_to_tc;
  Fact<std::array<Queue, 8>> tc_to_queue;
  Fact<std::array<PriorityGroup, 8>> tc_to_group;
  Fact<std::array<Queue, 8>> pfc_to_queue;
  Fact<std::array<std::optional<Dscp>, 8>> tc_to_dscp;  // rewrite; nullopt = left as it came
  Watchdog watchdog;
  Fact<std::vector<Pool>> pools;
  Fact<std::string> buffer_model;            // SONiC: "traditional" "dynamic"
  Fact<unsigned> headroom_oversubscription;  // of a headroom pool; 1 = each group its own
  Fact<std::string> load_balancing;          // "ecmp" "spray" "adaptive"
  Fact<unsigned> ecmp_seed;
  Fact<bool> cut_through;
  Fact<bool> lldp;
  Telemetry telemetry;
  std::vector<SwitchInterface> interfaces;
  std::vector<SwitchPort> ports;
  friend bool operator==(const Switch&, const Switch&) = default;
};

// ---- all of it ----

/// Something nobody could look at, in words.
struct Gap {
  std::string what;   // "DCQCN parameters"
  std::string where;  // "mlx5_0"; empty = the whole
  Missing why = Missing::kAbsent;
  std::string how;  // how to get it
  friend bool operator==(const Gap&, const Gap&) = default;
};

struct Evidence {
  Provenance provenance;
  Host host;
  std::vector<Nic> nics;
  std::vector<Gpu> gpus;
  std::vector<GpuDistance> distances;
  std::vector<Switch> switches;
  std::vector<Gap> gaps;
  std::vector<counters::Snapshot> snapshots;  // in order of time

  [[nodiscard]] const Nic* find_nic(std::string_view device) const;
  [[nodiscard]] const Switch* find_switch(std::string_view name) const;
  friend bool operator==(const Evidence&, const Evidence&) = default;
};

}  // namespace weir::evidence
