#pragma once
// IP prefixes: "10.0.0.0/16", "fd00:1::/64".
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "design/file/fabric.h"

namespace weir::design {

struct Subnet {
  AddressFamily family = AddressFamily::kIpv4;
  std::array<std::uint8_t, 16> address{};  // network byte order; IPv4 uses the first four
  int prefix = 0;

  /// Addresses in common (a prefix inside another counts).
  [[nodiscard]] bool overlaps(const Subnet& other) const;
  /// The n-th host address with its prefix ("10.0.0.1/16" for n = 1); nullopt when the subnet is
  /// full.
  [[nodiscard]] std::optional<std::string> host(std::uint64_t n) const;
  [[nodiscard]] std::string to_text() const;
};

/// Host bits must be zero: "10.0.0.1/16" is an error that suggests 10.0.0.0/16.
[[nodiscard]] Result<Subnet> parse_subnet(std::string_view text);

/// The subnet of a rail as text: the pattern with {rail} replaced, or the rail's own entry of a
/// list. Error when a list has no entry for the rail.
[[nodiscard]] Result<std::string> subnet_of_rail(const Addressing& addressing, int rail);

}  // namespace weir::design
