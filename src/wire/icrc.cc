#include "wire/icrc.h"

#include <array>
#include <cstring>

#include <libdeflate.h>

#include "base/check.h"

namespace weir::wire {
namespace {

constexpr std::size_t kLrh = 8;
constexpr std::size_t kUdp = 8;
constexpr std::size_t kBth = 12;
constexpr std::size_t kLargestNetworkHeader = 60;

void mask_network_header(std::uint8_t* at, NetworkHeader header) {
  if (header == NetworkHeader::kIpv4) {
    at[1] = 0xFF;   // TOS
    at[8] = 0xFF;   // TTL
    at[10] = 0xFF;  // header checksum
    at[11] = 0xFF;
  } else {
    at[0] |= 0x0FU;  // traffic class, flow label
    std::memset(at + 1, 0xFF, 3);
    at[7] = 0xFF;  // hop limit
  }
}

}  // namespace

std::uint32_t icrc(const std::uint8_t* packet, std::size_t size, NetworkHeader header,
                   std::size_t network_bytes) {
  const std::size_t udp = header == NetworkHeader::kGrh ? 0 : kUdp;
  const std::size_t head = network_bytes + udp + kBth;
  WEIR_CHECK(network_bytes <= kLargestNetworkHeader && head + 4 <= size);
  std::array<std::uint8_t, kLrh + kLargestNetworkHeader + kUdp + kBth> masked;
  std::memset(masked.data(), 0xFF, kLrh);
  std::uint8_t* at = masked.data() + kLrh;
  std::memcpy(at, packet, head);
  mask_network_header(at, header);
  if (udp != 0) std::memset(at + network_bytes + 6, 0xFF, 2);  // UDP checksum
  at[network_bytes + udp + 4] = 0xFF;                          // FECN, BECN and six reserved bits
  const std::uint32_t crc = libdeflate_crc32(0, masked.data(), kLrh + head);
  return libdeflate_crc32(crc, packet + head, size - head - 4);
}

}  // namespace weir::wire
