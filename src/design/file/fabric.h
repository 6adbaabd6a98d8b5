#pragma once
// The design: one fabric, as its owner wants it. Plain data in the shape of the file.
//
// Each struct is a section of the file; fields.h binds its members to keys, words and checks, once,
// for the loader, the schema, `--show-effective` and the reference. defaults.h fills what the user
// left out, each value with its reason. Nothing but lint and intent.h reads this: every other
// module reads intent.
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "design/file/choices.h"
#include "design/file/setting.h"
#include "units/qos_code.h"
#include "units/quantity.h"
#include "vocab/switch_systems.h"

namespace weir::design {

using vocab::SwitchSystem;

// ---- values with a shape of their own
// --------------------------------------------------------------

/// A name or a pattern of names: "leaf1", "gpu[001-032]", "pod[1-4]-leaf[1-8]", "a,b,c[1-2]".
struct NamePattern {
  std::string text;
  friend bool operator==(const NamePattern&, const NamePattern&) = default;
};

/// Code points of a class. The first one written is the one its traffic is marked with.
struct DscpSet {
  Dscp marking;
  std::uint64_t mask = 0;  // bit d: DSCP d belongs to the class
  [[nodiscard]] bool contains(Dscp d) const { return ((mask >> d.value()) & 1U) != 0; }
  friend bool operator==(const DscpSet&, const DscpSet&) = default;
};

/// "auto" or a value.
template <class T>
struct AutoOr {
  bool is_auto = true;
  T value{};
  friend bool operator==(const AutoOr&, const AutoOr&) = default;
};

/// Ports of a switch: how many, or their names in the order of its links, or by the node at the
/// other end. A name may be a cage of the model: "12", or "12.2" for its second sub-port.
struct PortSpec {
  std::string text;                                        // as written
  int count = 0;                                           // 0: names were given
  std::vector<std::pair<std::string, std::string>> names;  // peer (empty: in order), port
  friend bool operator==(const PortSpec&, const PortSpec&) = default;
};

// ---- the sections
// ------------------------------------------------------------------------------------

/// Marking thresholds of the lossless queue (theory: Kmin, Kmax, Pmax). They live on the switch
/// alone.
struct Wred {
  Setting<bool> ecn;
  Setting<Bytes> min;
  Setting<Bytes> max;
  Setting<Share> probability;
  Setting<BitRate> at_speed;  // min and max scale linearly to ports of another speed
  Setting<MarkAt> mark_at;
};

struct HostGroup {
  Setting<NamePattern> names;
  Setting<std::string> nic;  // a row of the NIC table
  Setting<HostStack> stack;
  Setting<int> rails;
  Setting<std::string> device;     // RDMA device of a rail: "mlx5_{rail}"
  Setting<std::string> netdev;     // its network interface: "eth{rail}"
  Setting<Bytes> mtu;              // overrides mtu.host
  Setting<Trust> trust;            // overrides trust
  Setting<bool> global_pause;      // 802.3x
  Setting<TosByte> traffic_class;  // overrides marking.traffic_class
};

/// One code point sent to another priority than its class says; what an audit of that switch found.
struct DscpOverride {
  Setting<DscpSet> dscp;
  Setting<Priority> priority;
};

struct SwitchGroup {
  Setting<NamePattern> names;
  Setting<SwitchSystem> system;
  Setting<std::string> model;  // a row of the table of switches
  Setting<std::string> asic;   // a row of the ASIC table
  Setting<int> tier;           // 1 = leaf
  Setting<Bytes> buffer;       // overrides the ASIC's
  Setting<Bytes> cell;
  Setting<PortSpec> ports;
  Setting<Bytes> mtu;  // overrides mtu.switch
  Setting<Trust> trust;
  Setting<Bytes> headroom;  // overrides buffers.headroom, per port and lossless priority
  Setting<bool> global_pause;
  Setting<bool> watchdog;  // overrides watchdog.enabled
  Setting<int> ecmp_seed;
  Setting<bool> rewrites_dscp;  // the switch rewrites the TOS byte on the way
  Setting<Forwarding> forwarding;
  Wred wred;  // overrides of `wred`, setting by setting
  std::vector<DscpOverride> dscp_overrides;
};

struct LinkGroup {
  TextPosition at;
  Setting<NamePattern> from;  // a group's name, or a pattern of nodes
  Setting<NamePattern> to;
  Setting<Wiring> wiring;
  Setting<int> count;   // parallel links of each pair
  Setting<int> groups;  // mesh: both ends split into that many equal parts (pods)
  Setting<bool> lag;    // those parallel links are one port-channel at both ends
  Setting<int> split;   // links per cage of a switch; not set: as many as its cages can
  Setting<BitRate> speed;
  Setting<CableKind> cable;
  Setting<Fec> fec;
  Setting<Length> length;
  Setting<Bytes> mtu;
  Setting<BitRate> shaper;  // a rate limit configured on these ports
};

struct Addressing {
  Setting<AddressFamily> family;
  Setting<std::vector<std::string>> subnets;  // one with {rail} in it, or one per rail
  Setting<int> nic_prefix;                    // each NIC its own subnet of that length; 0 = shared
  Setting<Boundary> l3_from;  // where routing begins; below it is one broadcast domain per rail
  Setting<int> vlan;          // 0 = untagged
  Setting<std::string> vrf;
};

struct TrafficClassDesign {
  Setting<DscpSet> dscp;
  Setting<Pcp> pcp;
  Setting<Priority> priority;
  Setting<TrafficClass> traffic_class;
  Setting<Queue> queue;
  Setting<bool> lossless;
  Setting<Scheduling> scheduling;
  Setting<Share> minimum;  // guaranteed under load
  Setting<Share> limit;    // at access ports; 100 % = none
};

struct Pfc {
  Setting<PrioritySet> priorities;
};

struct Watchdog {
  Setting<bool> enabled;
  Setting<Duration> detect;
  Setting<Duration> restore;
  Setting<WatchdogAction> action;
};

struct Pools {
  Setting<Share> lossless;
  Setting<Share> lossy;
  Setting<Share> storage;
  Setting<Share> reserved;
};

struct Buffers {
  Setting<BufferProfile> profile;
  Pools pools;
  Setting<Threshold> threshold;
  Setting<Alpha> alpha;  // dynamic: XOFF = alpha * free shared buffer, per ingress PG
  Setting<Alpha> egress_alpha;
  Setting<Bytes> xoff;               // static: the XOFF point itself
  Setting<Bytes> reserved_per_port;  // guaranteed to each port and priority group
  Setting<AutoOr<Bytes>> headroom;   // auto = from speed, cable and MTU
  Setting<std::string> headroom_model;
  Setting<int> headroom_oversubscription;  // 1 = each PG its own; n = a shared pool of 1/n
  Setting<Bytes> xon_offset;               // resume this far below XOFF
};

/// A NIC parameter under the name its driver gives it. Kept as text: a knob that does not exist is
/// a finding with its line, not a syntax error (nic_knobs.h knows them all).
struct Knob {
  std::string name;
  TextPosition at;
  std::string text;
  TextPosition value_at;
};

struct Dcqcn {
  Setting<DcqcnVariant> variant;
  Setting<bool> notification_point;
  Setting<bool> reaction_point;
  std::vector<Knob> knobs;
};

struct Mtu {
  Setting<Bytes> host;  // of the network interface (IP packet)
  Setting<Bytes> switch_port;
  Setting<Bytes> rdma;  // payload of one RDMA packet: 256 B … 4096 B
};

struct Marking {
  Setting<TosByte> traffic_class;  // RDMA: per-port traffic_class
  Setting<TosByte> rdma_cm_tos;    // connections made through RDMA-CM
  Setting<bool> force;             // traffic_class on every queue pair, whatever jobs ask for
};

struct Balancing {
  Setting<LoadBalancing> mode;
  Setting<EcmpSeeds> seeds;
};

struct Expect {
  Setting<int> incast;  // senders to one receiver that must still find an equilibrium
};

struct HostTuning {
  Setting<bool> socket_buffers;
  Setting<bool> irq_affinity;
  Setting<bool> stack_mtu;
};

struct Telemetry {
  Setting<bool> gnmi;
  Setting<bool> sflow;
  Setting<Duration> interval;
};

struct Nccl {
  Setting<TosByte> traffic_class;
  Setting<AutoOr<int>> gid_index;
  Setting<int> service_level;
  Setting<int> timeout;
  Setting<int> retry_count;
  Setting<int> qps_per_connection;
  Setting<bool> adaptive_routing;
  Setting<std::string> gdr_level;
  Setting<bool> cross_nic;
  Setting<std::string> socket_interface;
};

/// What was measured of this fabric and fitted (`weir calibrate fit`). The simulator alone reads
/// it; what is not written is as the tables and the other sections say. A share is a ratio: applied
/// to configured.
struct Calibration {
  Setting<std::string> source;    // provenance: what was measured, when
  Setting<Duration> nic_latency;  // of a message, both NICs and PCIe together
  Setting<Share> switch_latency;  // of the ASIC's
  Setting<Share> host_rate;       // of the speed of the hosts' links
  Setting<Share> wred_min;        // of the configured threshold …
  Setting<Share> wred_max;        // … and so on
  Setting<Share> wred_probability;
  Setting<Share> cnp_gap;         // of min_time_between_cnps
  Setting<CnpScope> cnp_scope;    // instead of the NIC table's
  Setting<Duration> cnp_delay;    // from a mark at the receiver to the CNP on the wire
  Setting<Share> xoff;            // of the shared buffer (static: of the XOFF point)
  Setting<Share> pause_reaction;  // of the NIC's
  Setting<std::vector<std::string>> not_identified;  // unknowns that the experiment cannot tell
  Setting<Share> residual;  // root mean square of (measured - simulated) / measured
  Setting<int> fan_in;      // the range: senders to one receiver, at most
  Setting<int> flows;       // … queue pairs to one receiver, at most
  Setting<Bytes> rdma_mtu;
  Setting<BitRate> speed;  // of the hosts' links

