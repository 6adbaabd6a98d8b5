#pragma once
// Capture files, frame by frame: pcap (either byte order, micro- or nanoseconds) and pcapng
// (several sections and interfaces, their own clocks). One buffer, whatever the file's size.
//
// A capture is often cut short (a killed tcpdump) or damaged. What precedes the damage is
// read; then next() says kDamaged, and damage() where and what. Ours and not libpcap's: see
// docs/decisions/0014-own-capture-reader.md.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "wire/byte_source.h"
#include "wire/packet.h"

namespace weir::wire {

/// A longer frame than any link carries is damage (the limit of libpcap and Wireshark).
inline constexpr std::uint32_t kLargestFrame = 262'144;
inline constexpr std::uint32_t kLargestBlock = 16U << 20U;  // pcapng, as in Wireshark

enum class Next : std::uint8_t { kFrame, kEnd, kDamaged };

class CaptureReader {
 public:
  /// "-" is standard input. The error says what the file is not.
  [[nodiscard]] static Result<CaptureReader> open(const std::string& path);
  [[nodiscard]] static Result<CaptureReader> from(std::unique_ptr<ByteSource> source,
                                                  const std::string& name);

  /// The next frame; `record.data` lives until the next call.
  [[nodiscard]] Next next(Record& record);

  [[nodiscard]] const std::string& damage() const { return damage_; }
  [[nodiscard]] bool is_pcapng() const { return is_pcapng_; }
  /// The link types seen so far that the decoder does not know, each once.
  [[nodiscard]] const std::vector<std::uint16_t>& strange_links() const { return strange_; }
  /// Frames that the capture says were lost by the capturing host (pcapng statistics; else 0).
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  struct Interface {
    std::uint64_t ticks_per_second = 1'000'000;
    std::int64_t offset_s = 0;
    std::uint32_t snap = 0;
    std::uint16_t link_type = kLinkEthernet;
  };

  CaptureReader(std::unique_ptr<ByteSource> source, std::string name);
  Status start();
  /// At least `count` bytes at at_, or what is left of the source: false.
  bool fill(std::size_t count);
  [[nodiscard]] std::size_t available() const { return end_ - at_; }
  [[nodiscard]] std::uint16_t u16(const std::uint8_t* at) const;
  [[nodiscard]] std::uint32_t u32(const std::uint8_t* at) const;
  Next damaged(std::string what);
  Next next_pcap(Record& record);
  Next next_block(Record& record);
  bool section(std::uint32_t& length);
  void interface_block(const std::uint8_t* body, std::size_t size);
  void statistics_block(const std::uint8_t* body, std::size_t size);
  bool packet_block(std::uint32_t type, const std::uint8_t* body, std::size_t size, Record& record);
  bool simple_block(const std::uint8_t* body, std::size_t size, Record& record);
  void note_link(std::uint16_t type);

  std::unique_ptr<ByteSource> source_;
  std::string name_;
  std::vector<std::uint8_t> buffer_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::uint64_t offset_ = 0;  // of at_ in the unpacked file
  bool is_swapped_ = false;   // big-endian
  bool is_pcapng_ = false;
  bool is_nano_ = false;
  bool is_modified_ = false;  // Kuznetsov's pcap, with 24 bytes before each frame
  std::uint16_t link_type_ = kLinkEthernet;
  std::vector<Interface> interfaces_;
  std::uint32_t first_interface_ = 0;  // of this section, counted over the file
  std::vector<std::uint16_t> strange_;
  std::uint64_t dropped_ = 0;
  std::string damage_;
};

}  // namespace weir::wire
