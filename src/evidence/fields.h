#pragma once
// The one description of evidence: every field with its JSON key and its meaning. The writer, the
// reader, the JSON Schema and the drawn evidence of the tests are visitors of it, so that none of
// them can forget a field. Keys carry their unit; internal to this folder.
//
// A visitor has four calls: field (a plain value, always there), fact (a Fact, left out while
// nobody looked), section (an object within), list (a list of objects).
#include <concepts>
#include <type_traits>

#include "evidence/evidence.h"

namespace weir::evidence {

/// S is T or const T: the same description serves reading and writing.
template <class S, class T>
concept Is = std::same_as<std::remove_const_t<S>, T>;

template <class V, Is<Provenance> S>
void visit(V& v, S& s) {
  v.field("host", s.host, "who was observed; empty for a whole fabric");
  v.field("time", s.time, "when, RFC 3339 in UTC");
  v.field("tool", s.tool, "what observed it, with its version");
  v.field("source", s.origin, "a live host, a bundle, a lab, or a text somebody pasted");
  v.field("simulated", s.simulated, "made by the simulator, not measured");
  v.field("detail", s.detail, "the bundle's file, the lab's directory, the seed");
}

template <class V, Is<Parameter> S>
void visit(V& v, S& s) {
  v.field("name", s.name, "as its owner names it");
  v.field("value", s.value, "the number");
}

template <class V, Is<NamedText> S>
void visit(V& v, S& s) {
  v.field("name", s.name, "as its owner names it");
  v.field("value", s.value, "the text");
}

template <class V, Is<Neighbour> S>
void visit(V& v, S& s) {
  v.field("system", s.system, "name of the system at the other end");
  v.field("port", s.port, "its port");
}

template <class V, Is<Layer> S>
void visit(V& v, S& s) {
  v.field("netdev", s.netdev, "network device");
  v.field("kind", s.kind, "bond, vlan, bridge, vxlan and so on");
  v.field("mtu_bytes", s.mtu, "its MTU");
}

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
  v.fact("cable_length_mm", s.cable_length, "cable length the NIC reckons with");
  v.fact("dcbx", s.dcbx, "who owns QoS: the operating system or the firmware");
  v.fact("dcbx_willing", s.dcbx_willing, "takes settings from the switch");
  v.fact("firmware_lldp", s.firmware_lldp, "the NIC's own LLDP agent runs");
  v.fact("stall_prevention", s.stall_prevention, "when the NIC gives up pausing: default or auto");
}

template <class V, Is<Ecn> S>
void visit(V& v, S& s) {
  v.fact("np", s.np, "priorities with the notification point enabled");
  v.fact("rp", s.rp, "priorities with the reaction point enabled");
  v.fact("cnp_dscp", s.cnp_dscp, "code point of CNPs");
  v.fact("cnp_priority", s.cnp_priority, "priority of CNPs");
  v.fact("algorithm", s.algorithm, "congestion control in effect");
  v.fact("parameters", s.parameters, "DCQCN parameters by the names of the vendor's files");
}

template <class V, Is<Gid> S>
void visit(V& v, S& s) {
  v.field("index", s.index, "place in the table");
  v.field("gid", s.gid, "the address, as sysfs prints it");
  v.field("type", s.type, "InfiniBand, RoCE v1 or RoCE v2");
  v.field("netdev", s.netdev, "network device it belongs to");
}

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

template <class V, Is<Rings> S>
void visit(V& v, S& s) {
  v.fact("rx", s.rx, "receive ring of the network device");
  v.fact("tx", s.tx, "send ring of the network device");
  v.fact("rx_max", s.rx_max, "largest receive ring");
  v.fact("tx_max", s.tx_max, "largest send ring");
}

template <class V, Is<Pcie> S>
void visit(V& v, S& s) {
  v.fact("address", s.address, "domain:bus:device.function");
  v.fact("path", s.path, "bridges from the root to the device");
  v.fact("numa_node", s.numa_node, "the memory node it is attached to");
  v.fact("speed_mtps", s.speed_mtps, "megatransfers a second of a lane, now");
  v.fact("speed_mtps_max", s.speed_mtps_max, "the same, at most");
  v.fact("width", s.width, "lanes, now");
  v.fact("width_max", s.width_max, "lanes, at most");
  v.fact("max_read_request_bytes", s.max_read_request, "largest read request");
  v.fact("relaxed_ordering", s.relaxed_ordering, "enabled in the device");
  v.fact("acs_redirect", s.acs_redirect, "a bridge on the path redirects peer-to-peer traffic");
  v.fact("irq_numa_nodes", s.irq_numa_nodes, "memory nodes of the interrupts' processors");
}

