#include "base/partial_file.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include <unistd.h>

#include "base/stale_files.h"

namespace weir {
namespace {

/// Signals that end the process wait while this lives: between making a file and noting it, the
/// handler would not know of it.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t ending;
    sigemptyset(&ending);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
      sigaddset(&ending, signal);
    ::pthread_sigmask(SIG_BLOCK, &ending, &before_);
  }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;
  ~SignalsHeld() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

Result<PartialFile> PartialFile::create(const std::string& path) {
  std::error_code error;
  const auto found = std::filesystem::symlink_status(path, error);
  if (std::filesystem::exists(found) && !std::filesystem::is_regular_file(found))
    return Error{ErrorCode::kIo, path + " is no plain file and was left as it is"};
  remove_stale_files(path + ".partial.");
  const SignalsHeld held;
  std::string name;
  const int descriptor = make_temporary_file(path + ".partial.", 0666, name);
  if (descriptor < 0)
    return Error{ErrorCode::kIo, "cannot write " + path + ": " + std::strerror(errno)};
  std::FILE* const stream = ::fdopen(descriptor, "wb");
  if (stream == nullptr) {
    Error failed{ErrorCode::kIo, "cannot write " + path + ": " + std::strerror(errno)};
    ::close(descriptor);
    ::unlink(name.c_str());
    return failed;
  }
  return PartialFile(path, std::move(name), stream);
}

PartialFile::PartialFile(PartialFile&& other) noexcept
    : path_(std::move(other.path_)),
      name_(std::move(other.name_)),
      note_(std::move(other.note_)),
      stream_(std::exchange(other.stream_, nullptr)) {}

PartialFile::~PartialFile() {
  if (stream_ == nullptr) return;
  std::fclose(stream_);
  ::unlink(name_.c_str());
}

Status PartialFile::finish() {
  const bool is_whole = std::ferror(stream_) == 0;
  const bool is_closed = std::fclose(std::exchange(stream_, nullptr)) == 0;
  if (is_whole && is_closed && ::rename(name_.c_str(), path_.c_str()) == 0) return {};
  Error failed{ErrorCode::kIo, "cannot write " + path_ + ": " + std::strerror(errno)};
  ::unlink(name_.c_str());
  return failed;
}

}  // namespace weir
