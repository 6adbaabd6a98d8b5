#pragma once
// How a command gets onto a host of a fleet: words for this machine that run a line by a POSIX
// shell there. Pure; fleet.h runs them.
//
//   ssh    one login per host: asks nothing (BatchMode), forwards nothing, gives up connecting
//          after five seconds. Through a jump host one connection to it carries all (ControlMaster)
//   slurm  one step of one task per host (srun)
//   exec   a command of the user's with %h for the host, %c for the line as one word of a shell, %%
//          for a '%'. Without %c it prints a bundle, and nothing else can be asked of the host
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace weir::host {

/// A host, and what an inventory says of the way to it; ssh's own configuration fills in the rest.
struct FleetHost {
  std::string name;          // as base/hosts/host_set.h allows it
  std::string address = {};  // instead of the name
  std::string user = {};
  unsigned port = 0;  // 0: not said
};

struct Reach {
  enum class Kind { kSsh, kSlurm, kExec };
  Kind kind = Kind::kSsh;
  std::vector<std::string> ssh = {};  // instead of "ssh": "ssh -F config"
  std::string jump = {};              // the host in front of the fleet; may be empty
  std::string exec = {};              // of kExec
  std::string weir = "weir";          // what it is called there
  bool with_sudo = false;             // runs it by sudo -n
  bool pushes = false;                // sends this binary to hosts that have none
  std::string sockets = {};           // a directory for ssh's ControlPath; empty: none
  bool keeps_connection = false;      // several commands per host: the first login serves all
};

/// An error where the exec line has no %h, or the jump host is no name.
[[nodiscard]] Status check_reach(const Reach& reach);

/// Whether any line can be run, or only the look that an exec line without %c has in it.
[[nodiscard]] bool runs_lines(const Reach& reach);

/// REQUIRES: runs_lines(), or the line is that of a look.
[[nodiscard]] std::vector<std::string> reach_command(const Reach& reach, const FleetHost& host,
                                                     const std::string& line);

/// ssh -G: what ssh would do, without doing it. REQUIRES: kSsh.
[[nodiscard]] std::vector<std::string> ssh_question(const Reach& reach, const FleetHost& host);

/// Where ssh would connect to.
struct SshTarget {
  std::string address;
  unsigned port = 22;
  std::string through = {};  // a jump host or a command: the address is not ours to reach

  /// One sshd: not many logins begin there at the same time.
  [[nodiscard]] std::string gate() const;
};
[[nodiscard]] std::optional<SshTarget> parse_ssh_answer(std::string_view text);

/// The line that prints a bundle of the host: by its own weir; else, with `pushes`, by the one that
/// is sent after kPushCue; else by a shell alone (collector.h).
[[nodiscard]] std::string look_line(const Reach& reach);

/// "weir-push x86_64": the host has no weir and takes one on its standard input.
inline constexpr std::string_view kPushCue = "weir-push ";

/// `words` by weir there, or an error status 127.
[[nodiscard]] std::string weir_line(const Reach& reach, const std::vector<std::string>& words);

}  // namespace weir::host
