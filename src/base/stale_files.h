#pragma once
// Temporary files of processes that were ended: by a signal that can be caught, they are removed at
// once; after SIGKILL the next run finds them by their name, known by the lock that the living hold
// on theirs.
#include <memory>
#include <string>

namespace weir {

/// Makes "PREFIX" + six letters and digits, drawn at random, that did not exist (O_EXCL); `name` is
/// its name afterwards, locked as mark_alive() says. The umask is taken from `mode`; a chmod
/// afterwards is what a process that gave up root may not do. -1 and errno where it cannot.
[[nodiscard]] int make_temporary_file(const std::string& prefix, unsigned mode, std::string& name);

/// Locks an own temporary file for as long as it is open, so that remove_stale_files() of another
/// process leaves it alone.
void mark_alive(int descriptor);

/// Removes "PREFIX" + six letters and digits where the file is plain, of this user, not
/// locked, and older than ten seconds: between making and locking one lies less.
void remove_stale_files(const std::string& prefix);

/// The same of folders, with the sockets and plain files in them: the living hold a lock on theirs.
/// One with a folder in it stays.
void remove_stale_folders(const std::string& prefix);

/// Names a temporary file of this process for as long as it lives. Taken down after the file was
/// removed or renamed.
class TemporaryFileNote {
 public:
  explicit TemporaryFileNote(const std::string& name);
  TemporaryFileNote(TemporaryFileNote&&) noexcept = default;
  TemporaryFileNote& operator=(TemporaryFileNote&&) noexcept = default;
  TemporaryFileNote(const TemporaryFileNote&) = delete;
  TemporaryFileNote& operator=(const TemporaryFileNote&) = delete;
  ~TemporaryFileNote();

 private:
  std::unique_ptr<std::string> name_;
};

/// Removes the files that are noted. For a signal handler: calls nothing but unlink(2).
void remove_noted_files();

}  // namespace weir
