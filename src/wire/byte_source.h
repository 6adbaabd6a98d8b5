#pragma once
// Where a capture's bytes come from: a file, standard input, memory; packed with gzip, zstd or xz
// or not. Everything streams: no more than a buffer of it is held.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace weir::wire {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Up to `size` bytes; 0: the end. REQUIRES: size > 0.
  [[nodiscard]] virtual Result<std::size_t> read(std::uint8_t* to, std::size_t size) = 0;
};

/// "-" is standard input. What is packed is unpacked, by its first bytes, not by its name.
[[nodiscard]] Result<std::unique_ptr<ByteSource>> open_source(const std::string& path);

/// Bytes that stay where they are until the source is gone; unpacked as above.
[[nodiscard]] Result<std::unique_ptr<ByteSource>> memory_source(
    std::span<const std::uint8_t> bytes);

/// `packed` read through gzip, zstd or xz where it begins like one, else as it is.
[[nodiscard]] Result<std::unique_ptr<ByteSource>> unpacked(std::unique_ptr<ByteSource> packed);

}  // namespace weir::wire
