// What the scripts of tuning guides print, and probes: a script's deltas of counters, the loop over
// the ECN files, ping with DF, and the time of readings.
#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "readers/paste/paste_counted.h"
#include "readers/paste/paste_tools.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

/// "gpu02" of "gpu02: rest"; the rest alone where there is none.
struct Named {
  std::string_view host;
  std::string_view rest;
};
Named split_host(std::string_view text) {
  const std::size_t colon = text.find(": ");
  if (colon == std::string_view::npos || colon == 0) return {{}, text};
  const std::string_view host = text.substr(0, colon);
  const bool is_name = std::all_of(host.begin(), host.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.';
  });
  return is_name ? Named{host, trim(text.substr(colon + 2))} : Named{{}, text};
}

std::optional<std::uint64_t> number_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(at + key.size());
  const auto value = parse_u64(rest.substr(0, rest.find_first_not_of("0123456789")));
  return value ? std::optional(*value) : std::nullopt;
}

// ---- deltas of counters ----

/// A sentence that says what would be: a rule for an alarm, a wish.
bool is_condition(const std::vector<std::string_view>& words) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"if", "If", "when", "When", "should", "would", "could", "whenever", "alert", "unless"});
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
  });
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// A number of a sentence: "4,112,938." without what ends the sentence.
std::optional<std::uint64_t> told_number(std::string_view word) {
  while (!word.empty() && is_one_of(word.substr(word.size() - 1), {",", ".", ";", ")"}))
    word.remove_suffix(1);
  return parse_count(word);
}

/// "rp_cnp_ignored went from 0 to 4112938", "out_of_sequence grew by 61230", "rp_cnp_handled stayed
/// at 12": what a person tells of a counter that is known.
std::optional<Counted> told_line(std::string_view text) {
  const auto words = words_of(text);
  constexpr std::size_t kNear = 8;  // words between the counter and what is said of it
  if (words.size() < 3 || is_condition(words)) return std::nullopt;
  for (std::size_t i = 0; i + 2 < words.size(); ++i) {
    std::string_view name = words[i];
    while (!name.empty() && is_one_of(name.substr(name.size() - 1), {":", ",", "`", ")"}))
      name.remove_suffix(1);
    while (!name.empty() && is_one_of(name.substr(0, 1), {"`", "("}))
      name.remove_prefix(1);
    if (name.find('_') == std::string_view::npos || !place_of_counter(name)) continue;
    const std::size_t end = std::min(words.size(), i + 1 + kNear);
    for (std::size_t j = i + 1; j < end; ++j) {
      const auto number = [&](std::size_t n) {
        return n < words.size() ? told_number(words[n]) : std::nullopt;
      };
      if (words[j] == "from" && number(j + 1) && j + 2 < words.size() && words[j + 2] == "to" &&
          number(j + 3))
        return Counted{name, *number(j + 3), *number(j + 1)};
      const bool is_growth = is_one_of(
          words[j], {"rose", "rises", "grew", "grows", "increased", "increases", "climbed", "up"});
      if (is_growth && j + 1 < words.size() && words[j + 1] == "by" && number(j + 2))
        return Counted{name, *number(j + 2), 0};
      const bool is_still =
          is_one_of(words[j], {"stayed", "stays", "remained", "remains", "unchanged", "flat"});
      const std::size_t at = j + 1 < words.size() && words[j + 1] == "at" ? j + 2 : j + 1;
      if (is_still) {
        const std::uint64_t value = number(at).value_or(0);
        return Counted{name, value, value};
      }
    }
    return std::nullopt;  // one counter per sentence
  }
  return std::nullopt;
}

/// A line of windows: a list, or a sentence.
std::optional<CountedLine> window_line(std::string_view text) {
  if (auto line = counted_line(text); line && line->is_window()) return line;
  if (const auto told = told_line(text)) {
    CountedLine line;
    line.counts.push_back(*told);
    return line;
  }
  return std::nullopt;
}

/// One growth alone may be the begin of a sentence.
bool begins_window_list(const PasteAt& at) {
  const auto first = window_line(at.line(0));
  if (!first) return false;
  const bool is_growth = first->counts.size() == 1 && first->counts.front().before == 0U &&
                         at.line(0).find('+') != std::string_view::npos;
  return !is_growth || first->is_listed || window_line(at.line(1)).has_value();
}

}  // namespace

