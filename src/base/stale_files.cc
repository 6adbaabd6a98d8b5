#include "base/stale_files.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weir {
namespace {

/// More at a time are not noted: they are found by the next run.
constexpr std::size_t kMostNotes = 64;
std::array<std::atomic<const char*>, kMostNotes> notes{};  // NOLINT(*-avoid-non-const-global-*)

constexpr std::size_t kDrawn = 6;  // as mkstemp(3) does

bool is_made_up(std::string_view ending) {
  return ending.size() == kDrawn && std::all_of(ending.begin(), ending.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0;
         });
}

bool is_left_behind(int descriptor, bool is_folder) {
  constexpr std::time_t kYoung = 10;
  struct stat found {};
  if (::fstat(descriptor, &found) != 0 || found.st_uid != ::geteuid()) return false;
  const bool is_one =
      is_folder ? S_ISDIR(found.st_mode) : S_ISREG(found.st_mode) && found.st_nlink == 1;
  if (!is_one) return false;
  if (std::time(nullptr) - found.st_mtime < kYoung) return false;
  return ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
}

/// "PREFIX" + six letters and digits.
std::vector<std::filesystem::path> made_up_names(const std::string& prefix) {
  namespace fs = std::filesystem;
  const fs::path path(prefix);
  const std::string start = path.filename().string();
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code error;
  std::vector<fs::path> found;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with(start) && is_made_up(std::string_view(name).substr(start.size())))
      found.push_back(at->path());
  }
  return found;
}

/// By its descriptor: a link that takes its place leads nowhere.
void empty_folder(const std::filesystem::path& folder, int descriptor) {
  std::error_code error;
  std::vector<std::string> names;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error))
    names.push_back(at->path().filename().string());
  for (const std::string& name : names)
    ::unlinkat(descriptor, name.c_str(), 0);
}

}  // namespace

TemporaryFileNote::TemporaryFileNote(const std::string& name)
    : name_(std::make_unique<std::string>(name)) {
  for (auto& note : notes) {
    const char* free = nullptr;
    if (note.compare_exchange_strong(free, name_->c_str())) return;
  }
}

TemporaryFileNote::~TemporaryFileNote() {
  if (!name_) return;
  for (auto& note : notes) {
    const char* own = name_->c_str();
    if (note.compare_exchange_strong(own, nullptr)) return;
  }
}

void remove_noted_files() {
  for (const auto& note : notes)
    if (const char* const name = note.load()) ::unlink(name);
}

int make_temporary_file(const std::string& prefix, unsigned mode, std::string& name) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  constexpr int kTries = 100;  // 62^6 names: the second try is news
  for (int n = 0; n < kTries; ++n) {
    std::array<unsigned char, kDrawn> drawn{};
    if (::getrandom(drawn.data(), drawn.size(), 0) != static_cast<ssize_t>(drawn.size())) return -1;
    name = prefix;
    for (const unsigned char byte : drawn)
      name += kLetters[byte % kLetters.size()];
    const int file = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (file >= 0) mark_alive(file);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

void mark_alive(int descriptor) {
  ::flock(descriptor, LOCK_EX | LOCK_NB);
}

void remove_stale_files(const std::string& prefix) {
  for (const std::filesystem::path& each : made_up_names(prefix)) {
    const int descriptor = ::open(each.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) continue;
    if (is_left_behind(descriptor, false)) ::unlink(each.c_str());
    ::close(descriptor);
  }
}

void remove_stale_folders(const std::string& prefix) {
  for (const std::filesystem::path& each : made_up_names(prefix)) {
    const int descriptor =
        ::open(each.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) continue;
    if (is_left_behind(descriptor, true)) {
      empty_folder(each, descriptor);
      ::rmdir(each.c_str());
    }
    ::close(descriptor);
  }
}

}  // namespace weir
