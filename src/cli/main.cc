// The process around the command line: streams and signals.
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

#include "cli/frame/command_table.h"
#include "cli/frame/run.h"
#include "host/linux/host.h"

namespace {

using weir::cli::ExitCode;

// Only async-signal-safe calls. The new line keeps the shell's prompt off a progress bar.
extern "C" void end_interrupted(int /*signal*/) {
  if (isatty(STDERR_FILENO) != 0) {
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, "\n", 1);
  }
  _exit(static_cast<int>(ExitCode::kInterrupted));
}

std::optional<std::string> environment(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return value;
}

bool ask(const std::string& question) {
  std::cerr << question << " [y/N] " << std::flush;
  std::string answer;
  return std::getline(std::cin, answer) && (answer == "y" || answer == "Y" || answer == "yes");
}

// A full disk behind `weir … > file` must not look like success.
ExitCode flush(ExitCode code) {
  std::cout.flush();
  if (std::cout.good()) return code;
  std::cerr << "weir: could not write to standard output; is the disk full?\n";
  return ExitCode::kInternalError;
}

}  // namespace

int main(int argc, char** argv) {
  // A reader that went away (`weir … | head`) ends us as it ends every tool, even where a service
  // manager had the signal ignored.
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGINT, end_interrupted);
  std::ios::sync_with_stdio(false);
  weir::cli::Context context{.out = std::cout,
                             .err = std::cerr,
                             .environment = environment,
                             .stdout_is_terminal = isatty(STDOUT_FILENO) != 0,
                             .stderr_is_terminal = isatty(STDERR_FILENO) != 0};
  if (isatty(STDIN_FILENO) != 0 && context.stderr_is_terminal) context.ask = ask;
  std::vector<std::string> words(argv + 1, argv + argc);
  // Alone, on a host with RDMA: what it shows. Elsewhere: the help.
  if (words.empty() && weir::host::has_rdma_device()) words = {"show"};
  return static_cast<int>(flush(weir::cli::run(weir::cli::command_table(), words, context)));
}
