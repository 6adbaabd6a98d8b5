#include "host/probe/linux_command.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/owned_descriptor.h"
#include "base/text.h"
#include "units/format.h"

extern "C" char** environ;  // POSIX has no header for it

namespace weir::host {

/// Not in the anonymous namespace: RunningCommand::Parts, which a header declares, holds two.
class Pipe {
 public:
  Pipe() { opened_ = ::pipe2(ends_.data(), O_CLOEXEC) == 0; }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  [[nodiscard]] bool is_open() const { return opened_; }
  [[nodiscard]] int read_end() const { return ends_[0]; }
  [[nodiscard]] int write_end() const { return ends_[1]; }
  void close_write_end() { close_end(1); }

 private:
  void close_end(std::size_t n) {
    if (opened_ && ends_.at(n) >= 0) ::close(ends_.at(n));
    ends_.at(n) = -1;
  }
  std::array<int, 2> ends_{-1, -1};
  bool opened_ = false;
};

namespace {

using Clock = std::chrono::steady_clock;

/// Milliseconds until `deadline`, for poll(); -1 waits for ever.
int left_until(Clock::time_point deadline) {
  if (deadline == Clock::time_point::max()) return -1;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
  constexpr std::int64_t kLongest = 1'000'000'000;
  return static_cast<int>(std::clamp<std::int64_t>(left.count() + 1, 0, kLongest));
}

/// The first and the last `kept` bytes of what comes.
class KeptOutput {
 public:
  explicit KeptOutput(std::size_t kept) : kept_(kept) {}
  void add(std::string_view text) {
    const std::size_t room = kept_ - first_.size();
    first_ += text.substr(0, room);
    last_ += text.substr(std::min(room, text.size()));
    if (last_.size() <= 2 * kept_) return;
    left_out_ += last_.size() - kept_;
    last_.erase(0, last_.size() - kept_);
  }
  [[nodiscard]] std::string take() && {
    if (left_out_ == 0) return std::move(first_) + last_;
    return fmt::format("{}\n[{} bytes of output left out]\n{}", first_, left_out_, last_);
  }

 private:
  std::size_t kept_;
  std::string first_;
  std::string last_;
  std::size_t left_out_ = 0;
};

/// Our end of a command's standard input: a socket, so that one that has closed its own is an error
/// and no signal.
class InputWriter {
 public:
  InputWriter() = default;
  explicit InputWriter(OwnedDescriptor end) : end_(std::move(end)) {}

