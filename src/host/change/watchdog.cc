#include "host/change/watchdog.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "host/change/rollback.h"
#include "host/probe/linux_command.h"

namespace weir::host {

namespace {

/// The journal is looked at this often while its confirmation is awaited.
constexpr std::int64_t kLookEveryMs = 250;

void sleep_ms(std::int64_t milliseconds) {
  timespec time{};
  time.tv_sec = milliseconds / 1000;
  time.tv_nsec = (milliseconds % 1000) * 1'000'000;
  ::nanosleep(&time, nullptr);
}

void say(std::string_view text) {
  const std::string line = fmt::format("{} {}\n", std::time(nullptr), text);
  (void)!::write(STDERR_FILENO, line.data(), line.size());
}

/// Of the journal in `file`, or of whichever is open where that is empty.
Result<std::optional<StoredJournal>> still_open(const StateDirectory& state,
                                                const std::string& file) {
  if (file.empty()) return state.open_journal();
  WEIR_TRY(journal, state.read(file));
  if (journal && !journal->journal.is_open()) journal.reset();
  return journal;
}

std::string_view reason_of(const StoredJournal& stored) {
  if (stored.journal.phase == JournalPhase::kAwaiting) return "it was not confirmed in time";
  return "the process that made it ended before it was done";
}

/// Whoever holds the lock and is stopped (Ctrl-Z, SIGSTOP) would keep the host half changed for as
/// long as it likes: it is ended, and its journal rolled back.
class StoppedHolder {
 public:
  void look(const StateDirectory& state) {
    const auto holder = state.holder();
    if (!holder || process_state(*holder) != 'T') {
      holder_.reset();
      return;
    }
    const std::int64_t now = boot_time_now().ms;
    if (holder_ != holder) {
      holder_ = holder;
      since_ms_ = now;
    }
    if (now - since_ms_ < kPatienceMs) return;
    say(fmt::format("process {} holds the lock and was stopped: ended", *holder));
    ::kill(static_cast<pid_t>(*holder), SIGKILL);
  }

 private:
  static constexpr std::int64_t kPatienceMs = 5'000;  // stopped by mistake, and gone on with
  std::optional<std::int64_t> holder_;
  std::int64_t since_ms_ = 0;
};

/// One journal under guard. What goes wrong (its directory is moved or opened to others,
/// another holds the lock, a full disk) is said once and tried again, ever more rarely, until the
/// journal is settled.
class GuardedJournal {
 public:
  /// `held` is the journal's file, open: it tells one that was removed from one that was moved.
  GuardedJournal(const StateDirectory& state, const RollBack& roll_back, std::string file,
                 OwnedDescriptor held)
      : state_(state), roll_back_(roll_back), file_(std::move(file)), held_(std::move(held)) {}

  /// One look; acts where it is time to. True where there is nothing left to do.
  [[nodiscard]] bool is_over() {
    const auto settled = look();
    const std::string error = settled ? "" : settled.error().what;
    const bool is_known = !error.empty() && error == last_error_;
    pause_ms_ = is_known ? std::min(pause_ms_ * 2, kLongestPauseMs) : kLookEveryMs;
    last_error_ = error;
    if (settled) return *settled;
    say_once(error);
    if (!is_removed()) return false;
    say(file_ + " was removed: there is nothing left to roll back from");
    return true;
  }
  /// Until the next look.
  [[nodiscard]] std::int64_t pause_ms() const { return pause_ms_; }

 private:
  static constexpr std::int64_t kLongestPauseMs = 30'000;

  Result<bool> look() {
    WEIR_TRY(open, still_open(state_, file_));
    const WatchdogStep step = next_step(open, boot_time_now());
    if (step != WatchdogStep::kRollBack) return step == WatchdogStep::kLeave;
    // The lock is free when whoever applies has ended: looked at again then.
    const auto lock = state_.lock();
    if (!lock && lock.error().code != ErrorCode::kInvalid) return lock.error();
    if (!lock) {
      stopped_.look(state_);
      if (open->journal.phase != JournalPhase::kApplying) say_once(lock.error().what);
      return false;
    }
    WEIR_TRY(now, still_open(state_, file_));
    if (next_step(now, boot_time_now()) != WatchdogStep::kRollBack) return false;
    const std::string_view reason = reason_of(*now);
    say_once(fmt::format("{}: rolling back: {}", file_, reason));
    WEIR_TRY_STATUS(roll_back_(*now, reason));
    say("rolled back");
    return true;
  }

  void say_once(const std::string& text) {
    constexpr std::size_t kMost = 100;  // a log is no place for every process number
    if (said_.size() < kMost && said_.insert(text).second) say(text);
  }

  [[nodiscard]] bool is_removed() const {
    struct stat info {};
    return ::fstat(held_.get(), &info) == 0 && info.st_nlink == 0;
  }

