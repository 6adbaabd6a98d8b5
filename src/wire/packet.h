#pragma once
// A captured frame, read: RoCEv2 over IPv4 or IPv6, RoCEv1, PFC and 802.3x frames; everything else
// is `kOther`. Any bytes may come: what does not fit is not RoCE, or is said to be cut.
//
// Read through Ethernet (any VLAN tags), Linux cooked captures, raw IP, BSD loopback, ERF, and the
// tunnels in which a switch mirrors or a fabric carries RoCE: GRE (Ethernet, ERSPAN I to III) and
// VXLAN. A tunnel's packet is the inner one: its TOS byte, its addresses.
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>

#include "wire/opcode.h"

namespace weir::wire {

/// Numbers of the LINKTYPE registry (tcpdump.org/linktypes.html).
inline constexpr std::uint16_t kLinkNull = 0;
inline constexpr std::uint16_t kLinkEthernet = 1;
inline constexpr std::uint16_t kLinkRawBsd = 12;
inline constexpr std::uint16_t kLinkRawOpenBsd = 14;
inline constexpr std::uint16_t kLinkRaw = 101;
inline constexpr std::uint16_t kLinkLoop = 108;
inline constexpr std::uint16_t kLinkSll = 113;
inline constexpr std::uint16_t kLinkErf = 197;
inline constexpr std::uint16_t kLinkIpv4 = 228;
inline constexpr std::uint16_t kLinkIpv6 = 229;
inline constexpr std::uint16_t kLinkSll2 = 276;

inline constexpr std::uint16_t kRocePort = 4791;  // IANA

/// One frame of a capture. `data` lives until the next one is read.
struct Record {
  std::int64_t time_ns = 0;  // since 1970
  const std::uint8_t* data = nullptr;
  std::uint32_t captured = 0;
  std::uint32_t original = 0;  // bytes of the frame on the wire, without FCS as a rule
  std::uint32_t interface = 0;
  std::uint16_t link_type = kLinkEthernet;
};

/// IPv4 as ::ffff:a.b.c.d, so that every flow has the same kind of key.
struct Address {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  [[nodiscard]] bool is_ipv4() const { return high == 0 && (low >> 32U) == 0xFFFFU; }
  friend auto operator<=>(const Address&, const Address&) = default;
};
[[nodiscard]] Address ipv4_address(std::uint32_t address);
[[nodiscard]] Address ipv6_address(const std::uint8_t* bytes);
[[nodiscard]] std::string to_text(const Address&);  // "192.0.2.1", "fe80::1"

enum class PacketKind : std::uint8_t { kOther, kRoceV2, kRoceV1, kPfc, kPause };
enum class IcrcState : std::uint8_t {
  kGood,
  kBad,
  kNotVerifiable,  // not all of the packet was captured
};

struct Packet {
  PacketKind kind = PacketKind::kOther;
  bool is_cut = false;        // a RoCE packet of which not even the BTH was captured
  bool is_malformed = false;  // shorter than its own headers
  bool is_tunnelled = false;
  std::uint8_t vlan_tags = 0;
  std::uint8_t pcp = 0;  // of the outer tag
  std::uint16_t vlan = 0;
  std::uint64_t source_mac = 0;  // 0: the link type has none

  Address source;
  Address destination;
  std::uint8_t tos = 0;
  std::uint8_t ttl = 0;
  std::uint16_t ip_id = 0;  // IPv4
  std::uint16_t source_port = 0;

  // Base transport header.
  std::uint8_t opcode = 0;
  std::uint8_t pad = 0;
  bool solicited = false;
  bool ack_request = false;
  bool fecn = false;
  bool becn = false;
  std::uint16_t pkey = 0;
  std::uint32_t destination_qp = 0;
  std::uint32_t psn = 0;

  // Extended headers, where `opcode` has them and they were captured (`has_extended`).
  bool has_extended = false;
  std::uint8_t syndrome = 0;
  std::uint32_t msn = 0;
  std::uint64_t virtual_address = 0;
  std::uint32_t rkey = 0;
  std::uint32_t dma_length = 0;
  std::uint32_t source_qp = 0;  // DETH
  std::uint32_t immediate = 0;

  std::uint32_t payload = 0;  // user bytes, without padding
  std::uint32_t icrc = 0;     // as captured
  IcrcState icrc_state = IcrcState::kNotVerifiable;

  // PFC and 802.3x.
  std::uint8_t pause_classes = 0;  // PFC: the enable vector; 802.3x: all
  std::array<std::uint16_t, 8> quanta{};
};

/// Reads one frame. Never fails; `kOther` is an answer.
void decode(const Record& record, Packet& out);

}  // namespace weir::wire