template <class V, Is<FirmwareSetting> S>
void visit(V& v, S& s) {
  v.field("name", s.name, "as the vendor's tool names it");
  v.field("current", s.current, "in effect; empty where the tool does not show it");
  v.field("next_boot", s.next_boot, "after the next reset");
}

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

template <class V, Is<Gpu> S>
void visit(V& v, S& s) {
  v.field("index", s.index, "as the driver counts");
  v.fact("model", s.model, "what the card is");
  v.fact("driver", s.driver, "driver version");
  v.fact("open_kernel_module", s.open_kernel_module, "the open kernel module, which dma-buf needs");
  v.section("pcie", s.pcie, "where it sits");
}

template <class V, Is<GpuDistance> S>
void visit(V& v, S& s) {
  v.field("nic", s.nic, "RDMA device");
  v.field("gpu", s.gpu, "index of the GPU");
  v.fact("distance", s.distance, "how their PCIe paths meet");
}

template <class V, Is<Host> S>
void visit(V& v, S& s) {
  v.fact("kernel", s.kernel, "release");
  v.fact("os", s.os, "distribution");
  v.fact("architecture", s.architecture, "of the processor");
  v.fact("ofed", s.ofed, "release of the vendor's stack");
  v.fact("cpus", s.cpus, "processors online");
  v.fact("numa_nodes", s.numa_nodes, "memory nodes");
  v.fact("memlock_bytes", s.memlock, "locked memory a process may have; null is unlimited");
  v.fact("sysctls", s.sysctls, "kernel settings of the network");
  v.fact("command_line", s.command_line, "of the kernel");
  v.fact("iommu", s.iommu, "off, passing through, or translating");
  v.fact("modules", s.modules, "kernel modules loaded, those that matter here");
  v.fact("peermem", s.peermem, "GPU memory is open to RDMA through a module");
  v.fact("dmabuf", s.dmabuf, "GPU memory is open to RDMA through dma-buf");
  v.fact("lldpad_running", s.lldpad_running, "a daemon that may overwrite DCB settings");
  v.fact("uverbs_visible", s.uverbs_visible, "/dev/infiniband is there");
  v.fact("in_container", s.in_container, "observed from within a container");
  v.fact("rdma_namespaces", s.rdma_namespaces, "shared or exclusive");
  v.fact("nccl_conf", s.nccl_conf, "settings of nccl.conf, which jobs inherit unseen");
}

template <class V, Is<Watchdog> S>
void visit(V& v, S& s) {
  v.fact("enabled", s.enabled, "breaks PFC storms");
  v.fact("detection_ns", s.detection, "paused this long is stuck");
  v.fact("restoration_ns", s.restoration, "released after this long");
  v.fact("action", s.action, "what it does with a stuck queue");
}

template <class V, Is<Pool> S>
void visit(V& v, S& s) {
  v.field("name", s.name, "as the switch names it");
  v.field("kind", s.kind, "what it serves");
  v.field("size_bytes", s.size, "its size; 0 where the switch says it in percent");
  v.field("share_ppm", s.share, "of the whole buffer; 0 where the switch says it in bytes");
}

template <class V, Is<GroupBuffer> S>
void visit(V& v, S& s) {
  v.field("group", s.group, "priority group");
  v.fact("lossless", s.lossless, "pauses instead of dropping");
  v.fact("reserved_bytes", s.reserved, "guaranteed");
  v.fact("headroom_auto", s.headroom_auto, "the system sizes it from speed and cable length");
  v.fact("headroom_bytes", s.headroom, "for what is in flight after a pause");
  v.fact("xoff_bytes", s.xoff, "pause threshold, where it is static");
  v.fact("xon_bytes", s.xon, "release offset");
  v.fact("alpha_log2", s.alpha, "share of the free shared buffer, as a power of two");
}

template <class V, Is<EgressQueue> S>
void visit(V& v, S& s) {
  v.field("queue", s.queue, "egress queue");
  v.fact("ecn", s.ecn, "marks");
  v.fact("ecn_min_bytes", s.ecn_min, "marking starts here");
  v.fact("ecn_max_bytes", s.ecn_max, "everything is marked from here");
  v.fact("ecn_min_share_ppm", s.ecn_min_share, "marking starts here, of the largest queue");
  v.fact("ecn_max_share_ppm", s.ecn_max_share, "everything is marked from here, of the same");
  v.fact("ecn_probability_ppm", s.ecn_probability, "at the upper threshold, parts per million");
  v.fact("ecn_weight", s.ecn_weight, "of the average queue; 0 is the queue as it is now");
  v.fact("wred_drop", s.wred_drop, "drops what it cannot mark between the thresholds");
  v.fact("scheduler", s.scheduler, "strict or weighted");
  v.fact("weight", s.weight, "of a weighted queue");
  v.fact("max_rate_bps", s.max_rate, "shaper; 0 is none");
  v.fact("max_share_ppm", s.max_share, "shaper as a share of the port");
  v.fact("alpha_log2", s.alpha, "egress share of the free buffer, as a power of two");
  v.fact("stuck", s.stuck, "the watchdog holds it");
}