  [[nodiscard]] bool is_there() const { return source.is_written(); }
};

struct Design {
  std::string file;  // as the user named it; every message starts with it
  Setting<int> format;
  Setting<std::string> name;
  std::vector<Named<HostGroup>> hosts;
  std::vector<Named<SwitchGroup>> switches;
  std::vector<LinkGroup> links;
  Addressing addressing;
  Mtu mtu;
  Setting<Trust> trust;
  std::vector<Named<TrafficClassDesign>> classes;
  Pfc pfc;
  Wred wred;
  Watchdog watchdog;
  Buffers buffers;
  Dcqcn dcqcn;
  Marking marking;
  Balancing load_balancing;
  Setting<Routing> routing;
  Expect expect;
  Setting<AutoOr<int>> rings;
  HostTuning host_tuning;
  Telemetry telemetry;
  Nccl nccl;
  Calibration calibration;

  [[nodiscard]] const Named<TrafficClassDesign>* find_class(std::string_view class_name) const;
};

/// Class names with a meaning of their own; others are the user's.
inline constexpr std::string_view kRdmaClass = "rdma";
inline constexpr std::string_view kCnpClass = "cnp";
inline constexpr std::string_view kStorageClass = "storage";
inline constexpr std::string_view kManagementClass = "management";
inline constexpr std::string_view kBestEffortClass = "best_effort";

}  // namespace weir::design
