#include "wire/byte_source.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <lzma.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/file.h"

namespace weir::wire {
namespace {

constexpr std::size_t kPackedBuffer = std::size_t{256} << 10U;
constexpr std::uint64_t kXzMemory = std::uint64_t{256} << 20U;
constexpr int kZstdWindowLog = 27;  // 128 MiB, zstd's own limit without --long

class FileSource final : public ByteSource {
 public:
  FileSource(int descriptor, std::string name, bool owns)
      : descriptor_(descriptor), name_(std::move(name)), owns_(owns) {}
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  ~FileSource() override {
    if (owns_) ::close(descriptor_);
  }
  Result<std::size_t> read(std::uint8_t* to, std::size_t size) override {
    while (true) {
      const ssize_t got = ::read(descriptor_, to, size);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR)
        return Error{ErrorCode::kIo, fmt::format("read {}: {}", name_, std::strerror(errno))};
    }
  }

 private:
  int descriptor_;
  std::string name_;
  bool owns_;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  Result<std::size_t> read(std::uint8_t* to, std::size_t size) override {
    const std::size_t count = std::min(size, bytes_.size());
    if (count > 0) std::memcpy(to, bytes_.data(), count);
    bytes_ = bytes_.subspan(count);
    return count;
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

/// Returns the peeked bytes first, then the rest.
class Peeked final : public ByteSource {
 public:
  Peeked(std::vector<std::uint8_t> head, std::unique_ptr<ByteSource> rest)
      : head_(std::move(head)), rest_(std::move(rest)) {}
  Result<std::size_t> read(std::uint8_t* to, std::size_t size) override {
    if (at_ == head_.size()) return rest_->read(to, size);
    const std::size_t count = std::min(size, head_.size() - at_);
    std::memcpy(to, head_.data() + at_, count);
    at_ += count;
    return count;
  }

 private:
  std::vector<std::uint8_t> head_;
  std::size_t at_ = 0;
  std::unique_ptr<ByteSource> rest_;
};

/// The packed bytes at hand, for the three decompressors.
class PackedInput {
 public:
  explicit PackedInput(std::unique_ptr<ByteSource> source)
      : source_(std::move(source)), buffer_(kPackedBuffer) {}
  Status refill() {
    WEIR_TRY(got, source_->read(buffer_.data(), buffer_.size()));
    size = got;
    is_end = got == 0;
    return {};
  }
  [[nodiscard]] std::uint8_t* data() { return buffer_.data(); }
  std::size_t size = 0;
  bool is_end = false;

 private:
  std::unique_ptr<ByteSource> source_;
  std::vector<std::uint8_t> buffer_;
};

Error cut_short(const char* format) {
  return parse_error(fmt::format("the {} data ends too early", format));
}

class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<ByteSource> source) : in_(std::move(source)) {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    is_ready_ = inflateInit2(&stream_, kGzipOnly) == Z_OK;
  }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;
  ~GzipSource() override {
    if (is_ready_) inflateEnd(&stream_);
  }
  Result<std::size_t> read(std::uint8_t* to, std::size_t size) override {
    if (!is_ready_) return Error{ErrorCode::kIo, "zlib cannot start"};
    stream_.next_out = to;
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(size, 1U << 30U));
    const uInt room = stream_.avail_out;
    while (stream_.avail_out == room) {
      if (stream_.avail_in == 0) {
        WEIR_TRY_STATUS(in_.refill());
        stream_.next_in = in_.data();
        stream_.avail_in = static_cast<uInt>(in_.size);
      }
      if (in_.is_end) {
        if (!at_member_end_) return cut_short("gzip");
        return std::size_t{0};
      }
      if (at_member_end_) inflateReset(&stream_);  // gzip files may be joined end to end
      const int result = inflate(&stream_, Z_NO_FLUSH);
      at_member_end_ = result == Z_STREAM_END;
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        return parse_error(fmt::format("the gzip data is damaged ({})",
                                       stream_.msg == nullptr ? "no reason given" : stream_.msg));
    }
    return std::size_t{room - stream_.avail_out};
  }

 private:
  PackedInput in_;
  z_stream stream_{};
  bool is_ready_ = false;
  bool at_member_end_ = false;
};

