#pragma once
// Where applies are written down: a directory with a lock and one journal an apply.
//
//   lock             held (flock) by whoever changes something; it goes with its process
//   journal-000007   the seventh apply; the last one that still is is what a rollback undoes
//   watchdog.log     what the process said that waits for a confirmation
//
// The default is /var/lib/weir. Only root can read it: it says what a host is set to.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/change/journal.h"

namespace weir::host {

inline constexpr std::string_view kDefaultStateDirectory = "/var/lib/weir";

/// Held until it is destroyed, or its process ends.
class StateLock {
 public:
  StateLock(StateLock&& other) noexcept;
  StateLock(const StateLock&) = delete;
  StateLock& operator=(const StateLock&) = delete;
  StateLock& operator=(StateLock&&) = delete;
  ~StateLock();
  /// In a child process: the lock stays the parent's.
  void leave_to_parent();

 private:
  friend class StateDirectory;
  explicit StateLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

struct StoredJournal {
  std::string file;
  Journal journal;
};

class StateDirectory {
 public:
  enum class Durability { kSynced, kUnsynced };
  explicit StateDirectory(std::string path, Durability durability = Durability::kSynced)
      : path_(std::move(path)), durability_(durability) {}

  [[nodiscard]] const std::string& path() const { return path_; }

  /// Makes the directory where it is not there.
  [[nodiscard]] Status prepare() const;
  /// kInvalid where another process holds it; its number is in the message.
  [[nodiscard]] Result<StateLock> lock() const;
  /// The same, waiting for it.
  [[nodiscard]] Result<StateLock> wait_for_lock() const;

  /// All of them, the oldest first; those that were never begun left out. A damaged one is an error
  /// (kParse).
  [[nodiscard]] Result<std::vector<StoredJournal>> journals() const;
  /// The newest that is open or has steps standing.
  [[nodiscard]] Result<std::optional<StoredJournal>> last_standing() const;
  /// The one that must be ended before another apply.
  [[nodiscard]] Result<std::optional<StoredJournal>> open_journal() const;

  /// A new journal after all others; the writer syncs each record. Of the finished ones only the
  /// newest are kept.
  [[nodiscard]] Result<JournalWriter> create() const;
  /// To go on with one: what its last writer left half written is cut off.
  [[nodiscard]] Result<JournalWriter> reopen(const StoredJournal& stored) const;

  [[nodiscard]] std::string watchdog_log() const { return path_ + "/watchdog.log"; }

 private:
  [[nodiscard]] Result<StateLock> take(bool wait) const;
  [[nodiscard]] Result<std::vector<std::string>> files() const;

  std::string path_;
  Durability durability_;
};

}  // namespace weir::host
