#include "host/change/state_directory.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/text.h"
#include "units/format.h"

namespace weir::host {

namespace {

constexpr std::string_view kPrefix = "journal-";
/// Of finished applies; each is some kilobytes.
constexpr std::size_t kMostJournals = 32;
constexpr mode_t kDirectoryMode = 0700;

Error failed(const std::string& attempt) {
  const int number = errno;
  const bool is_refused = number == EACCES || number == EPERM || number == EROFS;
  return {is_refused         ? ErrorCode::kPermission
          : number == ENOENT ? ErrorCode::kNotFound
                             : ErrorCode::kIo,
          fmt::format("{}: {}", attempt, std::strerror(number))};
}

/// An open journal: appends whole lines. A line that could not be written whole is cut off again,
/// so that the next one begins where a line begins.
class JournalFile {
 public:
  JournalFile(OwnedDescriptor file, std::string path, std::size_t end, bool is_synced)
      : file_(std::move(file)),
        path_(std::move(path)),
        end_(static_cast<off_t>(end)),
        is_synced_(is_synced) {}

  Status append(std::string_view line) {
    if (is_torn_) WEIR_TRY_STATUS(cut());
    off_t at = end_;
    while (!line.empty()) {
      const ssize_t written = ::pwrite(file_.get(), line.data(), line.size(), at);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return give_up(failed("write " + path_));
      line.remove_prefix(static_cast<std::size_t>(written));
      at += written;
    }
    if (is_synced_ && ::fdatasync(file_.get()) != 0) return give_up(failed("sync " + path_));
    end_ = at;
    return {};
  }

  /// Blocks of the disk behind the end of the file; its size stays. Where the file system cannot
  /// (9p, some network ones) a full disk is found when it is full, and what was done is undone.
  Status reserve(std::size_t bytes) {
    while (::fallocate(file_.get(), FALLOC_FL_KEEP_SIZE, end_, static_cast<off_t>(bytes)) != 0) {
      if (errno == EINTR) continue;
      if (errno == EOPNOTSUPP || errno == ENOSYS) return {};
      return failed(fmt::format("reserve {} bytes for {}", bytes, path_));
    }
    return {};
  }

  Status cut() {
    if (::ftruncate(file_.get(), end_) != 0) return failed("cut " + path_);
    is_torn_ = false;
    return {};
  }

 private:
  Error give_up(Error error) {
    is_torn_ = true;
    (void)cut().has_value();
    return error;
  }

