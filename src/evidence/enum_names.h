#pragma once
// The words for the enumerations of evidence.h, in the order of their enumerators; only this folder
// includes it.
#include <array>
#include <string_view>

#include "evidence/evidence.h"

namespace weir::evidence {

template <class Enum>
struct EnumNames;

template <>
struct EnumNames<Origin> {
  static constexpr std::array<std::string_view, 4> kNames = {"live", "bundle", "lab", "text"};
};
template <>
struct EnumNames<Stack> {
  static constexpr std::array<std::string_view, 2> kNames = {"inbox", "ofed"};
};
template <>
struct EnumNames<LinkLayer> {
  static constexpr std::array<std::string_view, 2> kNames = {"ethernet", "infiniband"};
};
template <>
struct EnumNames<Duplex> {
  static constexpr std::array<std::string_view, 2> kNames = {"full", "half"};
};
template <>
struct EnumNames<TrustMode> {
  static constexpr std::array<std::string_view, 5> kNames = {"dscp", "pcp", "both", "port", "none"};
};
template <>
struct EnumNames<Tsa> {
  static constexpr std::array<std::string_view, 4> kNames = {"strict", "cbs", "ets", "vendor"};
};
template <>
struct EnumNames<DcbxMode> {
  static constexpr std::array<std::string_view, 2> kNames = {"os", "firmware"};
};
template <>
struct EnumNames<GidType> {
  static constexpr std::array<std::string_view, 3> kNames = {"infiniband", "roce_v1", "roce_v2"};
};
template <>
struct EnumNames<Iommu> {
  static constexpr std::array<std::string_view, 3> kNames = {"off", "identity", "translating"};
};
template <>
struct EnumNames<Distance> {
  static constexpr std::array<std::string_view, 5> kNames = {"PIX", "PXB", "PHB", "NODE", "SYS"};
};
template <>
struct EnumNames<Scheduler> {
  static constexpr std::array<std::string_view, 2> kNames = {"strict", "weighted"};
};
template <>
struct EnumNames<PoolKind> {
  static constexpr std::array<std::string_view, 4> kNames = {"lossless", "lossy", "headroom",
                                                             "reserved"};
};
template <>
struct EnumNames<Missing> {
  static constexpr std::array<std::string_view, 4> kNames = {"absent", "unsupported", "permission",
                                                             "error"};
};

template <class Enum>
std::string_view name_of(Enum value) {
  const auto at = static_cast<std::size_t>(value);
  WEIR_CHECK(at < EnumNames<Enum>::kNames.size());
  return EnumNames<Enum>::kNames[at];
}

}  // namespace weir::evidence