template <class V, Is<SwitchPort> S>
void visit(V& v, S& s) {
  v.field("name", s.name, "as the switch names it");
  v.fact("neighbour", s.neighbour, "LLDP neighbour");
  v.fact("up", s.up, "carrier");
  v.fact("speed_bps", s.speed, "negotiated speed");
  v.fact("mtu_bytes", s.mtu, "MTU");
  v.fact("fec", s.fec, "active forward error correction");
  v.fact("trust", s.trust, "what classifies a packet");
  v.fact("pfc", s.pfc, "priorities with PFC configured");
  v.fact("pfc_active", s.pfc_active, "priorities with PFC in effect");
  v.fact("pfc_negotiated", s.pfc_negotiated, "DCBX decides whether PFC is in effect");
  v.fact("global_pause", s.global_pause, "802.3x pause");
  v.fact("watchdog", s.watchdog, "PFC watchdog of this port");
  v.fact("rewrites_dscp", s.rewrites_dscp, "writes the code point of what leaves by it anew");
  v.fact("max_rate_bps", s.max_rate, "shaper of the port; 0 is none");
  v.fact("max_share_ppm", s.max_share, "shaper as a share of its speed");
  v.fact("lldp", s.lldp, "speaks LLDP");
  v.fact("dcbx", s.dcbx, "speaks DCBX");
  v.fact("cable_length_mm", s.cable_length, "cable length the port reckons with");
  v.list("groups", s.groups, "ingress accounting");
  v.list("queues", s.queues, "egress queues");
}

template <class V, Is<SwitchInterface> S>
void visit(V& v, S& s) {
  v.field("name", s.name, "of the interface");
  v.field("kind", s.kind, "port-channel or svi");
  v.fact("mtu_bytes", s.mtu, "MTU");
  v.fact("members", s.members, "its ports");
}

template <class V, Is<Telemetry> S>
void visit(V& v, S& s) {
  v.fact("gnmi", s.gnmi, "streams over gNMI");
  v.fact("sflow", s.sflow, "samples packets");
  v.fact("interval_ns", s.interval, "between two reports");
  v.fact("queue_monitor", s.queue_monitor, "keeps watermarks of queues");
  v.fact("ecn_counters", s.ecn_counters, "counts marked packets");
}

template <class V, Is<Switch> S>
void visit(V& v, S& s) {
  v.field("name", s.name, "of the switch");
  v.fact("platform", s.platform, "its system");
  v.fact("model", s.model, "what the box is");
  v.fact("asic", s.asic, "its chip");
  v.fact("version", s.version, "of its system");
  v.fact("dscp_to_tc", s.dscp_to_tc,
         "traffic class of each code point; null where there is no entry");
  v.fact("pcp_to_tc", s.pcp_to_tc,
         "traffic class of each 802.1p value; null where there is no entry");
  v.fact("tc_to_queue", s.tc_to_queue, "egress queue of each traffic class");
  v.fact("tc_to_group", s.tc_to_group, "priority group of each traffic class");
  v.fact("pfc_to_queue", s.pfc_to_queue, "egress queue that a received pause stops");
  v.fact("tc_to_dscp", s.tc_to_dscp,
         "code point that each traffic class leaves with; null where it stays as it came");
  v.section("watchdog", s.watchdog, "PFC watchdog");
  v.fact("pools", s.pools, "shared buffers");
  v.fact("buffer_model", s.buffer_model, "SONiC: traditional or dynamic");
  v.fact("headroom_oversubscription", s.headroom_oversubscription,
         "of a shared headroom pool; 1 is each group its own");
  v.fact("load_balancing", s.load_balancing, "ecmp, spray or adaptive");
  v.fact("ecmp_seed", s.ecmp_seed, "of the hash that chooses a path");
  v.fact("cut_through", s.cut_through, "forwards before a frame is whole");
  v.fact("lldp", s.lldp, "speaks LLDP");
  v.section("telemetry", s.telemetry, "what it reports on its own");
  v.list("interfaces", s.interfaces, "port-channels and gateways of VLANs");
  v.list("ports", s.ports, "its ports");
}

template <class V, Is<Gap> S>
void visit(V& v, S& s) {
  v.field("what", s.what, "what could not be looked at");
  v.field("where", s.where, "device or port; empty is the whole");
  v.field("why", s.why, "what stood in the way");
  v.field("how", s.how, "how to get it");
}

}  // namespace weir::evidence