  [[nodiscard]] int waits_on() const { return has_begun_ && !left_.empty() ? end_.get() : -1; }
  /// Looks whether the first line of the output is the cue, and asks for what to answer.
  void hear(const Talk& talk, std::string_view output) {
    if (has_begun_ || end_.get() < 0) return;
    const std::size_t line = output.find('\n');
    if (!talk.cue.empty() && line == std::string_view::npos) return;
    has_begun_ = true;
    const bool is_cued = talk.cue.empty() || output.starts_with(talk.cue);
    if (is_cued && talk.input_for) left_ = talk.input_for(output.substr(0, line));
    if (left_.empty()) end_ = OwnedDescriptor();
  }
  void write_some() {
    const ssize_t sent =
        ::send(end_.get(), left_.data(), left_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
    left_ = sent < 0 ? std::string_view() : left_.substr(static_cast<std::size_t>(sent));
    if (left_.empty()) end_ = OwnedDescriptor();
  }

 private:
  OwnedDescriptor end_;
  std::string_view left_;
  bool has_begun_ = false;
};

struct Heard {
  KeptOutput out = KeptOutput(kKeptOutput);
  KeptOutput err;
  std::size_t out_bytes = 0;
  std::string first_line = {};  // the beginning of the output, while a cue is awaited
};

/// Reads both until both are closed: a child that fills one must not wait for the other. False
/// where the time was over first, or it printed too much.
bool drain(int out_fd, int err_fd, Clock::time_point deadline, const Talk& talk, InputWriter& input,
           Heard& heard) {
  std::array<pollfd, 3> watched = {pollfd{out_fd, POLLIN, 0}, pollfd{err_fd, POLLIN, 0},
                                   pollfd{-1, POLLOUT, 0}};
  std::array<char, 65536> buffer{};
  constexpr auto kBetweenLooks = std::chrono::milliseconds(200);
  constexpr std::size_t kLongestCue = 4096;
  if (talk.cue.empty()) input.hear(talk, "");
  while (watched[0].fd >= 0 || watched[1].fd >= 0) {
    if (talk.is_interrupted && talk.is_interrupted()) return false;
    watched[2].fd = input.waits_on();
    const auto next =
        talk.is_interrupted ? std::min(deadline, Clock::now() + kBetweenLooks) : deadline;
    const int ready = ::poll(watched.data(), watched.size(), left_until(next));
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return true;
    if (ready == 0 && Clock::now() >= deadline) return false;
    if (watched[2].fd >= 0 && watched[2].revents != 0) input.write_some();
    for (std::size_t n = 0; n < 2; ++n) {
      if (watched.at(n).fd < 0 || watched.at(n).revents == 0) continue;
      const ssize_t got = ::read(watched.at(n).fd, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        watched.at(n).fd = -1;
        continue;
      }
      const std::string_view text(buffer.data(), static_cast<std::size_t>(got));
      (n == 0 ? heard.out : heard.err).add(text);
      if (n != 0) continue;
      heard.out_bytes += text.size();
      if (heard.out_bytes > talk.most_output) return false;
      if (heard.first_line.size() < kLongestCue) {
        heard.first_line += text.substr(0, kLongestCue);
        input.hear(talk, heard.first_line);
      }
    }
  }
  return true;
}

Error start_error(const std::string& program, int code) {
  const bool absent = code == ENOENT;
  return {absent           ? ErrorCode::kNotFound
          : code == EACCES ? ErrorCode::kPermission
                           : ErrorCode::kIo,
          fmt::format("start {}: {}", program, std::strerror(code))};
}

/// How long a child that was asked to end may take.
constexpr auto kEndPatience = std::chrono::seconds(2);

/// Whether it has ended by then. Looked at without taking it away: the number stays its own until
/// it is waited for.
bool ends_by(pid_t child, Clock::time_point deadline,
             const std::function<bool()>& is_interrupted = {}) {
  constexpr auto kPause = std::chrono::milliseconds(10);
  for (;;) {
    siginfo_t state{};
    ::waitid(P_PID, static_cast<id_t>(child), &state, WEXITED | WNOHANG | WNOWAIT);
    if (state.si_pid != 0) return true;
    if (Clock::now() >= deadline || (is_interrupted && is_interrupted())) return false;
    std::this_thread::sleep_for(kPause);
  }
}

/// Ends a child that may not want to, and the group that it leads: nothing waits for it longer than
/// two seconds after it was asked to.
int end_child(pid_t child, bool leads_group, std::optional<Clock::time_point> asked) {
  const pid_t target = leads_group ? -child : child;
  if (!asked) ::kill(target, SIGTERM);
  const bool has_ended = ends_by(child, asked.value_or(Clock::now()) + kEndPatience);
  if (leads_group || !has_ended) ::kill(target, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

int status_of(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

}  // namespace

struct RunningCommand::Parts {
  Pipe out;
  Pipe err;
  std::string program;
  pid_t child = -1;  // -1: not started, or waited for already
  bool leads_group = false;
  std::optional<Clock::time_point> asked_to_end = {};
  Clock::time_point start = Clock::now();
  OwnedDescriptor input = {};  // our end of its standard input
  bool is_tethered = false;    // it stays open
  bool was_cut = false;
};

RunningCommand::RunningCommand(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

RunningCommand::~RunningCommand() {
  if (parts_->child < 0) return;
  end_child(parts_->child, parts_->leads_group, parts_->asked_to_end);
}

void RunningCommand::ask_to_end() {
  if (parts_->child < 0 || parts_->asked_to_end) return;
  ::kill(parts_->leads_group ? -parts_->child : parts_->child, SIGTERM);
  parts_->asked_to_end = Clock::now();
}

Result<std::unique_ptr<RunningCommand>> RunningCommand::spawn(
    const std::vector<std::string>& command, const posix_spawnattr_t* attributes, int input) {
  if (command.empty() || command.front().empty()) return invalid_error("no command to run");
  auto parts = std::make_unique<Parts>();
  parts->program = command.front();
  if (!parts->out.is_open() || !parts->err.is_open()) return start_error(command.front(), errno);
  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  for (std::string& word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (input < 0) posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (input >= 0) posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, parts->out.write_end(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, parts->err.write_end(), STDERR_FILENO);
  const int failed = ::posix_spawnp(&parts->child, arguments.front(), &actions, attributes,
                                    arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    parts->child = -1;
    return start_error(command.front(), failed);
  }
  parts->out.close_write_end();
  parts->err.close_write_end();
  return std::unique_ptr<RunningCommand>(new RunningCommand(std::move(parts)));
}

Result<CommandOutcome> RunningCommand::finish(Duration limit,
                                              const std::function<bool()>& is_interrupted) {
  return finish(Talk{.limit = limit, .is_interrupted = is_interrupted});
}

bool RunningCommand::was_cut() const {
  return parts_->was_cut;
}

Result<CommandOutcome> RunningCommand::finish(const Talk& talk) {
  WEIR_CHECK(parts_->child >= 0);
  const std::function<bool()>& is_interrupted = talk.is_interrupted;
  const auto deadline = talk.limit == Duration::max()
                            ? Clock::time_point::max()
                            : parts_->start + std::chrono::nanoseconds(talk.limit.raw() / 1000);
  CommandOutcome outcome;
  Heard heard{.err = KeptOutput(talk.kept_errors)};
  InputWriter input(parts_->is_tethered ? OwnedDescriptor() : std::move(parts_->input));
  constexpr int kTimedOut = 124;
  constexpr int kInterrupted = 130;
  // One that has closed both may still run.
  const bool is_over =
      drain(parts_->out.read_end(), parts_->err.read_end(), deadline, talk, input, heard) &&
      ends_by(parts_->child, deadline, is_interrupted);
  parts_->was_cut = heard.out_bytes > talk.most_output;
  const bool was_interrupted = !is_over && is_interrupted && is_interrupted();
  outcome.output = std::move(heard.out).take();
  outcome.errors = std::move(heard.err).take();
  outcome.timed_out = !is_over && !was_interrupted && !parts_->was_cut;
  int wait_status = 0;
  if (is_over) {
    while (::waitpid(parts_->child, &wait_status, 0) < 0) {
      if (errno != EINTR) return start_error(parts_->program, errno);
    }
  } else {
    wait_status = end_child(parts_->child, parts_->leads_group, parts_->asked_to_end);
  }
  parts_->child = -1;
  const auto elapsed = Clock::now() - parts_->start;
  outcome.exit_status = is_over           ? status_of(wait_status)
                        : was_interrupted ? kInterrupted
                                          : kTimedOut;
  outcome.elapsed =
      Duration::raw(std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count() * 1000);
  return outcome;
}

namespace {

/// As the shell would find it: an error before anything is started.
Status find_program(const std::string& name) {
  if (name.find('/') != std::string::npos)
    return ::access(name.c_str(), X_OK) == 0 ? Status() : Status(start_error(name, errno));
  const char* const path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): one thread
  for (const std::string_view folder : split(path == nullptr ? "/usr/bin:/bin" : path, ':'))
    if (::access(fmt::format("{}/{}", folder, name).c_str(), X_OK) == 0) return {};
  return start_error(name, ENOENT);
}

/// Starts with the words behind it when a line comes, and not at all where none does.
std::vector<std::string> behind_gate(const std::vector<std::string>& command) {
  std::vector<std::string> words = {"sh", "-c", "read -r _ && exec \"$@\" </dev/null", "sh"};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

class SpawnAttributes {
 public:
  enum class Own { kGroup, kSession };
  /// Signals that we ignore are as they usually are.
  explicit SpawnAttributes(Own own = Own::kGroup) {
    posix_spawnattr_init(&attributes_);
    const int apart = own == Own::kGroup ? POSIX_SPAWN_SETPGROUP : POSIX_SPAWN_SETSID;
    posix_spawnattr_setflags(&attributes_, static_cast<short>(apart | POSIX_SPAWN_SETSIGDEF));
    posix_spawnattr_setpgroup(&attributes_, 0);
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGPIPE, SIGXFSZ})
      sigaddset(&signals, signal);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
  }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }
  [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

}  // namespace

Result<std::unique_ptr<RunningCommand>> RunningCommand::start(
    const std::vector<std::string>& command) {
  const SpawnAttributes attributes;
  WEIR_TRY(running, spawn(command, attributes.get(), -1));
  running->parts_->leads_group = true;
  return running;
}

Result<std::unique_ptr<RunningCommand>> RunningCommand::start_apart(
    const std::vector<std::string>& command) {
  const SpawnAttributes attributes(SpawnAttributes::Own::kSession);
  WEIR_TRY(running, spawn(command, attributes.get(), -1));
  running->parts_->leads_group = true;
  return running;
}

Result<std::unique_ptr<RunningCommand>> RunningCommand::start_with_input(
    const std::vector<std::string>& command) {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return start_error(command.empty() ? "" : command.front(), errno);
  const OwnedDescriptor theirs(ends[0]);
  OwnedDescriptor ours(ends[1]);
  const SpawnAttributes attributes;
  WEIR_TRY(running, spawn(command, attributes.get(), theirs.get()));
  running->parts_->leads_group = true;
  running->parts_->input = std::move(ours);
  return running;
}

Result<std::unique_ptr<RunningCommand>> RunningCommand::start_tethered(
    const std::vector<std::string>& command, std::string_view line) {
  WEIR_TRY(running, start_with_input(command));
  running->parts_->is_tethered = true;
  const std::string text = std::string(line) + "\n";
  // One that has closed its input already needs no line.
  (void)!::send(running->parts_->input.get(), text.data(), text.size(), MSG_NOSIGNAL);
  return running;
}

Result<CommandOutcome> run_load(const std::vector<std::string>& command,
                                const LoadControl& control) {
  if (command.empty() || command.front().empty()) return invalid_error("no command to run");
  WEIR_TRY_STATUS(find_program(command.front()));
  const SpawnAttributes attributes;
  Pipe gate;
  if (!gate.is_open()) return start_error(command.front(), errno);
  WEIR_TRY(running, RunningCommand::spawn(behind_gate(command), attributes.get(), gate.read_end()));
  running->parts_->leads_group = true;
  if (control.on_start) WEIR_TRY_STATUS(control.on_start({.group = running->parts_->child}));
  (void)!::write(gate.write_end(), "\n", 1);  // one that has ended already needs no line
  gate.close_write_end();
  running->parts_->start = Clock::now();
  WEIR_TRY(outcome,
           running->finish(control.limit.value_or(Duration::max()), control.is_interrupted));
  if (outcome.timed_out)
    return Error{ErrorCode::kIo, fmt::format("{}: did not end within {} and was ended",
                                             command.front(), to_text(*control.limit))};
  return outcome;
}

Result<CommandOutcome> run_command(const std::vector<std::string>& command) {
  // In our own group: Ctrl-C reaches it as it reaches us.
  WEIR_TRY(running, RunningCommand::spawn(command, nullptr, -1));
  return running->finish();
}

}  // namespace weir::host