  const StateDirectory& state_;
  const RollBack& roll_back_;
  std::string file_;
  OwnedDescriptor held_;
  std::int64_t pause_ms_ = kLookEveryMs;
  std::string last_error_;
  std::set<std::string> said_;
  StoppedHolder stopped_;
};

// ---- the processes ----

/// One that the kernel sends where the process itself is at fault: it cannot go on.
bool is_of_a_fault(int signal) {
  constexpr std::array kFaults = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS};
  return std::find(kFaults.begin(), kFaults.end(), signal) != kFaults.end();
}

/// Out of the session and off the terminal; what it says goes to the log. Signals that end or stop
/// processes by habit (a terminal that closes, kill, pkill weir) do not end this one.
void leave_session(const StateDirectory& state) {
  ::setsid();
  for (int signal = 1; signal <= SIGRTMAX; ++signal)
    if (signal != SIGCHLD && !is_of_a_fault(signal)) std::signal(signal, SIG_IGN);
  (void)!::chdir("/");
  const int nothing = ::open("/dev/null", O_RDWR);
  auto log = state.watchdog_log();
  const int file = log ? log->get() : nothing;
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(file, STDOUT_FILENO);
  ::dup2(file, STDERR_FILENO);
  if (nothing > STDERR_FILENO) ::close(nothing);
}

enum class Watched { kOver, kOtherGone, kOtherStopped };

/// In the process that looks: until it is over, or it is to wait for another one. A process that
/// was stopped (SIGSTOP) would not notice that this one is gone.
Watched watch(GuardedJournal& journal, pid_t other) {
  for (std::int64_t left = 0;; left -= kLookEveryMs) {
    if (::getppid() != other) return Watched::kOtherGone;
    if (process_state(other) == 'T') return Watched::kOtherStopped;
    if (left <= 0) {
      if (journal.is_over()) return Watched::kOver;
      left = journal.pause_ms();
    }
    sleep_ms(kLookEveryMs);
  }
}

/// In the process that waits: true where the one that looks came to its end.
bool has_ended_well(pid_t child) {
  int status = 0;
  for (;;) {
    if (::waitpid(child, &status, WUNTRACED) < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    if (!WIFSTOPPED(status)) break;
    ::kill(child, SIGKILL);
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS) return true;
  say(fmt::format("the process that looks was stopped or ended (status {}): started again",
                  WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status)));
  return false;
}

/// Two processes, one that looks and one that waits for it. Whichever is killed or stopped, the
/// other makes it anew: the waiting one forks again; the looking one forks another to look, and
/// waits. One that is stopped is ended when there is another pair, not before: this one might be
/// killed in between.
[[noreturn]] void guard_in_pairs(GuardedJournal& journal) {
  for (pid_t stopped = -1;;) {
    const pid_t self = ::getpid();
    const pid_t child = ::fork();
    if (child == 0) {
      const Watched seen = watch(journal, self);
      if (seen == Watched::kOver) ::_exit(EXIT_SUCCESS);
      stopped = seen == Watched::kOtherStopped ? self : -1;
      continue;
    }
    if (stopped > 0) {
      ::kill(stopped, SIGKILL);
      say("the process that waits was stopped: another was started, and it was ended");
    }
    stopped = -1;
    // Where no process can be made, this one looks.
    if (child < 0 ? journal.is_over() : has_ended_well(child)) ::_exit(EXIT_SUCCESS);
    sleep_ms(child < 0 ? journal.pause_ms() : kLookEveryMs);
  }
}

/// In the child: out of the session, and sure that the journal can be found from there.
[[noreturn]] void become_guard(const StateDirectory& state, const RollBack& roll_back, int ready) {
  leave_session(state);
  const auto answer = [&](std::string_view text) {
    (void)!::write(ready, text.data(), text.size());
    ::close(ready);
  };
  const auto open = state.open_journal();
  if (!open || !*open) {
    answer(open ? "it does not find the journal in " + state.path() : open.error().what);
    ::_exit(EXIT_FAILURE);
  }
  auto held = state.hold(**open);
  if (!held) {
    answer(held.error().what);
    ::_exit(EXIT_FAILURE);
  }
  GuardedJournal journal(state, roll_back, (*open)->file, std::move(*held));
  answer(".");
  guard_in_pairs(journal);
}

/// What the child said: "." where it is in its place.
std::string first_word(int pipe) {
  constexpr int kPatienceMs = 10'000;
  std::array<char, 512> text{};
  pollfd watched{pipe, POLLIN, 0};
  if (::poll(&watched, 1, kPatienceMs) <= 0) return "it did not answer";
  const ssize_t got = ::read(pipe, text.data(), text.size());
  if (got <= 0) return "it ended at once";
  return {text.data(), static_cast<std::size_t>(got)};
}

// ---- systemd ----

/// As sd_booted(3) finds it out.
bool runs_systemd() {
  struct stat info {};
  return ::lstat("/run/systemd/system", &info) == 0 && S_ISDIR(info.st_mode);
}

Result<std::string> own_binary() {
  std::error_code error;
  const std::string path = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (error || !std::filesystem::exists(path, error))
    return not_found_error("the file of this weir cannot be found: " + path);
  return path;
}

Status run_quietly(const std::vector<std::string>& words) {
  constexpr Duration kPatience = 20_s;
  WEIR_TRY(running, RunningCommand::start(words));
  WEIR_TRY(outcome, running->finish(kPatience));
  if (outcome.exit_status == 0) return {};
  const std::string_view said = trim(outcome.errors.empty() ? outcome.output : outcome.errors);
  return Error{ErrorCode::kIo,
               fmt::format("{}: status {}: {}", words.front(), outcome.exit_status, said)};
}

Result<JournalGuard> arm_timer(const StateDirectory& state, Duration within) {
  WEIR_TRY(binary, own_binary());
  WEIR_TRY(unit, state.guard_name());
  WEIR_TRY_STATUS(run_quietly(timer_command(unit, within, binary, state.path())));
  const JournalGuard guard{.by = "systemd", .unit = unit};
  if (const Status active = run_quietly({"systemctl", "is-active", unit + ".timer"}); !active) {
    disarm_guard(guard);
    return active.error();
  }
  return guard;
}

}  // namespace

