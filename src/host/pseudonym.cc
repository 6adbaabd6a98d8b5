#include "host/pseudonym.h"

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

/// Turns some of the bits after the first `kept`: whether one is turned depends on the key and on
/// every bit before it, so that addresses with a prefix in common keep one in common.
template <std::size_t N>
std::array<unsigned char, N> turn_bits(const SipKey& key, std::string_view domain,
                                       const std::array<unsigned char, N>& bytes,
                                       std::size_t kept) {
  std::array<unsigned char, N> out = bytes;
  std::string prefix(domain);
  for (std::size_t at = 0; at < N * 8; ++at) {
    if (at >= kept && (siphash(key, prefix) & 1U) != 0)
      out.at(at / 8) = static_cast<unsigned char>(out.at(at / 8) ^ (1U << (7U - at % 8)));
    prefix += bit_of(bytes, at) ? '1' : '0';
  }
  return out;
}

/// How many bits of an address say what kind it is (RFC 6890); 32 for one that is nobody's.
std::size_t kept_bits(const Ipv4& a) {
  const unsigned first = a[0];
  if (first == 0 || first == 127 || first >= 224) return 32;
  if (first == 172 && (a[1] & 0xf0U) == 16) return 12;
  if ((first == 192 && a[1] == 168) || (first == 169 && a[1] == 254)) return 16;
  if (first == 100 && (a[1] & 0xc0U) == 64) return 10;
  return 8;
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

Ipv4 Pseudonyms::of(const Ipv4& address) const {
  return turn_bits(key_, "4", address, kept_bits(address));
}

Mac Pseudonyms::of(const Mac& address) const {
  constexpr std::size_t kVendor = 24;
  const bool is_group = (address[0] & 1U) != 0;
  const bool is_zero = std::all_of(address.begin(), address.end(), [](auto b) { return b == 0; });
  return is_group || is_zero ? address : turn_bits(key_, "m", address, kVendor);
}

Ipv6 Pseudonyms::of(const Ipv6& address) const {
  if (is_mapped(address)) {
    Ipv4 v4{};
    std::copy(address.begin() + 12, address.end(), v4.begin());
    v4 = of(v4);
    Ipv6 out = address;
    std::copy(v4.begin(), v4.end(), out.begin() + 12);
    return out;
  }
  if (is_nobodys(address)) return address;
  const bool is_link_local = address[0] == 0xfe && (address[1] & 0xc0U) == 0x80;
  constexpr std::size_t kLinkLocal = 64;
  constexpr std::size_t kGlobal = 16;
  Ipv6 out = turn_bits(key_, "6", address, is_link_local ? kLinkLocal : kGlobal);
  if (const auto mac = mac_within(address)) {
    const Mac other = of(*mac);
    out[8] = static_cast<unsigned char>(other[0] ^ kLocalBit);
    out[9] = other[1];
    out[10] = other[2];
    out[11] = 0xff;
    out[12] = 0xfe;
    std::copy(other.begin() + 3, other.end(), out.begin() + 13);
  }
  return out;
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
