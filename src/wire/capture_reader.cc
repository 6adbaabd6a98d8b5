#include "wire/capture_reader.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "units/quantity.h"
#include "wire/bytes.h"

namespace weir::wire {
namespace {

constexpr std::size_t kBuffer = std::size_t{512} << 10U;
constexpr std::size_t kFileHeader = 24;
constexpr std::uint32_t kMagicMicro = 0xA1B2C3D4;
constexpr std::uint32_t kMagicNano = 0xA1B23C4D;
constexpr std::uint32_t kMagicModified = 0xA1B2CD34;
constexpr std::uint32_t kSection = 0x0A0D0D0A;
constexpr std::uint32_t kByteOrder = 0x1A2B3C4D;
constexpr std::uint32_t kInterface = 1;
constexpr std::uint32_t kOldPacket = 2;
constexpr std::uint32_t kSimplePacket = 3;
constexpr std::uint32_t kStatistics = 5;
constexpr std::uint32_t kEnhancedPacket = 6;
constexpr std::uint16_t kOptionResolution = 9;
constexpr std::uint16_t kOptionOffset = 14;
constexpr std::uint16_t kOptionDropped = 5;  // isb_ifdrop
constexpr std::size_t kMostInterfaces = 65'536;
constexpr std::int64_t kNano = 1'000'000'000;

bool is_known_link(std::uint16_t type) {
  constexpr std::array kKnown = {kLinkNull, kLinkEthernet, kLinkRawBsd, kLinkRawOpenBsd,
                                 kLinkRaw,  kLinkLoop,     kLinkSll,    kLinkErf,
                                 kLinkIpv4, kLinkIpv6,     kLinkSll2};
  return std::find(kKnown.begin(), kKnown.end(), type) != kKnown.end();
}

/// if_tsresol: a negative power of ten, or of two with the top bit set.
std::uint64_t ticks_of(std::uint8_t resolution) {
  const unsigned exponent = resolution & 0x7FU;
  if ((resolution & 0x80U) != 0) return exponent < 63 ? std::uint64_t{1} << exponent : 0;
  std::uint64_t ticks = 1;
  for (unsigned i = 0; i < exponent; ++i) {
    if (ticks > UINT64_MAX / 10) return 0;
    ticks *= 10;
  }
  return ticks;
}

std::int64_t nanoseconds(std::uint64_t ticks, std::uint64_t per_second, std::int64_t offset_s) {
  if (per_second == 0) return 0;
  constexpr Int128 kLimit = INT64_MAX;
  const Int128 value =
      static_cast<Int128>(ticks) * kNano / per_second + static_cast<Int128>(offset_s) * kNano;
  return static_cast<std::int64_t>(std::clamp(value, -kLimit, kLimit));
}

}  // namespace

CaptureReader::CaptureReader(std::unique_ptr<ByteSource> source, std::string name)
    : source_(std::move(source)), name_(std::move(name)), buffer_(kBuffer) {}

Result<CaptureReader> CaptureReader::open(const std::string& path) {
  auto source = open_source(path);
  if (!source) return std::move(source).error();
  return from(std::move(*source), path == "-" ? "standard input" : path);
}

Result<CaptureReader> CaptureReader::from(std::unique_ptr<ByteSource> source,
                                          const std::string& name) {
  CaptureReader reader(std::move(source), name);
  WEIR_TRY_STATUS(reader.start());
  return reader;
}

std::uint16_t CaptureReader::u16(const std::uint8_t* at) const {
  return is_swapped_ ? be16(at) : le16(at);
}
std::uint32_t CaptureReader::u32(const std::uint8_t* at) const {
  return is_swapped_ ? be32(at) : le32(at);
}

bool CaptureReader::fill(std::size_t count) {
  if (available() >= count) return true;
  std::memmove(buffer_.data(), buffer_.data() + at_, available());
  end_ -= at_;
  at_ = 0;
  if (buffer_.size() < count) buffer_.resize(count);
  while (end_ < count) {
    const auto got = source_->read(buffer_.data() + end_, buffer_.size() - end_);
    if (!got) {
      damage_ = fmt::format("{}: {}", name_, got.error().what);
      return false;
    }
    if (*got == 0) return false;
    end_ += *got;
  }
  return true;
}

Status CaptureReader::start() {
  if (!fill(4)) {
    if (!damage_.empty()) return Error{ErrorCode::kIo, damage_};
    return parse_error(fmt::format("{}: empty, or too short to be a capture", name_));
  }
  const std::uint32_t magic = le32(buffer_.data());
  if (magic == kSection) {
    is_pcapng_ = true;
    return {};
  }
  const auto is_pcap = [](std::uint32_t value) {
    return value == kMagicMicro || value == kMagicNano || value == kMagicModified;
  };
  is_swapped_ = is_pcap(be32(buffer_.data()));
  if (!is_swapped_ && !is_pcap(magic))
    return parse_error(
        fmt::format("{}: neither pcap nor pcapng (first bytes {:02x} {:02x} {:02x} {:02x}); save "
                    "the capture as one of them, packed with gzip, zstd or xz if you like",
                    name_, buffer_[0], buffer_[1], buffer_[2], buffer_[3]));
  if (!fill(kFileHeader))
    return parse_error(fmt::format("{}: ends within its first header", name_));
  is_nano_ = u32(buffer_.data()) == kMagicNano;
  is_modified_ = u32(buffer_.data()) == kMagicModified;
  link_type_ = static_cast<std::uint16_t>(u32(buffer_.data() + 20) & 0xFFFFU);
  note_link(link_type_);
  at_ = kFileHeader;
  offset_ = kFileHeader;
  return {};
}

void CaptureReader::note_link(std::uint16_t type) {
  constexpr std::size_t kMost = 16;
  if (is_known_link(type) || strange_.size() >= kMost) return;
  if (std::find(strange_.begin(), strange_.end(), type) == strange_.end()) strange_.push_back(type);
}

Next CaptureReader::damaged(std::string what) {
  if (damage_.empty()) damage_ = fmt::format("{} at byte {}: {}", name_, offset_, what);
  return Next::kDamaged;
}

Next CaptureReader::next(Record& record) {
  if (!damage_.empty()) return Next::kDamaged;
  return is_pcapng_ ? next_block(record) : next_pcap(record);
}

Next CaptureReader::next_pcap(Record& record) {
  const std::size_t header = is_modified_ ? 24 : 16;
  if (available() < header && !fill(header)) {
    if (!damage_.empty()) return Next::kDamaged;
    if (available() == 0) return Next::kEnd;
    return damaged("the capture ends in the middle of a frame's header");
  }
  const std::uint8_t* at = buffer_.data() + at_;
  const std::uint32_t seconds = u32(at);
  const std::uint32_t fraction = u32(at + 4);
  const std::uint32_t captured = u32(at + 8);
  const std::uint32_t original = u32(at + 12);
  if (captured > kLargestFrame)
    return damaged(fmt::format("a frame of {} bytes: no capture holds one", captured));
  if (available() < header + captured && !fill(header + captured))
    return damaged("the capture ends in the middle of a frame");
  record.time_ns = std::int64_t{seconds} * kNano + std::int64_t{fraction} * (is_nano_ ? 1 : 1000);
  record.data = buffer_.data() + at_ + header;
  record.captured = captured;
  record.original = std::max(original, captured);
  record.interface = 0;
  record.link_type = link_type_;
  at_ += header + captured;
  offset_ += header + captured;
  return Next::kFrame;
}

/// A section header: its byte order holds until the next one. False: no such.
bool CaptureReader::section(std::uint32_t& length) {
  if (!fill(12)) return false;
  const std::uint8_t* at = buffer_.data() + at_;
  if (be32(at + 8) == kByteOrder)
    is_swapped_ = true;
  else if (le32(at + 8) == kByteOrder)
    is_swapped_ = false;
  else
    return false;
  length = u32(at + 4);
  first_interface_ += static_cast<std::uint32_t>(interfaces_.size());
  interfaces_.clear();
  return true;
}

Next CaptureReader::next_block(Record& record) {
  while (true) {
    if (!fill(8)) {
      if (!damage_.empty()) return Next::kDamaged;
      if (available() == 0) return Next::kEnd;
      return damaged("the capture ends in the middle of a block's header");
    }
    const std::uint32_t type = u32(buffer_.data() + at_);
    std::uint32_t length = u32(buffer_.data() + at_ + 4);
    if (type == kSection && !section(length))
      return damaged("a section header without a byte order");
    if (length < 12 || length % 4 != 0 || length > kLargestBlock)
      return damaged(fmt::format("a block of {} bytes", length));
    if (!fill(length)) return damaged("the capture ends in the middle of a block");
    const std::uint8_t* block = buffer_.data() + at_;
    if (u32(block + length - 4) != length) return damaged("a block whose two lengths differ");
    const std::uint8_t* body = block + 8;
    const std::size_t size = length - 12;
    bool is_good = true;
    bool is_frame = false;
    switch (type) {
      case kInterface:
        if (interfaces_.size() >= kMostInterfaces || size < 8) return damaged("a bad interface");
        interface_block(body, size);
        break;
      case kStatistics: statistics_block(body, size); break;
      case kEnhancedPacket:
      case kOldPacket:
        is_frame = true;
        is_good = packet_block(type, body, size, record);
        break;
      case kSimplePacket:
        is_frame = true;
        is_good = simple_block(body, size, record);
        break;
      default: break;
    }
    if (!is_good) return damaged("a frame without an interface, or longer than its block");
    at_ += length;
    offset_ += length;
    if (is_frame) return Next::kFrame;
  }
}

void CaptureReader::interface_block(const std::uint8_t* body, std::size_t size) {
  Interface interface;
  interface.link_type = u16(body);
  interface.snap = u32(body + 4);
  std::size_t at = 8;
  while (at + 4 <= size) {
    const std::uint16_t code = u16(body + at);
    const std::size_t length = u16(body + at + 2);
    at += 4;
    if (code == 0 || at + length > size) break;
    if (code == kOptionResolution && length >= 1) interface.ticks_per_second = ticks_of(body[at]);
    if (code == kOptionOffset && length >= 8) {
      const std::uint64_t low = u32(body + at + (is_swapped_ ? 4 : 0));
      const std::uint64_t high = u32(body + at + (is_swapped_ ? 0 : 4));
      interface.offset_s = static_cast<std::int64_t>((high << 32U) | low);
    }
    at += (length + 3) & ~std::size_t{3};
  }
  note_link(interface.link_type);
  interfaces_.push_back(interface);
}

void CaptureReader::statistics_block(const std::uint8_t* body, std::size_t size) {
  std::size_t at = 12;
  while (at + 4 <= size) {
    const std::uint16_t code = u16(body + at);
    const std::size_t length = u16(body + at + 2);
    at += 4;
    if (code == 0 || at + length > size) break;
    if (code == kOptionDropped && length >= 8) {
      const std::uint64_t low = u32(body + at + (is_swapped_ ? 4 : 0));
      const std::uint64_t high = u32(body + at + (is_swapped_ ? 0 : 4));
      dropped_ += (high << 32U) | low;
    }
    at += (length + 3) & ~std::size_t{3};
  }
}

bool CaptureReader::packet_block(std::uint32_t type, const std::uint8_t* body, std::size_t size,
                                 Record& record) {
  if (size < 20) return false;
  const std::uint32_t index = type == kEnhancedPacket ? u32(body) : u16(body);
  const std::uint32_t captured = u32(body + 12);
  if (index >= interfaces_.size() || captured > size - 20 || captured > kLargestFrame) return false;
  const Interface& from = interfaces_[index];
  const std::uint64_t ticks = (std::uint64_t{u32(body + 4)} << 32U) | u32(body + 8);
  record.time_ns = nanoseconds(ticks, from.ticks_per_second, from.offset_s);
  record.data = body + 20;
  record.captured = captured;
  record.original = std::max(u32(body + 16), captured);
  record.interface = first_interface_ + index;
  record.link_type = from.link_type;
  return true;
}

/// No time and no interface of its own: the first one's.
bool CaptureReader::simple_block(const std::uint8_t* body, std::size_t size, Record& record) {
  if (size < 4 || interfaces_.empty()) return false;
  const Interface& from = interfaces_.front();
  const std::uint32_t original = u32(body);
  std::uint32_t captured = std::min(original, static_cast<std::uint32_t>(size - 4));
  if (from.snap != 0) captured = std::min(captured, from.snap);
  if (captured > kLargestFrame) return false;
  record.time_ns = 0;
  record.data = body + 4;
  record.captured = captured;
  record.original = original;
  record.interface = first_interface_;
  record.link_type = from.link_type;
  return true;
}

}  // namespace weir::wire