bool begins_deltas(const PasteAt& at) {
  if (begins_window_list(at)) return true;
  const auto table = counted_table(at);
  return table && table->rows.front().is_window();
}

std::size_t read_deltas(const PasteAt& at, PasteSink& out) {
  CountedSink sink(at, out);
  out.device = at.mark.device;
  if (const auto table = counted_table(at); table && table->rows.front().is_window())
    return sink.add(*table);
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    const auto line = window_line(at.line(taken));
    if (!line) break;
    sink.add(*line);
  }
  return taken;
}

// ---- "Priority 3: NP=1 RP=0", "prio 3 np=1 rp=0" ----

namespace {

struct RoleLine {
  std::string_view host;
  unsigned priority = 0;
  std::optional<bool> np;
  std::optional<bool> rp;
};
std::optional<bool> role(std::string_view text, std::string_view key) {
  const auto value = number_after(text, key);
  return value && *value <= 1 ? std::optional(*value == 1) : std::nullopt;
}
/// The number behind "priority 3", "prio 3", "prio=3" or "prio3" at the begin of a line; alone in
/// front of both roles: "3 np=1 rp=0".
std::optional<unsigned> role_priority(std::string_view line) {
  const bool is_bare = line.size() > 1 && line[0] >= '0' && line[0] <= '7' &&
                       (line[1] == ' ' || line[1] == ':' || line[1] == '\t') &&
                       line.find("np=") != std::string_view::npos &&
                       line.find("rp=") != std::string_view::npos;
  if (is_bare) return static_cast<unsigned>(line[0] - '0');
  for (const std::string_view word : {"priority", "prio"}) {
    if (!line.starts_with(word)) continue;
    std::string_view rest = line.substr(word.size());
    rest = rest.substr(std::min(rest.find_first_not_of(" \t=:#"), rest.size()));
    const bool is_one_digit = !rest.empty() && rest[0] >= '0' && rest[0] <= '7' &&
                              (rest.size() == 1 || rest[1] < '0' || rest[1] > '9');
    if (is_one_digit) return static_cast<unsigned>(rest[0] - '0');
  }
  return std::nullopt;
}
std::optional<RoleLine> role_line(std::string_view text) {
  RoleLine out;
  std::string line = lower_case(text);
  if (!role_priority(line)) {
    const Named named = split_host(text);
    out.host = named.host;
    line = lower_case(named.rest);
  }
  const auto priority = role_priority(line);
  if (!priority || line.find("np=") == std::string::npos || line.find("rp=") == std::string::npos)
    return std::nullopt;
  out.priority = *priority;
  out.np = role(line, "np=");
  out.rp = role(line, "rp=");
  return out;
}

/// Adds what was read of one priority; of those that were not, nothing is said.
void add_role(bool is_np, unsigned priority, bool is_on, PastedNic& nic, const PasteLine& line,
              PasteSink& out) {
  evidence::Fact<PrioritySet>& fact = is_np ? nic.nic.ecn.np : nic.nic.ecn.rp;
  const Priority which = Priority::of(priority);
  (is_np ? nic.np_read : nic.rp_read).insert(which);
  PrioritySet set = fact.is_known() ? *fact : PrioritySet();
  if (is_on) {
    set.insert(which);
  } else {
    set = PrioritySet::from_mask(static_cast<std::uint8_t>(set.mask() & ~(1U << priority)));
  }
  out.set(fact, set, line);
}

// ---- the files themselves ----

/// "/sys/class/net/eth2/ecn/roce_rp/enable/3" and the value behind it.
struct EcnFile {
  std::string_view host;
  std::string_view device;
  bool is_np = false;
  std::string_view priority;  // "3"; of a command also "*" and "$p"
  std::string_view value;
};
std::optional<EcnFile> ecn_path(std::string_view text) {
  constexpr std::string_view kFolder = "/enable/";
  const std::size_t at = text.find(kFolder);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view folder = text.substr(0, at);
  EcnFile out;
  out.is_np = folder.ends_with("roce_np");
  const bool is_ecn = out.is_np || folder.ends_with("roce_rp");
  if (!is_ecn || folder.find_first_of(" \t") != std::string_view::npos) return std::nullopt;
  if (const std::size_t net = folder.find("/net/"); net != std::string_view::npos) {
    const std::string_view rest = folder.substr(net + 5);
    out.device = rest.substr(0, rest.find('/'));
  }
  const std::string_view rest = text.substr(at + kFolder.size());
  const std::size_t end = std::min(rest.find_first_of(": \t="), rest.size());
  out.priority = rest.substr(0, end);
  out.value = trim(rest.substr(std::min(rest.find_first_not_of(": \t=", end), rest.size())));
  return out;
}

std::optional<unsigned> ecn_priority(std::string_view text) {
  if (text.size() != 1 || text[0] < '0' || text[0] > '7') return std::nullopt;
  return static_cast<unsigned>(text[0] - '0');
}

bool is_ecn_value(std::string_view text) {
  return text == "0" || text == "1";
}

/// "PATH: 0", "PATH:0" as `grep .` prints it, "PATH = 0", also behind the name of a host.
std::optional<EcnFile> ecn_file_line(std::string_view text) {
  const Named named = split_host(text);
  auto out = ecn_path(named.rest);
  if (!out || !ecn_priority(out->priority) || !is_ecn_value(out->value)) return std::nullopt;
  out->host = named.host;
  return out;
}

/// "==> PATH <==" and the value on the next line, as head and tail print them.
std::optional<EcnFile> headed_ecn_file(const PasteAt& at, std::size_t n) {
  std::string_view head = at.line(n);
  if (!head.starts_with("==> ") || !head.ends_with(" <==")) return std::nullopt;
  head = head.substr(4, head.size() - 8);
  auto out = ecn_path(head);
  if (!out || !ecn_priority(out->priority) || !is_ecn_value(at.line(n + 1))) return std::nullopt;
  out->value = at.line(n + 1);
  return out;
}

/// "roce_np 0" below `for f in roce_np roce_rp; do echo $f $(cat …/ecn/$f/enable/3); done`.
std::optional<EcnFile> named_ecn_line(const PasteAt& at, std::size_t n) {
  static constexpr std::string_view kDigits = "01234567";
  constexpr std::string_view kFolder = "/enable/";
  const std::string& command = at.mark.command;
  const std::size_t folder = command.find(kFolder);
  if (folder == std::string::npos || command.find("/ecn/") == std::string::npos)
    return std::nullopt;
  const std::size_t digit = folder + kFolder.size();
  const auto words = words_of(at.line(n));
  if (words.size() != 2 || digit >= command.size() || command[digit] < '0' || command[digit] > '7')
    return std::nullopt;
  std::string_view name = words[0];
  while (name.ends_with(':') || name.ends_with('='))
    name.remove_suffix(1);
  const bool is_np = name.ends_with("np");
  if ((!is_np && !name.ends_with("rp")) || name.size() > 7 || !is_ecn_value(words[1]))
    return std::nullopt;
  EcnFile out;
  out.is_np = is_np;
  out.priority = kDigits.substr(static_cast<std::size_t>(command[digit] - '0'), 1);
  out.value = words[1];
  return out;
}

/// The command names all eight priorities.
bool is_over_all_priorities(std::string_view command) {
  return command.find("{0..7}") != std::string_view::npos ||
         command.find("seq 0 7") != std::string_view::npos ||
         command.find("in 0 1 2 3 4 5 6 7") != std::string_view::npos;
}

/// The files whose values alone are below their command, in order: "cat …/enable/3" and "cat
/// …/enable/*". Empty unless there is exactly one value per file.
std::vector<EcnFile> ecn_files_shown(const PasteAt& at) {
  static constexpr std::string_view kDigits = "01234567";
  std::vector<EcnFile> files;
  if (at.mark.tool() != "cat" && at.mark.tool() != "for") return files;
  if (at.mark.tool() == "for" && at.mark.has_word("echo")) return files;
  for (const std::string& word : at.mark.words) {
    auto file = ecn_path(word);
    const bool is_other_file = !file && word.find('/') != std::string::npos;
    if (is_other_file) return {};  // whose values would be among these
    if (!file) continue;
    if (file->device.find_first_of("$*{") != std::string_view::npos) return {};
    const std::string_view name = file->priority;
    const bool is_all = name == "*" || name == "?" || name == "[0-7]" || name == "{0..7}" ||
                        (name.starts_with('$') && is_over_all_priorities(at.mark.command));
    if (!is_all && !ecn_priority(name)) return {};
    for (unsigned p = 0; p < Priority::kLimit; ++p) {
      if (!is_all && ecn_priority(name) != p) continue;
      file->priority = kDigits.substr(p, 1);
      files.push_back(*file);
    }
  }
  if (at.mark.tool() == "for" && files.size() != Priority::kLimit) return {};
  std::size_t values = 0;
  while (values < at.lines.size() && is_ecn_value(at.line(values)))
    ++values;
  if (values != files.size()) return {};
  for (std::size_t n = 0; n < files.size(); ++n)
    files[n].value = at.line(n);
  return files;
}

void add_ecn_file(const EcnFile& file, const PasteLine& line, const PasteAt& at, PasteSink& out) {
  const std::string before = out.host();
  if (!file.host.empty()) out.use_host(file.host);
  const std::string device(file.device.empty() ? std::string_view(at.mark.device) : file.device);
  PastedNic& nic = out.hosts().by_name(out.host(), device);
  add_role(file.is_np, ecn_priority(file.priority).value_or(0), file.value == "1", nic, line, out);
  if (!file.host.empty()) out.use_host(before);
  if (out.device.empty()) out.device = device;
}

bool begins_ecn_files(const PasteAt& at) {
  return ecn_file_line(at.line(0)) || headed_ecn_file(at, 0) || named_ecn_line(at, 0) ||
         !ecn_files_shown(at).empty();
}

std::size_t read_ecn_files(const PasteAt& at, PasteSink& out) {
  const std::vector<EcnFile> shown = ecn_files_shown(at);
  for (std::size_t n = 0; n < shown.size(); ++n)
    add_ecn_file(shown[n], at.lines[n], at, out);
  if (!shown.empty()) return shown.size();
  std::size_t taken = 0;
  while (taken < at.lines.size()) {
    auto file = ecn_file_line(at.line(taken));
    if (!file) file = named_ecn_line(at, taken);
    if (file) {
      add_ecn_file(*file, at.lines[taken], at, out);
      ++taken;
    } else if (const auto headed = headed_ecn_file(at, taken)) {
      add_ecn_file(*headed, at.lines[taken + 1], at, out);
      taken += 2;
    } else if (at.line(taken).empty() && headed_ecn_file(at, taken + 1)) {
      ++taken;  // head leaves a blank line between files
    } else {
      break;
    }
  }
  return taken;
}

}  // namespace

