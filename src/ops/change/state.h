#pragma once
// The state directory of an operation that changes or breaks something, and what ends a failure.
#include <functional>
#include <string>

#include "host/change/state_directory.h"
#include "lab/fabric/lab.h"
#include "ops/source/failure.h"

namespace weir::ops {

/// `given`, or the lab's own place, or /var/lib/weir. In a lab nothing is lost with the power: its
/// journal is not synced.
[[nodiscard]] host::StateDirectory state_directory(const std::string& given, const lab::Lab* lab);

/// False where it is not there, so that no journal is; a failure where the user named it.
[[nodiscard]] Result<bool> has_state(const host::StateDirectory& state, const std::string& given);

/// A state directory that cannot be opened, locked or read.
[[nodiscard]] Failure state_failure(const Error& error);
template <class T>
[[nodiscard]] Result<T> or_state_failure(weir::Result<T> result) {
  if (!result) return state_failure(result.error());
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return std::move(result).value();
  }
}

/// One that nobody ended is in the way of the next.
[[nodiscard]] Status refuse_open_journal(const host::StateDirectory& state);
[[nodiscard]] Failure open_journal_failure(const host::StoredJournal& open);

/// "2026-11-15T12:03:44Z", now.
[[nodiscard]] std::string time_now();

/// What begins or ends a failure: a shell line, in a session of its own, so that no key of our
/// terminal reaches it, and within a limit, so that none keeps the lock or a boot for ever.
inline constexpr Duration kFailureLimit = 300_s;
[[nodiscard]] weir::Status run_failure_line(const std::string& line,
                                            const std::function<bool()>& is_interrupted = {});

/// Runs the command that ends it, or clears the lab's faults; those that are gone are no error.
[[nodiscard]] weir::Status end_failure(const host::JournalFailure& failure, lab::Lab* lab);

}  // namespace weir::ops
