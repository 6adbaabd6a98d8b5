#pragma once
// What rolls a host back when an apply is not confirmed: armed before the first change, and not
// dependent on the process that made it, on its session or on the time of day.
//
// Where systemd runs it is a transient timer, which starts `weir rollback --unconfirmed`: systemd
// starts that again if it is killed or fails. Elsewhere it is two processes out of the session that
// ignore the signals by which processes are usually ended; each starts the other anew if it is
// killed or stopped, and an error (the directory was moved, the disk is full) is tried again until
// the journal is settled.
// After a restart of the machine weir-settle.service does the same (packaging/).
#include <functional>

#include "base/result.h"
#include "host/change/state_directory.h"
#include "units/quantity.h"

namespace weir::host {

/// Rolls a journal back, in the guard's process.
using RollBack = std::function<Status(const StoredJournal& journal, std::string_view reason)>;

/// The machine's time since it was started, which nobody can set, and which start that was.
struct BootTime {
  std::string boot;
  std::int64_t ms = 0;  // CLOCK_BOOTTIME
};
[[nodiscard]] BootTime boot_time_now();

/// What the guard does about a journal at a time; pure.
enum class WatchdogStep : std::uint8_t { kLeave, kWait, kRollBack };
[[nodiscard]] WatchdogStep next_step(const std::optional<StoredJournal>& open, const BootTime& now);

/// Waits until the open journal, if there is one, is confirmed or has to be rolled back, and does
/// that; an error where it could not. The lock is taken only to act.
[[nodiscard]] Status settle_open_journal(const StateDirectory& state, const RollBack& roll_back);

/// Arms whichever guard the machine has, for the newest journal, and makes sure that it is there.
/// An error: nothing is armed, and nothing may be changed. Forks. REQUIRES: one thread, the caller
/// holds the state's lock.
[[nodiscard]] Result<JournalGuard> arm_guard(const StateDirectory& state, StateLock& lock,
                                             Duration within, const RollBack& roll_back);

/// A timer that is not needed any more. One that stays finds nothing to do.
void disarm_guard(const JournalGuard& guard);

// ---- parts, for tests ----

/// The processes; the guard looks after the journals of `state` from here on.
[[nodiscard]] Status start_watchdog(const StateDirectory& state, StateLock& lock,
                                    const RollBack& roll_back);

/// The words that arm a timer.
[[nodiscard]] std::vector<std::string> timer_command(const std::string& unit, Duration within,
                                                     const std::string& binary,
                                                     const std::string& state);

}  // namespace weir::host
