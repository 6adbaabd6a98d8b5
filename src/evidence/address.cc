#include "evidence/address.h"

#include <algorithm>

#include <arpa/inet.h>
#include <fmt/format.h>

#include "base/text.h"

namespace weir::evidence {

std::optional<Address> gid_of(std::string_view text) {
  const std::string address(text.substr(0, text.find('/')));
  Address out{};
  if (inet_pton(AF_INET6, address.c_str(), out.data()) == 1) return out;
  std::array<unsigned char, 4> v4{};
  if (inet_pton(AF_INET, address.c_str(), v4.data()) != 1) return std::nullopt;
  out[10] = out[11] = 0xff;
  std::copy(v4.begin(), v4.end(), out.begin() + 12);
  return out;
}

bool is_within(const Address& gid, std::string_view subnet) {
  const std::optional<Address> base = gid_of(subnet);
  const std::size_t slash = subnet.find('/');
  if (!base || slash == std::string_view::npos) return false;
  const auto length = parse_u64(subnet.substr(slash + 1));
  if (!length) return false;
  const bool is_v4 = subnet.find(':') == std::string_view::npos;
  const std::size_t bits = static_cast<std::size_t>(*length) + (is_v4 ? 96 : 0);
  if (bits > base->size() * 8) return false;
  for (std::size_t at = 0; at < bits; ++at) {
    const unsigned differ = static_cast<unsigned>(gid.at(at / 8)) ^ base->at(at / 8);
    if (((differ >> (7U - at % 8)) & 1U) != 0) return false;
  }
  return true;
}

bool is_link_local(const Address& gid) {
  return gid[0] == 0xfe && (gid[1] & 0xc0U) == 0x80;
}

bool is_link_local(std::string_view gid) {
  const std::optional<Address> address = gid_of(gid);
  return address && is_link_local(*address);
}

std::string address_text(const Address& gid) {
  constexpr Address kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (std::equal(gid.begin(), gid.begin() + 12, kMapped.begin()))
    return fmt::format("{}.{}.{}.{}", gid[12], gid[13], gid[14], gid[15]);
  std::array<char, INET6_ADDRSTRLEN> text{};
  return inet_ntop(AF_INET6, gid.data(), text.data(), text.size()) == nullptr ? "" : text.data();
}

}  // namespace weir::evidence
