#include "host/probe/remote.h"

#include <fmt/format.h>

#include "base/untrusted/name_policy.h"
#include "base/untrusted/quote.h"
#include "host/probe/load_mark.h"

namespace weir::host {

Remote::Remote(std::string name, std::vector<std::string> ssh)
    : name_(std::move(name)), ssh_(std::move(ssh)) {
  if (ssh_.empty())
    ssh_ = {"ssh",
            "-o",
            "BatchMode=yes",
            "-o",
            "ConnectTimeout=10",
            "-o",
            "ServerAliveInterval=5",
            "-o",
            "ServerAliveCountMax=3"};
  // A name that begins with '-' is refused in make(); this holds for any that comes to be.
  if (ssh_.front() == "ssh" || ssh_.front().ends_with("/ssh")) ssh_.emplace_back("--");
}

Result<Remote> Remote::make(std::string name, std::vector<std::string> ssh,
                            std::function<bool()> is_interrupted) {
  WEIR_TRY_STATUS(check_destination(name));
  Remote remote(std::move(name), std::move(ssh));
  remote.is_interrupted_ = std::move(is_interrupted);
  return remote;
}

std::vector<std::string> Remote::shell(const std::string& line) const {
  std::vector<std::string> all = ssh_;
  all.push_back(name_);
  all.push_back(line);
  return all;
}

std::vector<std::string> Remote::command(const std::vector<std::string>& words) const {
  return shell(shell_line(words));
}

Result<CommandOutcome> Remote::run(const std::vector<std::string>& words) const {
  return run_shell(shell_line(words));
}

Result<CommandOutcome> Remote::run_shell(const std::string& line) const {
  WEIR_TRY(running, RunningCommand::start(shell(line)));
  WEIR_TRY(outcome, running->finish(kAnswerLimit, is_interrupted_));
  if (outcome.timed_out)
    return Error{ErrorCode::kIo, fmt::format("{} did not answer within {} s", name_,
                                             kAnswerLimit.raw() / kPicosecondsPerSecond)};
  return outcome;
}

RemoteLoad::RemoteLoad(const Remote& remote, std::string id,
                       std::unique_ptr<RunningCommand> running)
    : remote_(remote), id_(std::move(id)), running_(std::move(running)) {}

Result<std::unique_ptr<RemoteLoad>> RemoteLoad::start(const Remote& remote,
                                                      const std::string& line) {
  std::string id = new_load_id();
  WEIR_TRY(running, RunningCommand::start_tethered(remote.shell(marked_line(id, line)), kTether));
  return std::unique_ptr<RemoteLoad>(new RemoteLoad(remote, std::move(id), std::move(running)));
}

RemoteLoad::~RemoteLoad() {
  constexpr Duration kPatience = 20_s;
  ask_to_end();
  if (stop_ != nullptr) (void)stop_->finish(kPatience).has_value();
}

Result<CommandOutcome> RemoteLoad::finish(Duration limit,
                                          const std::function<bool()>& is_interrupted) {
  constexpr int kSshBroke = 255;
  WEIR_TRY(outcome, running_->finish(limit, is_interrupted));
  is_over_ = !outcome.timed_out && outcome.exit_status != kSshBroke &&
             !(is_interrupted && is_interrupted());
  return outcome;
}

void RemoteLoad::ask_to_end() {
  if (is_over_) return;
  is_over_ = true;
  running_->ask_to_end();
  if (auto stop = RunningCommand::start(remote_.shell(shell_line({"sh", "-c", stop_line(id_)}))))
    stop_ = std::move(*stop);
}

std::string wait_for_listener(unsigned port) {
  // 0A is TCP_LISTEN (include/net/tcp_states.h); the other end of a listening socket is all zero.
  return fmt::format(
      "i=0; while [ $i -lt 100 ]; do grep -Eqs ':{:04X} 0+:0000 0A ' /proc/net/tcp /proc/net/tcp6 "
      "&& exit 0; i=$((i + 1)); sleep 0.1; done; exit 1",
      port);
}

}  // namespace weir::host
