#pragma once
// Capture files, written: pcap with nanoseconds, or pcapng with one interface or several. A file
// appears under its name whole or not at all: it is written beside it and renamed.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/partial_file.h"
#include "base/result.h"
#include "wire/packet.h"

namespace weir::wire {

enum class CaptureFormat : std::uint8_t { kPcapNano, kPcapMicro, kPcapng };

struct CaptureOptions {
  CaptureFormat format = CaptureFormat::kPcapNano;
  bool big_endian = false;
  std::uint32_t snap = 262'144;  // longer frames are cut here
  /// pcapng: one interface each; pcap: the first. The clock of each ticks in 10^-resolution s.
  std::vector<std::uint16_t> link_types = {kLinkEthernet};
  std::uint8_t resolution = 9;  // pcapng
};

/// The bytes of a capture, for users that want them in memory.
class CaptureBytes {
 public:
  explicit CaptureBytes(CaptureOptions options);
  void add(std::int64_t time_ns, std::span<const std::uint8_t> frame, std::uint32_t interface = 0);
  [[nodiscard]] std::vector<std::uint8_t>& bytes() { return bytes_; }

 private:
  void u16(std::uint32_t value);
  void u32(std::uint32_t value);
  CaptureOptions options_;
  std::vector<std::uint8_t> bytes_;
};

class CaptureWriter {
 public:
  /// Refuses what is there and is no plain file. Nothing appears under `path` before close().
  [[nodiscard]] static Result<CaptureWriter> open(const std::string& path,
                                                  const CaptureOptions& options = {});
  void add(std::int64_t time_ns, std::span<const std::uint8_t> frame, std::uint32_t interface = 0);
  [[nodiscard]] Status close();
  [[nodiscard]] std::uint64_t frames() const { return frames_; }

 private:
  CaptureWriter(PartialFile file, const CaptureOptions& options);
  void flush();

  PartialFile file_;
  CaptureBytes pending_;
  std::uint64_t frames_ = 0;
};

}  // namespace weir::wire
