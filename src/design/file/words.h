#pragma once
// The words that a design file uses for each enumeration: one list, for reading, printing and the
// schema.
#include <array>
#include <string_view>
#include <type_traits>

#include "base/check.h"
#include "design/file/fabric.h"

namespace weir::design {

/// An enumerator and the word for it.
template <class E>
struct EnumWord {
  E value;
  std::string_view word;
};

// One list of words per enumeration, in the order shown to people.
inline constexpr auto words(Trust) {
  return std::to_array<EnumWord<Trust>>({{Trust::kDscp, "dscp"}, {Trust::kPcp, "pcp"}});
}
inline constexpr auto words(SwitchSystem) {
  std::array<EnumWord<SwitchSystem>, vocab::kSwitchSystems.size()> out{};
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = {vocab::kSwitchSystems[i].system, vocab::kSwitchSystems[i].name};
  return out;
}
inline constexpr auto words(Wiring) {
  return std::to_array<EnumWord<Wiring>>({{Wiring::kBlock, "block"},
                                          {Wiring::kRail, "rail"},
                                          {Wiring::kMesh, "mesh"},
                                          {Wiring::kStripe, "stripe"}});
}
inline constexpr auto words(CableKind) {
  return std::to_array<EnumWord<CableKind>>({{CableKind::kDac, "dac"},
                                             {CableKind::kAec, "aec"},
                                             {CableKind::kAoc, "aoc"},
                                             {CableKind::kFibre, "fibre"}});
}
inline constexpr auto words(AddressFamily) {
  return std::to_array<EnumWord<AddressFamily>>(
      {{AddressFamily::kIpv4, "ipv4"}, {AddressFamily::kIpv6, "ipv6"}});
}
inline constexpr auto words(Boundary) {
  return std::to_array<EnumWord<Boundary>>(
      {{Boundary::kLeaf, "leaf"}, {Boundary::kSpine, "spine"}, {Boundary::kHost, "host"}});
}
inline constexpr auto words(Scheduling) {
  return std::to_array<EnumWord<Scheduling>>({{Scheduling::kDwrr, "dwrr"},
                                              {Scheduling::kStrict, "strict"},
                                              {Scheduling::kVendor, "vendor"}});
}
inline constexpr auto words(MarkAt) {
  return std::to_array<EnumWord<MarkAt>>(
      {{MarkAt::kDequeue, "dequeue"}, {MarkAt::kEnqueue, "enqueue"}});
}
inline constexpr auto words(WatchdogAction) {
  return std::to_array<EnumWord<WatchdogAction>>({{WatchdogAction::kDrop, "drop"},
                                                  {WatchdogAction::kForward, "forward"},
                                                  {WatchdogAction::kAlert, "alert"}});
}
inline constexpr auto words(BufferProfile) {
  return std::to_array<EnumWord<BufferProfile>>(
      {{BufferProfile::kVendor, "vendor"},
       {BufferProfile::kRoceBalanced, "roce-balanced"},
       {BufferProfile::kRoceAggressive, "roce-aggressive"}});
}
inline constexpr auto words(Threshold) {
  return std::to_array<EnumWord<Threshold>>(
      {{Threshold::kDynamic, "dynamic"}, {Threshold::kStatic, "static"}});
}
inline constexpr auto words(DcqcnVariant) {
  return std::to_array<EnumWord<DcqcnVariant>>({{DcqcnVariant::kConnectx, "connectx"},
                                                {DcqcnVariant::kPaper, "paper"},
                                                {DcqcnVariant::kPaperNs3, "paper_ns3"},
                                                {DcqcnVariant::kHpccNs3, "hpcc_ns3"}});
}
inline constexpr auto words(LoadBalancing) {
  return std::to_array<EnumWord<LoadBalancing>>({{LoadBalancing::kEcmp, "ecmp"},
                                                 {LoadBalancing::kSpray, "spray"},
                                                 {LoadBalancing::kAdaptive, "adaptive"}});
}
inline constexpr auto words(EcmpSeeds) {
  return std::to_array<EnumWord<EcmpSeeds>>(
      {{EcmpSeeds::kPerSwitch, "per-switch"}, {EcmpSeeds::kSame, "same"}});
}
inline constexpr auto words(Routing) {
  return std::to_array<EnumWord<Routing>>(
      {{Routing::kUpDown, "updown"}, {Routing::kBounce, "bounce"}});
}
inline constexpr auto words(Fec) {
  return std::to_array<EnumWord<Fec>>(
      {{Fec::kAuto, "auto"}, {Fec::kRs, "rs"}, {Fec::kFc, "fc"}, {Fec::kNone, "none"}});
}
inline constexpr auto words(HostStack) {
  return std::to_array<EnumWord<HostStack>>(
      {{HostStack::kOfed, "ofed"}, {HostStack::kInbox, "inbox"}});
}
inline constexpr auto words(CnpScope) {
  return std::to_array<EnumWord<CnpScope>>(
      {{CnpScope::kQp, "qp"}, {CnpScope::kDestination, "destination"}, {CnpScope::kPort, "port"}});
}
inline constexpr auto words(Forwarding) {
  return std::to_array<EnumWord<Forwarding>>({{Forwarding::kCutThrough, "cut-through"},
                                              {Forwarding::kStoreAndForward, "store-and-forward"}});
}

template <class E>
requires std::is_enum_v<E>
[[nodiscard]] std::string_view to_word(E value) {
  for (const auto& [candidate, word] : words(value))
    if (candidate == value) return word;
  WEIR_UNREACHABLE("every enumerator has a word");
}

}  // namespace weir::design
