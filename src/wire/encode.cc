#include "wire/encode.h"

#include "base/check.h"
#include "wire/bytes.h"
#include "wire/icrc.h"

namespace weir::wire {
namespace {

constexpr std::uint16_t kTypeIpv4 = 0x0800;
constexpr std::uint16_t kTypeIpv6 = 0x86DD;
constexpr std::uint16_t kTypeRoceV1 = 0x8915;
constexpr std::uint16_t kTypeMacControl = 0x8808;
constexpr std::uint8_t kProtocolTcp = 6;
constexpr std::uint8_t kProtocolUdp = 17;
constexpr std::uint8_t kNextHeaderIba = 27;
constexpr std::uint8_t kMigrated = 0x40;    // BTH: MigReq, as every RoCE NIC sends it
constexpr std::size_t kCnpReserved = 16;    // RoCEv2 annex A17.9.3
constexpr std::size_t kShortestFrame = 60;  // without FCS

/// Grows `out` by `count` zero bytes and gives their place.
std::uint8_t* grow(std::vector<std::uint8_t>& out, std::size_t count) {
  out.resize(out.size() + count);
  return out.data() + out.size() - count;
}

void put_mac(std::uint8_t* at, std::uint64_t mac) {
  put_be16(at, static_cast<std::uint32_t>(mac >> 32U));
  put_be32(at + 2, static_cast<std::uint32_t>(mac));
}

void put_ethernet(std::vector<std::uint8_t>& out, std::uint64_t destination, std::uint64_t source,
                  const std::vector<VlanTag>& tags, std::uint16_t type) {
  std::uint8_t* at = grow(out, 12);
  put_mac(at, destination);
  put_mac(at + 6, source);
  for (const VlanTag& tag : tags) {
    at = grow(out, 4);
    put_be16(at, tag.type);
    put_be16(at + 2, (std::uint32_t{tag.pcp} << 13U) | (tag.id & 0x0FFFU));
  }
  put_be16(grow(out, 2), type);
}

/// RFC 1071, over an even number of bytes or with a zero after the last.
std::uint32_t sum16(const std::uint8_t* at, std::size_t size, std::uint32_t sum = 0) {
  for (std::size_t i = 0; i + 1 < size; i += 2)
    sum += be16(at + i);
  if (size % 2 != 0) sum += std::uint32_t{at[size - 1]} << 8U;
  return sum;
}
std::uint16_t checksum(std::uint32_t sum) {
  while (sum > 0xFFFFU)
    sum = (sum & 0xFFFFU) + (sum >> 16U);
  return static_cast<std::uint16_t>(~sum);
}

struct IpFields {
  Address source;
  Address destination;
  std::uint8_t tos;
  std::uint8_t ttl;
  std::uint16_t id;
  std::uint8_t protocol;
};

/// An IP header for `size` bytes after it; its length.
std::size_t put_ip(std::vector<std::uint8_t>& out, const IpFields& fields, std::size_t size) {
  if (fields.source.is_ipv4()) {
    std::uint8_t* at = grow(out, 20);
    at[0] = 0x45;
    at[1] = fields.tos;
    put_be16(at + 2, static_cast<std::uint32_t>(20 + size));
    put_be16(at + 4, fields.id);
    put_be16(at + 6, 0x4000);  // don't fragment
    at[8] = fields.ttl;
    at[9] = fields.protocol;
    put_be32(at + 12, static_cast<std::uint32_t>(fields.source.low));
    put_be32(at + 16, static_cast<std::uint32_t>(fields.destination.low));
    put_be16(at + 10, checksum(sum16(at, 20)));
    return 20;
  }
  std::uint8_t* at = grow(out, 40);
  put_be32(at, (6U << 28U) | (std::uint32_t{fields.tos} << 20U));
  put_be16(at + 4, static_cast<std::uint32_t>(size));
  at[6] = fields.protocol;
  at[7] = fields.ttl;
  put_be64(at + 8, fields.source.high);
  put_be64(at + 16, fields.source.low);
  put_be64(at + 24, fields.destination.high);
  put_be64(at + 32, fields.destination.low);
  return 40;
}

void put_extended(std::uint8_t* at, const RoceFrame& frame, const ExtendedHeaders& headers) {
  if (headers.rdeth) at += 4;
  if (headers.deth) {
    put_be32(at, frame.qkey);
    put_be24(at + 5, frame.source_qp);
    at += 8;
  }
  if (headers.xrceth) {
    put_be24(at + 1, frame.source_qp);
    at += 4;
  }
  if (headers.reth) {
    put_be64(at, frame.virtual_address);
    put_be32(at + 8, frame.rkey);
    put_be32(at + 12, frame.dma_length);
    at += 16;
  }
  if (headers.atomic) {
    put_be64(at, frame.virtual_address);
    put_be32(at + 8, frame.rkey);
    at += 28;
  }
  if (headers.aeth) {
    at[0] = frame.syndrome;
    put_be24(at + 1, frame.msn);
    at += 4;
  }
  if (headers.atomic_ack) at += 8;
  if (headers.immediate) {
    put_be32(at, frame.immediate);
    at += 4;
  }
  if (headers.ieth) put_be32(at, frame.rkey);
}

/// BTH, extended headers, payload, padding and room for the ICRC.
void put_transport(std::vector<std::uint8_t>& out, const RoceFrame& frame, std::size_t user) {
  const Opcode& code = opcode(frame.opcode);
  std::uint8_t* at = grow(out, 12 + code.header_bytes + user + 4);
  at[0] = frame.opcode;
  const auto pad = static_cast<std::uint8_t>((4 - frame.payload % 4) % 4);
  at[1] = static_cast<std::uint8_t>((frame.solicited ? 0x80 : 0) | kMigrated | (pad << 4U));
  put_be16(at + 2, frame.pkey);
  at[4] = frame.becn ? 0x40 : 0;
  put_be24(at + 5, frame.destination_qp);
  at[8] = frame.ack_request ? 0x80 : 0;
  put_be24(at + 9, frame.psn);
  put_extended(at + 12, frame, code.headers);
  std::uint8_t* data = at + 12 + code.header_bytes;
  for (std::uint32_t i = 0; i < frame.payload; ++i)
    data[i] = static_cast<std::uint8_t>(frame.psn + i);
}

void pad_to_minimum(std::vector<std::uint8_t>& out, std::size_t from) {
  if (out.size() - from < kShortestFrame) out.resize(from + kShortestFrame);
}

}  // namespace

void encode(const RoceFrame& frame, std::vector<std::uint8_t>& out, bool from_ip) {
  WEIR_CHECK(frame.source.is_ipv4() == frame.destination.is_ipv4() || frame.is_v1);
  const Opcode& code = opcode(frame.opcode);
  const std::size_t user =
      frame.opcode == kCnpOpcode ? kCnpReserved : (frame.payload + std::size_t{3}) / 4 * 4;
  const std::size_t transport = 12 + code.header_bytes + user + 4;
  const std::size_t start = out.size();
  const bool is_ipv4 = frame.source.is_ipv4() && !frame.is_v1;
  if (!from_ip) {
    const std::uint16_t type = frame.is_v1 ? kTypeRoceV1 : is_ipv4 ? kTypeIpv4 : kTypeIpv6;
    put_ethernet(out, frame.destination_mac, frame.source_mac, frame.tags, type);
  }
  const std::size_t network_at = out.size();
  IpFields ip{frame.source, frame.destination, frame.tos, frame.ttl, frame.ip_id, kProtocolUdp};
  std::size_t network = 40;
  if (frame.is_v1) {
    std::uint8_t* at = grow(out, 40);
    put_be32(at, (6U << 28U) | (std::uint32_t{frame.tos} << 20U));
    put_be16(at + 4, static_cast<std::uint32_t>(transport));
    at[6] = kNextHeaderIba;
    at[7] = frame.ttl;
    put_be64(at + 8, frame.source.high);
    put_be64(at + 16, frame.source.low);
    put_be64(at + 24, frame.destination.high);
    put_be64(at + 32, frame.destination.low);
  } else {
    network = put_ip(out, ip, 8 + transport);
    std::uint8_t* udp = grow(out, 8);  // checksum 0: RoCE's own choice, the ICRC covers more
    put_be16(udp, frame.source_port);
    put_be16(udp + 2, kRocePort);
    put_be16(udp + 4, static_cast<std::uint32_t>(8 + transport));
  }
  put_transport(out, frame, user);
  const NetworkHeader kind = frame.is_v1 ? NetworkHeader::kGrh
                             : is_ipv4   ? NetworkHeader::kIpv4
                                         : NetworkHeader::kIpv6;
  const std::uint32_t crc = icrc(out.data() + network_at, out.size() - network_at, kind, network);
  put_le32(out.data() + out.size() - 4, crc ^ frame.icrc_flip);
  if (!from_ip) pad_to_minimum(out, start);
}

void encode_pfc(std::uint64_t source_mac, std::uint8_t classes,
                const std::array<std::uint16_t, 8>& quanta, std::vector<std::uint8_t>& out) {
  const std::size_t start = out.size();
  put_ethernet(out, 0x0180C2000001, source_mac, {}, kTypeMacControl);
  std::uint8_t* at = grow(out, 20);
  put_be16(at, 0x0101);
  put_be16(at + 2, classes);
  for (std::size_t i = 0; i < quanta.size(); ++i)
    put_be16(at + 4 + 2 * i, quanta[i]);
  pad_to_minimum(out, start);
}

void encode_pause(std::uint64_t source_mac, std::uint16_t quanta, std::vector<std::uint8_t>& out) {
  const std::size_t start = out.size();
  put_ethernet(out, 0x0180C2000001, source_mac, {}, kTypeMacControl);
  std::uint8_t* at = grow(out, 4);
  put_be16(at, 0x0001);
  put_be16(at + 2, quanta);
  pad_to_minimum(out, start);
}

void encode_tcp(const TcpFrame& frame, std::vector<std::uint8_t>& out) {
  WEIR_CHECK(frame.option_bytes % 4 == 0);
  const std::size_t start = out.size();
  const bool is_ipv4 = frame.source.is_ipv4();
  put_ethernet(out, frame.destination_mac, frame.source_mac, frame.tags,
               is_ipv4 ? kTypeIpv4 : kTypeIpv6);
  const std::size_t header = std::size_t{20} + frame.option_bytes;
  const std::size_t size = header + frame.payload;
  put_ip(out, {frame.source, frame.destination, frame.tos, frame.ttl, 0, kProtocolTcp}, size);
  std::uint8_t* at = grow(out, size);
  put_be16(at, frame.source_port);
  put_be16(at + 2, frame.destination_port);
  put_be32(at + 4, frame.sequence);
  put_be32(at + 8, frame.acknowledged);
  at[12] = static_cast<std::uint8_t>((header / 4) << 4U);
  at[13] = 0x10;              // ACK
  put_be16(at + 14, 0xFFFF);  // window
  for (std::size_t i = 0; i < frame.option_bytes; ++i)
    at[20 + i] = 1;  // no-operation
  std::array<std::uint8_t, 40> pseudo{};
  put_be64(pseudo.data(), frame.source.high);
  put_be64(pseudo.data() + 8, frame.source.low);
  put_be64(pseudo.data() + 16, frame.destination.high);
  put_be64(pseudo.data() + 24, frame.destination.low);
  // The prefix ::ffff of an IPv4 address is no part of IPv4's pseudo header.
  if (is_ipv4) {
    put_be16(pseudo.data() + 10, 0);
    put_be16(pseudo.data() + 26, 0);
  }
  put_be32(pseudo.data() + 32, static_cast<std::uint32_t>(size));
  pseudo[39] = kProtocolTcp;
  put_be16(at + 16, checksum(sum16(at, size, sum16(pseudo.data(), pseudo.size()))));
  pad_to_minimum(out, start);
}

}  // namespace weir::wire
