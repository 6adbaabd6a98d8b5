#include "wire/packet.h"

#include <bit>

#include <arpa/inet.h>

#include "wire/bytes.h"
#include "wire/icrc.h"

namespace weir::wire {
namespace {

constexpr std::uint16_t kEtherIpv4 = 0x0800;
constexpr std::uint16_t kEtherIpv6 = 0x86DD;
constexpr std::uint16_t kTypeVlan = 0x8100;
constexpr std::uint16_t kTypeServiceVlan = 0x88A8;
constexpr std::uint16_t kTypeOldQinQ = 0x9100;
constexpr std::uint16_t kEtherMacControl = 0x8808;  // IEEE 802.3 31
constexpr std::uint16_t kEtherRoceV1 = 0x8915;
constexpr std::uint16_t kTypeErspan2 = 0x88BE;  // type I and II
constexpr std::uint16_t kTypeErspan3 = 0x22EB;
constexpr std::uint16_t kTypeBridged = 0x6558;  // Ethernet in GRE
constexpr std::uint16_t kMacControlPause = 0x0001;
constexpr std::uint16_t kMacControlPfc = 0x0101;  // IEEE 802.1Qbb
constexpr std::uint16_t kVxlanPort = 4789;
constexpr std::uint8_t kIpProtocolUdp = 17;
constexpr std::uint8_t kProtocolGre = 47;
constexpr std::uint8_t kGrhNextHeaderIba = 27;  // BTH after a GRH (InfiniBand 1.4 vol. 1, 8.3)
constexpr std::size_t kBthBytes = 12;
constexpr std::size_t kIcrc = 4;
constexpr int kDeepestTunnel = 2;

/// What is left of the captured bytes.
struct Bytes {
  const std::uint8_t* at;
  std::size_t left;

  [[nodiscard]] bool has(std::size_t count) const { return left >= count; }
  void skip(std::size_t count) {
    at += count;
    left -= count;
  }
};

class Decoder {
 public:
  explicit Decoder(Packet& out) : out_(out) {}

  void link(std::uint16_t type, Bytes in) {
    switch (type) {
      case kLinkEthernet: ethernet(in); break;
      case kLinkRaw:
      case kLinkRawBsd:
      case kLinkRawOpenBsd:
      case kLinkIpv4:
      case kLinkIpv6: raw_ip(in); break;
      case kLinkNull:
      case kLinkLoop:
        if (in.has(4)) {
          in.skip(4);
          raw_ip(in);
        }
        break;
      case kLinkSll: cooked(in, 14, 16); break;
      case kLinkSll2: cooked(in, 0, 20); break;
      case kLinkErf: erf(in); break;
      default: break;
    }
  }

 private:
  void cooked(Bytes in, std::size_t type_at, std::size_t header) {
    if (!in.has(header)) return;
    const std::uint16_t type = be16(in.at + type_at);
    in.skip(header);
    network(type, in);
  }

  /// ERF (Endace): what InfiniBand sniffers write. Type 2 is Ethernet, with two bytes before it.
  void erf(Bytes in) {
    constexpr std::size_t kHeader = 16;
    if (!in.has(kHeader)) return;
    std::uint8_t type = in.at[8];
    in.skip(kHeader);
    const bool is_ethernet = (type & 0x7FU) == 2;
    while ((type & 0x80U) != 0) {  // extension headers chain by the top bit
      if (!in.has(8)) return;
      type = in.at[0];
      in.skip(8);
    }
    if (!is_ethernet || !in.has(2)) return;
    in.skip(2);
    ethernet(in);
  }

  void ethernet(Bytes in) {
    if (!in.has(14)) return;
    out_.source_mac = (std::uint64_t{be16(in.at + 6)} << 32U) | be32(in.at + 8);
    const std::uint16_t type = be16(in.at + 12);
    in.skip(14);
    network(type, in);
  }

  void raw_ip(Bytes in) {
    if (!in.has(1)) return;
    const unsigned version = in.at[0] >> 4U;
    if (version == 4) ipv4(in);
    if (version == 6) ipv6(in);
  }

  void network(std::uint16_t type, Bytes in) {
    while (type == kTypeVlan || type == kTypeServiceVlan || type == kTypeOldQinQ) {
      if (!in.has(4)) return;
      if (out_.vlan_tags == 0) {
        out_.pcp = static_cast<std::uint8_t>(in.at[0] >> 5U);
        out_.vlan = be16(in.at) & 0x0FFFU;
      }
      if (out_.vlan_tags < 0xFF) ++out_.vlan_tags;
      type = be16(in.at + 2);
      in.skip(4);
    }
    switch (type) {
      case kEtherIpv4: ipv4(in); break;
      case kEtherIpv6: ipv6(in); break;
      case kEtherRoceV1: roce_v1(in); break;
      case kEtherMacControl: mac_control(in); break;
      default: break;
    }
  }

