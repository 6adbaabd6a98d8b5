#pragma once
// Files, whole. A write is atomic: the old file or the new one, never a half.
#include <string>
#include <string_view>

#include "base/result.h"

namespace weir {

/// The whole file; "-" is standard input. Refuses more than `limit` bytes, so that a mistyped
/// device or a huge log is an error and not an exhausted machine.
[[nodiscard]] Result<std::string> read_file(const std::string& path,
                                            std::size_t limit = std::size_t{64} << 20U);

enum class FileMode {
  kUsual,    // 0666 less the umask
  kScript,   // 0777 less the umask
  kPrivate,  // 0600
};

/// Writes beside `path`, syncs, renames over it. On error nothing at `path` has changed. Files of
/// the same kind that a killed process left beside it are removed first.
[[nodiscard]] Status write_file_atomic(const std::string& path, std::string_view content,
                                       FileMode mode = FileMode::kUsual);

/// A directory and what it lacks above it; one that exists is fine.
[[nodiscard]] Status make_directory(const std::string& path);

[[nodiscard]] bool file_exists(const std::string& path);
/// Something has that name: a link that leads nowhere too.
[[nodiscard]] bool is_name_taken(const std::string& path);
[[nodiscard]] bool is_directory(const std::string& path);

}  // namespace weir
