#include "host/linux_command.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" char** environ;  // POSIX has no header for it

namespace weir::host {

namespace {

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

/// Reads both until both are closed: a child that fills one must not wait for the other.
void drain(int out_fd, int err_fd, CommandOutcome& outcome) {
  std::array<pollfd, 2> watched = {pollfd{out_fd, POLLIN, 0}, pollfd{err_fd, POLLIN, 0}};
  std::array<char, 65536> buffer{};
  while (watched[0].fd >= 0 || watched[1].fd >= 0) {
    if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return;
    for (std::size_t n = 0; n < watched.size(); ++n) {
      if (watched.at(n).fd < 0 || watched.at(n).revents == 0) continue;
      const ssize_t got = ::read(watched.at(n).fd, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        watched.at(n).fd = -1;
        continue;
      }
      (n == 0 ? outcome.output : outcome.errors)
          .append(buffer.data(), static_cast<std::size_t>(got));
    }
  }
}

Error start_error(const std::string& program, int code) {
  const bool absent = code == ENOENT;
  return {absent           ? ErrorCode::kNotFound
          : code == EACCES ? ErrorCode::kPermission
                           : ErrorCode::kIo,
          fmt::format("start {}: {}", program, std::strerror(code))};
}

int status_of(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

}  // namespace

Result<CommandOutcome> run_command(const std::vector<std::string>& command) {
  if (command.empty() || command.front().empty()) return invalid_error("no command to run");
  Pipe out;
  Pipe err;
  if (!out.is_open() || !err.is_open()) return start_error(command.front(), errno);
  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  for (std::string& word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.write_end(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.write_end(), STDERR_FILENO);
  pid_t child = 0;
  const auto start = std::chrono::steady_clock::now();
  const int failed =
      ::posix_spawnp(&child, arguments.front(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return start_error(command.front(), failed);
  out.close_write_end();
  err.close_write_end();

  CommandOutcome outcome;
  drain(out.read_end(), err.read_end(), outcome);
  int wait_status = 0;
  while (::waitpid(child, &wait_status, 0) < 0) {
    if (errno != EINTR) return start_error(command.front(), errno);
  }
  const auto elapsed = std::chrono::steady_clock::now() - start;
  outcome.exit_status = status_of(wait_status);
  outcome.elapsed =
      Duration::raw(std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count() * 1000);
  return outcome;
}

}  // namespace weir::host
