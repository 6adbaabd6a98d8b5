#include "cli/process.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "base/stale_files.h"
#include "base/untrusted/give_up_root.h"
#include "base/untrusted/printable.h"
#include "cli/frame/command_table.h"
#include "cli/frame/run.h"
#include "host/linux/host.h"

namespace {

using weir::cli::ExitCode;

// Only async-signal-safe calls. The new line keeps the shell's prompt off a progress bar. Ctrl-C
// has an exit status of its own; who sends another signal sees that it ended us.
extern "C" void end_interrupted(int signal) {
  weir::remove_noted_files();
  if (signal != SIGINT) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
    return;
  }
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
  std::cerr << weir::printable(question) << " [y/N] " << std::flush;
  std::string answer;
  return std::getline(std::cin, answer) && (answer == "y" || answer == "Y" || answer == "yes");
}

/// Standard output, and a copy of it once keep() was called. A verb that changes hosts goes on
/// where its output cannot be written: what it did is then printed on standard error.
class KeptOutput : public std::streambuf {
 public:
  void keep() { keeps_ = true; }
  [[nodiscard]] bool keeps() const { return keeps_; }
  [[nodiscard]] const std::string& kept() const { return kept_; }

 protected:
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    const char byte = traits_type::to_char_type(c);
    return xsputn(&byte, 1) == 1 ? c : traits_type::eof();
  }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    if (keeps_) kept_.append(text, static_cast<std::size_t>(size));
    std::cout.write(text, size);
    return keeps_ || std::cout.good() ? size : 0;
  }
  int sync() override {
    std::cout.flush();
    return keeps_ || std::cout.good() ? 0 : -1;
  }

 private:
  bool keeps_ = false;
  std::string kept_;
};

// A full disk behind `weir … > file` must not look like success; the exit code of a change is
// that of the change all the same.
ExitCode flush(ExitCode code, const KeptOutput& output) {
  std::cout.flush();
  if (std::cout.good()) return code;
  std::cerr << "weir: could not write to standard output; is the disk full?\n";
  if (!output.keeps()) return ExitCode::kInternalError;
  std::cerr << output.kept() << std::flush;
  return std::cerr.good() ? code : ExitCode::kInternalError;
}

/// Memory that runs out while a library frees some (nlohmann's destructor needs a little itself)
/// has no way up to run(). Files are written whole or not at all, so ending here loses nothing.
[[noreturn]] void end_without_memory() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    constexpr std::string_view kWords = "weir: not enough memory for this input on this machine\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kWords.data(), kWords.size());
    _exit(static_cast<int>(ExitCode::kBadInput));
  } catch (...) {
    std::abort();
  }
  std::abort();
}

/// A descriptor that the caller closed would be given to the first file we open, and errors would
/// be written into it. The null device in the wrong direction keeps the place, and using it is an
/// error as it was before (as gnulib's stdopen does).
void hold_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest that is free is this one: those below are open.
    if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
      _exit(static_cast<int>(ExitCode::kInternalError));
  }
}

}  // namespace

namespace weir::cli {

int run_process(const std::vector<std::string>& given, tune::Crew* crew) {
  hold_standard_descriptors();
  std::set_terminate(end_without_memory);
  // A reader that went away (`weir … | head`) ends us as it ends every tool, even where a service
  // manager had the signal ignored.
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes is an error of the write
  std::signal(SIGINT, end_interrupted);
  std::signal(SIGTERM, end_interrupted);
  // nohup(1) has it ignored.
  if (std::signal(SIGHUP, end_interrupted) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
  std::ios::sync_with_stdio(false);
  KeptOutput output;
  std::ostream out(&output);
  weir::cli::Context context{.out = out,
                             .err = std::cerr,
                             .environment = environment,
                             .stdout_is_terminal = isatty(STDOUT_FILENO) != 0,
                             .stderr_is_terminal = isatty(STDERR_FILENO) != 0};
  context.crew = crew;
  context.keep_output = [&] { output.keep(); };
  // Ranks go on to talk to each other, and mpirun does not start them for root anyway.
  if (crew == nullptr) context.give_up_root = weir::give_up_root;
  context.give_up_root_to_serve = weir::give_up_root_to_serve;
  if (isatty(STDIN_FILENO) != 0 && context.stderr_is_terminal) context.ask = ask;
  std::vector<std::string> words = given;
  // Alone, on a host with RDMA: what it shows. Elsewhere: the help.
  if (words.empty() && weir::host::has_rdma_device()) words = {"show"};
  return static_cast<int>(
      flush(weir::cli::run(weir::cli::command_table(), words, context), output));
}

}  // namespace weir::cli
