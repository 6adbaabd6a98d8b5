#pragma once
// The process that rolls a host back when an apply is not confirmed.
//
// It is forked before the first change and leaves the session, so that a change that cuts the
// administrator off, or takes the applying process with it, is undone all the same. It ends when
// the journal is confirmed, rolled back, or has been rolled back by it.
#include <functional>

#include "base/result.h"
#include "host/change/state_directory.h"

namespace weir::host {

/// Rolls a journal back, in the watchdog's process.
using RollBack = std::function<Status(const StoredJournal& journal, std::string_view reason)>;

/// Held by the applying process: the watchdog begins to act when this is gone, by being destroyed
/// or with its process.
class Watchdog {
 public:
  /// Forks. REQUIRES: one thread, the caller holds the state's lock.
  [[nodiscard]] static Result<Watchdog> start(const StateDirectory& state, StateLock& lock,
                                              const RollBack& roll_back);
  Watchdog(Watchdog&& other) noexcept;
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  Watchdog& operator=(Watchdog&&) = delete;
  ~Watchdog();

 private:
  explicit Watchdog(int pipe) : pipe_(pipe) {}
  int pipe_;
};

/// What the watchdog does about a journal at a time (Unix seconds); pure.
enum class WatchdogStep : std::uint8_t { kLeave, kWait, kRollBack };
[[nodiscard]] WatchdogStep next_step(const std::optional<StoredJournal>& open, std::int64_t now);

}  // namespace weir::host
