#include "host/change/state_directory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

namespace weir::host {

namespace {

constexpr std::string_view kPrefix = "journal-";
/// Of finished applies; each is some kilobytes.
constexpr std::size_t kMostJournals = 32;
constexpr mode_t kDirectoryMode = 0700;
constexpr mode_t kFileMode = 0600;

Error failed(const std::string& attempt) {
  const int number = errno;
  const bool is_refused = number == EACCES || number == EPERM || number == EROFS;
  return {is_refused         ? ErrorCode::kPermission
          : number == ENOENT ? ErrorCode::kNotFound
                             : ErrorCode::kIo,
          fmt::format("{}: {}", attempt, std::strerror(number))};
}

/// The directory's own entry of a new file is on disk only after this.
Status sync_directory(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return failed("open " + path);
  const bool is_synced = ::fsync(descriptor) == 0 || errno == EINVAL;
  Status status;
  if (!is_synced) status = failed("fsync " + path);
  ::close(descriptor);
  return status;
}

/// An open journal: appends whole lines.
class JournalFile {
 public:
  JournalFile(int descriptor, std::string path, bool is_synced)
      : descriptor_(descriptor), path_(std::move(path)), is_synced_(is_synced) {}
  JournalFile(const JournalFile&) = delete;
  JournalFile& operator=(const JournalFile&) = delete;
  ~JournalFile() { ::close(descriptor_); }

  Status append(std::string_view line) const {
    while (!line.empty()) {
      const ssize_t written = ::write(descriptor_, line.data(), line.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return failed("write " + path_);
      line.remove_prefix(static_cast<std::size_t>(written));
    }
    if (is_synced_ && ::fdatasync(descriptor_) != 0) return failed("sync " + path_);
    return {};
  }

 private:
  int descriptor_;
  std::string path_;
  bool is_synced_;
};

JournalSink sink_to(int descriptor, const std::string& path, bool is_synced) {
  auto file = std::make_shared<JournalFile>(descriptor, path, is_synced);
  return [file](std::string_view line) { return file->append(line); };
}

}  // namespace

StateLock::StateLock(StateLock&& other) noexcept : descriptor_(other.descriptor_) {
  other.descriptor_ = -1;
}

StateLock::~StateLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void StateLock::leave_to_parent() {
  ::close(descriptor_);
  descriptor_ = -1;
}

Status StateDirectory::prepare() const {
  if (::access(path_.c_str(), F_OK) == 0) return {};
  const std::string parent = std::filesystem::path(path_).parent_path().string();
  if (!parent.empty()) WEIR_TRY_STATUS(make_directory(parent));
  if (::mkdir(path_.c_str(), kDirectoryMode) != 0 && errno != EEXIST)
    return failed("make directory " + path_);
  return {};
}

Result<StateLock> StateDirectory::take(bool wait) const {
  const std::string path = path_ + "/lock";
  StateLock lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kFileMode));
  if (lock.descriptor_ < 0) return failed("open " + path);
  while (::flock(lock.descriptor_, wait ? LOCK_EX : LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return failed("lock " + path);
    const Result<std::string> holder = read_file(path);
    const std::string who = holder && !trim(*holder).empty()
                                ? fmt::format(" (process {})", trim(*holder))
                                : std::string();
    return invalid_error(
        fmt::format("another weir{} is changing this host: wait until it has ended", who));
  }
  const std::string self = fmt::format("{}\n", ::getpid());
  // For the message above alone: whoever cannot write it still holds the lock.
  if (::ftruncate(lock.descriptor_, 0) == 0)
    (void)!::pwrite(lock.descriptor_, self.data(), self.size(), 0);
  return lock;
}

Result<StateLock> StateDirectory::lock() const {
  return take(false);
}
Result<StateLock> StateDirectory::wait_for_lock() const {
  return take(true);
}

Result<std::vector<std::string>> StateDirectory::files() const {
  std::vector<std::string> out;
  std::error_code error;
  std::filesystem::directory_iterator entries(path_, error);
  if (error == std::errc::no_such_file_or_directory) return out;
  if (error) {
    const bool is_refused = error == std::errc::permission_denied;
    return Error{is_refused ? ErrorCode::kPermission : ErrorCode::kIo,
                 fmt::format("read {}: {}", path_, error.message())};
  }
  for (const auto& entry : entries) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kPrefix) && parse_u64(name.substr(kPrefix.size())))
      out.push_back(entry.path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

Result<std::vector<StoredJournal>> StateDirectory::journals() const {
  WEIR_TRY(names, files());
  std::vector<StoredJournal> out;
  for (const std::string& name : names) {
    WEIR_TRY(text, read_file(name));
    WEIR_TRY(journal, parse_journal(text, name));
    if (journal) out.push_back({name, std::move(*journal)});
  }
  return out;
}

Result<std::optional<StoredJournal>> StateDirectory::last_standing() const {
  WEIR_TRY(all, journals());
  for (auto stored = all.rbegin(); stored != all.rend(); ++stored) {
    if (stored->journal.is_open() || stored->journal.standing() > 0)
      return std::optional<StoredJournal>(std::move(*stored));
  }
  return std::optional<StoredJournal>();
}

Result<std::optional<StoredJournal>> StateDirectory::open_journal() const {
  WEIR_TRY(all, journals());
  for (StoredJournal& stored : all)
    if (stored.journal.is_open()) return std::optional<StoredJournal>(std::move(stored));
  return std::optional<StoredJournal>();
}

Result<JournalWriter> StateDirectory::create() const {
  WEIR_TRY(names, files());
  std::uint64_t number = 1;
  if (!names.empty()) {
    const std::string& last = names.back();
    const auto highest = parse_u64(last.substr(last.rfind(kPrefix) + kPrefix.size()));
    WEIR_CHECK(highest.has_value());
    number = *highest + 1;
  }
  for (std::size_t n = 0; n + kMostJournals < names.size() + 1; ++n)
    ::unlink(names[n].c_str());  // one that stays is only a file too many
  const std::string path = fmt::format("{}/{}{:06}", path_, kPrefix, number);
  const int descriptor =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, kFileMode);
  if (descriptor < 0) return failed("create " + path);
  const bool is_synced = durability_ == Durability::kSynced;
  JournalWriter writer(sink_to(descriptor, path, is_synced));
  if (is_synced) WEIR_TRY_STATUS(sync_directory(path_));
  return writer;
}

Result<JournalWriter> StateDirectory::reopen(const StoredJournal& stored) const {
  const int descriptor = ::open(stored.file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor < 0) return failed("open " + stored.file);
  const bool is_synced = durability_ == Durability::kSynced;
  JournalWriter writer(sink_to(descriptor, stored.file, is_synced),
                       static_cast<unsigned>(stored.journal.steps.size()) + 1);
  if (::ftruncate(descriptor, static_cast<off_t>(stored.journal.whole_bytes)) != 0)
    return failed("cut " + stored.file);
  return writer;
}

}  // namespace weir::host
