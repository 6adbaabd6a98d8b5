#pragma once
// Other names for addresses and hosts, so that what a host showed can leave the site.
//
// Stable: the same address has the same pseudonym in every bundle made with the same key. Faithful
// to structure: two addresses share as many leading bits as their pseudonyms do, so subnets stay
// subnets; an IPv4 address within a GID has the pseudonym of the address itself; an interface
// identifier made of a MAC address is made of that MAC's pseudonym. What says nothing about a site
// stays: the first byte of an IPv4 address and the whole prefix of a private or link-local block,
// the first two bytes of an IPv6 address, the vendor's half of a MAC, addresses that are not a
// host's (unspecified, loopback, multicast).
//
// Without a key of one's own it is a mask, not a lock: who knows the address plan can find out
// which pseudonym is whose.
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/siphash.h"

namespace weir::host {

using Ipv4 = std::array<unsigned char, 4>;
using Ipv6 = std::array<unsigned char, 16>;
using Mac = std::array<unsigned char, 6>;

class Pseudonyms {
 public:
  explicit Pseudonyms(std::string_view key = "") : key_(sip_key_of(key)) {}

  [[nodiscard]] Ipv4 of(const Ipv4& address) const;
  /// Of an address or a GID: the two are one number.
  [[nodiscard]] Ipv6 of(const Ipv6& address) const;
  [[nodiscard]] Mac of(const Mac& address) const;
  /// Whose pseudonym it is: with the key there is a way back.
  [[nodiscard]] Ipv6 original(const Ipv6& pseudonym) const;
  /// "host-5f0c2a91" of "gpu01"; a name within a domain loses the domain.
  [[nodiscard]] std::string of_host(std::string_view name) const;
  /// "switch-…", "port-…": of a name of another kind.
  [[nodiscard]] std::string of_name(std::string_view kind, std::string_view name) const;

  /// A text with every IPv4, IPv6 and MAC address in it replaced; prefix lengths stay.
  [[nodiscard]] std::string of_text(std::string_view text) const;
  /// A text with every MAC address in it replaced: with colons, and in names like enxb8cef6010203.
  /// The length stays.
  [[nodiscard]] std::string of_macs(std::string text) const;

 private:
  SipKey key_;
};

/// 39 characters, as sysfs prints a GID; nullopt for another text.
[[nodiscard]] std::optional<Ipv6> parse_gid(std::string_view text);
[[nodiscard]] std::string gid_text(const Ipv6& gid);

}  // namespace weir::host
