#pragma once
// Commands of the system: run to their end, or started and waited for later, with what they
// printed.
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <spawn.h>

#include "base/result.h"
#include "host/host_io.h"

namespace weir::host {

/// Searched for in PATH; standard input is empty. A signal that ended it is 128 + its number, as a
/// shell says it. Not found is an error; a command that fails is an outcome.
[[nodiscard]] Result<CommandOutcome> run_command(const std::vector<std::string>& command);

/// Of what a command prints, its first and its last part are kept, 8 MiB each: a load's results are
/// at the end, its settings at the beginning. A line between says how much is left out.
inline constexpr std::size_t kKeptOutput = std::size_t{8} << 20U;

/// The same for what a host of a fleet prints to standard error: with the middle part that is not
/// left out yet, at most 48 KiB per host.
inline constexpr std::size_t kKeptErrors = std::size_t{16} << 10U;

/// A load, in a process group of its own: ended with all that it started where it is interrupted
/// (status 130).
[[nodiscard]] Result<CommandOutcome> run_load(const std::vector<std::string>& command,
                                              const LoadControl& control);

/// What a command may cost, and what it is given to read.
struct Talk {
  Duration limit = Duration::max();
  std::function<bool()> is_interrupted = {};
  /// More on standard output than this, and it is ended: `was_cut`.
  std::size_t most_output = static_cast<std::size_t>(-1);
  /// Of what it prints to standard error, the first and the last part of this size are kept.
  std::size_t kept_errors = kKeptOutput;
  /// Its standard input, written when its output begins with the cue (empty: at once) and a line
  /// that `input_for` understands; then closed. Without an `input_for` there is none.
  std::string cue = {};
  /// What to answer to that first line; the text lives until the command has ended.
  std::function<std::string_view(std::string_view line)> input_for = {};
  /// Started tethered (load_mark.h), without any other input.
  bool is_tethered = false;
};

/// A command that runs beside us, in a process group of its own. Destroyed while it still runs, it
/// is ended with all that it started (SIGTERM, and SIGKILL two seconds later).
class RunningCommand {
 public:
  [[nodiscard]] static Result<std::unique_ptr<RunningCommand>> start(
      const std::vector<std::string>& command);
  /// In a session of its own: no key and no closing of our terminal reaches it, and it cannot ask
  /// there, which it would wait for for ever.
  [[nodiscard]] static Result<std::unique_ptr<RunningCommand>> start_apart(
      const std::vector<std::string>& command);
  /// With a standard input of its own, for what finish() writes to it.
  [[nodiscard]] static Result<std::unique_ptr<RunningCommand>> start_with_input(
      const std::vector<std::string>& command);
  /// With a standard input that begins with this line and stays open for as long as the command
  /// runs and this process lives.
  [[nodiscard]] static Result<std::unique_ptr<RunningCommand>> start_tethered(
      const std::vector<std::string>& command, std::string_view line);
  RunningCommand(const RunningCommand&) = delete;
  RunningCommand& operator=(const RunningCommand&) = delete;
  ~RunningCommand();

  /// Waits for its end, at most `limit`: then it is ended, with status 124 as timeout(1) has it.
  /// Where it is interrupted the status is 130.
  [[nodiscard]] Result<CommandOutcome> finish(Duration limit = Duration::max(),
                                              const std::function<bool()>& is_interrupted = {});
  /// The same within all limits of `talk`. REQUIRES: started with it.
  [[nodiscard]] Result<CommandOutcome> finish(const Talk& talk);
  /// It printed more than it may.
  [[nodiscard]] bool was_cut() const;
  /// SIGTERM, without waiting: many are ended in the time of one.
  void ask_to_end();

 private:
  friend Result<CommandOutcome> run_command(const std::vector<std::string>&);
  friend Result<CommandOutcome> run_load(const std::vector<std::string>&, const LoadControl&);
  struct Parts;
  explicit RunningCommand(std::unique_ptr<Parts> parts);
  /// `input` is its standard input; -1: none.
  [[nodiscard]] static Result<std::unique_ptr<RunningCommand>> spawn(
      const std::vector<std::string>& command, const posix_spawnattr_t* attributes, int input);
  std::unique_ptr<Parts> parts_;
};

}  // namespace weir::host
