#pragma once
// Another machine, reached by running commands there: ssh, or whatever is in for it.
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/probe/linux_command.h"

namespace weir::host {

/// A look at a host takes a second or two, connecting at most ten.
inline constexpr Duration kAnswerLimit = Duration::raw(60 * kPicosecondsPerSecond);

class Remote {
 public:
  /// `ssh` are the words before the host's name; empty: the ssh of PATH, which asks nothing
  /// (BatchMode), gives up connecting after ten seconds and notices a dead peer after fifteen.
  /// An error where the name is not one that ssh should see (base/untrusted/name_policy.h).
  /// `is_interrupted` ends a question that is being asked.
  [[nodiscard]] static Result<Remote> make(std::string name, std::vector<std::string> ssh,
                                           std::function<bool()> is_interrupted = {});

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::function<bool()>& is_interrupted() const { return is_interrupted_; }
  [[nodiscard]] std::vector<std::string> command(const std::vector<std::string>& words) const;
  /// Text for the remote shell.
  [[nodiscard]] std::vector<std::string> shell(const std::string& line) const;

  /// For questions that are answered at once: after kAnswerLimit it is ended, and that is an error.
  [[nodiscard]] Result<CommandOutcome> run(const std::vector<std::string>& words) const;
  [[nodiscard]] Result<CommandOutcome> run_shell(const std::string& line) const;

 private:
  Remote(std::string name, std::vector<std::string> ssh);
  std::string name_;
  std::vector<std::string> ssh_;
  std::function<bool()> is_interrupted_;
};

/// A command that runs on another machine. Where it does not end by itself (interrupted, over its
/// time, the connection broke, or this is destroyed) it is ended there, also where this process is
/// killed (load_mark.h).
class RemoteLoad {
 public:
  [[nodiscard]] static Result<std::unique_ptr<RemoteLoad>> start(const Remote& remote,
                                                                 const std::string& line);
  RemoteLoad(const RemoteLoad&) = delete;
  RemoteLoad& operator=(const RemoteLoad&) = delete;
  ~RemoteLoad();

  /// As RunningCommand::finish().
  [[nodiscard]] Result<CommandOutcome> finish(Duration limit,
                                              const std::function<bool()>& is_interrupted);
  /// Without waiting: many are ended in the time of one.
  void ask_to_end();

 private:
  RemoteLoad(const Remote& remote, std::string id, std::unique_ptr<RunningCommand> running);
  Remote remote_;
  std::string id_;
  std::unique_ptr<RunningCommand> running_;
  std::unique_ptr<RunningCommand> stop_;
  bool is_over_ = false;
};

/// A shell line that ends when this TCP port is open, with status 1 after ten seconds.
/// Looks without connecting: a perftest server takes the first connection for its client.
[[nodiscard]] std::string wait_for_listener(unsigned port);

}  // namespace weir::host
