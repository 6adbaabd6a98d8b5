#pragma once
// A frame in flight, as plain data: it lives by value in an event lane or in a queue's pool and is
// owned by exactly one of them. 28 bytes, so that an event (time, key, packet) is 40.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/fabric/ids.h"

namespace weir::sim {

enum class PacketKind : std::uint8_t {
  kData,         // a packet of a WRITE or SEND, or of a READ's response
  kAck,          // cumulative: everything below `psn` arrived
  kNak,          // sequence error: `psn` is the next one expected
  kRnr,          // receiver not ready for `psn`
  kReadRequest,  // asks for the data of a READ from `psn` on
  kCnp,          // congestion notification
  kPfc,          // pause: `aux` = classes to pause | classes to resume << 8, `psn` = quanta
  kDatagram,     // best-effort load without a transport
};

/// Flags of a packet.
inline constexpr std::uint8_t kFlagFirst = 1;       // first packet of a message (carries a RETH)
inline constexpr std::uint8_t kFlagLast = 2;        // last packet of a message: wants an ACK
inline constexpr std::uint8_t kFlagAckRequest = 4;  // the sender wants an ACK of this one
inline constexpr std::uint8_t kFlagEcho = 8;   // the model `hpcc`: an ACK that carries a CNP bit
inline constexpr std::uint8_t kFlagSend = 16;  // consumes a receive at the target
inline constexpr std::uint8_t kFlagSelective =
    32;  // a NAK of the gap that ends `aux` after `psn` and has `payload` packets
inline constexpr std::uint8_t kFlagSocket = 64;     // of a QueuePair::is_socket, both ways
inline constexpr std::uint8_t kFlagReplayed = 128;  // no frame, but what one did (script.h)

struct Packet {
  std::uint32_t key = 0;  // hash of the 5-tuple: what ECMP sees
  QpId qp{0};
  std::uint32_t psn = 0;  // counted without wrap (the wire's 24 bits are its low ones)
  NodeId dst{0};
  std::uint16_t size = 0;     // frame bytes, FCS included; preamble and gap are the wire's
  std::uint16_t payload = 0;  // bytes of user data
  std::uint16_t aux = 0;      // see PacketKind
  std::uint16_t in_port = 0;  // local ingress port at the switch that holds it
  PacketKind kind = PacketKind::kData;
  std::uint8_t flags = 0;
  std::uint8_t tos = 0;  // DSCP << 2 | ECN
  std::uint8_t ttl = 0;

  [[nodiscard]] bool is_ect() const { return (tos & 3U) != 0; }
  [[nodiscard]] bool is_marked() const { return (tos & 3U) == 3U; }
};
static_assert(sizeof(Packet) == 28);

inline constexpr std::uint8_t kEcnMask = 3;
inline constexpr std::uint8_t kEcnCe = 3;

/// Why a frame was lost. Every drop has a reason.
enum class DropReason : std::uint8_t {
  kIngressBuffer,   // no shared buffer for a lossy class at ingress
  kEgressBuffer,    // egress queue over its limit
  kHeadroom,        // a lossless class after its headroom was used up
  kHeadroomPool,    // the shared headroom pool was used up (an oversubscribed pool)
  kReceiverBuffer,  // the NIC's receive buffer overran
  kWatchdog,        // the PFC watchdog discards a stuck queue
  kLinkDown,        // the link failed under it
  kBitError,        // the frame check sequence was wrong
  kTtl,             // a routing loop
  kMtu,             // larger than the port's MTU
  kNoRoute,         // no path to the destination
  kWred,            // not ECN-capable and WRED said drop
  kCount,
};
inline constexpr std::size_t kDropReasons = static_cast<std::size_t>(DropReason::kCount);

[[nodiscard]] std::string_view to_text(DropReason reason);  // "headroom", "bit_error", …

/// No buffer left: the reasons that a lossless class must never see (`lossless_drops`).
constexpr bool is_buffer_shortage(DropReason reason) {
  return reason == DropReason::kIngressBuffer || reason == DropReason::kEgressBuffer ||
         reason == DropReason::kHeadroom || reason == DropReason::kHeadroomPool ||
         reason == DropReason::kReceiverBuffer;
}

}  // namespace weir::sim
