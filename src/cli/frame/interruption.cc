#include "cli/frame/interruption.h"

#include <array>
#include <csignal>

#include <unistd.h>

namespace weir::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

extern "C" void note_interruption(int /*signal*/) {
  interrupted = 1;
}

// All that end a process unless they are handled, but for SIGKILL and those of a fault.
constexpr std::array kSignals = {SIGINT,    SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM,
                                 SIGVTALRM, SIGPROF, SIGXCPU, SIGIO,   SIGPWR,  SIGPIPE, SIGXFSZ};

/// A reader who goes away and a file that may not grow are errors of a write.
bool is_error_of_write(int signal) {
  return signal == SIGPIPE || signal == SIGXFSZ;
}

std::array<struct sigaction, kSignals.size()> earlier{};

}  // namespace

Interruption::Interruption() {
  interrupted = 0;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction action {};
    action.sa_handler = is_error_of_write(kSignals.at(i)) ? SIG_IGN : note_interruption;
    ::sigaction(kSignals.at(i), &action, &earlier.at(i));
  }
}

Interruption::~Interruption() {
  for (std::size_t i = 0; i < kSignals.size(); ++i)
    ::sigaction(kSignals.at(i), &earlier.at(i), nullptr);
}

void Interruption::ignore_from_here() {
  for (std::size_t i = 0; i < kSignals.size(); ++i)
    if (!is_error_of_write(kSignals.at(i))) earlier.at(i).sa_handler = SIG_IGN;
}

bool Interruption::has_come() {
  return interrupted != 0;
}

}  // namespace weir::cli