class ZstdSource final : public ByteSource {
 public:
  explicit ZstdSource(std::unique_ptr<ByteSource> source)
      : in_(std::move(source)), stream_(ZSTD_createDStream()) {
    if (stream_ != nullptr) ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, kZstdWindowLog);
  }
  ZstdSource(const ZstdSource&) = delete;
  ZstdSource& operator=(const ZstdSource&) = delete;
  ~ZstdSource() override { ZSTD_freeDStream(stream_); }
  Result<std::size_t> read(std::uint8_t* to, std::size_t size) override {
    if (stream_ == nullptr) return Error{ErrorCode::kIo, "zstd cannot start"};
    ZSTD_outBuffer out{to, size, 0};
    while (out.pos == 0) {
      if (input_.pos == input_.size) {
        WEIR_TRY_STATUS(in_.refill());
        input_ = {in_.data(), in_.size, 0};
      }
      if (in_.is_end) {
        if (wants_more_) return cut_short("zstd");
        return std::size_t{0};
      }
      const std::size_t result = ZSTD_decompressStream(stream_, &out, &input_);
      if (ZSTD_isError(result) != 0)
        return parse_error(fmt::format("the zstd data is damaged ({})", ZSTD_getErrorName(result)));
      wants_more_ = result != 0;
    }
    return out.pos;
  }

 private:
  PackedInput in_;
  ZSTD_DStream* stream_;
  ZSTD_inBuffer input_{nullptr, 0, 0};
  bool wants_more_ = false;
};

class XzSource final : public ByteSource {
 public:
  explicit XzSource(std::unique_ptr<ByteSource> source) : in_(std::move(source)) {
    is_ready_ = lzma_stream_decoder(&stream_, kXzMemory, LZMA_CONCATENATED) == LZMA_OK;
  }
  XzSource(const XzSource&) = delete;
  XzSource& operator=(const XzSource&) = delete;
  ~XzSource() override { lzma_end(&stream_); }
  Result<std::size_t> read(std::uint8_t* to, std::size_t size) override {
    if (!is_ready_) return Error{ErrorCode::kIo, "liblzma cannot start"};
    if (is_done_) return std::size_t{0};
    stream_.next_out = to;
    stream_.avail_out = size;
    while (stream_.avail_out == size) {
      if (stream_.avail_in == 0 && !in_.is_end) {
        WEIR_TRY_STATUS(in_.refill());
        stream_.next_in = in_.data();
        stream_.avail_in = in_.size;
      }
      const lzma_ret result = lzma_code(&stream_, in_.is_end ? LZMA_FINISH : LZMA_RUN);
      if (result == LZMA_STREAM_END) {
        is_done_ = true;
        break;
      }
      if (result == LZMA_BUF_ERROR && in_.is_end) return cut_short("xz");
      if (result != LZMA_OK)
        return parse_error(
            fmt::format("the xz data is damaged (liblzma says {})", static_cast<int>(result)));
    }
    return size - stream_.avail_out;
  }

 private:
  PackedInput in_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool is_ready_ = false;
  bool is_done_ = false;
};

bool begins_with(const std::vector<std::uint8_t>& head, std::span<const std::uint8_t> magic) {
  return head.size() >= magic.size() && std::equal(magic.begin(), magic.end(), head.begin());
}

}  // namespace

Result<std::unique_ptr<ByteSource>> unpacked(std::unique_ptr<ByteSource> packed) {
  constexpr std::array<std::uint8_t, 2> kGzip = {0x1F, 0x8B};
  constexpr std::array<std::uint8_t, 4> kZstd = {0x28, 0xB5, 0x2F, 0xFD};
  constexpr std::array<std::uint8_t, 6> kXz = {0xFD, '7', 'z', 'X', 'Z', 0x00};
  std::vector<std::uint8_t> head(kXz.size());
  std::size_t have = 0;
  while (have < head.size()) {
    WEIR_TRY(got, packed->read(head.data() + have, head.size() - have));
    if (got == 0) break;
    have += got;
  }
  head.resize(have);
  const bool is_gzip = begins_with(head, kGzip);
  const bool is_zstd = begins_with(head, kZstd);
  const bool is_xz = begins_with(head, kXz);
  std::unique_ptr<ByteSource> whole = std::make_unique<Peeked>(std::move(head), std::move(packed));
  if (is_gzip) return std::unique_ptr<ByteSource>(std::make_unique<GzipSource>(std::move(whole)));
  if (is_zstd) return std::unique_ptr<ByteSource>(std::make_unique<ZstdSource>(std::move(whole)));
  if (is_xz) return std::unique_ptr<ByteSource>(std::make_unique<XzSource>(std::move(whole)));
  return whole;
}

Result<std::unique_ptr<ByteSource>> open_source(const std::string& path) {
  if (path == "-")
    return unpacked(std::make_unique<FileSource>(STDIN_FILENO, "standard input", false));
  WEIR_TRY(file, open_to_read(path));
  posix_fadvise(file.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  return unpacked(std::make_unique<FileSource>(file.release(), path, true));
}

Result<std::unique_ptr<ByteSource>> memory_source(std::span<const std::uint8_t> bytes) {
  return unpacked(std::make_unique<MemorySource>(bytes));
}

}  // namespace weir::wire