  OwnedDescriptor file_;
  std::string path_;
  off_t end_;
  bool is_synced_;
  bool is_torn_ = false;
};

JournalWriter writer_to(const std::shared_ptr<JournalFile>& file, unsigned next) {
  return JournalWriter([file](std::string_view line) { return file->append(line); }, next,
                       [file](std::size_t bytes) { return file->reserve(bytes); });
}

std::string name_in(const std::string& file) {
  return std::filesystem::path(file).filename().string();
}

/// What the last holder wrote into the lock's file.
std::optional<std::uint64_t> number_in(int lock) {
  std::array<char, 32> text{};
  const ssize_t got = ::pread(lock, text.data(), text.size(), 0);
  if (got <= 0) return std::nullopt;
  const auto number = parse_u64(trim({text.data(), static_cast<std::size_t>(got)}));
  return number ? std::optional(*number) : std::nullopt;
}

std::string holder_of(int lock) {
  const auto number = number_in(lock);
  return number ? fmt::format(" (process {})", *number) : std::string();
}

std::int64_t monotonic_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

Status wait_for(int lock, const std::string& path, const LockWait& wait) {
  constexpr timespec kBetweenTries = {.tv_sec = 0, .tv_nsec = 50'000'000};
  constexpr std::int64_t kPerMillisecond = 1'000'000'000;
  const std::int64_t end = monotonic_ms() + wait.patience.raw() / kPerMillisecond;
  bool has_said = false;
  while (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return failed("lock " + path);
    const std::string who = holder_of(lock);
    if (monotonic_ms() >= end) {
      const std::string waited =
          wait.patience.raw() > 0 ? fmt::format(" (waited {})", to_text(wait.patience)) : "";
      return invalid_error(fmt::format(
          "another weir{} is changing this host: wait until it has ended{}", who, waited));
    }
    if (!has_said && wait.say)
      wait.say(fmt::format("waiting for another weir{} that is changing this host", who));
    has_said = true;
    ::nanosleep(&kBetweenTries, nullptr);
  }
  return {};
}

}  // namespace

StateDirectory::StateDirectory(const std::string& path, Kind kind)
    : name_(path), path_(path), kind_(kind) {
  if (kind == Kind::kLab) return;
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(path, error);
  if (!error) path_ = whole.lexically_normal().string();
  while (path_.size() > 1 && path_.ends_with('/'))
    path_.pop_back();
}

Result<TrustedDirectory> StateDirectory::open() const {
  using Above = TrustedDirectory::Above;
  auto opened =
      TrustedDirectory::open(path_, kind_ == Kind::kLab ? Above::kIgnored : Above::kChecked);
  if (opened || opened.error().code != ErrorCode::kInvalid) return opened;
  return invalid_error(opened.error().what +
                       ". What is written there would be acted upon: use a directory that belongs "
                       "to you alone (--state)");
}

Result<bool> StateDirectory::is_there() const {
  const auto opened = open();
  if (!opened && opened.error().code != ErrorCode::kNotFound) return opened.error();
  return opened.has_value();
}

Status StateDirectory::prepare() const {
  WEIR_TRY(is_made, is_there());
  if (is_made) return {};
  if (::mkdir(path_.c_str(), kDirectoryMode) != 0 && errno != EEXIST) {
    if (errno != ENOENT) return failed("make directory " + path_);
    return not_found_error(
        fmt::format("make directory {}: {} does not exist, and only the last directory is made",
                    path_, std::filesystem::path(path_).parent_path().string()));
  }
  const auto opened = open();
  if (!opened) return opened.error();
  return {};
}

Result<StateLock> StateDirectory::lock(const LockWait& wait) const {
  WEIR_TRY(directory, open());
  WEIR_TRY(file, directory.open_or_create("lock", O_RDWR));
  WEIR_TRY_STATUS(wait_for(file.get(), path_ + "/lock", wait));
  const std::string self = fmt::format("{}\n", ::getpid());
  // For the message above alone: whoever cannot write it still holds the lock.
  if (::ftruncate(file.get(), 0) == 0) (void)!::pwrite(file.get(), self.data(), self.size(), 0);
  return StateLock(std::move(file));
}

std::optional<std::int64_t> StateDirectory::holder() const {
  auto directory = open();
  if (!directory) return std::nullopt;
  const auto file = directory->open_or_create("lock", O_RDWR);
  struct stat wanted {};
  if (!file || ::fstat(file->get(), &wanted) != 0) return std::nullopt;
  const auto process = number_in(file->get());
  if (!process) return std::nullopt;
  std::error_code error;
  const std::string open_files = fmt::format("/proc/{}/fd", *process);
  for (const auto& entry : std::filesystem::directory_iterator(open_files, error)) {
    struct stat info {};
    if (::stat(entry.path().c_str(), &info) == 0 && info.st_dev == wanted.st_dev &&
        info.st_ino == wanted.st_ino)
      return static_cast<std::int64_t>(*process);
  }
  return std::nullopt;
}

Result<std::vector<std::string>> StateDirectory::names() const {
  auto directory = open();
  if (!directory && directory.error().code == ErrorCode::kNotFound)
    return std::vector<std::string>();
  if (!directory) return directory.error();
  WEIR_TRY(all, directory->names());
  std::erase_if(all, [](const std::string& name) {
    return !name.starts_with(kPrefix) || !parse_u64(name.substr(kPrefix.size()));
  });
  return all;
}

Result<std::optional<StoredJournal>> StateDirectory::parse(const TrustedDirectory& directory,
                                                           const std::string& name) const {
  WEIR_TRY(text, directory.read(name));
  const std::string file = name_ + "/" + name;
  WEIR_TRY(journal, parse_journal(text, file));
  if (!journal) return std::optional<StoredJournal>();
  return std::optional(StoredJournal{file, std::move(*journal)});
}

Result<std::vector<StoredJournal>> StateDirectory::journals() const {
  std::vector<StoredJournal> out;
  WEIR_TRY(all, names());
  if (all.empty()) return out;
  WEIR_TRY(directory, open());
  for (const std::string& name : all) {
    WEIR_TRY(journal, parse(directory, name));
    if (journal) out.push_back(std::move(*journal));
  }
  return out;
}

Result<std::optional<StoredJournal>> StateDirectory::read(const std::string& file) const {
  WEIR_TRY(directory, open());
  return parse(directory, name_in(file));
}

Result<OwnedDescriptor> StateDirectory::hold(const StoredJournal& stored) const {
  WEIR_TRY(directory, open());
  return directory.open_file(name_in(stored.file), O_RDONLY);
}

Result<std::optional<StoredJournal>> StateDirectory::last_standing() const {
  WEIR_TRY(all, journals());
  for (auto stored = all.rbegin(); stored != all.rend(); ++stored) {
    if (stored->journal.is_open() || stored->journal.standing() > 0)
      return std::optional<StoredJournal>(std::move(*stored));
  }
  return std::optional<StoredJournal>();
}

Result<std::optional<StoredJournal>> StateDirectory::last_unsettled() const {
  WEIR_TRY(open, open_journal());
  if (open) return open;
  WEIR_TRY(all, journals());
  for (auto stored = all.rbegin(); stored != all.rend(); ++stored) {
    const Journal& journal = stored->journal;
    if (journal.head.verb != "apply" || journal.phase == JournalPhase::kUndone) continue;
    if (journal.phase == JournalPhase::kUndoneInPart && journal.standing() > 0)
      return std::optional<StoredJournal>(std::move(*stored));
    if (journal.phase == JournalPhase::kKept) break;
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
  WEIR_TRY(directory, open());
  WEIR_TRY(all, names());
  std::uint64_t number = 1;
  if (!all.empty()) number = parse_u64(all.back().substr(kPrefix.size())).value_or(0) + 1;
  for (std::size_t n = 0; n + kMostJournals < all.size() + 1; ++n)
    directory.remove(all[n]);  // one that stays is only a file too many
  const std::string name = fmt::format("{}{:06}", kPrefix, number);
  WEIR_TRY(opened, directory.create_file(name, O_WRONLY));
  const bool is_synced = kind_ == Kind::kMachine;
  const auto file =
      std::make_shared<JournalFile>(std::move(opened), name_ + "/" + name, 0, is_synced);
  if (is_synced) WEIR_TRY_STATUS(directory.sync());
  return writer_to(file, 1);
}

Result<JournalWriter> StateDirectory::reopen(const StoredJournal& stored) const {
  WEIR_TRY(directory, open());
  WEIR_TRY(opened, directory.open_file(name_in(stored.file), O_WRONLY));
  const auto file = std::make_shared<JournalFile>(
      std::move(opened), stored.file, stored.journal.whole_bytes, kind_ == Kind::kMachine);
  if (stored.journal.has_torn_tail) WEIR_TRY_STATUS(file->cut());
  return writer_to(file, static_cast<unsigned>(stored.journal.steps.size()) + 1);
}

Result<std::string> StateDirectory::guard_name() const {
  WEIR_TRY(all, names());
  WEIR_CHECK(!all.empty());
  Digest digest;
  digest.add(path_);
  return fmt::format("weir-confirm-{}-{}", digest.to_text().substr(0, 8),
                     all.back().substr(kPrefix.size()));
}

Result<OwnedDescriptor> StateDirectory::watchdog_log() const {
  WEIR_TRY(directory, open());
  return directory.open_or_create("watchdog.log", O_WRONLY | O_APPEND);
}

}  // namespace weir::host
