#include "host/linux/lldp.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "host/linux/netlink.h"
#include "host/linux/reader.h"

namespace weir::host {

using evidence::Fact;
using evidence::Missing;
using evidence::Neighbour;

namespace {

constexpr std::size_t kEthernetHeader = 14;
constexpr std::string_view kEtherType = "\x88\xcc";
// Type-length-value kinds of IEEE 802.1AB-2016, table 8-1.
constexpr unsigned kEnd = 0;
constexpr unsigned kChassis = 1;
constexpr unsigned kPort = 2;
constexpr unsigned kPortDescription = 4;
constexpr unsigned kSystemName = 5;
// Of a chassis and of a port: an address of four or six bytes; else it is a name.
constexpr unsigned kChassisMac = 4;
constexpr unsigned kPortMac = 3;
constexpr std::size_t kLongestValue = 511;

unsigned byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

/// What may be printed of a name from the wire.
std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text)
    out += c >= ' ' && c < '\x7f' ? c : '?';
  return out;
}

std::string id_text(std::string_view value, unsigned mac_kind) {
  if (value.empty()) return "";
  const std::string_view id = value.substr(1);
  if (byte_at(value, 0) != mac_kind || id.size() != 6) return printable(id);
  std::string out;
  for (std::size_t i = 0; i < id.size(); ++i)
    out += fmt::format("{}{:02x}", i == 0 ? "" : ":", byte_at(id, i));
  return out;
}

void put_value(std::string& frame, unsigned kind, std::string_view value) {
  value = value.substr(0, kLongestValue);
  const unsigned head = (kind << 9U) | static_cast<unsigned>(value.size());
  frame += static_cast<char>(head >> 8U);
  frame += static_cast<char>(head & 0xffU);
  frame += value;
}

}  // namespace

Parsed<Neighbour> parse_lldp_frame(std::string_view frame) {
  if (frame.size() < kEthernetHeader || frame.substr(12, 2) != kEtherType) return Missing::kError;
  std::string chassis;
  std::string description;
  Neighbour out;
  for (std::size_t at = kEthernetHeader; at + 2 <= frame.size();) {
    const unsigned head = byte_at(frame, at) << 8U | byte_at(frame, at + 1);
    const unsigned kind = head >> 9U;
    const std::size_t size = head & kLongestValue;
    if (kind == kEnd) break;
    if (at + 2 + size > frame.size()) return Missing::kError;
    const std::string_view value = frame.substr(at + 2, size);
    if (kind == kChassis) chassis = id_text(value, kChassisMac);
    if (kind == kPort) out.port = id_text(value, kPortMac);
    if (kind == kPortDescription) description = printable(value);
    if (kind == kSystemName) out.system = printable(value);
    at += 2 + size;
  }
  if (out.system.empty()) out.system = chassis;
  // A port that is known by a MAC address alone is better known by its description.
  if (out.port.find(':') != std::string::npos && !description.empty()) out.port = description;
  if (out.system.empty()) return Missing::kError;
  return out;
}

Parsed<std::vector<Neighbour>> parse_networkd_lldp(std::string_view file) {
  std::vector<Neighbour> out;
  while (!file.empty()) {
    if (file.size() < sizeof(std::uint64_t)) return Missing::kError;
    std::uint64_t size = 0;
    for (std::size_t i = sizeof size; i > 0; --i)
      size = (size << 8U) | byte_at(file, i - 1);
    file.remove_prefix(sizeof size);
    if (size > file.size()) return Missing::kError;
    const auto neighbour = parse_lldp_frame(file.substr(0, static_cast<std::size_t>(size)));
    if (!neighbour) return neighbour.why();
    out.push_back(*neighbour);
    file.remove_prefix(static_cast<std::size_t>(size));
  }
  return out;
}

std::string networkd_lldp_file(const std::vector<Neighbour>& neighbours) {
  constexpr char kByName = 7;  // "locally assigned", of a chassis and of a port
  std::string out;
  for (const Neighbour& neighbour : neighbours) {
    std::string frame("\x01\x80\xc2\0\0\x0e\0\0\0\0\0\0\x88\xcc", kEthernetHeader);
    put_value(frame, kChassis, kByName + neighbour.system);
    put_value(frame, kPort, kByName + neighbour.port);
    put_value(frame, kSystemName, neighbour.system);
    put_value(frame, kEnd, "");
    std::uint64_t size = frame.size();
    for (std::size_t i = 0; i < sizeof size; ++i, size >>= 8U)
      out += static_cast<char>(size & 0xffU);
    out += frame;
  }
  return out;
}

Fact<Neighbour> read_neighbour(Kernel& kernel, const Fact<unsigned>& interface) {
  if (!interface.is_known()) return Fact<Neighbour>::missing(interface.why(), interface.source());
  return read_fact(kernel, fmt::format("{}{}", kNetworkdLldp, *interface),
                   [](std::string_view file) -> Parsed<Neighbour> {
                     const auto all = parse_networkd_lldp(file);
                     if (!all) return all.why();
                     if (all->empty()) return Missing::kAbsent;
                     return all->front();
                   });
}

}  // namespace weir::host
