#include "host/probe/remote.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace weir::host {

std::string shell_quoted(std::string_view word) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_=./:,@%+").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return std::string(word);
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string shell_line(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  quoted.reserve(words.size());
  for (const std::string& word : words)
    quoted.push_back(shell_quoted(word));
  return join(quoted, " ");
}

Remote::Remote(std::string name, std::vector<std::string> ssh)
    : name_(std::move(name)), ssh_(std::move(ssh)) {
  if (ssh_.empty()) ssh_ = {"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"};
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
  return run_command(command(words));
}

Result<CommandOutcome> Remote::run_shell(const std::string& line) const {
  return run_command(shell(line));
}

std::string wait_for_listener(unsigned port) {
  // 0A is TCP_LISTEN (include/net/tcp_states.h); the other end of a listening socket is all zero.
  return fmt::format(
      "i=0; while [ $i -lt 100 ]; do grep -Eqs ':{:04X} 0+:0000 0A ' /proc/net/tcp /proc/net/tcp6 "
      "&& exit 0; i=$((i + 1)); sleep 0.1; done; exit 1",
      port);
}

}  // namespace weir::host
