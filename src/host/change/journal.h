#pragma once
// The journal of an apply: what was about to be changed, written down before it was, so that a host
// can be put back whatever happened in between.
//
// A text, one record per line: sixteen hexadecimal digits (the digest of what follows), a blank,
// one JSON object. Records in order:
//
//   begin     format, verb (apply or verify), time, tool, design, boot (the kernel's boot id),
//             steps (how many are planned), lint (errors of the design that were overridden)
//   guarded   by, unit, within_ms: what will undo it if nobody confirms; written before the first
//             change
//   step      number, host, device, rail, change, before, memory: written and synced BEFORE the
//             change is made; `before` is the typed value, `memory` what HostIo::remember() gave
//   done      number, shown: the change was made, and whether the driver shows it
//   awaiting  until (Unix seconds, for people), boottime_ms (CLOCK_BOOTTIME, which nobody can set):
//             all is made; whoever made it has to confirm before this time
//   kept      all is made and stays (confirmed, or no confirmation was requested)
//   load      pid, started: the load of weir verify, a process group; started is its start in clock
//             ticks after boot, so that another process of that number is left alone. On another
//             host both are 0, and host and stop say where it is and what command ends it
//   failing   what, restore, faults: written BEFORE weir verify injects a failure
//   healed    the failure is over
//   undoing   reason: from here on, steps are put back, the last one first
//   undone    number        not_undone  number, error
//   ended     the undoing is over; whole: every step was put back
//
// A process can die between any two bytes, and a disk can be full. A last line that is cut off or
// does not match its digest was being written then, and what it announces had not begun: it is left
// out; so is the beginning of a record in front of a whole one in the same line. Any other line
// that does not match its digest in front of others is damage, and an error.
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "host/change/plan.h"

namespace weir::host {

struct JournalHead {
  std::string time;    // RFC 3339, UTC
  std::string tool;    // "weir 0.1.0"
  std::string design;  // the file's name as it was given
  std::string boot;    // empty for a lab
  unsigned steps = 0;
  std::string verb = "apply";          // or "verify"
  std::vector<std::string> lint = {};  // errors of the design that the user overrode
};

/// A failure that weir verify injected.
struct JournalFailure {
  std::string what;                 // as requested
  std::string restore;              // the command that ends it; empty in a lab
  std::vector<std::string> faults;  // of a lab
  bool is_healed = false;
};

/// The load of weir verify: a process group, or on another host what a command ends.
struct JournalLoad {
  std::int64_t pid = 0;
  std::uint64_t started = 0;           // clock ticks after boot
  std::string host = {};               // empty: this machine
  std::vector<std::string> stop = {};  // words of a command of this machine
};

/// What will undo an apply that is not confirmed.
struct JournalGuard {
  std::string by;    // "systemd" or "process"
  std::string unit;  // of systemd: without ".timer"
};

enum class JournalStepState : std::uint8_t { kBegun, kDone, kUndone, kNotUndone };

struct JournalStep {
  unsigned number = 0;
  std::string host;
  std::string rail;
  Operation operation;
  std::optional<Change> before;
  std::string memory;
  JournalStepState state = JournalStepState::kBegun;
  std::string error;  // of kNotUndone
};

enum class JournalPhase : std::uint8_t {
  kApplying,  // steps are being made, or whoever made them died
  kAwaiting,  // made, not confirmed
  kKept,
  kUndoing,  // steps are being put back, or whoever did that died
  kUndone,
  kUndoneInPart,
};
[[nodiscard]] std::string_view to_text(JournalPhase);

struct Journal {
  JournalHead head;
  JournalPhase phase = JournalPhase::kApplying;
  std::vector<JournalStep> steps;
  std::optional<JournalGuard> guard;
  std::optional<JournalLoad> load;  // the last one
  std::optional<JournalFailure> failure;
  std::int64_t until = 0;       // of kAwaiting: Unix seconds
  std::int64_t deadline = 0;    // of kAwaiting: milliseconds of CLOCK_BOOTTIME
  std::string reason;           // of the undoing
  bool has_torn_tail = false;   // the last line was being written when its writer died …
  std::size_t whole_bytes = 0;  // … and this is where it begins

  /// Nobody has said how it ended: it must be rolled back or confirmed before the next one.
  [[nodiscard]] bool is_open() const {
    return phase == JournalPhase::kApplying || phase == JournalPhase::kAwaiting ||
           phase == JournalPhase::kUndoing;
  }
  /// Steps that are still on the host, and a failure that is not healed, as far as the journal
  /// knows.
  [[nodiscard]] std::size_t standing() const;
  /// "the apply of fabric.yaml at 2026-11-15T12:03:44Z".
  [[nodiscard]] std::string title() const;
};

/// `file` is for messages. nullopt: the first record was never finished, so nothing was begun.
[[nodiscard]] Result<std::optional<Journal>> parse_journal(std::string_view text,
                                                           std::string_view file);

/// Takes one line, its end included, and returns when it can no longer be lost.
using JournalSink = std::function<Status(std::string_view line)>;
/// Makes sure that so many bytes more can be written, whatever else fills the disk.
using JournalReserve = std::function<Status(std::size_t bytes)>;

/// Writes records. An error means that the record may not be there: whatever it announces must not
/// be done.
class JournalWriter {
 public:
  /// `next` is the number of the next step: after those that the journal has already.
  explicit JournalWriter(JournalSink sink, unsigned next = 1, JournalReserve reserve = {})
      : sink_(std::move(sink)), reserve_(std::move(reserve)), next_(next) {}

  [[nodiscard]] Status begin(const JournalHead& head);
  /// The bytes to reserve() for this step, made and put back.
  [[nodiscard]] std::size_t space_for(const std::string& host, const Step& step,
                                      const std::string& memory);
  [[nodiscard]] Status reserve(std::size_t bytes);
  [[nodiscard]] Status guarded(const JournalGuard& guard, std::int64_t within_ms);
  [[nodiscard]] Status load(const JournalLoad& load);
  [[nodiscard]] Status failing(const JournalFailure& failure);
  [[nodiscard]] Status healed();
  /// Gives the step's number.
  [[nodiscard]] Result<unsigned> step(const std::string& host, const Step& step,
                                      const std::string& memory);
  [[nodiscard]] Status done(unsigned number, bool is_shown);
  /// Unix seconds for people, milliseconds of CLOCK_BOOTTIME for the guard.
  [[nodiscard]] Status awaiting(std::int64_t until, std::int64_t deadline);
  [[nodiscard]] Status kept();
  [[nodiscard]] Status undoing(std::string_view reason);
  [[nodiscard]] Status undone(unsigned number);
  [[nodiscard]] Status not_undone(unsigned number, const std::string& error);
  [[nodiscard]] Status ended(bool is_whole);

  /// Keeps records back until release() writes them: what they say is not lasting yet.
  void hold() { is_held_ = true; }
  [[nodiscard]] Status release();

 private:
  [[nodiscard]] Status put(std::string line);
  [[nodiscard]] const std::string& text_of(const Change& change);
  [[nodiscard]] std::string step_text(unsigned number, const std::string& host, const Step& step,
                                      const std::string& memory);

  bool is_held_ = false;
  std::string held_;
  JournalSink sink_;
  JournalReserve reserve_;
  unsigned next_;
  std::deque<std::pair<Change, std::string>> texts_;  // JSON of changes that were written
};

}  // namespace weir::host
