#include "design/fabric/subnet.h"

#include <algorithm>

#include <arpa/inet.h>
#include <fmt/format.h>

#include "base/text.h"

namespace weir::design {
namespace {

constexpr int kIpv4Bits = 32;
constexpr int kIpv6Bits = 128;

int bits_of(AddressFamily family) {
  return family == AddressFamily::kIpv4 ? kIpv4Bits : kIpv6Bits;
}

bool bit(const std::array<std::uint8_t, 16>& address, int i) {
  const auto byte = static_cast<std::size_t>(i / 8);
  return ((address.at(byte) >> (7 - i % 8)) & 1U) != 0;
}

void clear_host_bits(Subnet& subnet) {
  for (int i = subnet.prefix; i < bits_of(subnet.family); ++i) {
    auto& byte = subnet.address.at(static_cast<std::size_t>(i / 8));
    byte = static_cast<std::uint8_t>(byte & ~(0x80U >> (i % 8)));
  }
}

std::string address_text(const Subnet& subnet) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = subnet.family == AddressFamily::kIpv4 ? AF_INET : AF_INET6;
  inet_ntop(family, subnet.address.data(), text.data(), text.size());
  return text.data();
}

}  // namespace

bool Subnet::overlaps(const Subnet& other) const {
  if (family != other.family) return false;
  for (int i = 0; i < std::min(prefix, other.prefix); ++i)
    if (bit(address, i) != bit(other.address, i)) return false;
  return true;
}

std::optional<std::string> Subnet::host(std::uint64_t n) const {
  const int host_bits = bits_of(family) - prefix;
  const bool fits = host_bits >= 64 || n < (std::uint64_t{1} << host_bits);
  // The last address of an IPv4 subnet is its broadcast address.
  const bool is_broadcast = family == AddressFamily::kIpv4 && host_bits > 1 && host_bits < 64 &&
                            n == (std::uint64_t{1} << host_bits) - 1;
  if (!fits || is_broadcast) return std::nullopt;
  Subnet host_address = *this;
  auto last = static_cast<std::size_t>(bits_of(family) / 8);
  for (std::uint64_t rest = n; rest > 0; rest >>= 8U) {
    --last;
    host_address.address.at(last) =
        static_cast<std::uint8_t>(host_address.address.at(last) | (rest & 0xFFU));
  }
  return fmt::format("{}/{}", address_text(host_address), prefix);
}

std::string Subnet::to_text() const {
  return fmt::format("{}/{}", address_text(*this), prefix);
}

Result<Subnet> parse_subnet(std::string_view text) {
  const auto bad = [&](std::string_view hint) {
    return parse_error(fmt::format(
        "expected a subnet such as 10.0.0.0/16 or fd00:1::/64, found '{}'{}", text, hint));
  };
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return bad("; the prefix length is missing");
  const std::string address(text.substr(0, slash));
  Subnet subnet;
  if (inet_pton(AF_INET, address.c_str(), subnet.address.data()) == 1) {
    subnet.family = AddressFamily::kIpv4;
  } else if (inet_pton(AF_INET6, address.c_str(), subnet.address.data()) == 1) {
    subnet.family = AddressFamily::kIpv6;
  } else {
    return bad("");
  }
  const auto prefix = parse_u64(text.substr(slash + 1));
  if (!prefix || *prefix > static_cast<std::uint64_t>(bits_of(subnet.family)))
    return bad("; the prefix length is out of range");
  subnet.prefix = static_cast<int>(*prefix);
  Subnet network = subnet;
  clear_host_bits(network);
  if (network.address != subnet.address)
    return bad(fmt::format("; a host address: did you mean {}?", network.to_text()));
  return subnet;
}

std::optional<Subnet> Subnet::part(int longer, std::uint64_t n) const {
  if (longer < prefix || longer > bits_of(family)) return std::nullopt;
  const int index_bits = longer - prefix;
  if (index_bits < 64 && n >= (std::uint64_t{1} << index_bits)) return std::nullopt;
  Subnet out = *this;
  out.prefix = longer;
  for (int i = 0; i < std::min(index_bits, 64); ++i) {
    if (((n >> i) & 1U) == 0) continue;
    const int at = longer - 1 - i;
    auto& byte = out.address.at(static_cast<std::size_t>(at / 8));
    byte = static_cast<std::uint8_t>(byte | (0x80U >> (at % 8)));
  }
  return out;
}

namespace {

void replace_all(std::string& text, std::string_view mark, int value) {
  for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark))
    text.replace(at, mark.size(), std::to_string(value));
}

}  // namespace

Result<std::string> subnet_of(const Addressing& addressing, SubnetPlace place) {
  const std::vector<std::string>& list = *addressing.subnets;
  const auto rail = static_cast<std::size_t>(place.rail);
  if (list.size() > 1 && rail >= list.size())
    return invalid_error(fmt::format(
        "addressing.subnets: {} subnets for rail {}: list one per rail, or one with {{rail}} in it",
        list.size(), place.rail));
  std::string text = list.size() == 1 ? list.front() : list[rail];
  replace_all(text, "{rail}", place.rail);
  replace_all(text, "{pod}", place.pod);
  replace_all(text, "{leaf}", place.leaf);
  return text;
}

bool subnet_is_local(const Addressing& addressing) {
  const std::vector<std::string>& list = *addressing.subnets;
  return std::any_of(list.begin(), list.end(), [](const std::string& text) {
    return text.find("{pod}") != std::string::npos || text.find("{leaf}") != std::string::npos;
  });
}

}  // namespace weir::design
