#include "base/trusted_directory.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <deque>
#include <filesystem>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weir {
namespace {

constexpr mode_t kOwnersAlone = 0600;
constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;

Error untrusted_system_error(const std::string& attempt) {
  const int number = errno;
  const bool is_refused = number == EACCES || number == EPERM || number == EROFS;
  return {is_refused         ? ErrorCode::kPermission
          : number == ENOENT ? ErrorCode::kNotFound
                             : ErrorCode::kIo,
          attempt + ": " + std::strerror(number)};
}

Error not_trusted(const std::string& path, const std::string& why) {
  return invalid_error(path + " is not trusted: " + why);
}

bool is_ours_or_roots(const struct stat& info) {
  return info.st_uid == 0 || info.st_uid == ::geteuid();
}

/// Many systems give each user a group of the same number, and leave group write on.
bool others_write(const struct stat& info) {
  const bool is_own_group =
      ::geteuid() != 0 && info.st_gid == ::getegid() && info.st_gid == ::geteuid();
  return (info.st_mode & (is_own_group ? mode_t{S_IWOTH} : kOthersWrite)) != 0;
}

std::string owner_text(const struct stat& info) {
  return "it belongs to user " + std::to_string(info.st_uid) + ", and weir runs as user " +
         std::to_string(::geteuid());
}

/// Empty where the directory `info` may be on the way to ours.
std::string wrong_above(const struct stat& info) {
  if (!is_ours_or_roots(info)) return owner_text(info);
  const bool is_sticky = (info.st_mode & S_ISVTX) != 0;
  if (others_write(info) && !is_sticky)
    return "others can write to it, and replace what is in it: chmod go-w";
  return {};
}

std::string wrong_itself(const struct stat& info) {
  if (info.st_uid != ::geteuid()) return owner_text(info);
  if (others_write(info)) return "others can write to it: chmod go-w, and look what is in it";
  return {};
}

std::string wrong_file(const struct stat& info) {
  if (!S_ISREG(info.st_mode)) return "it is no plain file";
  if (info.st_uid != ::geteuid()) return owner_text(info);
  if (others_write(info)) return "others can write to it";
  if (info.st_nlink != 1) return "it has a second name (a hard link)";
  return {};
}

std::deque<std::string> path_parts(const std::string& path) {
  std::deque<std::string> parts;
  for (const auto& part : std::filesystem::path(path))
    if (part != "/" && part != "." && !part.empty()) parts.push_back(part.string());
  return parts;
}

/// One name after the other from the root, each looked at before it is entered.
class Walk {
 public:
  explicit Walk(const std::string& path) : left_(path_parts(path)) {}

  Result<OwnedDescriptor> to_end() {
    WEIR_TRY_STATUS(start());
    while (!left_.empty()) {
      const std::string name = std::move(left_.front());
      left_.pop_front();
      WEIR_TRY_STATUS(enter(name));
    }
    return std::move(here_);
  }

