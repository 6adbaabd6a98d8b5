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

template <class V, Is<Provenance> S>
void visit(V& v, S& s) {
  v.field("host", s.host, "who was observed; empty for a whole fabric");
  v.field("time", s.time, "when, RFC 3339 in UTC");
  v.field("tool", s.tool, "what observed it, with its version");
  v.field("source", s.origin, "a live host, a bundle, a lab, or pasted text");
  v.field("simulated", s.simulated, "made by the simulator, not measured");
  v.field("detail", s.detail, "the bundle's file, the lab's directory, the seed");
}

template <class V, Is<NamedText> S>
void visit(V& v, S& s) {
  v.field("name", s.name, "as its owner names it");
  v.field("value", s.value, "the text");
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
  v.fact("kernel_log", s.kernel_log, "lines of the kernel's log that name a problem");
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

/// Of a list that shares its elements: to be read, or to be changed.
template <class T>
const std::vector<T>& items_of(const SharedList<T>& list) {
  return list.get();
}
template <class T>
std::vector<T>& items_of(SharedList<T>& list) {
  return list.edit();
}

/// A visitor may take such a list as it is, and share it.
template <class V, class L>
void visit_shared(V& v, std::string_view key, L& list, std::string_view help) {
  if constexpr (requires { v.shared_list(key, list); }) {
    v.shared_list(key, list);
  } else {
    v.list(key, items_of(list), help);
  }
}

template <class V, Is<SwitchPort> S>
void visit(V& v, S& s) {
  v.field("name", s.name, "as the switch names it");
  v.fact("neighbour", s.neighbour, "LLDP neighbour");
  v.fact("channel", s.channel, "its port-channel; empty where it is in none");
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
  v.fact("cable_length_mm", s.cable_length, "cable length that the port sizes its headroom for");
  visit_shared(v, "groups", s.groups, "ingress accounting");
  visit_shared(v, "queues", s.queues, "egress queues");
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
