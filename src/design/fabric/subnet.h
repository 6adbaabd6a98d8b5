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
  /// The n-th subnet of that length inside this one; nullopt when there is none.
  [[nodiscard]] std::optional<Subnet> part(int longer, std::uint64_t n) const;
};

/// Host bits must be zero: "10.0.0.1/16" is an error that suggests 10.0.0.0/16.
[[nodiscard]] Result<Subnet> parse_subnet(std::string_view text);

/// What {rail}, {pod} and {leaf} stand for at one NIC; each counts from 0.
struct SubnetPlace {
  int rail = 0;
  int pod = 0;   // part of the links with `groups`
  int leaf = 0;  // in the order of the design
};

/// The subnet of a NIC as text: the pattern with its marks replaced, or the rail's own entry of a
/// list. Error when a list has no entry for the rail.
[[nodiscard]] Result<std::string> subnet_of(const Addressing& addressing, SubnetPlace place);

/// Each leaf or pod has a subnet of its own.
[[nodiscard]] bool subnet_is_local(const Addressing& addressing);

}  // namespace weir::design
