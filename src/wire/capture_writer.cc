#include "wire/capture_writer.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "wire/bytes.h"

namespace weir::wire {
namespace {

constexpr std::size_t kFlushAt = std::size_t{1} << 20U;
constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;

}  // namespace

void CaptureBytes::u16(std::uint32_t value) {
  bytes_.resize(bytes_.size() + 2);
  std::uint8_t* at = bytes_.data() + bytes_.size() - 2;
  options_.big_endian ? put_be16(at, value) : put_le16(at, value);
}
void CaptureBytes::u32(std::uint32_t value) {
  bytes_.resize(bytes_.size() + 4);
  std::uint8_t* at = bytes_.data() + bytes_.size() - 4;
  options_.big_endian ? put_be32(at, value) : put_le32(at, value);
}

CaptureBytes::CaptureBytes(CaptureOptions options) : options_(std::move(options)) {
  WEIR_CHECK(!options_.link_types.empty() && options_.resolution <= 9);
  if (options_.format != CaptureFormat::kPcapng) {
    u32(options_.format == CaptureFormat::kPcapNano ? 0xA1B23C4D : 0xA1B2C3D4);
    u16(2);
    u16(4);
    u32(0);
    u32(0);
    u32(options_.snap);
    u32(options_.link_types.front());
    return;
  }
  constexpr std::uint32_t kSectionBytes = 28;
  u32(0x0A0D0D0A);
  u32(kSectionBytes);
  u32(0x1A2B3C4D);
  u16(1);
  u16(0);
  u32(0xFFFFFFFF);  // section length: not said
  u32(0xFFFFFFFF);
  u32(kSectionBytes);
  constexpr std::uint32_t kInterfaceBytes = 32;
  for (const std::uint16_t link : options_.link_types) {
    u32(1);
    u32(kInterfaceBytes);
    u16(link);
    u16(0);
    u32(options_.snap);
    u16(9);  // if_tsresol
    u16(1);
    bytes_.insert(bytes_.end(), {options_.resolution, 0, 0, 0});
    u32(0);  // end of options
    u32(kInterfaceBytes);
  }
}

void CaptureBytes::add(std::int64_t time_ns, std::span<const std::uint8_t> frame,
                       std::uint32_t interface) {
  const auto time = static_cast<std::uint64_t>(std::max<std::int64_t>(time_ns, 0));
  const auto original = static_cast<std::uint32_t>(frame.size());
  const std::uint32_t captured = std::min(original, options_.snap);
  if (options_.format != CaptureFormat::kPcapng) {
    const std::uint64_t fraction = time % kNanosecondsPerSecond;
    u32(static_cast<std::uint32_t>(time / kNanosecondsPerSecond));
    u32(static_cast<std::uint32_t>(options_.format == CaptureFormat::kPcapNano ? fraction
                                                                               : fraction / 1000));
    u32(captured);
    u32(original);
    bytes_.insert(bytes_.end(), frame.begin(), frame.begin() + captured);
    return;
  }
  WEIR_CHECK(interface < options_.link_types.size());
  std::uint64_t divisor = 1;
  for (unsigned i = options_.resolution; i < 9; ++i)
    divisor *= 10;
  const std::uint64_t ticks = time / divisor;
  const std::uint32_t padded = (captured + 3) / 4 * 4;
  u32(6);
  u32(32 + padded);
  u32(interface);
  u32(static_cast<std::uint32_t>(ticks >> 32U));
  u32(static_cast<std::uint32_t>(ticks));
  u32(captured);
  u32(original);
  bytes_.insert(bytes_.end(), frame.begin(), frame.begin() + captured);
  bytes_.resize(bytes_.size() + padded - captured);
  u32(32 + padded);
}

CaptureWriter::CaptureWriter(PartialFile file, const CaptureOptions& options)
    : file_(std::move(file)), pending_(options) {}

Result<CaptureWriter> CaptureWriter::open(const std::string& path, const CaptureOptions& options) {
  WEIR_TRY(file, PartialFile::create(path));
  return CaptureWriter(std::move(file), options);
}

void CaptureWriter::flush() {
  std::vector<std::uint8_t>& bytes = pending_.bytes();
  std::fwrite(bytes.data(), 1, bytes.size(),
              file_.stream());  // an error stays set until close() asks
  bytes.clear();
}

void CaptureWriter::add(std::int64_t time_ns, std::span<const std::uint8_t> frame,
                        std::uint32_t interface) {
  pending_.add(time_ns, frame, interface);
  ++frames_;
  if (pending_.bytes().size() >= kFlushAt) flush();
}

Status CaptureWriter::close() {
  flush();
  return file_.finish();
}

}  // namespace weir::wire