  void mac_control(Bytes in) {
    if (!in.has(4)) return;
    const std::uint16_t code = be16(in.at);
    if (code == kMacControlPause) {
      out_.kind = PacketKind::kPause;
      out_.pause_classes = 0xFF;
      out_.quanta.fill(be16(in.at + 2));
    } else if (code == kMacControlPfc && in.has(20)) {
      out_.kind = PacketKind::kPfc;
      out_.pause_classes = in.at[3];
      for (std::size_t i = 0; i < out_.quanta.size(); ++i)
        out_.quanta[i] = be16(in.at + 4 + 2 * i);
    }
  }

  void ipv4(Bytes in) {
    if (!in.has(20)) return;
    const std::size_t header = (in.at[0] & 0x0FU) * std::size_t{4};
    const std::size_t total = be16(in.at + 2);
    if (header < 20 || total < header || !in.has(header)) return;
    const bool is_later_fragment = (be16(in.at + 6) & 0x1FFFU) != 0;
    if (is_later_fragment) return;
    const bool is_fragment = (in.at[6] & 0x20U) != 0;
    const std::uint8_t protocol = in.at[9];
    if (protocol == kIpProtocolUdp) {
      out_.source = ipv4_address(be32(in.at + 12));
      out_.destination = ipv4_address(be32(in.at + 16));
      out_.tos = in.at[1];
      out_.ttl = in.at[8];
      out_.ip_id = be16(in.at + 4);
      udp(in, header, total, NetworkHeader::kIpv4, !is_fragment);
    } else if (protocol == kProtocolGre) {
      gre({in.at + header, std::min(in.left, total) - header});
    }
  }

  void ipv6(Bytes in) {
    if (!in.has(40)) return;
    const std::size_t total = std::size_t{40} + be16(in.at + 4);
    std::uint8_t next = in.at[6];
    std::size_t header = 40;
    // Hop-by-hop, routing and destination options.
    while (next == 0 || next == 43 || next == 60) {
      if (!in.has(header + 8)) return;
      next = in.at[header];
      header += (in.at[header + 1] + std::size_t{1}) * 8;
    }
    if (header > total || !in.has(header)) return;
    if (next == kIpProtocolUdp) {
      out_.source = ipv6_address(in.at + 8);
      out_.destination = ipv6_address(in.at + 24);
      out_.tos = static_cast<std::uint8_t>(be16(in.at) >> 4U);
      out_.ttl = in.at[7];
      udp(in, header, total, NetworkHeader::kIpv6, header == 40);
    } else if (next == kProtocolGre) {
      gre({in.at + header, std::min(in.left, total) - header});
    }
  }

  /// `in` starts at the IP header and `total` is what that header says; `is_whole`: not the first
  /// piece of a fragmented datagram, no extension header whose fields may change on the way.
  void udp(Bytes in, std::size_t header, std::size_t total, NetworkHeader kind, bool is_whole) {
    if (!in.has(header + 8)) return;
    const std::uint16_t port = be16(in.at + header + 2);
    if (port == kVxlanPort) {
      if (depth_ < kDeepestTunnel && in.has(header + 16)) {
        in.skip(header + 16);
        tunnel(in);
      }
      return;
    }
    if (port != kRocePort) return;
    out_.kind = PacketKind::kRoceV2;
    out_.source_port = be16(in.at + header);
    transport(in, header, header + 8, total, kind, is_whole);
  }

  void roce_v1(Bytes in) {
    if (!in.has(40) || in.at[6] != kGrhNextHeaderIba) return;
    out_.kind = PacketKind::kRoceV1;
    out_.source = ipv6_address(in.at + 8);
    out_.destination = ipv6_address(in.at + 24);
    out_.tos = static_cast<std::uint8_t>(be16(in.at) >> 4U);
    out_.ttl = in.at[7];
    transport(in, 40, 40, std::size_t{40} + be16(in.at + 4), NetworkHeader::kGrh, true);
  }

