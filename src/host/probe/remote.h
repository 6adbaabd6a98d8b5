#pragma once
// Another machine, reached by running commands there: ssh, or whatever is in for it.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/probe/linux_command.h"

namespace weir::host {

/// One word of a shell's command line, whatever is in it.
[[nodiscard]] std::string shell_quoted(std::string_view word);
/// A command line that a shell reads as these words.
[[nodiscard]] std::string shell_line(const std::vector<std::string>& words);

class Remote {
 public:
  /// `ssh` are the words before the host's name; empty: the ssh of PATH, which asks nothing
  /// (BatchMode) and gives up after ten seconds.
  Remote(std::string name, std::vector<std::string> ssh);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::vector<std::string> command(const std::vector<std::string>& words) const;
  /// Text for the remote shell.
  [[nodiscard]] std::vector<std::string> shell(const std::string& line) const;

  [[nodiscard]] Result<CommandOutcome> run(const std::vector<std::string>& words) const;
  [[nodiscard]] Result<CommandOutcome> run_shell(const std::string& line) const;

 private:
  std::string name_;
  std::vector<std::string> ssh_;
};

/// A shell line that ends when this TCP port is open, with status 1 after ten seconds.
/// Looks without connecting: a perftest server takes the first connection for its client.
[[nodiscard]] std::string wait_for_listener(unsigned port);

}  // namespace weir::host
