#pragma once
// How each type of value is written in a design file: read, print, and describe to a JSON Schema.
// One specialisation a type; fields.h names the type only through the member it binds.
#include <array>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "design/fabric.h"

namespace weir::design {

/// An enumerator and the word for it.
template <class E>
struct EnumWord {
  E value;
  std::string_view word;
};

// One list of words an enumeration, in the order shown to people.
inline constexpr auto words(Trust) { return std::to_array<EnumWord<Trust>>({{Trust::kDscp, "dscp"}, {Trust::kPcp, "pcp"}}); }
inline constexpr auto words(SwitchSystem) {
  return std::to_array<EnumWord<SwitchSystem>>({{SwitchSystem::kCumulus, "cumulus"},
                                                {SwitchSystem::kEos, "eos"},
                                                {SwitchSystem::kNxos, "nxos"},
                                                {SwitchSystem::kJunos, "junos"},
                                                {SwitchSystem::kSonic, "sonic"}});
}
inline constexpr auto words(Wiring) {
  return std::to_array<EnumWord<Wiring>>(
      {{Wiring::kBlock, "block"}, {Wiring::kRail, "rail"}, {Wiring::kMesh, "mesh"}, {Wiring::kStripe, "stripe"}});
}
inline constexpr auto words(CableKind) {
  return std::to_array<EnumWord<CableKind>>(
      {{CableKind::kDac, "dac"}, {CableKind::kAec, "aec"}, {CableKind::kAoc, "aoc"}, {CableKind::kFibre, "fibre"}});
}
inline constexpr auto words(AddressFamily) {
  return std::to_array<EnumWord<AddressFamily>>({{AddressFamily::kIpv4, "ipv4"}, {AddressFamily::kIpv6, "ipv6"}});
}
inline constexpr auto words(Boundary) {
  return std::to_array<EnumWord<Boundary>>({{Boundary::kLeaf, "leaf"}, {Boundary::kSpine, "spine"}, {Boundary::kHost, "host"}});
}
inline constexpr auto words(Scheduling) {
  return std::to_array<EnumWord<Scheduling>>({{Scheduling::kDwrr, "dwrr"}, {Scheduling::kStrict, "strict"}});
}
inline constexpr auto words(MarkAt) {
  return std::to_array<EnumWord<MarkAt>>({{MarkAt::kDequeue, "dequeue"}, {MarkAt::kEnqueue, "enqueue"}});
}
inline constexpr auto words(WatchdogAction) {
  return std::to_array<EnumWord<WatchdogAction>>({{WatchdogAction::kDrop, "drop"},
                                                  {WatchdogAction::kForward, "forward"},
                                                  {WatchdogAction::kAlert, "alert"}});
}
inline constexpr auto words(BufferProfile) {
  return std::to_array<EnumWord<BufferProfile>>({{BufferProfile::kVendor, "vendor"},
                                                 {BufferProfile::kRoceBalanced, "roce-balanced"},
                                                 {BufferProfile::kRoceAggressive, "roce-aggressive"}});
}
inline constexpr auto words(Threshold) {
  return std::to_array<EnumWord<Threshold>>({{Threshold::kDynamic, "dynamic"}, {Threshold::kStatic, "static"}});
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
  return std::to_array<EnumWord<EcmpSeeds>>({{EcmpSeeds::kPerSwitch, "per-switch"}, {EcmpSeeds::kSame, "same"}});
}
inline constexpr auto words(Routing) {
  return std::to_array<EnumWord<Routing>>({{Routing::kUpDown, "updown"}, {Routing::kBounce, "bounce"}});
}
inline constexpr auto words(HostStack) {
  return std::to_array<EnumWord<HostStack>>({{HostStack::kOfed, "ofed"}, {HostStack::kInbox, "inbox"}});
}
inline constexpr auto words(Forwarding) {
  return std::to_array<EnumWord<Forwarding>>(
      {{Forwarding::kCutThrough, "cut-through"}, {Forwarding::kStoreAndForward, "store-and-forward"}});
}

template <class E>
  requires std::is_enum_v<E>
[[nodiscard]] std::string_view to_word(E value) {
  for (const auto& [candidate, word] : words(value))
    if (candidate == value) return word;
  WEIR_UNREACHABLE("every enumerator has a word");
}

/// Reads a scalar of the file. The error says what was expected and quotes what was found.
template <class T>
struct ValueText;  // static Result<T> parse(std::string_view); static std::string print(const T&);
                   // static Json schema();

[[nodiscard]] Result<std::size_t> parse_word(std::string_view text, const std::vector<std::string>& allowed);
[[nodiscard]] Json word_schema(const std::vector<std::string>& allowed);
[[nodiscard]] Json auto_or_schema(const Json& inner);

template <class E>
  requires std::is_enum_v<E>
struct ValueText<E> {
  static std::vector<std::string> all() {
    std::vector<std::string> names;
    for (const auto& entry : words(E{}))
      names.emplace_back(entry.word);
    return names;
  }
  static Result<E> parse(std::string_view text) {
    WEIR_TRY(index, parse_word(text, all()));
    return words(E{})[index].value;
  }
  static std::string print(const E& value) { return std::string(to_word(value)); }
  static Json schema() { return word_schema(all()); }
};

#define WEIR_VALUE_TEXT(Type)                            \
  template <>                                            \
  struct ValueText<Type> {                               \
    static Result<Type> parse(std::string_view text);    \
    static std::string print(const Type& value);         \
    static Json schema();                                \
  }

WEIR_VALUE_TEXT(bool);
WEIR_VALUE_TEXT(int);
WEIR_VALUE_TEXT(std::string);
WEIR_VALUE_TEXT(NamePattern);
WEIR_VALUE_TEXT(Bytes);
WEIR_VALUE_TEXT(Duration);
WEIR_VALUE_TEXT(BitRate);
WEIR_VALUE_TEXT(Length);
WEIR_VALUE_TEXT(Share);
WEIR_VALUE_TEXT(Alpha);
WEIR_VALUE_TEXT(Pcp);
WEIR_VALUE_TEXT(Priority);
WEIR_VALUE_TEXT(TrafficClass);
WEIR_VALUE_TEXT(Queue);
WEIR_VALUE_TEXT(TosByte);
WEIR_VALUE_TEXT(DscpSet);                   // 26, "24-31", or a list of them
WEIR_VALUE_TEXT(PrioritySet);               // 3, or a list
WEIR_VALUE_TEXT(std::vector<std::string>);  // one, or a list
#undef WEIR_VALUE_TEXT

template <class T>
struct ValueText<AutoOr<T>> {
  static Result<AutoOr<T>> parse(std::string_view text) {
    if (text == "auto") return AutoOr<T>{};
    auto value = ValueText<T>::parse(text);
    if (!value) return parse_error("expected auto, or " + value.error().what.substr(sizeof("expected")));
    return AutoOr<T>{false, *std::move(value)};
  }
  static std::string print(const AutoOr<T>& v) { return v.is_auto ? "auto" : ValueText<T>::print(v.value); }
  static Json schema() { return auto_or_schema(ValueText<T>::schema()); }
};

/// Types that may also be written as a YAML list; the items are joined by ',' before parsing.
template <class T>
inline constexpr bool kMayBeList =
    std::is_same_v<T, DscpSet> || std::is_same_v<T, PrioritySet> || std::is_same_v<T, std::vector<std::string>>;

}  // namespace weir::design
