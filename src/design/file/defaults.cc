#include "design/file/defaults.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "design/fabric/patterns.h"
#include "design/file/fields.h"
#include "design/file/words.h"
#include "design/tables/platforms.h"
#include "design/tables/switch_models.h"
#include "model/buffers.h"
#include "model/wred.h"
#include "units/format.h"
#include "vocab/nic_drivers.h"

namespace weir::design {
namespace {

// Reasons that several defaults share.
constexpr std::string_view kVendorOctets =
    "vendors map DSCP 8n-8n+7 to priority n (Cumulus RoCE profile, mlx5 power-on map)";
constexpr std::string_view kFromPriority = "follows the class's priority";
constexpr std::string_view kPfcExcludesPause =
    "PFC and 802.3x pause exclude each other on a port (Cumulus QoS guide; IEEE 802.1Qbb)";
constexpr std::string_view kNcclDefault = "NCCL's own default";

constexpr std::uint64_t octet(unsigned n) {
  return std::uint64_t{0xFF} << (8U * n);
}

int count_names(const NamePattern& pattern) {
  const auto names = expand_names(pattern.text);
  return names ? static_cast<int>(names->size()) : 0;
}

int count_hosts(const Design& d) {
  int hosts = 0;
  for (const auto& group : d.hosts)
    if (group.value.names.is_set()) hosts += count_names(*group.value.names);
  return hosts;
}

bool is_host_group(const Design& d, const std::string& name) {
  return std::any_of(d.hosts.begin(), d.hosts.end(), [&](const auto& g) { return g.name == name; });
}

/// Speed of the hosts' own links: what thresholds are stated for.
BitRate access_speed(const Design& d) {
  BitRate speed;
  for (const LinkGroup& link : d.links)
    if (is_host_group(d, link.from->text)) speed = std::max(speed, *link.speed);
  for (const LinkGroup& link : d.links)
    if (speed == BitRate()) speed = std::max(speed, *link.speed);
  return speed == BitRate() ? 400_Gbps : speed;
}

void fill_hosts(Design& d) {
  for (auto& [name, at, group] : d.hosts) {
    group.nic.fill("generic", "no NIC model given");
    const NicModel* const nic = find_nic(*group.nic);
    const vocab::NicDriver* const driver =
        nic == nullptr ? nullptr : vocab::find_driver(nic->driver);
    group.stack.fill(HostStack::kInbox, "the distribution's own driver is always there");
    group.rails.fill(1, "one RDMA NIC per host");
    group.device.fill(fmt::format("{}{{rail}}", driver == nullptr ? "rdma" : driver->device),
                      "the driver's usual device names");
    group.netdev.fill("rail{rail}", "our own naming; set it to what `rdma link` shows");
    group.global_pause.fill(false, kPfcExcludesPause);
  }
}

void fill_switches(Design& d) {
  int tier = 0;
  for (auto& [name, at, group] : d.switches) {
    group.tier.fill(tier + 1, "the order of the groups in the file");
    tier = *group.tier;
    const SwitchModel* const model =
        group.model.is_set() ? find_switch_model(*group.model) : nullptr;
    if (model != nullptr) {
      const std::string why = fmt::format("{}: {}", model->title, model->source);
      group.asic.fill(std::string(model->asic), why);
      if (model->buffer > 0_B) group.buffer.fill(model->buffer, why);
    }
    const AsicModel* const asic = group.asic.is_set() ? find_asic(*group.asic) : nullptr;
    if (asic == nullptr) continue;
    group.buffer.fill(asic->buffer, fmt::format("{}: {}", asic->title, asic->source));
    group.cell.fill(asic->cell, fmt::format("{}: {}", asic->title, asic->source));
    if (model == nullptr)
      group.ports.fill(PortSpec{std::to_string(asic->ports), asic->ports, {}},
                       fmt::format("{}: {}", asic->title, asic->source));
    group.global_pause.fill(false, kPfcExcludesPause);
    group.rewrites_dscp.fill(false,
                             "a rewrite on the way breaks the classification of every later hop");
    group.forwarding.fill(Forwarding::kCutThrough, "what these ASICs do out of the box");
  }
}

void fill_links(Design& d) {
  for (LinkGroup& link : d.links) {
    const bool from_hosts = is_host_group(d, link.from->text);
    int rails = 1;
    for (const auto& group : d.hosts)
      if (group.name == link.from->text) rails = *group.value.rails;
    const Wiring usual = !from_hosts ? Wiring::kMesh : rails > 1 ? Wiring::kRail : Wiring::kBlock;
    link.wiring.fill(usual,
                     "hosts with one rail in blocks, with several by rail; switches in a mesh");
    link.count.fill(1, "one cable per pair");
    link.groups.fill(1, "no pods");
    const CableKind kind = *link.length <= 3_m    ? CableKind::kDac
                           : *link.length <= 30_m ? CableKind::kAoc
                                                  : CableKind::kFibre;
    link.cable.fill(kind, "copper to 3 m, active optical to 30 m, fibre beyond");
    link.lag.fill(false, "each link is routed on its own: ECMP spreads flows over them");
    link.fec.fill(Fec::kAuto, "RS-FEC from 50G per lane on; both ends choose it by the module");
  }
}

/// Leaves route, and NICs of one rail are on several of them.
bool has_rail_on_two_leaves(const Design& d) {
  if (d.addressing.l3_from.is_set() && *d.addressing.l3_from != Boundary::kLeaf) return false;
  int leaves = 0;
  for (const auto& group : d.switches)
    if (*group.value.tier == 1 && group.value.names.is_set())
      leaves += count_names(*group.value.names);
  constexpr int kOctet = 256;
  if (leaves < 2 || leaves > kOctet) return false;
  return std::any_of(d.links.begin(), d.links.end(), [&](const LinkGroup& link) {
    const bool is_by_rail = *link.wiring == Wiring::kRail && *link.groups == 1;
    return is_host_group(d, link.from->text) && !is_by_rail;
  });
}

void fill_network(Design& d) {
  d.addressing.family.fill(AddressFamily::kIpv4, "RoCE v2 over IPv4 is what most jobs expect");
  const bool is_v4 = *d.addressing.family == AddressFamily::kIpv4;
  if (has_rail_on_two_leaves(d))
    d.addressing.subnets.fill({is_v4 ? "10.{rail}.{leaf}.0/24" : "fd00:{rail}:{leaf}::/64"},
                              "one subnet per rail and leaf: a leaf that routes has it alone");
  d.addressing.subnets.fill(
      {is_v4 ? "10.{rail}.0.0/16" : "fd00:{rail}::/64"},
      "one subnet per rail, so that replies leave through the rail they came in");
  d.addressing.nic_prefix.fill(0, "NICs share the subnet of their rail and leaf");
  d.addressing.l3_from.fill(Boundary::kLeaf,
                            "routed from the leaf up: no flooding in the lossless class");
  d.addressing.vlan.fill(0, "untagged");
  d.addressing.vrf.fill("default", "no isolation");
  d.mtu.host.fill(9000_B, "jumbo frames; an RDMA packet of 4096 B needs 4200 B or more");
  d.mtu.switch_port.fill(9216_B, "the usual maximum of the five systems (EOS: 9214)");
  d.mtu.rdma.fill(4096_B,
                  "largest RDMA payload; active_mtu follows from a host MTU of 4200 B or more");
  d.trust.fill(Trust::kDscp, "DSCP survives routing; PCP ends with the VLAN tag");
}

Named<TrafficClassDesign>& class_named(Design& d, std::string_view name) {
  const auto found = std::find_if(d.classes.begin(), d.classes.end(),
                                  [&](const auto& cls) { return cls.name == name; });
  if (found != d.classes.end()) return *found;
  d.classes.push_back({std::string(name), {}, {}});
  return d.classes.back();
}

// The four classes every fabric has, as the vendors' RoCE profiles have them.
void fill_usual_classes(Design& d) {
  const bool none_written = std::none_of(d.classes.begin(), d.classes.end(),
                                         [](const auto& cls) { return cls.at.is_known(); });
  TrafficClassDesign& rdma = class_named(d, kRdmaClass).value;
  rdma.dscp.fill({26_dscp, octet(3)},
                 "DSCP 26 by convention (NVIDIA, Broadcom and Cisco RoCE guides); octet 24-31");
  rdma.priority.fill(3_prio, "priority 3 by convention (NVIDIA, Broadcom and Cisco RoCE guides)");
  rdma.lossless.fill(true, "RoCE v2 loses most of its throughput at 0.1 % loss (go-back-N)");
  rdma.minimum.fill(50_percent, "Cumulus RoCE profile: DWRR 50");
  TrafficClassDesign& cnp = class_named(d, kCnpClass).value;
  cnp.dscp.fill({48_dscp, octet(6)}, "ConnectX default: CNP DSCP 48; octet 48-55");
  cnp.priority.fill(6_prio, "ConnectX default: CNP priority 6");
  cnp.scheduling.fill(Scheduling::kStrict,
                      "a late CNP is a late brake (DCQCN, SIGCOMM'15: high priority)");
  if (none_written) {
    TrafficClassDesign& management = class_named(d, kManagementClass).value;
    management.dscp.fill({16_dscp, octet(2)}, "CS2 is OAM traffic (RFC 4594)");
    management.priority.fill(2_prio, kVendorOctets);
    management.minimum.fill(5_percent, "enough to stay reachable under load");
  }
  class_named(d, kBestEffortClass);
}

void fill_classes(Design& d) {
  fill_usual_classes(d);
  std::uint64_t taken = 0;
  for (const auto& cls : d.classes)
    if (cls.name != kBestEffortClass && cls.value.dscp.is_set()) taken |= cls.value.dscp->mask;
  for (auto& [name, at, cls] : d.classes) {
    if (name == kBestEffortClass) {
      const std::uint64_t rest = ~taken;
      const unsigned first = static_cast<unsigned>(std::countr_zero(rest));
      cls.dscp.fill({first < Dscp::kLimit ? Dscp::of(first) : Dscp(), rest},
                    "every code point of no other class");
      cls.priority.fill(0_prio, "unmarked traffic is priority 0");
      cls.minimum.fill(20_percent, "what the lossless and management minima leave, and then some");
    }
    cls.dscp.fill({}, "no code points: nothing is classified into it");
    cls.priority.fill(Priority::of(cls.dscp->marking.value() >> 3U), kVendorOctets);
    const unsigned priority = cls.priority->value();
    cls.pcp.fill(Pcp::of(priority), kFromPriority);
    cls.traffic_class.fill(TrafficClass::of(priority), kFromPriority);
    cls.queue.fill(Queue::of(priority), kFromPriority);
    cls.lossless.fill(false, "lossless only where it is named");
    cls.scheduling.fill(Scheduling::kDwrr, "a weighted share");
    cls.minimum.fill(0_percent, "no guarantee");
    cls.limit.fill(100_percent, "no limit");
  }
  PrioritySet lossless;
  for (const auto& cls : d.classes)
    if (*cls.value.lossless) lossless.insert(*cls.value.priority);
  d.pfc.priorities.fill(lossless, "the lossless classes and no other");
}

void fill_marking_thresholds(Design& d) {
  d.wred.ecn.fill(true, "ECN leads, PFC is the safety net (DCQCN, SIGCOMM'15)");
  d.wred.at_speed.fill(access_speed(d), "the hosts' links");
  const model::WredStart start =
      model::wred_start(std::clamp(*d.wred.at_speed, 1_Gbps, 10'000_Gbps));
  d.wred.min.fill(start.curve.min, start.why);
  d.wred.max.fill(start.curve.max, start.why);
  d.wred.probability.fill(start.curve.max_share, start.why);
  d.wred.mark_at.fill(MarkAt::kDequeue,
                      "what Broadcom ASICs do (DCQCN authors); loop delay without queueing");
}

void fill_watchdog(Design& d) {
  d.watchdog.enabled.fill(
      true, "one stuck receiver can pause a whole fabric (SIGCOMM'16); systems ship it off");
  d.watchdog.detect.fill(200_ms,
                         "SONiC's default; far above the 336us that one pause lasts at 100G");
  d.watchdog.restore.fill(200_ms, "SONiC's default");
  d.watchdog.action.fill(WatchdogAction::kDrop, "the one action that every system has");
}

void fill_buffers(Design& d) {
  Buffers& b = d.buffers;
  b.profile.fill(BufferProfile::kVendor, "start from the vendor's reference, then tune");
  const auto profile = model::find_buffer_profile(to_word(*b.profile));
  WEIR_CHECK(profile.has_value());
  const std::string why = fmt::format("buffer profile {}", profile->name);
  b.pools.lossless.fill(profile->shares.lossless, why);
  b.pools.lossy.fill(profile->shares.lossy, why);
  b.pools.storage.fill(profile->shares.storage, why);
  b.pools.reserved.fill(profile->shares.reserved, why);
  b.threshold.fill(Threshold::kDynamic,
                   "every current ASIC; a static XOFF wastes most of the buffer");
  b.alpha.fill(profile->alpha, why);
  b.egress_alpha.fill(Alpha::from_log2(3),
                      "Junos default of lossless egress queues: the ingress side decides");
  b.reserved_per_port.fill(4_KB, "HPCC's reference MMU: 4 KB per priority group");
  b.headroom.fill({}, "from speed, cable and MTU of each port");
  b.headroom_model.fill("auto", "the ASIC's own formula or table");
  b.headroom_oversubscription.fill(
      1, "each priority group its own: nothing is shared, nothing is lost");
  b.xon_offset.fill(*d.mtu.switch_port * 2, "resume two frames below XOFF (DCQCN, SIGCOMM'15)");
}

void fill_hosts_and_jobs(Design& d) {
  const TrafficClassDesign& rdma = d.find_class(kRdmaClass)->value;
  const TosByte tos = tos_byte(rdma.dscp->marking, Ecn::kEct0);
  d.dcqcn.variant.fill(DcqcnVariant::kConnectx, "ConnectX-4 and later");
  d.dcqcn.notification_point.fill(true, "without CNPs, marks do not slow senders down");
  d.dcqcn.reaction_point.fill(true, "without it only PFC slows senders down");
  d.marking.traffic_class.fill(tos, "the rdma class's DSCP x 4 + ECT(0)");
  d.marking.rdma_cm_tos.fill(tos, "the rdma class's DSCP x 4 + ECT(0)");
  d.marking.force.fill(false, "it overrides jobs");
  d.load_balancing.mode.fill(LoadBalancing::kEcmp, "every switch can");
  d.load_balancing.seeds.fill(EcmpSeeds::kPerSwitch, "one seed at two tiers polarises");
  d.routing.fill(Routing::kUpDown, "valley-free routes on a Clos cannot deadlock");
  constexpr int kLargestUsualIncast = 64;
  d.expect.incast.fill(std::clamp(count_hosts(d) - 1, 1, kLargestUsualIncast),
                       "all other hosts at once, at most 64");
  d.rings.fill({}, "the NIC's maximum or 8192, whichever is smaller");
  d.host_tuning.socket_buffers.fill(false, "RDMA needs none; a TCP path may");
  d.host_tuning.irq_affinity.fill(false, "only where requested");
  d.host_tuning.stack_mtu.fill(false, "RDMA goes past them; a TCP path does not");
  d.telemetry.gnmi.fill(false, "off unless requested");
  d.telemetry.sflow.fill(false, "off unless requested");
  d.telemetry.interval.fill(10_s, "the usual scrape interval");
  d.nccl.traffic_class.fill(*d.marking.traffic_class, "as the hosts mark");
  d.nccl.gid_index.fill({}, "the index differs from host to host: find it there");
  const bool is_pcp = *d.trust == Trust::kPcp;
  d.nccl.service_level.fill(
      is_pcp ? static_cast<int>(rdma.priority->value()) : 0,
      is_pcp ? "under PCP trust the service level decides the priority" : kNcclDefault);
  d.nccl.timeout.fill(20, kNcclDefault);
  d.nccl.retry_count.fill(7, kNcclDefault);
  d.nccl.qps_per_connection.fill(1, kNcclDefault);
  d.nccl.adaptive_routing.fill(*d.load_balancing.mode != LoadBalancing::kEcmp,
                               "where packets may overtake");
  d.nccl.gdr_level.fill("PXB", kNcclDefault);
  d.nccl.cross_nic.fill(false, "a ring stays on its rail");
  d.nccl.socket_interface.fill("^docker,lo", kNcclDefault);
}

// Removes every default, so that those that follow from a changed value are derived again.
struct Forgetter {
  template <class T>
  void field(std::string_view /*key*/, Setting<T>& setting, std::string_view /*help*/) {
    setting.forget_default();
  }
  template <class T>
  void field(std::string_view /*key*/, Setting<T>& setting, std::string_view /*help*/,
             Range /*r*/) {
    setting.forget_default();
  }
  template <class S>
  void section(std::string_view /*key*/, S& out, std::string_view /*help*/) {
    visit(*this, out);
  }
  template <class S>
  void named(std::string_view /*key*/, std::vector<Named<S>>& out, std::string_view /*help*/) {
    for (auto& member : out)
      visit(*this, member.value);
  }
  template <class S>
  void list(std::string_view /*key*/, std::vector<S>& out, std::string_view /*help*/) {
    for (S& item : out)
      visit(*this, item);
  }
  void knobs(std::vector<Knob>& /*out*/, std::string_view /*help*/) {}
};

}  // namespace

void fill_defaults(Design& design) {
  Forgetter forgetter;
  visit(forgetter, design);
  design.name.fill("fabric", "no name given");
  fill_hosts(design);
  fill_switches(design);
  fill_links(design);
  fill_network(design);
  fill_classes(design);
  fill_marking_thresholds(design);
  fill_watchdog(design);
  fill_buffers(design);
  fill_hosts_and_jobs(design);
}

}  // namespace weir::design
