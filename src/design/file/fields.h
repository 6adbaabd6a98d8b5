#pragma once
// The grammar of the design file, once: which key sets which member, and what it means.
//
// A visitor is called with each field of a section in the order of the file:
//   v.field(key, Setting<T>&, help)          a value
//   v.field(key, Setting<int>&, help, Range) a bounded number
//   v.section(key, Struct&, help)            a nested mapping
//   v.named(key, vector<Named<Struct>>&, help)   a mapping whose keys are names
//   v.list(key, vector<Struct>&, help)       a list of mappings
//   v.knobs(vector<Knob>&, help)             every other key of this mapping, kept as text
// The loader, the JSON Schema, --show-effective and docs/design-file.md are visitors, so they
// cannot disagree about the format.
#include <string_view>

#include "design/file/fabric.h"

namespace weir::design {

struct Range {
  int min;
  int max;
};

template <class V>
void visit(V& v, Wred& s) {
  v.field("ecn", s.ecn, "mark ECN on the lossless queues");
  v.field("min", s.min, "queue length at which marking begins (Kmin)");
  v.field("max", s.max, "queue length from which every packet is marked (Kmax)");
  v.field("probability", s.probability, "share of packets marked just below max (Pmax)");
  v.field("at_speed", s.at_speed, "port speed that min and max are meant for; other ports scale");
  v.field("mark_at", s.mark_at, "mark a packet as it leaves the queue, or as it joins it");
}

template <class V>
void visit(V& v, HostGroup& s) {
  v.field("names", s.names, "the hosts: a name or a pattern such as gpu[001-032]");
  v.field("nic", s.nic, "NIC model (weir explain nics)");
  v.field("stack", s.stack, "driver stack: the vendor's (ofed) or the distribution's (inbox)");
  v.field("rails", s.rails, "RDMA NICs per host, numbered from 0", Range{1, 64});
  v.field("device", s.device,
          "RDMA device of a rail: {rail} is its number; or one name per rail, mlx5_[0,3-6]");
  v.field("netdev", s.netdev, "network interface of a rail; {rail} is its number");
  v.field("mtu", s.mtu, "MTU of these hosts, where it differs from mtu.host");
  v.field("trust", s.trust, "trust of these NICs, where it differs from trust");
  v.field("global_pause", s.global_pause,
          "802.3x link pause on these NICs; must be off where PFC is on");
  v.field("traffic_class", s.traffic_class,
          "TOS byte of these hosts, where it differs from marking.traffic_class");
}

template <class V>
void visit(V& v, DscpOverride& s) {
  v.field("dscp", s.dscp, "code points that this switch treats in its own way");
  v.field("priority", s.priority, "the priority it gives them");
}

template <class V>
void visit(V& v, SwitchGroup& s) {
  v.field("names", s.names, "the switches: a name or a pattern such as leaf[1-8]");
  v.field("system", s.system, "operating system of the switch");
  v.field("model", s.model,
          "the switch as it is sold (weir explain models): ports, their names and splits");
  v.field("asic", s.asic, "switching ASIC (weir explain asics); the model's if one is named");
  v.field("tier", s.tier, "1 = leaf, 2 = spine, 3 = core", Range{1, 8});
  v.field("buffer", s.buffer, "packet buffer, where it differs from the ASIC table");
  v.field("cell", s.cell, "buffer cell, where it differs from the ASIC table");
  v.field("ports", s.ports,
          "how many ports the switch has; or their names in the order of its links "
          "(swp[1-32]s[0-1], Ethernet[0-508:4]), or by peer (gpu001: swp1s0); a number of a list "
          "is a cage of the model, 12.2 its second sub-port");
  v.field("mtu", s.mtu, "MTU of these switches, where it differs from mtu.switch");
  v.field("trust", s.trust, "trust of these switches, where it differs from trust");
  v.field("headroom", s.headroom,
          "headroom per port and lossless priority, where it differs from buffers.headroom");
  v.field("global_pause", s.global_pause, "802.3x link pause; must be off where PFC is on");
  v.field("watchdog", s.watchdog, "PFC watchdog, where it differs from watchdog.enabled");
  v.field("ecmp_seed", s.ecmp_seed, "hash seed of these switches", Range{0, 2147483647});
  v.field("rewrites_dscp", s.rewrites_dscp, "these switches rewrite the TOS byte on the way");
  v.field("forwarding", s.forwarding, "cut-through, or store-and-forward");
  v.section("wred", s.wred, "marking thresholds of these switches, where they differ from wred");
  v.list("dscp_overrides", s.dscp_overrides,
         "code points that these switches map in their own way");
}

template <class V>
void visit(V& v, LinkGroup& s) {
  v.field("from", s.from, "the lower end: a group, or a pattern of nodes");
  v.field("to", s.to, "the upper end: a group of switches, or a pattern");
  v.field("wiring", s.wiring,
          "block: equal consecutive parts of 'from' to each of 'to'; rail: rail r of a host to "
          "switch r; "
          "mesh: every pair; stripe: node i of each part to part i of 'to'");
  v.field("count", s.count, "parallel links of each pair", Range{1, 1024});
  v.field("groups", s.groups,
          "mesh, rail, stripe: split both ends into that many equal parts (pods)", Range{1, 4096});
  v.field("lag", s.lag,
          "the parallel links of each pair of switches are one port-channel (LACP); needs count of "
          "2 or more");
  v.field("split", s.split,
          "links per cage of a switch, as break-out cables make them; 1 = a cage for each link",
          Range{1, 8});
  v.field("speed", s.speed, "speed of each link");
  v.field("cable", s.cable, "kind of cable");
  v.field("fec", s.fec, "error correction: auto = what speed and cable need");
  v.field("length", s.length, "length of the cable, slack included");
  v.field("mtu", s.mtu, "MTU of the switch ports of these links, where it differs");
  v.field("shaper", s.shaper, "rate limit configured on these ports; RDMA paths want none");
}

template <class V>
void visit(V& v, Addressing& s) {
  v.field("family", s.family, "address family of the RoCE v2 GIDs");
  v.field("subnets", s.subnets,
          "one subnet per rail and leaf: a pattern with {rail}, {leaf} or {pod} in it, counted "
          "from 0, or a list with one per rail");
  v.field("nic_prefix", s.nic_prefix,
          "each NIC has a subnet of its own of this length out of them, the switch its first "
          "address, the NIC its second: 31 (IPv6: 127); 0 = NICs share the subnet",
          Range{0, 127});
  v.field("l3_from", s.l3_from, "where routing begins; below it each rail is one broadcast domain");
  v.field("vlan", s.vlan, "VLAN of the RDMA network; 0 = untagged", Range{0, 4094});
  v.field("vrf", s.vrf, "routing instance of the RDMA network");
}

template <class V>
void visit(V& v, TrafficClassDesign& s) {
  v.field("dscp", s.dscp, "code points of the class; its traffic is marked with the first");
  v.field("pcp", s.pcp, "802.1p bits, where trust is pcp");
  v.field("priority", s.priority, "priority that PFC and the NIC know the class by");
  v.field("traffic_class", s.traffic_class, "traffic class of the NIC's scheduler");
  v.field("queue", s.queue, "egress queue of the switches");
  v.field("lossless", s.lossless, "protected by PFC");
  v.field("scheduling", s.scheduling,
          "strict priority, a deficit-weighted share, or on NICs the vendor's own choice (TSA "
          "'vendor'; a weighted share on switches)");
  v.field("minimum", s.minimum, "bandwidth guaranteed under load");
  v.field("limit", s.limit, "most it may use at an access port; 100% = no limit");
}

template <class V>
void visit(V& v, Pfc& s) {
  v.field("priorities", s.priorities,
          "priorities that PFC may pause: the lossless one and no other");
}

template <class V>
void visit(V& v, Watchdog& s) {
  v.field("enabled", s.enabled, "PFC watchdog on every switch port");
  v.field("detect", s.detect, "paused this long without progress is a storm");
  v.field("restore", s.restore, "quiet this long ends it");
  v.field("action", s.action, "what happens to the queue until then");
}

template <class V>
void visit(V& v, Pools& s) {
  v.field("lossless", s.lossless, "shared buffer and headroom of the lossless class");
  v.field("lossy", s.lossy, "best effort, management, control");
  v.field("storage", s.storage, "storage class");
  v.field("reserved", s.reserved, "minimum of every port, telemetry");
}

template <class V>
void visit(V& v, Buffers& s) {
  v.field("profile", s.profile, "where to start: the vendor's reference, or a named delta of it");
  v.section("pools", s.pools, "shares of the packet buffer; at most 100% in all");
  v.field("threshold", s.threshold, "dynamic: XOFF follows the free buffer; static: it is fixed");
  v.field("alpha", s.alpha, "dynamic: XOFF = alpha x free shared buffer");
  v.field("egress_alpha", s.egress_alpha,
          "most of the free shared buffer that one egress queue may take");
  v.field("xoff", s.xoff,
          "static: bytes of one ingress priority group at which it pauses its peer");
  v.field("reserved_per_port", s.reserved_per_port, "guaranteed to each port and priority group");
  v.field("headroom", s.headroom,
          "auto = from speed, cable and MTU; or a size per port and lossless priority");
  v.field("headroom_model", s.headroom_model,
          "formula or vendor table behind auto (weir calc headroom --help)");
  v.field("headroom_oversubscription", s.headroom_oversubscription,
          "1 = each priority group its own headroom; n = a shared pool of 1/n of the sum",
          Range{1, 256});
  v.field("xon_offset", s.xon_offset, "resume this far below XOFF");
}

template <class V>
void visit(V& v, Dcqcn& s) {
  v.field("variant", s.variant, "which reaction point: ConnectX-style, or a published model");
  v.field("notification_point", s.notification_point, "receivers answer marks with CNPs");
  v.field("reaction_point", s.reaction_point, "senders slow down on CNPs");
  v.knobs(s.knobs, "a NIC parameter by its driver's name (weir explain knobs)");
}

template <class V>
void visit(V& v, Mtu& s) {
  v.field("host", s.host, "of the hosts' network interfaces (an IP packet)");
  v.field("switch", s.switch_port, "of the switch ports (a frame without its FCS)");
  v.field("rdma", s.rdma, "payload of one RDMA packet: 256B, 512B, 1024B, 2048B or 4096B");
}

template <class V>
void visit(V& v, Marking& s) {
  v.field("traffic_class", s.traffic_class,
          "TOS byte of RDMA packets, DSCP x 4 + ECN bits: 106 for DSCP 26");
  v.field("rdma_cm_tos", s.rdma_cm_tos, "TOS byte of connections made through RDMA-CM");
  v.field("force", s.force,
          "put traffic_class on every queue pair, whatever jobs ask for (vendor's driver)");
}

template <class V>
void visit(V& v, Balancing& s) {
  v.field("mode", s.mode, "how a switch spreads flows over equal paths");
  v.field("seeds", s.seeds, "hash seeds: one per switch, or the same everywhere (polarises)");
}

template <class V>
void visit(V& v, Expect& s) {
  v.field("incast", s.incast, "senders to one receiver that must still find an equilibrium",
          Range{1, 65536});
}

template <class V>
void visit(V& v, HostTuning& s) {
  v.field("socket_buffers", s.socket_buffers, "raise the four socket-buffer sysctls");
  v.field("irq_affinity", s.irq_affinity, "pin NIC interrupts to the NIC's NUMA node");
  v.field("stack_mtu", s.stack_mtu, "raise bonds, VLANs and bridges on a NIC to its MTU");
}

template <class V>
void visit(V& v, Telemetry& s) {
  v.field("gnmi", s.gnmi, "streaming telemetry");
  v.field("sflow", s.sflow, "packet samples");
  v.field("interval", s.interval, "sampling interval");
}

template <class V>
void visit(V& v, Nccl& s) {
  v.field("traffic_class", s.traffic_class, "NCCL_IB_TC: a TOS byte, DSCP x 4 + ECN bits");
  v.field("gid_index", s.gid_index, "NCCL_IB_GID_INDEX; auto = found on the host");
  v.field("service_level", s.service_level, "NCCL_IB_SL", Range{0, 15});
  v.field("timeout", s.timeout, "NCCL_IB_TIMEOUT: 4.096 us x 2^n", Range{1, 31});
  v.field("retry_count", s.retry_count, "NCCL_IB_RETRY_CNT", Range{0, 7});
  v.field("qps_per_connection", s.qps_per_connection, "NCCL_IB_QPS_PER_CONNECTION", Range{1, 128});
  v.field("adaptive_routing", s.adaptive_routing, "NCCL_IB_ADAPTIVE_ROUTING");
  v.field("gdr_level", s.gdr_level, "NCCL_NET_GDR_LEVEL: farthest NIC-GPU distance for GPUDirect");
  v.field("cross_nic", s.cross_nic, "NCCL_CROSS_NIC: a ring may change rails");
  v.field("socket_interface", s.socket_interface, "NCCL_SOCKET_IFNAME: interface of the bootstrap");
}

template <class V>
void visit(V& v, Calibration& s) {
  v.field("source", s.source, "what was measured and when; written by weir calibrate fit");
  v.field("nic_latency", s.nic_latency, "of a message, both NICs and PCIe together");
  v.field("switch_latency", s.switch_latency, "measured, of the ASIC table's");
  v.field("host_rate", s.host_rate, "what a host can send, of the speed of its link");
  v.field("wred_min", s.wred_min, "Kmin as applied, of the configured");
  v.field("wred_max", s.wred_max, "Kmax as applied, of the configured");
  v.field("wred_probability", s.wred_probability, "Pmax as applied, of the configured");
  v.field("cnp_gap", s.cnp_gap, "gap between CNPs as applied, of min_time_between_cnps");
  v.field("cnp_scope", s.cnp_scope, "what NICs pace CNPs by, where it differs from the NIC table");
  v.field("cnp_delay", s.cnp_delay, "from a mark at the receiver to the CNP on the wire");
  v.field("xoff", s.xoff, "XOFF as applied, of the configured");
  v.field("pause_reaction", s.pause_reaction, "of NICs to a pause frame, of the NIC table's");
  v.field("not_identified", s.not_identified, "unknowns that the measurement could not identify");
  v.field("residual", s.residual, "root mean square of measured against simulated");
  v.field("fan_in", s.fan_in, "fitted up to this many senders to one receiver", Range{1, 65536});
  v.field("flows", s.flows, "fitted up to this many queue pairs to one receiver",
          Range{1, 1'000'000});
  v.field("rdma_mtu", s.rdma_mtu, "fitted at this payload of an RDMA packet");
  v.field("speed", s.speed, "fitted at this speed of the hosts' links");
}

template <class V>
void visit(V& v, Design& d) {
  v.field("weir", d.format, "version of this format", Range{1, 1});
  v.field("name", d.name, "name of the fabric");
  v.named("hosts", d.hosts, "groups of hosts");
  v.named("switches", d.switches, "groups of switches");
  v.list("links", d.links, "cables, in groups");
  v.section("addressing", d.addressing, "subnets, VLAN or VRF, and where routing begins");
  v.section("mtu", d.mtu, "frame sizes");
  v.field("trust", d.trust, "what decides a packet's class: its DSCP or its PCP");
  v.named("classes", d.classes,
          "traffic classes: rdma, cnp, storage, management, best_effort, or your own");
  v.section("pfc", d.pfc, "priority flow control");
  v.section("wred", d.wred, "ECN marking on the lossless queues");
  v.section("watchdog", d.watchdog, "PFC watchdog");
  v.section("buffers", d.buffers, "switch buffers");
  v.section("dcqcn", d.dcqcn, "congestion control of the NICs");
  v.section("marking", d.marking, "TOS bytes that hosts put on RDMA packets");
  v.section("load_balancing", d.load_balancing, "spreading over equal paths");
  v.field("routing", d.routing,
          "updown: valley-free; bounce: a detour over a leaf is allowed after failures");
  v.section("expect", d.expect, "what the fabric must stand");
  v.field("rings", d.rings, "NIC ring size in descriptors; auto = the NIC's maximum or 8192",
          Range{64, 65536});
  v.section("host_tuning", d.host_tuning, "optional tuning of the hosts");
  v.section("telemetry", d.telemetry, "telemetry of the switches");
  v.section("nccl", d.nccl, "environment of the jobs");
  v.section("calibration", d.calibration, "what was measured of this fabric, for the simulator");
}

}  // namespace weir::design