bool begins_ecn_roles(const PasteAt& at) {
  return role_line(at.line(0)) || begins_ecn_files(at);
}

std::size_t read_ecn_roles(const PasteAt& at, PasteSink& out) {
  if (begins_ecn_files(at)) return read_ecn_files(at, out);
  const std::string before = out.host();
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    const auto item = role_line(at.line(taken));
    if (!item) break;
    if (!item->host.empty()) out.use_host(item->host);
    PastedNic& nic = out.hosts().by_name(out.host(), at.mark.device);
    if (item->np) add_role(true, item->priority, *item->np, nic, at.lines[taken], out);
    if (item->rp) add_role(false, item->priority, *item->rp, nic, at.lines[taken], out);
    if (!item->host.empty()) out.use_host(before);
  }
  out.device = at.mark.device;
  return taken;
}

// ---- ping ----

namespace {

/// "PING 10.0.1.7 (10.0.1.7) 8972(9000) bytes of data."
bool is_ping_heading(std::string_view text) {
  return text.starts_with("PING ") && text.find(" bytes of data") != std::string_view::npos;
}

bool is_reply(std::string_view text) {
  return text.find(" bytes from ") != std::string_view::npos &&
         text.find("icmp_seq=") != std::string_view::npos;
}

bool is_too_long(std::string_view text) {
  return text.find("essage too long") != std::string_view::npos ||
         text.find("Frag needed and DF set") != std::string_view::npos ||
         text.find("Packet too big") != std::string_view::npos;
}

bool is_ping_line(std::string_view text) {
  return is_reply(text) || is_too_long(text) ||
         text.find(" packets transmitted, ") != std::string_view::npos ||
         (text.starts_with("--- ") && text.find(" ping statistics") != std::string_view::npos) ||
         text.starts_with("rtt min/avg/max") || text.starts_with("From ") ||
         text.find("no answer yet for icmp_seq=") != std::string_view::npos;
}

/// "8972" behind -s, the target as the last word.
void read_ping_command(const Mark& mark, PastePing& ping) {
  if (mark.tool() != "ping") return;
  for (std::size_t at = 1; at + 1 < mark.words.size(); ++at) {
    if (mark.words[at] == "-s")
      if (const auto size = parse_u64(mark.words[at + 1]); size && *size < 65536)
        ping.payload = static_cast<unsigned>(*size);
    if (mark.words[at] == "-M") ping.is_whole = mark.words[at + 1] == "do";
  }
  ping.target = mark.words.back();
}

}  // namespace

