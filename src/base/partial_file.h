#pragma once
// A file while it is being written: beside its place, under a random name, and renamed when it is
// whole. A killed run leaves no half of a file under its name, and one that a signal ends removes
// what it has. Since the name cannot be foreseen and must not exist, nobody else can have put a
// link there.
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"
#include "base/stale_files.h"

namespace weir {

class PartialFile {
 public:
  /// Makes "PATH.partial.XXXXXX". Refuses where `path` is something else than a plain file.
  [[nodiscard]] static Result<PartialFile> create(const std::string& path);
  PartialFile(PartialFile&& other) noexcept;
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  PartialFile& operator=(PartialFile&&) = delete;
  /// Without finish(): what was written is removed.
  ~PartialFile();

  [[nodiscard]] std::FILE* stream() const { return stream_; }
  /// Closes it and gives it its name; an error of an earlier write comes here.
  [[nodiscard]] Status finish();

 private:
  PartialFile(std::string path, std::string name, std::FILE* stream)
      : path_(std::move(path)), name_(std::move(name)), note_(name_), stream_(stream) {}
  std::string path_;
  std::string name_;
  TemporaryFileNote note_;
  std::FILE* stream_;  // null: finished, or moved from
};

/// Takes the next piece of a text.
using PieceSink = std::function<void(std::string_view)>;

/// As write_file_atomic(), for a text of hundreds of megabytes that need not be in memory at once:
/// `make` hands all of it to its sink.
[[nodiscard]] Status write_pieces_atomic(const std::string& path,
                                         const std::function<void(const PieceSink&)>& make,
                                         FileMode mode = FileMode::kUsual);

}  // namespace weir
