#pragma once
// What the verbs that change hosts share: where they write down what they do, how they are
// interrupted, and how a person is asked.
#include <optional>
#include <string>

#include "cli/frame/command.h"
#include "cli/frame/host_input.h"
#include "cli/frame/progress.h"
#include "host/change/apply.h"
#include "host/change/rollback.h"
#include "host/change/state_directory.h"

namespace weir::cli {

[[nodiscard]] Option state_option();
/// --state DIR and --yes, after the verb's own options.
[[nodiscard]] std::vector<Option> with_change_options(std::vector<Option> own = {});

/// --state, or the lab's own place, or /var/lib/weir. In a lab nothing is lost with the power: its
/// journal is not synced.
[[nodiscard]] host::StateDirectory state_of(const Args&, const HostSet&);

/// " --lab DIR", " --state DIR": for commands to type next.
[[nodiscard]] std::string state_words(const Args&, const HostSet&);

/// SIGINT, SIGTERM and SIGHUP are noted instead of ending the process, and a reader who goes away
/// does not end it either, while this lives: a change is undone, not left.
class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption();
  [[nodiscard]] static bool has_come();
};

/// For host::apply_plan() and host::undo(): interruptible, and waiting for links in real time (a
/// lab's come back at once).
[[nodiscard]] host::ApplyEnvironment apply_environment(const HostSet&);

/// The host of that name; this machine whatever its name was, since there is no other.
[[nodiscard]] host::HostFinder finder_of(const HostSet&);

/// Whether to go on: --yes, or a person said yes. Where nobody can be asked, says that --yes is
/// needed and leaves the exit code in `code`.
[[nodiscard]] bool may_go_on(const Args&, Context&, const std::string& question, ExitCode& code);

/// Says on stderr that an earlier apply was not ended, where one was not and it can be read.
void note_open_journal(const Args&, Context&, const HostSet&);

/// The exit code of a failure to open, lock or read the state directory, after saying so.
ExitCode fail_state(Context&, const Error& error);

/// "2026-11-15T12:03:44Z", now.
[[nodiscard]] std::string time_now();

}  // namespace weir::cli