bool begins_ping(const PasteAt& at) {
  return is_ping_heading(at.line(0)) || (at.mark.tool() == "ping" && is_ping_line(at.line(0)));
}

std::size_t read_ping(const PasteAt& at, PasteSink& out) {
  PastePing ping;
  ping.host = out.host();
  ping.at = out.cite(at.lines[0]);
  read_ping_command(at.mark, ping);
  std::size_t taken = 0;
  std::size_t last = 0;
  std::optional<std::uint64_t> sent;
  std::optional<std::uint64_t> received;
  for (; taken < at.lines.size(); ++taken) {
    const std::string_view text = at.line(taken);
    if (text.empty()) continue;
    if (is_ping_heading(text)) {
      if (taken > 0) break;
      const auto words = words_of(text);
      ping.target = words.size() > 1 ? std::string(words[1]) : std::string();
      const std::size_t open = text.find('(', text.find(") ") + 1);
      const std::size_t begin = text.rfind(' ', open);
      if (open != std::string_view::npos && begin != std::string_view::npos) {
        if (const auto size = parse_u64(text.substr(begin + 1, open - begin - 1));
            size && *size < 65536)
          ping.payload = static_cast<unsigned>(*size);
      }
    } else if (!is_ping_line(text)) {
      break;
    }
    ping.replies += is_reply(text) ? 1 : 0;
    if (is_too_long(text)) {
      ping.is_refused = true;
      ping.at = out.cite(at.lines[taken]);
    }
    // "rtt min/avg/max/mdev = 27.991/28.033/28.104/0.042 ms"
    if (const std::size_t values = text.find(" = ");
        text.starts_with("rtt min/avg/max") && values != std::string_view::npos) {
      const auto parts = split(text.substr(values + 3), '/');
      if (parts.size() > 2) ping.round_trip_ms = leading_decimal(parts[1]).value_or(0);
      if (ping.sent == 0 && !sent) ping.at = out.cite(at.lines[taken]);
    }
    if (text.find(" packets transmitted, ") != std::string_view::npos) {
      sent = number_after(" " + std::string(text), " ");
      received = number_after(text, "transmitted, ");
      ping.at = out.cite(at.lines[taken]);
    }
    last = taken;
  }
  if (received) ping.replies = *received;
  ping.sent = sent.value_or(ping.replies);
  out.detail = ping.target;
  if ((ping.payload > 0 && (ping.sent > 0 || ping.is_refused)) || ping.round_trip_ms > 0)
    out.paste().pings.push_back(std::move(ping));
  return last + 1;
}

