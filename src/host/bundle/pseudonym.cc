#include "host/bundle/pseudonym.h"

#include <algorithm>
#include <cctype>

#include <arpa/inet.h>
#include <fmt/format.h>

#include "base/text.h"

namespace weir::host {
namespace {

constexpr std::size_t kGidText = 39;

template <std::size_t N>
bool bit_of(const std::array<unsigned char, N>& bytes, std::size_t at) {
  return ((bytes.at(at / 8) >> (7U - at % 8)) & 1U) != 0;
}

enum class Way { kThere, kBack };

/// Turns some of the bits: whether one is turned depends on the key and on every bit before it, so
/// that addresses with a prefix in common keep one in common. `is_fixed` says of a prefix ("0101…")
/// that the bit after it stays; it goes by the prefix alone, so that no two addresses meet.
template <std::size_t N, class Fixed>
std::array<unsigned char, N> turn_bits(const SipKey& key, std::string_view domain,
                                       const std::array<unsigned char, N>& bytes, Way way,
                                       const Fixed& is_fixed) {
  std::array<unsigned char, N> out = bytes;
  std::string prefix;  // of the real address, whichever way it goes
  for (std::size_t at = 0; at < N * 8; ++at) {
    const bool turns =
        !is_fixed(prefix) && (siphash(key, fmt::format("{}{}", domain, prefix)) & 1U) != 0;
    if (turns) out.at(at / 8) = static_cast<unsigned char>(out.at(at / 8) ^ (1U << (7U - at % 8)));
    prefix += bit_of(way == Way::kThere ? bytes : out, at) ? '1' : '0';
  }
  return out;
}

/// The kind of an address (RFC 6890) stays: its first byte, private and link-local blocks; and all
/// of what is nobody's address.
bool is_fixed_v4(std::string_view prefix) {
  constexpr std::array<std::string_view, 4> kBlocks = {"101011000001",      // 172.16.0.0/12
                                                       "1100000010101000",  // 192.168.0.0/16
                                                       "1010100111111110",  // 169.254.0.0/16
                                                       "0110010001"};       // 100.64.0.0/10
  if (prefix.size() < 8) return true;
  if (prefix.starts_with("00000000") || prefix.starts_with("01111111") || prefix.starts_with("111"))
    return true;
  return std::any_of(kBlocks.begin(), kBlocks.end(), [&](std::string_view block) {
    return prefix.size() < block.size() && block.starts_with(prefix);
  });
}

/// The first two bytes, and the whole prefix of a link-local address.
bool is_fixed_v6(std::string_view prefix) {
  constexpr std::size_t kKind = 16;
  constexpr std::size_t kLinkLocal = 64;
  if (prefix.size() < kKind) return true;
  return prefix.starts_with("1111111010") && prefix.size() < kLinkLocal;
}

bool is_fixed_mac(std::string_view prefix) {
  constexpr std::size_t kVendor = 24;
  return prefix.size() < kVendor;
}

bool is_mapped(const Ipv6& a) {
  return std::all_of(a.begin(), a.begin() + 10, [](unsigned char b) { return b == 0; }) &&
         a[10] == 0xff && a[11] == 0xff;
}

bool is_nobodys(const Ipv6& a) {
  const bool zeros = std::all_of(a.begin(), a.end() - 1, [](unsigned char b) { return b == 0; });
  return a[0] == 0xff || (zeros && a[15] <= 1);
}

constexpr unsigned char kLocalBit = 0x02;  // of a MAC; turned round in an interface identifier

std::optional<Mac> mac_within(const Ipv6& a) {
  if (a[11] != 0xff || a[12] != 0xfe) return std::nullopt;
  return Mac{static_cast<unsigned char>(a[8] ^ kLocalBit), a[9], a[10], a[13], a[14], a[15]};
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_hex_byte(std::string_view text, std::size_t at) {
  return at + 1 < text.size() && hex_value(text[at]) >= 0 && hex_value(text[at + 1]) >= 0;
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

/// A MAC at `at`, its bytes `step` characters apart: 3 with colons, 2 without.
std::optional<Mac> mac_at(std::string_view text, std::size_t at, std::size_t step) {
  Mac mac{};
  for (std::size_t i = 0; i < mac.size(); ++i) {
    const std::size_t byte = at + i * step;
    if (!is_hex_byte(text, byte)) return std::nullopt;
    if (step == 3 && i > 0 && text[byte - 1] != ':') return std::nullopt;
    mac.at(i) = static_cast<unsigned char>(hex_value(text[byte]) * 16 + hex_value(text[byte + 1]));
  }
  return mac;
}

void put_mac(std::string& text, std::size_t at, std::size_t step, const Mac& mac) {
  for (std::size_t i = 0; i < mac.size(); ++i)
    text.replace(at + i * step, 2, fmt::format("{:02x}", mac.at(i)));
}

}  // namespace

namespace {

Ipv4 change(const SipKey& key, const Ipv4& address, Way way) {
  return turn_bits(key, "4", address, way, is_fixed_v4);
}

Mac change(const SipKey& key, const Mac& address, Way way) {
  const bool is_group = (address[0] & 1U) != 0;
  const bool is_zero = std::all_of(address.begin(), address.end(), [](auto b) { return b == 0; });
  return is_group || is_zero ? address : turn_bits(key, "m", address, way, is_fixed_mac);
}

Ipv6 change(const SipKey& key, const Ipv6& address, Way way) {
  if (is_mapped(address)) {
    Ipv4 v4{};
    std::copy(address.begin() + 12, address.end(), v4.begin());
    v4 = change(key, v4, way);
    Ipv6 out = address;
    std::copy(v4.begin(), v4.end(), out.begin() + 12);
    return out;
  }
  if (is_nobodys(address)) return address;
  Ipv6 out = turn_bits(key, "6", address, way, is_fixed_v6);
  if (const auto mac = mac_within(address)) {
    const Mac other = change(key, *mac, way);
    out[8] = static_cast<unsigned char>(other[0] ^ kLocalBit);
    out[9] = other[1];
    out[10] = other[2];
    out[11] = 0xff;
    out[12] = 0xfe;
    std::copy(other.begin() + 3, other.end(), out.begin() + 13);
  }
  return out;
}

}  // namespace

Ipv4 Pseudonyms::of(const Ipv4& address) const {
  return change(key_, address, Way::kThere);
}
Ipv6 Pseudonyms::of(const Ipv6& address) const {
  return change(key_, address, Way::kThere);
}
Mac Pseudonyms::of(const Mac& address) const {
  return change(key_, address, Way::kThere);
}
Ipv6 Pseudonyms::original(const Ipv6& pseudonym) const {
  return change(key_, pseudonym, Way::kBack);
}

std::string Pseudonyms::of_name(std::string_view kind, std::string_view name) const {
  return fmt::format("{}-{:08x}", kind,
                     siphash(key_, fmt::format("{} {}", kind, name)) & 0xffffffffU);
}

std::string Pseudonyms::of_host(std::string_view name) const {
  return of_name("host", name.substr(0, name.find('.')));
}

std::string Pseudonyms::of_macs(std::string text) const {
  for (std::size_t at = 0; at < text.size(); ++at) {
    constexpr std::string_view kByMac = "enx";  // systemd's name for a NIC without a better one
    constexpr std::size_t kColons = 17;
    const bool is_start = at == 0 || (!is_word(text[at - 1]) && text[at - 1] != ':');
    if (!is_start) continue;
    if (text.compare(at, kByMac.size(), kByMac) == 0) {
      if (const auto mac = mac_at(text, at + 3, 2)) put_mac(text, at + 3, 2, of(*mac));
      continue;
    }
    const bool ends =
        at + kColons >= text.size() || (!is_word(text[at + kColons]) && text[at + kColons] != ':');
    if (!ends) continue;
    if (const auto mac = mac_at(text, at, 3)) put_mac(text, at, 3, of(*mac));
  }
  return text;
}

std::string Pseudonyms::of_text(std::string_view text) const {
  const std::string with_macs = of_macs(std::string(text));
  const auto part = [](char c) { return hex_value(c) >= 0 || c == ':' || c == '.'; };
  std::string out;
  for (std::size_t at = 0; at < with_macs.size();) {
    std::size_t end = at;
    while (end < with_macs.size() && part(with_macs[end]))
      ++end;
    const bool before = at > 0 && is_word(with_macs[at - 1]);
    const bool after = end < with_macs.size() && is_word(with_macs[end]);
    const std::string word = with_macs.substr(at, end - at);
    Ipv4 v4{};
    Ipv6 v6{};
    std::array<char, INET6_ADDRSTRLEN> printed{};
    if (!before && !after && inet_pton(AF_INET, word.c_str(), v4.data()) == 1) {
      inet_ntop(AF_INET, of(v4).data(), printed.data(), printed.size());
      out += printed.data();
    } else if (!before && !after && inet_pton(AF_INET6, word.c_str(), v6.data()) == 1) {
      inet_ntop(AF_INET6, of(v6).data(), printed.data(), printed.size());
      out += printed.data();
    } else {
      out += word;
    }
    if (end < with_macs.size()) out += with_macs[end];
    at = end + 1;
  }
  return out;
}

std::optional<Ipv6> parse_gid(std::string_view text) {
  Ipv6 out{};
  const std::string word(trim(text));
  if (word.size() != kGidText || inet_pton(AF_INET6, word.c_str(), out.data()) != 1)
    return std::nullopt;
  return out;
}

std::string gid_text(const Ipv6& gid) {
  std::string out;
  for (std::size_t i = 0; i < gid.size(); i += 2)
    out += fmt::format("{}{:02x}{:02x}", i == 0 ? "" : ":", gid.at(i), gid.at(i + 1));
  return out;
}

}  // namespace weir::host
