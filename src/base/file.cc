#include "base/file.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/stale_files.h"

namespace weir {
namespace {

Error system_error(const std::string& attempt) {
  const int number = errno;
  const ErrorCode code = number == ENOENT                      ? ErrorCode::kNotFound
                         : number == EACCES || number == EPERM ? ErrorCode::kPermission
                                                               : ErrorCode::kIo;
  return {code, attempt + ": " + std::strerror(number)};
}

// Closes on every way out; keeps errno, so that a caller may still report what went wrong.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    const int saved = errno;
    if (fd_ > STDERR_FILENO) ::close(fd_);
    errno = saved;
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

Status write_all(int fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_error("write " + path);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fsync(fd) != 0 && errno != EINVAL) return system_error("fsync " + path);
  return {};
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  const Descriptor file(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return system_error("open " + path);
  std::string content;
  std::array<char, 65536> chunk{};
  for (;;) {
    const ssize_t got = ::read(file.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read " + path);
    if (got == 0) return content;
    content.append(chunk.data(), static_cast<std::size_t>(got));
    if (content.size() > limit)
      return invalid_error("read " + path + ": more than " + std::to_string(limit) + " bytes");
  }
}

Status write_file_atomic(const std::string& path, std::string_view content, FileMode mode) {
  // A device, a FIFO or a link to one belongs to another program.
  struct stat target {};
  if (::stat(path.c_str(), &target) == 0 && !S_ISREG(target.st_mode))
    return invalid_error(path + " is no plain file and was left as it is");
  remove_stale_files(path + ".");
  const unsigned bits = mode == FileMode::kPrivate ? 0600 : mode == FileMode::kScript ? 0777 : 0666;
  std::string temporary;
  const Descriptor file(make_temporary_file(path + ".", bits, temporary));
  if (file.get() < 0) return system_error("create a file beside " + path);
  const TemporaryFileNote note(temporary);
  const Status status = write_all(file.get(), content, path);
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