  void gre(Bytes in) {
    if (depth_ >= kDeepestTunnel || !in.has(4)) return;
    const std::uint16_t flags = be16(in.at);
    const std::uint16_t type = be16(in.at + 2);
    if ((flags & 0x4007U) != 0) return;  // source routing, another version
    const bool has_sequence = (flags & 0x1000U) != 0;
    const std::size_t header = std::size_t{4} + ((flags & 0x8000U) != 0 ? 4 : 0) +
                               ((flags & 0x2000U) != 0 ? 4 : 0) + (has_sequence ? 4 : 0);
    std::size_t more = 0;
    if (type == kTypeErspan2) {
      more = has_sequence ? 8 : 0;  // type II, or type I that has no header of its own
    } else if (type == kTypeErspan3) {
      if (!in.has(header + 12)) return;
      const bool has_subheader = (in.at[header + 11] & 1U) != 0;
      more = has_subheader ? 20 : 12;
    } else if (type != kTypeBridged) {
      return;
    }
    if (!in.has(header + more)) return;
    in.skip(header + more);
    tunnel(in);
  }

  void tunnel(Bytes in) {
    const int depth = depth_ + 1;
    out_ = Packet{};
    out_.is_tunnelled = true;
    depth_ = depth;
    ethernet(in);
  }

  /// BTH and what follows. `in` starts at the network header.
  void transport(Bytes in, std::size_t network_bytes, std::size_t bth_at, std::size_t total,
                 NetworkHeader kind, bool is_whole) {
    if (total < bth_at + kBthBytes + kIcrc) out_.is_malformed = true;
    if (!in.has(bth_at + kBthBytes)) {
      out_.is_cut = true;
      return;
    }
    base_header(in.at + bth_at);
    const Opcode& code = opcode(out_.opcode);
    const std::size_t extended_at = bth_at + kBthBytes;
    const std::size_t user_at = extended_at + code.header_bytes;
    const std::size_t end = total < kIcrc ? 0 : total - kIcrc;
    if (end < user_at + out_.pad) {
      out_.is_malformed = true;
    } else {
      out_.payload = static_cast<std::uint32_t>(end - user_at - out_.pad);
      if (out_.opcode == kCnpOpcode) out_.payload = 0;  // 16 reserved bytes
    }
    if (in.has(user_at) && !out_.is_malformed) extended_headers(in.at + extended_at, code.headers);
    if (!is_whole || !in.has(total) || total < bth_at + kBthBytes + kIcrc) return;
    out_.icrc = le32(in.at + end);
    const std::uint32_t computed = wire::icrc(in.at, total, kind, network_bytes);
    out_.icrc_state = computed == out_.icrc ? IcrcState::kGood : IcrcState::kBad;
  }

  void base_header(const std::uint8_t* at) {
    out_.opcode = at[0];
    out_.solicited = (at[1] & 0x80U) != 0;
    out_.pad = (at[1] >> 4U) & 3U;
    out_.pkey = be16(at + 2);
    out_.fecn = (at[4] & 0x80U) != 0;
    out_.becn = (at[4] & 0x40U) != 0;
    out_.destination_qp = be24(at + 5);
    out_.ack_request = (at[8] & 0x80U) != 0;
    out_.psn = be24(at + 9);
  }

  void extended_headers(const std::uint8_t* at, const ExtendedHeaders& headers) {
    out_.has_extended = true;
    if (headers.rdeth) at += 4;
    if (headers.deth) {
      out_.source_qp = be24(at + 5);
      at += 8;
    }
    if (headers.xrceth) at += 4;
    if (headers.reth) {
      out_.virtual_address = be64(at);
      out_.rkey = be32(at + 8);
      out_.dma_length = be32(at + 12);
      at += 16;
    }
    if (headers.atomic) {
      out_.virtual_address = be64(at);
      out_.rkey = be32(at + 8);
      at += 28;
    }
    if (headers.aeth) {
      out_.syndrome = at[0];
      out_.msn = be24(at + 1);
      at += 4;
    }
    if (headers.atomic_ack) at += 8;
    if (headers.immediate) out_.immediate = be32(at);
  }

  Packet& out_;
  int depth_ = 0;
};

}  // namespace

Address ipv4_address(std::uint32_t address) {
  return {0, (std::uint64_t{0xFFFF} << 32U) | address};
}

Address ipv6_address(const std::uint8_t* bytes) {
  return {be64(bytes), be64(bytes + 8)};
}

std::string to_text(const Address& address) {
  std::array<std::uint8_t, 16> bytes;
  put_be64(bytes.data(), address.high);
  put_be64(bytes.data() + 8, address.low);
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.is_ipv4())
    inet_ntop(AF_INET, bytes.data() + 12, text.data(), text.size());
  else
    inet_ntop(AF_INET6, bytes.data(), text.data(), text.size());
  return text.data();
}

void decode(const Record& record, Packet& out) {
  out = Packet{};
  Decoder(out).link(record.link_type, {record.data, record.captured});
}

}  // namespace weir::wire
