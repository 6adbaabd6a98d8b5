#pragma once
// Addresses as GIDs: 16 bytes, IPv4 mapped into IPv6 as the kernel does it.
#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace weir::evidence {

using Address = std::array<unsigned char, 16>;

/// An address with or without its prefix length, or a GID, as sysfs prints it.
[[nodiscard]] std::optional<Address> gid_of(std::string_view text);
/// Within a subnet as the design writes it: "10.0.0.0/16".
[[nodiscard]] bool is_within(const Address& gid, std::string_view subnet);
/// fe80::/10.
[[nodiscard]] bool is_link_local(const Address& gid);
[[nodiscard]] bool is_link_local(std::string_view gid);  // false where it is no GID
/// "10.0.0.1", or IPv6 in its short form.
[[nodiscard]] std::string address_text(const Address& gid);

}  // namespace weir::evidence
