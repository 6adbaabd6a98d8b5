#pragma once
// The words for the enumerations of evidence.h, in the order of their enumerators; only this folder
// includes it.
#include <array>
#include <string_view>

#include "evidence/evidence.h"
#include "vocab/enum_names.h"

namespace weir::vocab {

template <>
struct EnumNames<evidence::Origin> {
  static constexpr std::array<std::string_view, 4> kNames = {"live", "bundle", "lab", "text"};
};
template <>
struct EnumNames<evidence::Stack> {
  static constexpr std::array<std::string_view, 2> kNames = {"inbox", "ofed"};
};
template <>
struct EnumNames<evidence::LinkLayer> {
  static constexpr std::array<std::string_view, 2> kNames = {"ethernet", "infiniband"};
};
template <>
struct EnumNames<evidence::Duplex> {
  static constexpr std::array<std::string_view, 2> kNames = {"full", "half"};
};
template <>
struct EnumNames<evidence::GidType> {
  static constexpr std::array<std::string_view, 3> kNames = {"infiniband", "roce_v1", "roce_v2"};
};
template <>
struct EnumNames<evidence::Iommu> {
  static constexpr std::array<std::string_view, 3> kNames = {"off", "identity", "translating"};
};
template <>
struct EnumNames<evidence::Distance> {
  static constexpr std::array<std::string_view, 5> kNames = {"PIX", "PXB", "PHB", "NODE", "SYS"};
};
template <>
struct EnumNames<evidence::Scheduler> {
  static constexpr std::array<std::string_view, 2> kNames = {"strict", "weighted"};
};
template <>
struct EnumNames<evidence::PoolKind> {
  static constexpr std::array<std::string_view, 4> kNames = {"lossless", "lossy", "headroom",
                                                             "reserved"};
};
template <>
struct EnumNames<evidence::Missing> {
  static constexpr std::array<std::string_view, 4> kNames = {"absent", "unsupported", "permission",
                                                             "error"};
};

}  // namespace weir::vocab
