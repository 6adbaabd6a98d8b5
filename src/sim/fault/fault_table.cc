// The one table of faults. A sign is what a run with the fault shows against its twin without it;
// tests/sim/fault_matrix_test.cc holds every one of them to that.
#include <algorithm>

#include <fmt/format.h>

#include "base/table.h"
#include "base/text.h"
#include "sim/fault/fault.h"

namespace weir::sim {
namespace {

using Moves = Sign::Moves;
using Scope = Sign::Scope;
using Classes = Sign::Classes;
using Values = FaultValues;

std::vector<FaultType> of_marking() {
  return {
      {.name = "wrong-trust",
       .summary = "the NIC trusts PCP: its priority follows the service level, not the DSCP",
       .make = [](const Values&) -> FaultKind { return WrongTrust{}; },
       .signs = {{"nic.prio.tx.packets", Moves::kDown, Scope::kPlace, Classes::kRdma}},
       .findings = {"trust.not_dscp", "trust.mixed"}},
      {.name = "wrong-dscp",
       .summary = "the host marks its RDMA traffic with another code point",
       .make = [](const Values& v) -> FaultKind { return WrongDscp{v.code<Dscp>("dscp")}; },
       .parameters = {{"dscp", ValueKind::kDscp, "0", "the code point it sends"}},
       .signs = {{"nic.prio.tx.packets", Moves::kDown, Scope::kPlace, Classes::kRdma}},
       .findings = {"dscp.unmarked", "dscp.one_way", "dscp.unmapped_hop"}},
      {.name = "wrong-tc",
       .summary = "a DSCP typed where the traffic class wants a TOS byte",
       .make = [](const Values& v) -> FaultKind {
         return WrongTrafficClass{v.find_code<TosByte>("tos")};
       },
       .parameters = {{"tos", ValueKind::kTos, "", "the byte (default: the class's DSCP itself)"}},
       .signs = {{"nic.prio.tx.packets", Moves::kDown, Scope::kPlace, Classes::kRdma}},
       .findings = {"dscp.tos_confusion", "dscp.unmarked", "dscp.one_way"}},
      {.name = "wrong-nic-map",
       .summary = "the NIC maps the RDMA code point to another priority",
       .make = [](const Values& v) -> FaultKind {
         return WrongNicMap{v.code<Priority>("priority")};
       },
       .parameters = {{"priority", ValueKind::kPriority, "0", "where its map sends it"}},
       .signs = {{"nic.prio.tx.packets", Moves::kDown, Scope::kPlace, Classes::kRdma}},
       .findings = {"dscp.nic_map_wrong"}},
      {.name = "switch-wrong-map",
       .summary = "one switch maps the RDMA code point to another priority",
       .place = FaultPlace::kSwitches,
       .make = [](const Values& v) -> FaultKind {
         return WrongSwitchMap{v.find_code<Dscp>("dscp"), v.code<Priority>("priority")};
       },
       .parameters = {{"dscp", ValueKind::kDscp, "", "the code point (default: the RDMA class's)"},
                      {"priority", ValueKind::kPriority, "0", "where its map sends it"}},
       .signs = {{"switch.prio.rx.packets", Moves::kDown, Scope::kPlace, Classes::kRdma}},
       .findings = {"dscp.unmapped_hop", "dscp.narrow_map"}},
      {.name = "shared-queue",
       .summary = "another class is put into the RDMA class's queue",
       .place = FaultPlace::kSwitches,
       .needs_place = false,
       .make = [](const Values& v) -> FaultKind {
         return SharedQueue{v.find_code<Priority>("priority")};
       },
       .parameters = {{"priority", ValueKind::kPriority, "",
                       "of the other class (default: CNPs')"}},
       .signs = {{"switch.queue.tx.packets", Moves::kDown, Scope::kPlace, Classes::kOthers}},
       .findings = {"class.shared_queue", "cnp.shares_rdma_priority", "cnp.lossless"}},
      {.name = "tcp-fallback",
       .summary = "the host's traffic goes over sockets: no RDMA, no lossless class",
       .make = [](const Values&) -> FaultKind { return TcpFallback{}; },
       .signs = {{"nic.prio.tx.packets", Moves::kDown, Scope::kPlace, Classes::kRdma}},
       .findings = {"nccl.socket_fallback", "nccl.ib_disabled"}},
      {.name = "wrong-mtu",
       .summary = "one host's MTU is smaller than the others'",
       .make = [](const Values& v) -> FaultKind { return WrongMtu{v.get<Bytes>("mtu")}; },
       .parameters = {{"mtu", ValueKind::kBytes, "1500B", "of its network interface"}},
       .signs = {{"nic.port.rx_oversize.packets"}, {"nic.port.tx.packets"}},
       .findings = {"mtu.mismatch", "mtu.below_4096"}},
  };
}

std::vector<FaultType> of_pfc_and_buffers() {
  return {
      {.name = "wrong-pfc-priority",
       .summary = "the host has PFC on a priority that its RDMA traffic does not use",
       .make = [](const Values& v) -> FaultKind {
         return WrongPfcPriority{v.code<Priority>("priority")};
       },
       .parameters = {{"priority", ValueKind::kPriority, "4", "the one PFC is on"}},
       .signs = {{"switch.pg.drop_headroom.packets", Moves::kUp, Scope::kAnywhere},
                 {"nic.prio.pause_rx.microseconds", Moves::kDown}},
       .findings = {"pfc.wrong_priority", "pfc.off"}},
      {.name = "pfc-too-wide",
       .summary = "PFC on all eight priorities: their headroom eats the shared buffer",
       .place = FaultPlace::kSwitches,
       .needs_place = false,
       .make = [](const Values&) -> FaultKind { return PfcTooWide{}; },
       .signs = {{"switch.prio.pause_tx.frames"}},
       .findings = {"pfc.multiple_priorities", "headroom.exceeds_buffer"}},
      {.name = "headroom-too-small",
       .summary = "headroom below what cable, speed and MTU need",
       .place = FaultPlace::kSwitches,
       .needs_place = false,
       .make = [](const Values& v) -> FaultKind { return HeadroomTooSmall{v.get<Share>("share")}; },
       .parameters = {{"share", ValueKind::kShare, "2%", "of the designed headroom"}},
       .signs = {{"switch.pg.drop_headroom.packets"}},
       .findings = {"headroom.too_small"}},
      {.name = "pool-too-small",
       .summary = "too little shared buffer: pauses come early and often",
       .place = FaultPlace::kSwitches,
       .needs_place = false,
       .make = [](const Values& v) -> FaultKind { return PoolTooSmall{v.get<Share>("share")}; },
       .parameters = {{"share", ValueKind::kShare, "2%", "of the designed shared buffer"}},
       .signs = {{"switch.prio.pause_tx.frames"}},
       .findings = {"buffer.too_small", "headroom.exceeds_buffer", "pfc.sustained",
                    "ecn.above_xoff"}},
      {.name = "nic-pause-storm",
       .summary = "a stuck NIC pauses its switch port without end",
       .is_timed = true,
       .make = [](const Values&) -> FaultKind { return NicPauseStorm{}; },
       .signs = {{"nic.prio.pause_tx.frames"}},
       .findings = {"pfc.storm", "watchdog.stuck", "pfc.sustained"}},
      {.name = "slow-receiver",
       .summary = "the host takes data slower than the wire brings it (PCIe, NUMA, IOMMU)",
       .is_timed = true,
       .make = [](const Values& v) -> FaultKind { return SlowReceiver{v.get<BitRate>("rate")}; },
       .parameters = {{"rate", ValueKind::kRate, "10G", "of its PCIe"}},
       .signs = {{"nic.prio.pause_tx.frames"}},
       .findings = {"receiver.slow", "pcie.link_degraded"}},
  };
}

FaultKind make_ecn_thresholds(const Values& values) {
  return WrongEcnThresholds{values.get<Bytes>("min"), values.get<Bytes>("max")};
}

std::vector<FaultType> of_congestion_control() {
  return {
      {.name = "np-off",
       .summary = "the NIC answers congestion marks with no CNPs",
       .is_timed = true,
       .make = [](const Values&) -> FaultKind { return NpOff{}; },
       .signs = {{"nic.np.cnp_sent.packets", Moves::kDown}},
       .findings = {"np.disabled"}},
      {.name = "rp-off",
       .summary = "the NIC does not slow down on CNPs",
       .is_timed = true,
       .make = [](const Values&) -> FaultKind { return RpOff{}; },
       .signs = {{"nic.rp.cnp_handled.packets", Moves::kDown}},
       .findings = {"rp.disabled"}},
      {.name = "ecn-too-low",
       .summary = "marking begins at almost no queue",
       .place = FaultPlace::kSwitches,
       .needs_place = false,
       .make = make_ecn_thresholds,
       .parameters = {{"min", ValueKind::kBytes, "1KB", "marking begins"},
                      {"max", ValueKind::kBytes, "10KB", "everything is marked"}},
       .signs = {{"switch.queue.ecn_marked.packets"}},
       .findings = {"ecn.thresholds_too_low"}},
      {.name = "ecn-too-high",
       .summary = "marking begins only beyond the pause threshold",
       .place = FaultPlace::kSwitches,
       .needs_place = false,
       .make = make_ecn_thresholds,
       .parameters = {{"min", ValueKind::kBytes, "64MB", "marking begins"},
                      {"max", ValueKind::kBytes, "128MB", "everything is marked"}},
       .signs = {{"switch.queue.ecn_marked.packets", Moves::kDown}},
       .findings = {"ecn.thresholds_too_high", "ecn.above_xoff", "ecn.not_marking"}},
      {.name = "dcqcn-rate-ai",
       .summary = "additive increase far too large for the line",
       .needs_place = false,
       .make = [](const Values& v) -> FaultKind {
         return WrongRateIncrease{v.get<BitRate>("rate")};
       },
       .parameters = {{"rate", ValueKind::kRate, "5G", "rpg_ai_rate"}},
       .signs = {{"switch.queue.ecn_marked.packets", Moves::kUp, Scope::kAnywhere},
                 {"switch.prio.pause_tx.frames", Moves::kUp, Scope::kAnywhere}},
       .findings = {"dcqcn.too_aggressive", "dcqcn.unstable"}},
      {.name = "dcqcn-alpha-period",
       .summary = "alpha is updated far too seldom: every cut halves the rate",
       .needs_place = false,
       .make = [](const Values& v) -> FaultKind {
         return WrongAlphaPeriod{v.get<Duration>("period")};
       },
       .parameters = {{"period", ValueKind::kDuration, "10ms", "dce_tcp_rtt"}},
       // Senders that were halved stay slow and hear less of it; where they come back in step, the
       // queue swings and more is marked.
       .signs = {{"nic.rp.cnp_handled.packets", Moves::kDown, Scope::kAnywhere},
                 {"switch.queue.ecn_marked.packets", Moves::kUp, Scope::kAnywhere}},
       .findings = {"dcqcn.too_conservative", "dcqcn.unstable"}},
  };
}

std::vector<FaultType> of_links() {
  return {
      {.name = "link-down",
       .summary = "a link fails; the fabric finds other paths after a while",
       .place = FaultPlace::kLinks,
       .is_timed = true,
       .make = [](const Values& v) -> FaultKind { return LinkDown{v.get<Duration>("reroute")}; },
       .parameters = {{"reroute", ValueKind::kDuration, "50us", "until there are other paths"}},
       .signs = {{"switch.port.link_down.events"}},
       .findings = {"link.flapping", "leaf.uplink_bottleneck", "peer.dead", "path.loss"}},
      {.name = "switch-down",
       .summary =
           "a switch fails with all its links; the fabric finds other paths, if there are any",
       .place = FaultPlace::kSwitches,
       .is_timed = true,
       .make = [](const Values& v) -> FaultKind { return SwitchDown{v.get<Duration>("reroute")}; },
       .parameters = {{"reroute", ValueKind::kDuration, "50us", "until there are other paths"}},
       .signs = {{"switch.port.link_down.events"}},
       .findings = {"link.flapping", "link.degraded", "leaf.uplink_bottleneck", "peer.dead",
                    "path.loss"},
       .is_drawn = false},
      {.name = "degraded-link",
       .summary = "a bad cable or module: frames arrive broken and are dropped",
       .place = FaultPlace::kLinks,
       .is_timed = true,
       .make = [](const Values& v) -> FaultKind { return DegradedLink{v.get<double>("ber")}; },
       .parameters = {{"ber", ValueKind::kErrorRate, "1e-6", "bit errors left after FEC"}},
       .signs = {{"switch.port.crc_error.packets"}, {"nic.phy.crc_error.packets"}},
       .findings = {"link.physical_errors", "link.degraded", "path.loss"}},
  };
}

std::vector<FaultType> of_paths() {
  return {
      {.name = "same-hash-seed",
       .summary = "all switches hash alike: flows polarise",
       .place = FaultPlace::kSwitches,
       .needs_place = false,
       .make = [](const Values&) -> FaultKind { return SameHashSeed{}; },
       .signs = {{"switch.port.tx.bytes", Moves::kUp, Scope::kLargest}},
       .findings = {"ecmp.same_seed", "ecmp.polarised", "ecmp.imbalance"}},
      {.name = "reordering",
       .summary = "packets are sprayed over all paths to NICs that take that for loss",
       .place = FaultPlace::kSwitches,
       .needs_place = false,
       .make = [](const Values&) -> FaultKind { return Reordering{}; },
       .signs = {{"nic.resp.out_of_sequence.packets", Moves::kUp, Scope::kAnywhere}},
       .findings = {"path.reordering", "routing.ordering_risk"}},
      {.name = "routing-loop",
       .summary = "a switch and its next hop send a host's traffic to each other",
       .place = FaultPlace::kSwitches,
       .make = [](const Values& v) -> FaultKind {
         return RoutingLoop{v.is_given("to") ? v.get<std::string>("to") : ""};
       },
       .parameters = {{"to", ValueKind::kName, "", "the host (default: the first not below it)"}},
       // A lossless class fills the loop and blocks before the TTL of its packets runs out.
       .signs = {{"switch.port.drop_ttl.packets", Moves::kUp, Scope::kAnywhere},
                 {"switch.prio.pause_rx.microseconds", Moves::kUp, Scope::kAnywhere}},
       .findings = {"path.loss", "pfc.deadlock", "routing.cyclic_buffer_dependency"}},
      {.name = "bounce-routing",
       .summary = "a leaf passes traffic from one spine to another: valleys, and cycles of buffers",
       .place = FaultPlace::kSwitches,
       .make = [](const Values&) -> FaultKind { return BounceRouting{}; },
       .signs = {{"switch.port.tx.packets"}},
       .findings = {"routing.cyclic_buffer_dependency", "pfc.deadlock"}},
      {.name = "few-receives",
       .summary = "the application posts too few receives",
       .make = [](const Values& v) -> FaultKind {
         return FewReceives{static_cast<std::int32_t>(v.get<std::uint64_t>("receives")),
                            v.get<Duration>("repost")};
       },
       .parameters = {{"receives", ValueKind::kNumber, "1",
                       "posted for each queue pair; 0: none at all"},
                      {"repost", ValueKind::kDuration, "1ms", "until a used one is posted again"}},
       .signs = {{"nic.resp.out_of_buffer.packets"}},
       .findings = {"app.receives_too_few"}},
  };
}

std::string_view place_word(const FaultType& type) {
  switch (type.place) {
    case FaultPlace::kHosts: return type.needs_place ? "host" : "host or all";
    case FaultPlace::kSwitches: return type.needs_place ? "switch" : "switch or all";
    case FaultPlace::kLinks: return "link";
  }
  WEIR_UNREACHABLE("every place has a word");
}

std::string parameter_text(const FaultType& type) {
  std::vector<std::string> words;
  for (const FaultParameter& parameter : type.parameters)
    words.push_back(parameter.fallback.empty()
                        ? std::string(parameter.name)
                        : fmt::format("{}={}", parameter.name, parameter.fallback));
  if (type.is_timed) words.emplace_back("from, until");
  return join(words, ", ");
}

}  // namespace

std::span<const FaultType> fault_types() {
  static const std::vector<FaultType> types = [] {
    std::vector<FaultType> all;
    for (std::vector<FaultType> part :
         {of_marking(), of_pfc_and_buffers(), of_congestion_control(), of_links(), of_paths()})
      all.insert(all.end(), part.begin(), part.end());
    std::sort(all.begin(), all.end(),
              [](const FaultType& a, const FaultType& b) { return a.name < b.name; });
    return all;
  }();
  return types;
}

const FaultType* find_fault(std::string_view name) {
  for (const FaultType& type : fault_types())
    if (type.name == name) return &type;
  return nullptr;
}

std::string fault_list(std::size_t width) {
  TextTable table({"fault", "at", "parameters", "what is wrong"});
  for (const FaultType& type : fault_types())
    table.add_row({std::string(type.name), std::string(place_word(type)), parameter_text(type),
                   std::string(type.summary)});
  return table.to_text(2, width);
}

}  // namespace weir::sim