BootTime boot_time_now() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return {boot_id(), now.tv_sec * 1000 + now.tv_nsec / 1'000'000};
}

WatchdogStep next_step(const std::optional<StoredJournal>& open, const BootTime& now) {
  if (!open) return WatchdogStep::kLeave;
  const Journal& journal = open->journal;
  const bool was_restarted =
      !journal.head.boot.empty() && !now.boot.empty() && journal.head.boot != now.boot;
  // Whoever applies or undoes holds the lock: where it is free it has ended.
  if (journal.phase != JournalPhase::kAwaiting || was_restarted) return WatchdogStep::kRollBack;
  return now.ms >= journal.deadline ? WatchdogStep::kRollBack : WatchdogStep::kWait;
}

Status settle_open_journal(const StateDirectory& state, const RollBack& roll_back) {
  std::string file;
  StoppedHolder stopped;
  for (;;) {
    WEIR_TRY(open, still_open(state, file));
    if (open) file = open->file;
    const WatchdogStep step = next_step(open, boot_time_now());
    if (step == WatchdogStep::kLeave) return {};
    if (step == WatchdogStep::kRollBack) {
      const auto lock = state.lock({.patience = 1_s});
      if (!lock && lock.error().code != ErrorCode::kInvalid) return lock.error();
      if (!lock) {
        stopped.look(state);
        continue;
      }
      WEIR_TRY(now, still_open(state, file));
      if (next_step(now, boot_time_now()) == WatchdogStep::kRollBack)
        return roll_back(*now, reason_of(*now));
      continue;
    }
    sleep_ms(kLookEveryMs);
  }
}

Status start_watchdog(const StateDirectory& state, StateLock& lock, const RollBack& roll_back) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return Error{ErrorCode::kIo, fmt::format("make a pipe: {}", std::strerror(errno))};
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    lock.leave_to_parent();
    // The first child ends at once: the guard is nobody's child but that of process 1.
    if (::fork() != 0) ::_exit(EXIT_SUCCESS);
    become_guard(state, roll_back, ends[1]);
  }
  const int number = errno;
  ::close(ends[1]);
  if (child > 0) {
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  const std::string answer = child > 0 ? first_word(ends[0]) : std::strerror(number);
  ::close(ends[0]);
  if (answer == ".") return {};
  return Error{ErrorCode::kIo, answer};
}

std::vector<std::string> timer_command(const std::string& unit, Duration within,
                                       const std::string& binary, const std::string& state) {
  constexpr std::int64_t kPerMillisecond = 1'000'000'000;
  return {"systemd-run", "--quiet", "--collect", "--unit=" + unit,
          "--description=weir: rolls back an apply that is not confirmed",
          fmt::format("--on-active={}ms", within.raw() / kPerMillisecond),
          "--timer-property=AccuracySec=100ms",
          // Killed, or kept from it by an error that may go away: started again. What it could not
          // put back (5), damage (3) and a wrong command (2) it says, and a second try is the
          // operator's.
          "--property=Restart=on-failure", "--property=RestartPreventExitStatus=2 3 5",
          "--property=RestartSec=3s",
          // Stopped only when there is nothing left to do, or by a shutdown, which settles it.
          "--property=KillSignal=SIGKILL", "--service-type=exec", binary, "rollback",
          "--unconfirmed", "--state", state, "--quiet"};
}

Result<JournalGuard> arm_guard(const StateDirectory& state, StateLock& lock, Duration within,
                               const RollBack& roll_back) {
  constexpr const char* kAttempt =
      "the automatic rollback could not be armed, and nothing was "
      "changed";
  if (runs_systemd()) {
    auto timer = arm_timer(state, within);
    if (!timer) return timer.error().within(kAttempt);
    return timer;
  }
  if (const Status started = start_watchdog(state, lock, roll_back); !started)
    return started.error().within(kAttempt);
  return JournalGuard{.by = "process", .unit = ""};
}

void disarm_guard(const JournalGuard& guard) {
  if (guard.unit.empty()) return;
  const std::string timer = guard.unit + ".timer";
  (void)run_quietly({"systemctl", "stop", timer, guard.unit + ".service"}).has_value();
}

}  // namespace weir::host
