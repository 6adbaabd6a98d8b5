#pragma once
// RoCE frames, made: what the simulator and the tests put into captures. Checksums and the ICRC are
// right unless asked otherwise.
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "wire/packet.h"

namespace weir::wire {

struct VlanTag {
  std::uint16_t type = 0x8100;  // 0x88a8: the outer of two
  std::uint8_t pcp = 0;
  std::uint16_t id = 0;
};

/// What one RoCE frame says. Extended headers follow from the opcode.
struct RoceFrame {
  bool is_v1 = false;
  std::uint64_t source_mac = 0x020000000001;
  std::uint64_t destination_mac = 0x020000000002;
  std::vector<VlanTag> tags;
  Address source;  // both IPv4 or both IPv6; RoCEv1: GIDs
  Address destination;
  std::uint8_t tos = 0;
  std::uint8_t ttl = 64;
  std::uint16_t ip_id = 0;
  std::uint16_t source_port = 49152;
  std::uint8_t opcode = 0;
  bool solicited = false;
  bool ack_request = false;
  bool becn = false;
  std::uint16_t pkey = 0xFFFF;
  std::uint32_t destination_qp = 0;
  std::uint32_t psn = 0;
  std::uint8_t syndrome = 0;
  std::uint32_t msn = 0;
  std::uint64_t virtual_address = 0;
  std::uint32_t rkey = 0;
  std::uint32_t dma_length = 0;
  std::uint32_t qkey = 0;
  std::uint32_t source_qp = 0;
  std::uint32_t immediate = 0;
  std::uint32_t payload = 0;    // bytes; a pattern of the PSN; padded to four
  std::uint32_t icrc_flip = 0;  // XORed into the ICRC: a broken packet on purpose
};

/// From the Ethernet header (or, `from_ip`, the IP header) to the ICRC, without FCS.
void encode(const RoceFrame& frame, std::vector<std::uint8_t>& out, bool from_ip = false);

/// A pause frame of minimum size, without FCS: PFC for `classes` with `quanta` each.
void encode_pfc(std::uint64_t source_mac, std::uint8_t classes,
                const std::array<std::uint16_t, 8>& quanta, std::vector<std::uint8_t>& out);
void encode_pause(std::uint64_t source_mac, std::uint16_t quanta, std::vector<std::uint8_t>& out);

/// A segment of a TCP connection: what a capture holds besides RoCE.
struct TcpFrame {
  std::uint64_t source_mac = 0;
  std::uint64_t destination_mac = 0;
  std::vector<VlanTag> tags;
  Address source;
  Address destination;
  std::uint8_t tos = 0;
  std::uint8_t ttl = 64;
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::uint32_t sequence = 0;
  std::uint32_t acknowledged = 0;
  std::uint8_t option_bytes = 0;  // no-operations, a multiple of 4
  std::uint32_t payload = 0;
};
void encode_tcp(const TcpFrame& frame, std::vector<std::uint8_t>& out);

}  // namespace weir::wire
