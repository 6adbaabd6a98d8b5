#pragma once
// The opcodes of the base transport header (InfiniBand 1.4 vol. 1, table 38): which transport, what
// it does, which headers follow. CNPs are RoCEv2's own (annex A17.9.3, opcode 0x81).
#include <cstdint>
#include <string>

namespace weir::wire {

enum class Transport : std::uint8_t { kRc, kUc, kRd, kUd, kCnp, kXrc, kUnknown };
enum class Verb : std::uint8_t {
  kSend,
  kWrite,
  kReadRequest,
  kReadResponse,
  kAck,  // or NAK: the AETH says
  kAtomicAck,
  kCompareSwap,
  kFetchAdd,
  kResync,
  kCnp,
  kUnknown,
};
enum class Part : std::uint8_t { kFirst, kMiddle, kLast, kOnly };

/// What a flow's packets do for it; each may sit in a class of its own, and often wrongly does.
enum class Role : std::uint8_t {
  kData,     // SEND, WRITE, READ response, atomics: what must be lossless
  kControl,  // ACK, NAK, READ request
  kCnp,
  kCount,
};

/// Headers after the BTH, in the order in which they stand.
struct ExtendedHeaders {
  bool rdeth = false;       // 4 B, RD
  bool deth = false;        // 8 B, UD and RD requests
  bool xrceth = false;      // 4 B, XRC requests
  bool reth = false;        // 16 B, first or only packet of a WRITE, READ requests
  bool atomic = false;      // 28 B
  bool aeth = false;        // 4 B
  bool atomic_ack = false;  // 8 B
  bool immediate = false;   // 4 B
  bool ieth = false;        // 4 B, SEND with invalidate
};

struct Opcode {
  Transport transport = Transport::kUnknown;
  Verb verb = Verb::kUnknown;
  Part part = Part::kOnly;
  Role role = Role::kControl;
  bool is_response = false;   // of a requester's PSNs: READ responses, ACKs
  bool is_sequenced = false;  // its PSNs count up one by one: requests of RC, UC, XRC
  ExtendedHeaders headers;
  std::uint8_t header_bytes = 0;  // of all of them
};

/// Of any byte; kUnknown where the specification has none.
[[nodiscard]] const Opcode& opcode(std::uint8_t code);
/// "RC RDMA WRITE First", "UD SEND Only", "CNP", "0x5f".
[[nodiscard]] std::string opcode_name(std::uint8_t code);

/// An AETH's syndrome: its kind, and the NAK's code, the RNR timer or the credits.
enum class Syndrome : std::uint8_t { kAck, kRnr, kReserved, kNak };
constexpr Syndrome syndrome_kind(std::uint8_t syndrome) {
  return static_cast<Syndrome>((syndrome >> 5U) & 3U);
}
constexpr unsigned syndrome_value(std::uint8_t syndrome) {
  return syndrome & 0x1FU;
}

/// Codes of a NAK (InfiniBand 1.4 vol. 1, table 58).
inline constexpr unsigned kNakSequence = 0;
inline constexpr unsigned kNakInvalidRequest = 1;
inline constexpr unsigned kNakRemoteAccess = 2;
inline constexpr unsigned kNakRemoteOperation = 3;

inline constexpr std::uint8_t kCnpOpcode = 0x81;

}  // namespace weir::wire
