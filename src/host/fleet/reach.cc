#include "host/fleet/reach.h"

#include <cstdlib>

#include <fmt/format.h>

#include "base/text.h"
#include "base/untrusted/name_policy.h"
#include "base/untrusted/quote.h"
#include "host/fleet/collector.h"

namespace weir::host {
namespace {

using Words = std::vector<std::string>;

void add_option(Words& words, std::string option) {
  words.emplace_back("-o");
  words.push_back(std::move(option));
}

/// "ssh" with all that holds for every login.
Words ssh_words(const Reach& reach) {
  Words words = reach.ssh.empty() ? Words{"ssh"} : reach.ssh;
  words.emplace_back("-T");
  for (const char* const option :
       {"BatchMode=yes", "ConnectTimeout=5", "ConnectionAttempts=1", "ServerAliveInterval=5",
        "ServerAliveCountMax=3", "ClearAllForwardings=yes", "ForwardAgent=no", "ForwardX11=no",
        "PermitLocalCommand=no", "LogLevel=ERROR"})
    add_option(words, option);
  return words;
}

/// The first login stays for a minute, and the next ones go through it.
void add_master(Words& words, const Reach& reach) {
  if (reach.sockets.empty()) return;
  add_option(words, "ControlMaster=auto");
  add_option(words, "ControlPersist=60");
  add_option(words, fmt::format("ControlPath={}/%C", reach.sockets));
}

/// By hand instead of ProxyJump, so that one login to the jump host carries every host: what is
/// forwarded through a connection does not count as a session of it (sshd's MaxSessions).
std::string proxy_command(const Reach& reach) {
  Words words = ssh_words(reach);
  add_master(words, reach);
  // ssh expands % in a proxy command once more.
  std::string line;
  for (const std::string& word : words) {
    std::string quoted = shell_word(word);
    for (std::size_t at = 0; (at = quoted.find('%', at)) != std::string::npos; at += 2)
      quoted.insert(at, 1, '%');
    line += quoted + " ";
  }
  return fmt::format("ProxyCommand={}-W '[%h]:%p' -- {}", line, shell_word(reach.jump));
}

Words ssh_to(const Reach& reach, const FleetHost& host) {
  Words words = ssh_words(reach);
  if (!reach.jump.empty()) add_option(words, proxy_command(reach));
  if (reach.keeps_connection) add_master(words, reach);
  if (!host.address.empty()) add_option(words, "HostName=" + host.address);
  if (!host.user.empty()) add_option(words, "User=" + host.user);
  if (host.port != 0) add_option(words, fmt::format("Port={}", host.port));
  return words;
}

Words srun_words(const Reach& reach, const FleetHost& host, const std::string& line) {
  Words words = {"srun",       "--nodelist=" + host.name, "--nodes=1",   "--ntasks=1",
                 "--quiet",    "--immediate=20",          "--overlap",   "--export=NONE",
                 "--mpi=none", "--job-name=weir",         "--unbuffered"};
  if (!reach.pushes) words.emplace_back("--input=none");
  words.insert(words.end(), {"/bin/sh", "-c", line});  // without an environment there is no PATH
  return words;
}

/// "%h" and "%c" in a user's own line.
std::string fill_in(std::string_view line, const std::string& name, const std::string& command) {
  std::string out;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const bool is_mark = line[at] == '%' && at + 1 < line.size();
    if (is_mark && line[at + 1] == 'h') {
      out += name;
    } else if (is_mark && line[at + 1] == 'c') {
      out += shell_word(command);
    } else if (is_mark && line[at + 1] == '%') {
      out += '%';
    } else {
      out += line[at];
      continue;
    }
    ++at;
  }
  return out;
}

bool has_mark(std::string_view line, char mark) {
  for (std::size_t at = 0; at + 1 < line.size(); ++at) {
    if (line[at] != '%') continue;
    if (line[at + 1] == mark) return true;
    ++at;
  }
  return false;
}

std::string weir_words(const Reach& reach) {
  return (reach.with_sudo ? "sudo -n " : "") + shell_word(reach.weir);
}

constexpr std::string_view kBundleWords = "bundle --keep-names -o -";

/// Takes a program on standard input, runs it once and removes it.
std::string push_part() {
  return fmt::format(
      "echo \"{}$(uname -m)\"; D=$(mktemp -d) && cat >\"$D/weir\" && [ -s \"$D/weir\" ] && "
      "chmod 700 \"$D/weir\" && \"$D/weir\" {} 2>\"$D/errors\"; S=$?; rm -rf \"$D\"; "
      "case $S in 0|5) exit $S;; esac; ",
      kPushCue, kBundleWords);
}

}  // namespace

Status check_reach(const Reach& reach) {
  if (reach.kind == Reach::Kind::kExec && !has_mark(reach.exec, 'h'))
    return invalid_error(fmt::format(
        "--exec: expected a command with %h in the place of the host, such as 'cat %h.bundle' or "
        "'docker exec %h sh -c %c', found '{}'",
        reach.exec));
  if (!reach.jump.empty()) WEIR_TRY_STATUS(check_destination(reach.jump));
  return {};
}

bool runs_lines(const Reach& reach) {
  return reach.kind != Reach::Kind::kExec || has_mark(reach.exec, 'c');
}

std::vector<std::string> reach_command(const Reach& reach, const FleetHost& host,
                                       const std::string& line) {
  if (reach.kind == Reach::Kind::kExec) return {"sh", "-c", fill_in(reach.exec, host.name, line)};
  if (reach.kind == Reach::Kind::kSlurm) return srun_words(reach, host, line);
  Words words = ssh_to(reach, host);
  words.insert(words.end(), {"--", host.name, shell_line({"sh", "-c", line})});
  return words;
}

std::vector<std::string> ssh_question(const Reach& reach, const FleetHost& host) {
  Words words = ssh_to(reach, host);
  words.insert(words.end(), {"-G", "--", host.name});
  return words;
}

std::string SshTarget::gate() const {
  return through.empty() ? fmt::format("{}:{}", address, port) : through;
}

std::optional<SshTarget> parse_ssh_answer(std::string_view text) {
  SshTarget target;
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) continue;
    const std::string_view key = line.substr(0, blank);
    const std::string_view value = trim(line.substr(blank + 1));
    if (key == "hostname") target.address = value;
    if (key == "port") target.port = static_cast<unsigned>(parse_u64(value).value_or(22) & 0xFFFFU);
    const bool is_proxy = key == "proxyjump" || key == "proxycommand";
    if (is_proxy && value != "none" && !value.empty()) target.through = value;
  }
  if (target.address.empty()) return std::nullopt;
  return target;
}

std::string weir_line(const Reach& reach, const std::vector<std::string>& words) {
  return fmt::format("exec {} {}", weir_words(reach), shell_line(words));
}

std::string look_line(const Reach& reach) {
  return fmt::format("if command -v {} >/dev/null 2>&1; then exec {} {}; fi; {}{}",
                     shell_word(reach.weir), weir_words(reach), kBundleWords,
                     reach.pushes ? push_part() : std::string(), collector_line());
}

}  // namespace weir::host