// ---- tracepath ----

namespace {

/// "1500" of "… pmtu 1500 …".
std::optional<unsigned> path_mtu_in(std::string_view text) {
  const auto value = number_after(text, "pmtu ");
  return value && *value >= 576 && *value <= 65'535 ? std::optional(static_cast<unsigned>(*value))
                                                    : std::nullopt;
}

}  // namespace

bool begins_tracepath(const PasteAt& at) {
  return at.line(0).find("[LOCALHOST]") != std::string_view::npos &&
         path_mtu_in(at.line(0)).has_value();
}

/// The first line has the MTU of the interface, the last what the path passes.
std::size_t read_tracepath(const PasteAt& at, PasteSink& out) {
  constexpr unsigned kHeaders = 28;
  const unsigned local = *path_mtu_in(at.line(0));
  std::size_t n = 1;
  for (; n < at.lines.size(); ++n) {
    const auto passed = path_mtu_in(at.line(n));
    if (!at.line(n).starts_with("Resume: ")) continue;
    PastePing large;
    large.host = out.host();
    large.target = at.mark.words.empty() ? std::string() : at.mark.words.back();
    large.payload = local - kHeaders;
    large.sent = 1;
    large.at = out.cite(at.lines[n]);
    PastePing small = large;
    if (passed) small.payload = *passed - kHeaders;
    small.replies = 1;
    large.is_refused = passed && *passed < local;
    if (large.is_refused) out.paste().pings.push_back(std::move(large));
    if (passed) out.paste().pings.push_back(std::move(small));
    return n + 1;
  }
  return n;
}

