#pragma once
// Intent: what must be true of each host NIC and each switch port, derived once from the design.
//
// Renderers print it, the planner compares it with reality, the simulator is built from it, lint
// and the proof walk it. No other module holds a headroom formula or a DSCP map of its own.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "design/fabric/topology.h"
#include "design/file/fabric.h"
#include "design/file/yaml_document.h"
#include "design/tables/platforms.h"
#include "design/tables/switch_models.h"
#include "model/buffers.h"
#include "units/qos_code.h"
#include "units/quantity.h"

namespace weir::design {

struct LinkIntent {
  PortRef lower;  // host or lower tier
  PortRef upper;
  BitRate speed;
  CableKind cable = CableKind::kFibre;
  Length length;
  Duration propagation;     // one way
  std::uint32_t group = 0;  // index into Design::links
};

/// Scheduling of one traffic class or queue.
struct Share8 {
  Scheduling scheduling = Scheduling::kDwrr;
  Share minimum;  // share of the line guaranteed under load
  bool used = false;
  Share limit = Share::raw(kSharePerWhole);  // at access ports of a switch; the whole = none
};

struct NicIntent {
  std::string device;  // RDMA device: "mlx5_0"
  std::string netdev;
  int rail = 0;
  std::uint32_t link = 0;  // index into Intent::links
  BitRate speed;
  Bytes mtu;  // of the network interface
  Bytes rdma_mtu;
  std::string subnet;   // "10.0.0.0/16"
  std::string address;  // "10.0.0.1/16"
  std::string gateway;  // the switch's address, where the NIC has a subnet of its own
  int vlan = 0;
  Trust trust = Trust::kDscp;
  std::array<Priority, 64> dscp_to_priority{};
  std::array<TrafficClass, 8> priority_to_tc{};
  std::array<Share8, 8> traffic_classes{};
  PrioritySet pfc;
  PrioritySet
      ecn_np;  // notification point; port-wide on ConnectX, listed per priority all the same
  PrioritySet ecn_rp;
  Dscp cnp_dscp;
  Priority cnp_priority;
  TosByte traffic_class;  // RDMA packets
  TosByte rdma_cm_tos;
  bool force_traffic_class = false;  // on every queue pair of the port, whatever jobs ask for
  bool global_pause = false;
  int ring = 0;
  Length cable;     // what the NIC's own headroom is computed from
  Bytes xoff_need;  // the NIC's receive headroom (mlx5 formula)
};

struct HostIntent {
  std::string name;
  std::uint32_t group = 0;  // index into Design::hosts
  const NicModel* nic_model = nullptr;
  HostStack stack = HostStack::kOfed;
  std::vector<NicIntent> nics;  // by rail
};

struct WredIntent {
  bool ecn = false;
  Bytes min;
  Bytes max;
  Share probability;
  MarkAt mark_at = MarkAt::kDequeue;
};

struct SwitchPortIntent {
  std::string name;  // "swp1s0", "Ethernet1/1", …: as the system calls it
  CagePort place;    // where that is on the box; cage 0: not known
  std::uint32_t link = 0;
  PortRef peer;
  int channel = 0;         // of the switch's port-channels, from 1; 0: in none
  bool is_access = false;  // a host is behind it
  BitRate speed;
  Length cable;
  Bytes mtu;
  Bytes headroom_need;  // of one lossless priority: what speed, cable, MTU and peer ask for
  Bytes headroom;       // what the design gives it …
  bool headroom_is_auto = true;  // … derived from speed and cable, not written down
  WredIntent wred;               // of the lossless queues, scaled to this port's speed
  std::optional<BitRate> shaper;
};

struct BufferIntent {
  Bytes total;
  Bytes cell;
  Bytes packet_descriptor;
  Threshold threshold = Threshold::kDynamic;
  Alpha alpha;
  Alpha egress_alpha;
  Bytes static_xoff;  // static threshold only
  Bytes xon_offset;
  Bytes reserved_per_group;  // guaranteed to each port and priority group
  Bytes headroom_sum;        // over ports and lossless priorities
  Bytes headroom_pool;       // what is set aside for it: the sum, or its oversubscribed pool
  int headroom_oversubscription = 1;
  Bytes lossless_shared;  // what XOFF thresholds divide; negative: headroom does not fit
  /// The whole arithmetic; absent when the pools add up to more than the buffer.
  std::optional<model::BufferPlan> plan;
};

struct SwitchIntent {
  std::string name;
  std::uint32_t group = 0;  // index into Design::switches
  SwitchSystem system = SwitchSystem::kSonic;
  const SwitchModel* model = nullptr;  // nullptr: none named, or not in the table
  const AsicModel* asic = nullptr;
  bool ports_assumed = false;  // neither model nor `ports:`; names are counted through
  std::string ports_fault;     // why the links do not fit the box; the names are none of its ports
  int tier = 1;
  Trust trust = Trust::kDscp;
  std::array<Priority, 64> dscp_to_priority{};  // this switch's own map, overrides included
  std::array<Priority, 8> pcp_to_priority{};    // under PCP trust
  std::array<Queue, 8> priority_to_queue{};
  std::array<PriorityGroup, 8> priority_to_pg{};
  std::array<Share8, 8> queues{};
  PrioritySet pfc;
  PrioritySet lossless;  // priorities of lossless classes
  bool global_pause = false;
  bool rewrites_dscp = false;
  bool watchdog = false;
  Duration watchdog_detect;
  Duration watchdog_restore;
  WatchdogAction watchdog_action = WatchdogAction::kDrop;
  std::uint32_t ecmp_seed = 0;
  LoadBalancing load_balancing = LoadBalancing::kEcmp;
  Forwarding forwarding = Forwarding::kCutThrough;
  BufferIntent buffers;
  std::vector<SwitchPortIntent> ports;
};

struct TuningIntent {
  bool socket_buffers = false;
  bool irq_affinity = false;
  bool stack_mtu = false;
};

struct TelemetryIntent {
  bool gnmi = false;
  bool sflow = false;
  Duration interval;
};

struct Intent {
  std::vector<HostIntent> hosts;
  std::vector<SwitchIntent> switches;
  std::vector<LinkIntent> links;
  /// DCQCN register values by knob name, every knob filled in (nic_knobs.h).
  std::map<std::string, std::int64_t, std::less<>> dcqcn;
  /// Those that the design states; the others are the firmware's defaults.
  std::set<std::string, std::less<>> dcqcn_stated;
  DcqcnVariant dcqcn_variant = DcqcnVariant::kConnectx;
  Routing routing = Routing::kUpDown;
  int expected_incast = 1;
  std::size_t nic_count = 0;
  /// By priority: "rdma", "cnp", …; empty where no class has it.
  std::array<std::string, 8> class_names;
  TelemetryIntent telemetry;
  TuningIntent tuning;  // of the hosts, beside RDMA
  int vlan = 0;         // 0 = untagged
  Boundary l3_from = Boundary::kLeaf;
};

/// Errors are those of the topology (unknown group, parts that do not divide, more links than ports
/// …), each with its place. A design with faults that lint knows still has an intent.
struct Derived {
  Intent intent;
  std::vector<Diagnostic> errors;
};
[[nodiscard]] Derived derive(const Design& design);

}  // namespace weir::design
