#pragma once
// Evidence: what was observed about a host or a fabric, by whom, when, and with which gaps.
//
// A live host, a bundle sent by mail, a simulated fabric and a pasted text all end in this one
// shape; diagnosis reads it and cannot tell them apart. Everything observed is a Fact, so that "not
// permitted" never turns into "off". Lists of things (NICs, GPUs, switches, ports) hold what was
// found; a thing that should be there and is not is absent from them, and a gap says what could not
// be could look.
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
#include "evidence/nic.h"
#include "evidence/shared_list.h"
#include "units/qos_code.h"
#include "units/quantity.h"

namespace weir::evidence {

enum class Origin : std::uint8_t { kLive, kBundle, kLab, kText };
enum class Iommu : std::uint8_t { kOff, kIdentity, kTranslating };
enum class Distance : std::uint8_t { kPix, kPxb, kPhb, kNode, kSys };  // as nvidia-smi names them
enum class Scheduler : std::uint8_t { kStrict, kWeighted };
enum class PoolKind : std::uint8_t { kLossless, kLossy, kHeadroom, kReserved };

[[nodiscard]] std::string_view to_text(Distance);

struct Provenance {
  std::string host;  // who was observed; empty for a whole fabric
  std::string time;  // RFC 3339, UTC
  std::string tool;  // "weir 0.1.0"
  Origin origin = Origin::kLive;
  bool simulated = false;  // made by the simulator: never to be shown as measured
  std::string detail;      // the bundle's file, the lab's directory, the seed

  friend bool operator==(const Provenance&, const Provenance&) = default;
};

struct NamedText {
  std::string name;
  std::string value;
  friend bool operator==(const NamedText&, const NamedText&) = default;
};

// ---- the host ----

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
  Fact<std::string> rdma_namespaces;          // "shared", "exclusive"
  Fact<std::vector<NamedText>> nccl_conf;     // what every job on the host inherits
  Fact<std::vector<std::string>> kernel_log;  // lines that name a problem of NICs, PCIe or GPUs
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
  Fact<std::string> channel;  // its port-channel; empty: in none
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
  SharedList<GroupBuffer> groups;  // ports of a switch have the same ones by hundreds
  SharedList<EgressQueue> queues;
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

/// Something that could not be looked at, in words.
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
