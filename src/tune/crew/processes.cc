#include "tune/crew/processes.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/owned_descriptor.h"

extern "C" char** environ;  // POSIX has no header for it

namespace weir::tune {
namespace {

/// A line of a worker is a few hundred bytes; more without an end is not in our language.
constexpr std::size_t kLongestLine = 1'000'000;

struct WorkerProcess {
  pid_t pid = -1;
  OwnedDescriptor to;    // its standard input
  OwnedDescriptor from;  // its standard output
  std::string unread;
  bool is_here = true;
};

std::string ending_of(int status) {
  if (WIFSIGNALED(status)) return fmt::format("ended by signal {}", WTERMSIG(status));
  return fmt::format("ended with status {}", WEXITSTATUS(status));
}

class ProcessCrew final : public Crew {
 public:
  explicit ProcessCrew(std::string program) : program_(std::move(program)) {
    // A worker that is gone is an error of write(), not the end of us.
    before_ = std::signal(SIGPIPE, SIG_IGN);
  }
  ~ProcessCrew() override {
    for (WorkerProcess& worker : workers_)
      worker.to = OwnedDescriptor();
    for (WorkerProcess& worker : workers_)
      if (worker.pid > 0) end(worker);
    std::signal(SIGPIPE, before_);
  }

  Status start(const std::vector<std::string>& command) {
    std::array<int, 2> input{-1, -1};
    std::array<int, 2> output{-1, -1};
    if (::pipe2(input.data(), O_CLOEXEC) != 0 || ::pipe2(output.data(), O_CLOEXEC) != 0)
      return Error{ErrorCode::kIo, fmt::format("pipe: {}", std::strerror(errno))};
    WorkerProcess worker;
    const OwnedDescriptor child_input(input[0]);
    const OwnedDescriptor child_output(output[1]);
    worker.to = OwnedDescriptor(input[1]);
    worker.from = OwnedDescriptor(output[0]);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, child_input.get(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, child_output.get(), STDOUT_FILENO);
    // An ignored signal would stay ignored there.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    std::vector<char*> words;
    for (const std::string& word : command)
      words.push_back(const_cast<char*>(word.c_str()));  // POSIX takes them so, and leaves them
    words.push_back(nullptr);
    const int failed =
        ::posix_spawnp(&worker.pid, words[0], &actions, &attributes, words.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0)
      return Error{failed == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
                   fmt::format("start {}: {}", command.front(), std::strerror(failed))};
    workers_.push_back(std::move(worker));
    return {};
  }

  [[nodiscard]] std::size_t size() const override { return workers_.size(); }

  [[nodiscard]] bool send(std::size_t worker, std::string_view line) override {
    std::string text(line);
    text += '\n';
    std::string_view left = text;
    while (!left.empty()) {
      const ssize_t put = ::write(workers_[worker].to.get(), left.data(), left.size());
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return false;
      left.remove_prefix(static_cast<std::size_t>(put));
    }
    return true;
  }

  [[nodiscard]] Result<Message> receive() override {
    for (;;) {
      for (std::size_t i = 0; i < workers_.size(); ++i) {
        // In turn, so that a talkative one does not keep the others waiting.
        const std::size_t worker = (next_ + i) % workers_.size();
        if (auto message = whole_line(worker)) {
          next_ = worker + 1;
          return std::move(*message);
        }
      }
      WEIR_TRY(gone, read_some());
      if (gone) return std::move(*gone);
    }
  }

 private:
  std::optional<Message> whole_line(std::size_t number) {
    WorkerProcess& worker = workers_[number];
    const std::size_t end = worker.unread.find('\n');
    if (end == std::string::npos) return std::nullopt;
    Message out{number, worker.unread.substr(0, end), false};
    worker.unread.erase(0, end + 1);
    return out;
  }

  /// Waits for output; a worker whose output ended is gone.
  Result<std::optional<Message>> read_some() {
    std::vector<pollfd> watched;
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      if (!workers_[i].is_here) continue;
      watched.push_back({workers_[i].from.get(), POLLIN, 0});
      numbers.push_back(i);
    }
    if (watched.empty()) return Error{ErrorCode::kIo, "no worker is left"};
    if (::poll(watched.data(), watched.size(), -1) < 0) {
      if (errno == EINTR) return std::optional<Message>();
      return Error{ErrorCode::kIo, fmt::format("poll: {}", std::strerror(errno))};
    }
    std::array<char, 65536> buffer{};
    for (std::size_t i = 0; i < watched.size(); ++i) {
      if (watched[i].revents == 0) continue;
      WorkerProcess& worker = workers_[numbers[i]];
      const ssize_t got = ::read(worker.from.get(), buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got > 0) worker.unread.append(buffer.data(), static_cast<std::size_t>(got));
      if (got > 0 && worker.unread.size() < kLongestLine) continue;
      worker.is_here = false;
      const std::string how = got > 0 ? "printed what is no result" : end(worker);
      return std::optional(Message{
          numbers[i], fmt::format("worker {} ({}) {}", numbers[i] + 1, program_, how), true});
    }
    return std::optional<Message>();
  }

  /// Waits for it a while, then ends it; how it ended.
  static std::string end(WorkerProcess& worker) {
    constexpr auto kPatience = std::chrono::seconds(5);
    constexpr auto kPause = std::chrono::milliseconds(10);
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    worker.to = OwnedDescriptor();
    int status = 0;
    bool is_asked = false;
    for (;;) {
      const pid_t ended = ::waitpid(worker.pid, &status, WNOHANG);
      if (ended == worker.pid || (ended < 0 && errno != EINTR)) break;
      if (!is_asked && std::chrono::steady_clock::now() >= deadline) {
        ::kill(worker.pid, SIGTERM);
        is_asked = true;
      }
      std::this_thread::sleep_for(kPause);
    }
    worker.pid = -1;
    return ending_of(status);
  }

  std::string program_;
  std::vector<WorkerProcess> workers_;
  std::size_t next_ = 0;
  void (*before_)(int) = SIG_DFL;
};

}  // namespace

Result<std::unique_ptr<Crew>> start_processes(const std::vector<std::string>& command,
                                              std::size_t count) {
  auto crew = std::make_unique<ProcessCrew>(command.front());
  for (std::size_t i = 0; i < count; ++i)
    WEIR_TRY_STATUS(crew->start(command));
  return std::unique_ptr<Crew>(std::move(crew));
}

std::vector<std::string> slurm_command(const std::string& program) {
  // A step of its own for each worker, so that one that fails ends alone; its input is its own.
  return {"srun",
          "--nodes=1",
          "--ntasks=1",
          "--cpus-per-task=1",
          "--exact",
          "--quiet",
          "--kill-on-bad-exit",
          "--unbuffered",
          program,
          "tune",
          "worker"};
}

}  // namespace weir::tune
