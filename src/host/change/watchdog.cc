#include "host/change/watchdog.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace weir::host {

namespace {

/// The journal is looked at this often while its confirmation is awaited.
constexpr timespec kWatchdogInterval = {.tv_sec = 0, .tv_nsec = 250'000'000};

void say(std::string_view text) {
  const std::string line = fmt::format("{} {}\n", std::time(nullptr), text);
  (void)!::write(STDERR_FILENO, line.data(), line.size());
}

/// Out of the session and off the terminal; what it says goes to the log.
void leave_session(const std::string& log) {
  ::setsid();
  for (const int signal : {SIGHUP, SIGINT, SIGPIPE, SIGTERM})
    std::signal(signal, signal == SIGTERM ? SIG_DFL : SIG_IGN);
  (void)!::chdir("/");
  constexpr mode_t kMode = 0600;
  const int nothing = ::open("/dev/null", O_RDWR);
  const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, kMode);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(file >= 0 ? file : nothing, STDOUT_FILENO);
  ::dup2(file >= 0 ? file : nothing, STDERR_FILENO);
  if (nothing > STDERR_FILENO) ::close(nothing);
  if (file > STDERR_FILENO) ::close(file);
}

/// Until the applying process has ended or let go.
void wait_for_end(int pipe) {
  std::array<char, 16> ignored{};
  ssize_t got = 0;
  do {
    got = ::read(pipe, ignored.data(), ignored.size());
  } while (got > 0 || (got < 0 && errno == EINTR));
  ::close(pipe);
}

/// One look, under the lock. True where it is over.
bool look(const StateDirectory& state, const RollBack& roll_back) {
  const auto lock = state.wait_for_lock();
  if (!lock) {
    say(lock.error().what);
    return true;
  }
  const auto open = state.open_journal();
  if (!open) {
    say(open.error().what);
    return true;
  }
  const WatchdogStep step = next_step(*open, std::time(nullptr));
  if (step != WatchdogStep::kRollBack) return step == WatchdogStep::kLeave;
  const bool was_awaited = (*open)->journal.phase == JournalPhase::kAwaiting;
  const std::string_view reason = was_awaited ? "it was not confirmed in time"
                                              : "the applying process ended before it was done";
  say(fmt::format("{}: rolling back: {}", (*open)->file, reason));
  const Status done = roll_back(**open, reason);
  say(done ? "rolled back" : done.error().what);
  return true;
}

}  // namespace

WatchdogStep next_step(const std::optional<StoredJournal>& open, std::int64_t now) {
  if (!open) return WatchdogStep::kLeave;
  // The process that applied or undid held the lock; it is free now.
  if (open->journal.phase != JournalPhase::kAwaiting) return WatchdogStep::kRollBack;
  return now >= open->journal.until ? WatchdogStep::kRollBack : WatchdogStep::kWait;
}

Result<Watchdog> Watchdog::start(const StateDirectory& state, StateLock& lock,
                                 const RollBack& roll_back) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return Error{ErrorCode::kIo, fmt::format("make a pipe: {}", std::strerror(errno))};
  const pid_t child = ::fork();
  if (child < 0) {
    const int number = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    return Error{ErrorCode::kIo, fmt::format("start the watchdog: {}", std::strerror(number))};
  }
  if (child > 0) {
    ::close(ends[0]);
    return Watchdog(ends[1]);
  }
  ::close(ends[1]);
  lock.leave_to_parent();
  leave_session(state.watchdog_log());
  wait_for_end(ends[0]);
  while (!look(state, roll_back))
    ::nanosleep(&kWatchdogInterval, nullptr);
  ::_exit(EXIT_SUCCESS);
}

Watchdog::Watchdog(Watchdog&& other) noexcept : pipe_(other.pipe_) {
  other.pipe_ = -1;
}

Watchdog::~Watchdog() {
  if (pipe_ >= 0) ::close(pipe_);
}

}  // namespace weir::host
