#pragma once
// The words for enumerations that stand in JSON, in the order of their enumerators. A layer above
// specialises EnumNames for its own.
#include <array>
#include <string_view>

#include "base/check.h"
#include "vocab/setting.h"

namespace weir::vocab {

template <class Enum>
struct EnumNames;

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

template <class Enum>
std::string_view enum_name(Enum value) {
  const auto at = static_cast<std::size_t>(value);
  WEIR_CHECK(at < EnumNames<Enum>::kNames.size());
  return EnumNames<Enum>::kNames[at];
}

}  // namespace weir::vocab
