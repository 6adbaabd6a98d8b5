#pragma once
// What RoCEv2 puts on the wire, byte by byte, and what it leaves for payload.
//
// Wire time counts the frame plus 20 B (preamble, start delimiter, smallest gap); buffers,
// thresholds and byte counters count the frame alone. Both sums are built here, so that no
// caller adds 18 or 38 by hand.
#include <cstdint>

#include "units/quantity.h"

namespace weir::model {

inline constexpr Bytes kEthernetHeader = 14_B;  // IEEE 802.3 3.1.1: two addresses and the type
inline constexpr Bytes kEthernetFcs = 4_B;      // IEEE 802.3 3.2.9
inline constexpr Bytes kPreambleAndGap = 20_B;  // IEEE 802.3 3.2.1, 4.4.2: 7 + 1 + 12
inline constexpr Bytes kVlanTag = 4_B;          // IEEE 802.1Q 9.3
inline constexpr Bytes kIpv4Header = 20_B;      // RFC 791, no options
inline constexpr Bytes kIpv6Header = 40_B;      // RFC 8200
inline constexpr Bytes kUdpHeader = 8_B;        // RFC 768; destination port 4791 is RoCEv2 (IANA)
inline constexpr Bytes kBaseTransport = 12_B;   // BTH, InfiniBand 1.4 vol. 1, 9.2
inline constexpr Bytes kRdmaExtended = 16_B;    // RETH, 9.3.3: first or only packet of a WRITE
inline constexpr Bytes kAckExtended = 4_B;      // AETH, 9.3.5: acknowledgements
inline constexpr Bytes kInvariantCrc = 4_B;     // ICRC, RoCEv2 annex A17
inline constexpr Bytes kMinFrame = 64_B;        // IEEE 802.3 4A.4.2, with FCS
inline constexpr Bytes kPfcFrame = 64_B;      // IEEE 802.1Qbb: a MAC control frame of minimum size
inline constexpr Bytes kPauseQuantum = 64_B;  // 512 bit times (IEEE 802.3 31B.2)
inline constexpr int kMaxPauseQuanta = 65'535;  // a 16-bit field

enum class IpVersion : std::uint8_t { kIpv4, kIpv6 };

struct RoceEncapsulation {
  IpVersion ip = IpVersion::kIpv4;
  bool vlan = false;
};

/// The frame (with FCS, without preamble and gap) around `payload`; `extended` = RETH or AETH where
/// the packet has one. IPv4 without VLAN adds 62 B.
constexpr Bytes roce_frame(Bytes payload, RoceEncapsulation encapsulation = {},
                           Bytes extended = {}) {
  const Bytes ip = encapsulation.ip == IpVersion::kIpv4 ? kIpv4Header : kIpv6Header;
  const Bytes frame = kEthernetHeader + (encapsulation.vlan ? kVlanTag : 0_B) + ip + kUdpHeader +
                      kBaseTransport + extended + payload + kInvariantCrc + kEthernetFcs;
  return frame < kMinFrame ? kMinFrame : frame;
}

/// How much of a link a frame occupies.
constexpr Bytes wire_size(Bytes frame) {
  return frame + kPreambleAndGap;
}

/// Share of the line rate left for payload by middle packets of a long message: 1024 B .926, 4096 B
/// .980 (the first packet's RETH is not counted: 16 B in a message).
constexpr double goodput_ceiling(Bytes payload, RoceEncapsulation encapsulation = {}) {
  return static_cast<double>(payload.raw()) /
         static_cast<double>(wire_size(roce_frame(payload, encapsulation)).raw());
}

/// How long a PFC frame with `quanta` pauses, unless refreshed: 65,535 quanta are 83.9 us at 400G.
/// REQUIRES: 0 <= quanta <= kMaxPauseQuanta.
constexpr Duration pause_time(int quanta, BitRate rate) {
  WEIR_CHECK(quanta >= 0 && quanta <= kMaxPauseQuanta);
  return serialization_time(kPauseQuantum * quanta, rate);
}

}  // namespace weir::model
