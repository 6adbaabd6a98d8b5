#include "readers/paste/loops.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

/// A fleet has more hosts than a person puts into one text.
constexpr std::size_t kMostTurns = 256;

/// The words between `in` and `do`, ranges and `$(seq 1 4)` written out; empty where a word is an
/// expression of another kind.
std::vector<std::string> turns_of(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (std::size_t i = 3; i < words.size() && words[i] != "do"; ++i) {
    std::string word = words[i];
    const bool is_last = word.ends_with(';');
    while (word.ends_with(';'))
      word.pop_back();
    if (word == "$(seq" && i + 2 < words.size()) {
      std::string last = words[i + 2];
      last.erase(std::min(last.find(')'), last.size()));
      word = fmt::format("{{{}..{}}}", words[i + 1], last);
      i += 2;
    }
    if (word.find_first_of("$*?`") != std::string::npos) return {};
    for (std::string& value : values_of(word))
      if (out.size() < kMostTurns) out.push_back(std::move(value));
    if (is_last) break;
  }
  return out;
}

/// "tor-c$t" and what follows it, of `ssh -q admin@tor-c$t "…"; done`.
struct Remote {
  std::string_view host;
  std::string_view command;
};
std::optional<Remote> remote_of(std::string_view command) {
  const std::size_t at = command.find("ssh ");
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = trim(command.substr(at + 4));
  while (rest.starts_with('-')) {
    const bool has_value = rest.starts_with("-o ") || rest.starts_with("-l ") ||
                           rest.starts_with("-i ") || rest.starts_with("-p ");
    rest = trim(rest.substr(std::min(rest.find(' '), rest.size())));
    if (has_value) rest = trim(rest.substr(std::min(rest.find(' '), rest.size())));
  }
  const std::size_t end = rest.find(' ');
  if (end == std::string_view::npos) return std::nullopt;
  Remote out{rest.substr(0, end), trim(rest.substr(end))};
  if (const auto user = out.host.find('@'); user != std::string_view::npos)
    out.host.remove_prefix(user + 1);
  const char quote = out.command.empty() ? ' ' : out.command.front();
  if (quote == '"' || quote == '\'') {
    out.command.remove_prefix(1);
    out.command = out.command.substr(0, out.command.find(quote));
  } else {
    out.command = trim(out.command.substr(0, out.command.find(';')));
  }
  return out;
}

}  // namespace

std::vector<std::string> values_of(std::string_view word) {
  const std::size_t dots = word.find("..");
  const std::size_t open = word.find('{');
  const std::size_t close = word.find('}');
  if (open == std::string_view::npos || close == std::string_view::npos ||
      dots == std::string_view::npos || dots < open || close < dots)
    return {std::string(word)};
  const auto first = parse_u64(word.substr(open + 1, dots - open - 1));
  const auto last = parse_u64(word.substr(dots + 2, close - dots - 2));
  constexpr std::uint64_t kMost = 64;
  if (!first || !last || *last < *first || *last - *first > kMost) return {std::string(word)};
  std::vector<std::string> out;
  for (std::uint64_t value = *first; value <= *last; ++value)
    out.push_back(fmt::format("{}{}{}", word.substr(0, open), value, word.substr(close + 1)));
  return out;
}

std::optional<HostLoop> host_loop(const Mark& mark) {
  const bool prints_names = mark.command.find("echo") != std::string::npos;
  if (!mark.command.starts_with("for ") || !prints_names) return std::nullopt;
  const auto plain = words_of(mark.command);
  if (plain.size() < 4 || plain[2] != "in") return std::nullopt;
  const auto remote = remote_of(mark.command);
  if (!remote || remote->command.empty()) return std::nullopt;
  const std::string variable(plain[1]);
  const std::string_view host = remote->host;
  std::string sign = fmt::format("${{{}}}", variable);
  if (host.find(sign) == std::string_view::npos) sign = fmt::format("${}", variable);
  const std::size_t at = host.find(sign);
  if (at == std::string_view::npos) return std::nullopt;
  HostLoop out;
  out.command = remote->command;
  for (const std::string& value : turns_of({plain.begin(), plain.end()}))
    out.hosts.push_back(
        fmt::format("{}{}{}", host.substr(0, at), value, host.substr(at + sign.size())));
  return out.hosts.empty() ? std::nullopt : std::optional(std::move(out));
}

std::string_view name_of_turn_line(std::string_view line) {
  constexpr std::string_view kSigns = "=-*#~+[]<>: \t";
  const std::size_t begin = line.find_first_not_of(kSigns);
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(kSigns) + 1 - begin);
}

}  // namespace weir::readers
