#include "base/file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/partial_file.h"
#include "base/stale_files.h"
#include "base/untrusted/printable.h"

namespace weir {
namespace {

Error system_error(const std::string& attempt) {
  const int number = errno;
  const ErrorCode code = number == ENOENT                      ? ErrorCode::kNotFound
                         : number == EACCES || number == EPERM ? ErrorCode::kPermission
                                                               : ErrorCode::kIo;
  return {code, printable_line(attempt) + ": " + std::strerror(number)};
}

Status write_all(int fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_error("write " + path);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Status write_pieces(int fd, const std::function<void(const PieceSink&)>& make,
                    const std::string& path) {
  Status status;
  make([&](std::string_view piece) {
    if (status) status = write_all(fd, piece, path);
  });
  if (status && ::fsync(fd) != 0 && errno != EINVAL) return system_error("fsync " + path);
  return status;
}

bool is_own_descriptor(const std::string& path) {
  return path == "/dev/stdin" || path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/");
}

/// Sets errno where it is none.
bool is_plain_file(const struct stat& info) {
  if (S_ISREG(info.st_mode)) return true;
  errno = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
  return false;
}

std::string kind_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return "something else";
  if (S_ISFIFO(info.st_mode)) return "a FIFO";
  if (S_ISSOCK(info.st_mode)) return "a socket";
  if (S_ISDIR(info.st_mode)) return "a directory";
  return "a device";
}

/// Up to `most` bytes; `descriptor` is where it came to then.
Result<std::string> read_most(int descriptor, std::size_t most, const std::string& path) {
  std::string content;
  std::array<char, 65536> chunk{};
  while (content.size() < most) {
    const ssize_t got =
        ::read(descriptor, chunk.data(), std::min(chunk.size(), most - content.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read " + path);
    if (got == 0) break;
    content.append(chunk.data(), static_cast<std::size_t>(got));
  }
  return content;
}

}  // namespace

OwnedDescriptor::OwnedDescriptor(OwnedDescriptor&& other) noexcept
    : number_(std::exchange(other.number_, -1)) {}

OwnedDescriptor& OwnedDescriptor::operator=(OwnedDescriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

OwnedDescriptor::~OwnedDescriptor() {
  const int saved = errno;
  if (number_ >= 0) ::close(number_);
  errno = saved;
}

int OwnedDescriptor::release() {
  return std::exchange(number_, -1);
}

OwnedDescriptor open_plain_file(const std::string& path) {
  if (is_own_descriptor(path)) return OwnedDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  // Looked at before it is opened, because opening some devices does something (/dev/watchdog), and
  // after, because it may have been replaced in between. O_NONBLOCK: a FIFO would be waited for.
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !is_plain_file(info)) return {};
  OwnedDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0 || !is_plain_file(info)) return {};
  return file;
}

Result<OwnedDescriptor> open_to_read(const std::string& path) {
  OwnedDescriptor file = open_plain_file(path);
  if (file.get() >= 0) return file;
  if (errno != EINVAL && errno != EISDIR) return system_error("open " + path);
  return invalid_error("open " + printable_line(path) + ": expected a plain file, found " +
                       kind_of(path));
}

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  OwnedDescriptor file;
  if (path != "-") {
    WEIR_TRY(opened, open_to_read(path));
    file = std::move(opened);
  }
  WEIR_TRY(content, read_most(path == "-" ? STDIN_FILENO : file.get(), limit + 1, path));
  if (content.size() <= limit) return content;
  return invalid_error("read " + printable_line(path) + ": more than " + std::to_string(limit) +
                       " bytes");
}

Result<std::string> read_head(const std::string& path, std::size_t size) {
  WEIR_TRY(file, open_to_read(path));
  return read_most(file.get(), size, path);
}

Status write_file_atomic(const std::string& path, std::string_view content, FileMode mode) {
  return write_pieces_atomic(
      path, [&](const PieceSink& put) { put(content); }, mode);
}

Status write_pieces_atomic(const std::string& path,
                           const std::function<void(const PieceSink&)>& make, FileMode mode) {
  // A device, a FIFO or a link to one belongs to another program.
  struct stat target {};
  if (::stat(path.c_str(), &target) == 0 && !S_ISREG(target.st_mode))
    return invalid_error(path + " is no plain file and was left as it is");
  remove_stale_files(path + ".");
  const unsigned bits = mode == FileMode::kPrivate ? 0600 : mode == FileMode::kScript ? 0777 : 0666;
  std::string temporary;
  const OwnedDescriptor file(make_temporary_file(path + ".", bits, temporary));
  if (file.get() < 0) return system_error("write " + path);
  const TemporaryFileNote note(temporary);
  const Status status = write_pieces(file.get(), make, path);
  if (!status) {
    ::unlink(temporary.c_str());
    return status;
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    Error error = system_error("rename to " + path);
    ::unlink(temporary.c_str());
    return error;
  }
  return {};
}

Status make_directory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return Error{ErrorCode::kIo, "create " + path + ": " + error.message()};
  return {};
}

bool file_exists(const std::string& path) {
  // Not access(2), which asks for the real user without the capabilities of this process.
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0;
}

bool is_name_taken(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0;
}

bool is_directory(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

}  // namespace weir