 private:
  Status start() {
    here_ = OwnedDescriptor(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (here_.get() < 0) return untrusted_system_error("open /");
    where_.clear();
    return {};
  }

  Status enter(const std::string& name) {
    const std::string path = where_ + "/" + name;
    struct stat info {};
    if (::fstatat(here_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
      return untrusted_system_error("open " + path);
    if (S_ISLNK(info.st_mode)) return follow(name, path, info);
    // A directory that others may pass but not list (/root of another user) is passed too.
    const int how = left_.empty() ? O_RDONLY : O_PATH;
    OwnedDescriptor next(
        ::openat(here_.get(), name.c_str(), how | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (next.get() < 0 || ::fstat(next.get(), &info) != 0)
      return untrusted_system_error("open " + path);
    const std::string wrong = left_.empty() ? wrong_itself(info) : wrong_above(info);
    if (!wrong.empty()) return not_trusted(path, wrong);
    here_ = std::move(next);
    where_ = path;
    return {};
  }

  /// A link in a directory on the way; the last name is never one.
  Status follow(const std::string& name, const std::string& path, const struct stat& info) {
    constexpr int kMost = 40;  // as the kernel has it
    if (left_.empty()) return not_trusted(path, "it is a symbolic link");
    if (!is_ours_or_roots(info)) return not_trusted(path, owner_text(info));
    std::array<char, PATH_MAX> target{};
    const ssize_t length = ::readlinkat(here_.get(), name.c_str(), target.data(), target.size());
    if (length < 0 || ++links_ > kMost || static_cast<std::size_t>(length) == target.size())
      return not_trusted(path, "its links cannot be followed");
    const std::string to(target.data(), static_cast<std::size_t>(length));
    std::deque<std::string> parts = path_parts(to);
    left_.insert(left_.begin(), parts.begin(), parts.end());
    return to.starts_with('/') ? start() : Status();
  }

  std::deque<std::string> left_;
  OwnedDescriptor here_;
  std::string where_;
  int links_ = 0;
};

Result<OwnedDescriptor> open_alone(const std::string& path) {
  OwnedDescriptor here(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (here.get() < 0 && (errno == ELOOP || errno == ENOTDIR))
    return not_trusted(path, "it is no directory of its own (a symbolic link or a file)");
  struct stat info {};
  if (here.get() < 0 || ::fstat(here.get(), &info) != 0)
    return untrusted_system_error("open " + path);
  if (const std::string wrong = wrong_itself(info); !wrong.empty()) return not_trusted(path, wrong);
  return here;
}

}  // namespace

Result<TrustedDirectory> TrustedDirectory::open(const std::string& path, Above above) {
  WEIR_TRY(here, above == Above::kChecked ? Walk(path).to_end() : open_alone(path));
  return TrustedDirectory(path, std::move(here));
}

Result<std::vector<std::string>> TrustedDirectory::names() const {
  // A description of its own: reading moves its place.
  OwnedDescriptor again(::openat(descriptor_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  DIR* const entries = again.get() < 0 ? nullptr : ::fdopendir(again.get());
  if (entries == nullptr) return untrusted_system_error("read " + path_);
  static_cast<void>(again.release());  // closedir() closes it
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(entries))
    names.emplace_back(static_cast<const char*>(entry->d_name));
  ::closedir(entries);
  std::erase_if(names, [](const std::string& name) { return name == "." || name == ".."; });
  std::sort(names.begin(), names.end());
  return names;
}

Result<OwnedDescriptor> TrustedDirectory::open_file(const std::string& name, int flags) const {
  const std::string path = path_ + "/" + name;
  // O_NONBLOCK: a pipe in its place is refused, not waited for.
  OwnedDescriptor file(
      ::openat(descriptor_.get(), name.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file.get() < 0 && errno == ELOOP) return not_trusted(path, "it is a symbolic link");
  struct stat info {};
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0)
    return untrusted_system_error("open " + path);
  if (const std::string wrong = wrong_file(info); !wrong.empty()) return not_trusted(path, wrong);
  return file;
}

Result<OwnedDescriptor> TrustedDirectory::create_file(const std::string& name, int flags) const {
  OwnedDescriptor file(::openat(descriptor_.get(), name.c_str(),
                                flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kOwnersAlone));
  if (file.get() < 0) return untrusted_system_error("create " + path_ + "/" + name);
  return file;
}

Result<OwnedDescriptor> TrustedDirectory::open_or_create(const std::string& name, int flags) const {
  auto file = open_file(name, flags);
  if (file || file.error().code != ErrorCode::kNotFound) return file;
  auto made = create_file(name, flags);
  return made ? std::move(made) : open_file(name, flags);  // another was quicker
}

Result<std::string> TrustedDirectory::read(const std::string& name) const {
  constexpr std::size_t kMost = std::size_t{256} << 20U;  // a lab of a thousand hosts has 10 MB
  WEIR_TRY(file, open_file(name, O_RDONLY));
  std::string text;
  std::array<char, 65536> chunk{};
  for (;;) {
    const ssize_t got = ::read(file.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return untrusted_system_error("read " + path_ + "/" + name);
    if (got == 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(got));
    if (text.size() > kMost)
      return invalid_error("read " + path_ + "/" + name + ": more than 256 MiB");
  }
}

Status TrustedDirectory::sync() const {
  if (::fsync(descriptor_.get()) == 0 || errno == EINVAL) return {};
  return untrusted_system_error("fsync " + path_);
}

void TrustedDirectory::remove(const std::string& name) const {
  ::unlinkat(descriptor_.get(), name.c_str(), 0);
}

}  // namespace weir