// ---- traceroute ----

namespace {

/// " 3  10.255.12.1  0.520 ms …", " 3:  10.255.12.1  0.5ms", " 3.|-- 10.255.12.1 …": the address
/// of a hop; empty where none answered. nullopt for other lines.
std::optional<std::string_view> hop_of(std::string_view text) {
  const auto words = words_of(text);
  if (words.size() < 2) return std::nullopt;
  const std::size_t digits = words[0].find_first_not_of("0123456789");
  const std::string_view sign =
      digits == std::string_view::npos ? std::string_view() : words[0].substr(digits);
  const auto number = parse_u64(words[0].substr(0, digits));
  if (!number || *number == 0 || *number > 255 ||
      (sign != "" && sign != ":" && sign != ".|--" && sign != "?:"))
    return std::nullopt;
  for (std::size_t i = 1; i < words.size() && i < 4; ++i) {
    std::string_view word = words[i];
    if (word.starts_with('(') && word.ends_with(')')) word = word.substr(1, word.size() - 2);
    const auto parts = split(word, '.');
    const bool is_address =
        parts.size() == 4 && std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
          const auto byte = parse_u64(part);
          return byte && *byte < 256;
        });
    if (is_address) return word;
  }
  return words[1].starts_with('*') || words[1] == "no" ? std::optional(std::string_view())
                                                       : std::nullopt;
}

}  // namespace

bool begins_traceroute(const PasteAt& at) {
  if (at.line(0).starts_with("traceroute to ")) return true;
  const std::string_view tool = at.mark.tool();
  return (tool == "traceroute" || tool == "tracepath" || tool == "mtr") &&
         hop_of(at.line(0)).has_value();
}

/// A hop that comes a third time, with others between, is a loop: retries of one hop and a path
/// through two ports of one router are none.
std::size_t read_traceroute(const PasteAt& at, PasteSink& out) {
  constexpr std::size_t kTimes = 3;
  std::map<std::string, std::size_t> times;
  std::string_view before;
  std::vector<std::string> again;
  std::size_t where = 0;
  std::size_t last = 0;
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const auto hop = hop_of(at.line(n));
    if (!hop && !(n == 0 || at.line(n).empty())) break;
    last = n;
    if (!hop || hop->empty() || *hop == before) continue;
    before = *hop;
    if (++times[std::string(*hop)] != kTimes) continue;
    again.emplace_back(*hop);
    where = n;
  }
  const auto words = words_of(at.line(0));
  std::string target = words.size() > 2 && words[0] == "traceroute" ? std::string(words[2])
                       : at.mark.words.empty()                      ? std::string()
                                                                    : at.mark.words.back();
  out.detail = target;
  if (again.size() > 1)
    out.paste().loops.push_back({out.host(), target, again, out.cite(at.lines[where])});
  return last + 1;
}

// ---- the time of readings ----

bool begins_date(const PasteAt& at) {
  return time_of_line(at.line(0)).has_value();
}

std::size_t read_date(const PasteAt& at, PasteSink& out) {
  PasteTime time = out.hosts().time();
  time.second = time_of_line(at.line(0));
  out.hosts().set_time(time);
  return 1;
}

}  // namespace weir::readers
