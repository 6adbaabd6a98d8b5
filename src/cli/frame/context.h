#pragma once
// What a verb sees of the process: two streams, how to write on them, and the environment. A test
// hands in string streams and a made-up environment, so no verb needs a process to be tested.
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/frame/exit_code.h"

namespace weir::tune {
class Crew;
}

namespace weir::cli {

struct Context {
  std::ostream& out;  // the answer
  std::ostream& err;  // errors, progress
  /// An environment variable, or nullopt where it is not set.
  std::function<std::optional<std::string>(const char*)> environment = [](const char*) {
    return std::optional<std::string>();
  };
  bool stdout_is_terminal = false;
  bool stderr_is_terminal = false;
  /// Puts a question to whoever sits at the terminal; true is yes. Empty where nobody does.
  std::function<bool(const std::string& question)> ask = {};
  /// Gives up root before files of others are read, but for writing under these directories; empty
  /// in tests, which live on in the process.
  std::function<Status(const std::vector<std::string>& places)> give_up_root = {};
  /// The same for a verb that goes on to answer on a socket.
  std::function<Status(const std::vector<std::string>& places)> give_up_root_to_serve = {};
  /// Has `out` take all that is written and keep a copy, for a verb that changes hosts; empty in
  /// tests.
  std::function<void()> keep_output = {};
  /// The other ranks of weir-mpi, if any, for the runs of a tuning; null: this is not weir-mpi.
  tune::Crew* crew = nullptr;
  // From the options that every verb has.
  bool json = false;
  bool quiet = false;
  bool colour = false;
};

enum class Tone { kStrong, kGood, kWarning, kBad, kFaint };

/// `text` in a colour where the output has colours, else as it is. Colour never carries meaning
/// alone.
[[nodiscard]] std::string paint(const Context&, Tone, std::string_view text);

/// Says on stderr what is wrong, and with --json as an object of schema weir/error/1 on stdout, so
/// that a program that reads stdout always gets one object. Returns `code`, to be returned.
ExitCode fail(Context&, ExitCode code, std::string_view message);

}  // namespace weir::cli
