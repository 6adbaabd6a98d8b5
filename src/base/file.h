#pragma once
// Files, whole. A write is atomic: the old file or the new one, never a half. Whoever made the
// directory that a file is in may have made anything of that name: only plain files are read, and
// nothing is waited for.
#include <string>
#include <string_view>

#include "base/owned_descriptor.h"
#include "base/result.h"

namespace weir {

/// Opens a plain file to read, following links; -1 and errno as open(2) does. A directory (EISDIR),
/// a FIFO, a socket or a device (EINVAL) is not opened. What the shell handed to this process under
/// /dev/fd (`weir diagnose <(dmesg)`) may be a pipe.
[[nodiscard]] OwnedDescriptor open_plain_file(const std::string& path);
/// The same with an error that says what was found.
[[nodiscard]] Result<OwnedDescriptor> open_to_read(const std::string& path);

/// The whole file; "-" is standard input. Refuses more than `limit` bytes, so that a huge log is an
/// error and not an exhausted machine.
[[nodiscard]] Result<std::string> read_file(const std::string& path,
                                            std::size_t limit = std::size_t{64} << 20U);

/// What a file begins with, `size` bytes or fewer.
[[nodiscard]] Result<std::string> read_head(const std::string& path, std::size_t size);

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
