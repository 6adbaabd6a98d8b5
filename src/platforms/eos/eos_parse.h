#pragma once
// Parsing Arista EOS, and its defaults.
#include <string_view>

#include "platforms/common/platform.h"

namespace weir::platforms::eos_cli {

inline constexpr std::string_view kSource = "default of EOS";

/// The default traffic class of a code point or 802.1p value is its octet, with 0 and 1 swapped.
[[nodiscard]] constexpr unsigned default_class(unsigned octet) {
  return octet == 0 ? 1 : octet == 1 ? 0 : octet;
}
inline constexpr unsigned kControlClass = 7;  // traffic class and queue of the control plane, fixed
inline constexpr Bytes kDefaultMtu = Bytes::raw(1500);

[[nodiscard]] bool looks_like(std::string_view text);
[[nodiscard]] Result<Parsed> parse(std::string_view text, std::string_view file);

}  // namespace weir::platforms::eos_cli
