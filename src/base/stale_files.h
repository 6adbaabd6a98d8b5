#pragma once
// Temporary files of processes that were killed: found by their name, known by the lock that the
// living hold on theirs.
#include <string>

namespace weir {

/// Locks an own temporary file for as long as it is open, so that remove_stale_files() of another
/// process leaves it alone.
void mark_alive(int descriptor);

/// Removes "PREFIX" + six letters and digits (mkstemp's) where the file is plain, of this user, not
/// locked, and older than ten seconds: between making and locking one lies less.
void remove_stale_files(const std::string& prefix);

}  // namespace weir
