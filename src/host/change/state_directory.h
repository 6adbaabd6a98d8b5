#pragma once
// Where applies are written down: a directory with a lock and one journal an apply.
//
//   lock             held (flock) by whoever changes something; it goes with its process
//   journal-000007   the seventh apply; the last one that still is is what a rollback undoes
//   watchdog.log     what the process said that waits for a confirmation
//
// The default is /var/lib/weir. Only root can read it: it says what a host is set to. What is in it
// is acted upon as root: it is opened as base/trusted_directory.h says, or refused.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/trusted_directory.h"
#include "host/change/journal.h"
#include "units/quantity.h"

namespace weir::host {

inline constexpr std::string_view kDefaultStateDirectory = "/var/lib/weir";

/// Held until it is destroyed, or its process ends.
class StateLock {
 public:
  /// In a child process: the lock stays the parent's.
  void leave_to_parent() { file_ = OwnedDescriptor(); }

 private:
  friend class StateDirectory;
  explicit StateLock(OwnedDescriptor file) : file_(std::move(file)) {}
  OwnedDescriptor file_;
};

/// How long a lock that another process holds is waited for.
struct LockWait {
  Duration patience = {};                                 // zero: not at all
  std::function<void(const std::string& text)> say = {};  // called once, when the waiting begins
};

struct StoredJournal {
  std::string file;
  Journal journal;
};

class StateDirectory {
 public:
  /// A lab is thrown away with its directory: its journal is not synced, and where the user has put
  /// the lab is not looked at.
  enum class Kind { kMachine, kLab };
  /// A relative path is made absolute here: a process that waits for a confirmation runs in another
  /// directory.
  explicit StateDirectory(const std::string& path, Kind kind = Kind::kMachine);

  [[nodiscard]] const std::string& path() const { return path_; }
  /// As the user wrote it: for messages.
  [[nodiscard]] const std::string& name() const { return name_; }

  /// False where it is not there: then no journal is. An error where it is not to be trusted.
  [[nodiscard]] Result<bool> is_there() const;
  /// Makes the directory where it is not there, not those above it: a mistyped path is an error. An
  /// error also where it is not to be trusted.
  [[nodiscard]] Status prepare() const;
  /// kInvalid where another process still holds it after the wait; its number is in the message.
  [[nodiscard]] Result<StateLock> lock(const LockWait& wait = {}) const;
  /// The process that holds it, if it is one of this machine that can be seen from here and has the
  /// lock's file open: its number is written there, and numbers are given again.
  [[nodiscard]] std::optional<std::int64_t> holder() const;

  /// All of them, the oldest first; those that were never begun left out. A damaged one is an error
  /// (kParse).
  [[nodiscard]] Result<std::vector<StoredJournal>> journals() const;
  /// One of them as it is now.
  [[nodiscard]] Result<std::optional<StoredJournal>> read(const std::string& file) const;
  /// Its file, open to read.
  [[nodiscard]] Result<OwnedDescriptor> hold(const StoredJournal& stored) const;
  /// The newest that is open or has steps standing.
  [[nodiscard]] Result<std::optional<StoredJournal>> last_standing() const;
  /// The newest apply that is open or could be put back in part only. One before an apply that was
  /// kept is settled: that one left the host as its design wants it.
  [[nodiscard]] Result<std::optional<StoredJournal>> last_unsettled() const;
  /// The one that must be ended before another apply.
  [[nodiscard]] Result<std::optional<StoredJournal>> open_journal() const;

  /// A new journal after all others; the writer syncs each record. Of the finished ones only the
  /// newest are kept.
  [[nodiscard]] Result<JournalWriter> create() const;
  /// To go on with one: what its last writer left half written is cut off.
  [[nodiscard]] Result<JournalWriter> reopen(const StoredJournal& stored) const;

  /// "weir-confirm-1f2e3d4c-000007": of the newest journal, for the unit that guards it.
  [[nodiscard]] Result<std::string> guard_name() const;
  /// Opened to append.
  [[nodiscard]] Result<OwnedDescriptor> watchdog_log() const;

 private:
  [[nodiscard]] Result<TrustedDirectory> open() const;
  [[nodiscard]] Result<std::vector<std::string>> names() const;
  [[nodiscard]] Result<std::optional<StoredJournal>> parse(const TrustedDirectory& directory,
                                                           const std::string& name) const;

  std::string name_;
  std::string path_;
  Kind kind_;
};

}  // namespace weir::host
