#include "readers/paste/paste_text.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "readers/paste/paste_tools.h"
#include "readers/paste/text_lines.h"
#include "vocab/nic_drivers.h"

namespace weir::readers {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_name_char(char c) {
  return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.';
}

/// A host as people name it: letters, digits, dots and dashes, a letter first.
bool is_host(std::string_view name) {
  constexpr std::size_t kLongest = 253;
  return !name.empty() && name.size() <= kLongest && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(), is_name_char);
}

bool has_digit(std::string_view text) {
  return std::any_of(text.begin(), text.end(), is_digit);
}

// ---- what is around a line ----

/// Without the escape sequences that colour a terminal; the same view where there are none.
std::string_view without_colours(std::string_view line, std::deque<std::string>& owned) {
  if (line.find('\x1b') == std::string_view::npos) return line;
  std::string out;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] != '\x1b') {
      out += line[at];
      continue;
    }
    if (at + 1 < line.size() && line[at + 1] == '[') ++at;
    while (at + 1 < line.size() && !is_letter(line[at + 1]))
      ++at;
    ++at;  // the letter that ends it
  }
  return owned.emplace_back(std::move(out));
}

/// "<      rx_prio3_pause: 0": a line of `diff`, whose ">" is no quoting.
bool is_diff_line(std::string_view line) {
  return (line.starts_with("<  ") || line.starts_with(">  ")) &&
         line.find(": ") != std::string_view::npos;
}

std::string_view without_quoting(std::string_view line, bool has_diff) {
  if (has_diff && is_diff_line(line)) return line;
  while (line.starts_with('>') && (line.size() == 1 || line[1] == ' ' || line[1] == '>')) {
    line.remove_prefix(1);
    if (line.starts_with(' ')) line.remove_prefix(1);
  }
  return line;
}

/// A line behind its time stamp.
struct Stamped {
  std::string_view rest;
  std::optional<std::int64_t> second;  // of the day; nullopt: there is no stamp
};

/// "dddd-dd-dd": whether the text begins so, 'd' being a digit.
bool begins_like(std::string_view text, std::string_view form) {
  if (text.size() < form.size()) return false;
  for (std::size_t at = 0; at < form.size(); ++at)
    if (form[at] == 'd' ? !is_digit(text[at]) : text[at] != form[at]) return false;
  return true;
}

/// "2026-11-15T14:39:00.123Z ", as `ts`, kubectl and container logs put it in front; where
/// `may_lack_date`, also "14:39:00 " and "[14:39:00] ".
Stamped without_time(std::string_view line, bool may_lack_date) {
  std::string_view text = line;
  const bool has_bracket = text.starts_with('[');
  if (has_bracket) text.remove_prefix(1);
  const bool has_date = begins_like(text, "dddd-dd-dd") || begins_like(text, "dddd/dd/dd");
  if (has_date) text.remove_prefix(10);
  const bool is_joined = has_date && (text.starts_with('T') || text.starts_with(' '));
  if (is_joined) text.remove_prefix(1);
  if (has_date != is_joined || (!has_date && !may_lack_date)) return {line, std::nullopt};
  constexpr std::string_view kClock = "dd:dd:dd";
  if (!begins_like(text, kClock)) return {line, std::nullopt};
  const auto second = second_of_day(text.substr(0, kClock.size()));
  std::size_t end =
      std::min(text.find_first_not_of(".,0123456789Z+-:", kClock.size()), text.size());
  if (has_bracket) {
    if (end >= text.size() || text[end] != ']') return {line, std::nullopt};
    ++end;
  }
  if (!second || (end < text.size() && text[end] != ' ' && text[end] != '\t'))
    return {line, std::nullopt};
  // A stamp alone is what `date` printed; a packet's time belongs to tcpdump.
  const std::string_view rest = text.substr(std::min(end + 1, text.size()));
  const bool is_packet = rest.starts_with("IP ") || rest.starts_with("IP6 ") ||
                         rest.starts_with("ARP") || rest.starts_with("ethertype");
  if ((end >= text.size() && !has_bracket) || (is_packet && !has_date)) return {line, std::nullopt};
  return {rest, second};
}

// ---- what is in front of every line ----

/// Takes a prefix off all lines where nearly all of them have it: `taken` gives the rest of a line,
/// or nullopt where it has no such prefix.
template <class Taken>
void take_from_all(std::vector<PasteLine>& lines, Taken taken) {
  constexpr std::size_t kFewest = 3;
  std::size_t with = 0;
  std::size_t all = 0;
  for (PasteLine& line : lines) {
    if (trim(line.text).empty()) continue;
    ++all;
    with += taken(line) ? 1U : 0U;
  }
  if (with < kFewest || with * 5 < all * 4) return;
  for (PasteLine& line : lines)
    if (const auto rest = taken(line)) line.text = *rest;
}

/// "| text": quoting of some mail programs and trackers. A table has a bar at its end too.
std::optional<std::string_view> behind_bar(const PasteLine& line) {
  const std::string_view text = trim(line.text);
  if (!text.starts_with('|') || text.ends_with(" |") || (text.size() > 1 && text.ends_with('|')))
    return std::nullopt;
  if (text.size() > 1 && text[1] != ' ') return std::nullopt;
  const std::string_view rest = line.text.substr(line.text.find('|') + 1);
  return rest.starts_with(' ') ? rest.substr(1) : rest;
}

/// "   12  text", as `cat -n` numbers the lines of a file: each number is one more than the last.
void take_line_numbers(std::vector<PasteLine>& lines) {
  std::optional<std::int64_t> offset;
  std::size_t count = 0;
  std::size_t worded = 0;
  const auto behind = [](std::string_view text) {
    const std::string_view rest = trim(text);
    return std::min(rest.find_first_not_of("0123456789"), rest.size());
  };
  for (const PasteLine& line : lines) {
    const std::string_view text = trim(line.text);
    if (text.empty()) continue;
    const auto number = parse_u64(text.substr(0, behind(text)));
    if (!number || *number > 1'000'000) return;
    const std::int64_t here = static_cast<std::int64_t>(*number) - line.number;
    if (offset && *offset != here) return;
    offset = here;
    ++count;
    worded += std::any_of(text.begin(), text.end(), is_letter) ? 1U : 0U;
  }
  constexpr std::size_t kFewest = 4;
  if (count < kFewest || worded * 2 < count) return;
  for (PasteLine& line : lines) {
    const std::size_t blank = std::min(line.text.find_first_not_of(" \t"), line.text.size());
    std::string_view rest = line.text.substr(blank);
    rest.remove_prefix(behind(rest));
    if (rest.starts_with(':')) rest.remove_prefix(1);
    if (rest.starts_with('\t')) {
      rest.remove_prefix(1);
    } else {
      for (int n = 0; n < 2 && rest.starts_with(' '); ++n)
        rest.remove_prefix(1);
    }
    line.text = rest;
  }
}

void take_times(std::vector<PasteLine>& lines) {
  take_from_all(lines, [](PasteLine& line) -> std::optional<std::string_view> {
    const Stamped stamped = without_time(line.text, true);
    if (!stamped.second) return std::nullopt;
    line.second = stamped.second;  // right even where too few lines have one
    return stamped.rest;
  });
}

// ---- fences and pages ----

/// "```text" and "text```": what chats and trackers put around a quotation; the name of a language
/// behind it is no text.
std::string_view without_fence(std::string_view line) {
  const std::string_view text = trim(line);
  for (const std::string_view fence : {std::string_view("```"), std::string_view("~~~")}) {
    if (text.starts_with(fence)) {
      const std::string_view rest =
          text.substr(std::min(text.find_first_not_of(fence[0]), text.size()));
      const bool is_language =
          std::all_of(rest.begin(), rest.end(), [](char c) { return is_letter(c) || c == '-'; });
      if (is_language || fence[0] == '~') return {};
      return without_fence(rest);
    }
    if (fence[0] == '`' && text.ends_with(fence)) return line.substr(0, line.rfind(fence));
  }
  return line;
}

/// Text copied from the source of a page: "&lt;UP&gt;"; lines of its tags alone are nothing.
std::string_view without_markup(std::string_view line, std::deque<std::string>& owned) {
  const std::string_view text = trim(line);
  for (const std::string_view tag :
       {"<pre>", "</pre>", "<code>", "</code>", "<pre><code>", "</code></pre>"})
    if (text == tag) return {};
  constexpr std::array<std::pair<std::string_view, char>, 4> kNames{
      {{"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&amp;", '&'}}};
  if (line.find("&lt;") == std::string_view::npos && line.find("&gt;") == std::string_view::npos)
    return line;
  std::string out;
  for (std::size_t at = 0; at < line.size();) {
    const auto* const name = std::find_if(kNames.begin(), kNames.end(), [&](const auto& item) {
      return line.substr(at).starts_with(item.first);
    });
    if (name == kNames.end()) {
      out += line[at++];
    } else {
      out += name->second;
      at += name->first.size();
    }
  }
  return owned.emplace_back(std::move(out));
}

/// "gpu01" of "gpu01: text"; empty where the line has no such prefix.
std::string_view prefix_of(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) return {};
  if (colon + 1 < line.size() && line[colon + 1] != ' ') return {};
  const std::string_view name = line.substr(0, colon);
  const bool is_hostlike = has_digit(name) || name.find('-') != std::string_view::npos;
  return is_host(name) && is_hostlike ? name : std::string_view();
}

/// "rail3": a port, whatever follows it.
bool is_rail_port(std::string_view name) {
  constexpr std::string_view kStem = "rail";
  const std::string_view rest = name.substr(std::min(kStem.size(), name.size()));
  return name.starts_with(kStem) && !rest.empty() &&
         std::all_of(rest.begin(), rest.end(), is_digit);
}

/// Prefixes that come often enough to be hosts; the names of devices and counters come once a line.
std::map<std::string_view, int> prefixes_of(const std::vector<PasteLine>& lines) {
  std::map<std::string_view, int> counts;
  for (const PasteLine& line : lines) {
    const std::string_view name = prefix_of(line.text);
    if (!name.empty()) ++counts[name];
  }
  constexpr int kOften = 3;
  for (auto at = counts.begin(); at != counts.end();)
    at = at->second < kOften || is_rdma_name(at->first) || is_rail_port(at->first)
             ? counts.erase(at)
             : std::next(at);
  return counts;
}

/// `pdsh -w gpu[01-08] …`, `clush -w …`: what follows has hosts in front, each perhaps once.
bool asks_many_hosts(std::string_view line) {
  for (const std::string_view shell : {"pdsh ", "clush ", "parallel-ssh ", "pssh "})
    if (line.find(shell) != std::string_view::npos) return true;
  return false;
}

/// The prefixes of the lines below such a command.
void add_prefixes_below_shells(const std::vector<PasteLine>& lines,
                               std::map<std::string_view, int>& out) {
  bool is_below = false;
  for (const PasteLine& line : lines) {
    const std::string_view name = prefix_of(line.text);
    is_below = asks_many_hosts(line.text) || (is_below && !name.empty());
    if (is_below && !name.empty() && !is_rdma_name(name) && !is_rail_port(name)) ++out[name];
  }
}

/// Takes host prefixes off, and brings each run of such lines into the order of its hosts.
void take_prefixes(std::vector<PasteLine>& lines) {
  auto prefixes = prefixes_of(lines);
  add_prefixes_below_shells(lines, prefixes);
  if (prefixes.empty()) return;
  for (PasteLine& line : lines) {
    const std::string_view name = prefix_of(line.text);
    if (name.empty() || !prefixes.contains(name)) continue;
    line.host = name;
    line.text = line.text.substr(name.size() + 1);
    if (line.text.starts_with(' ')) line.text.remove_prefix(1);
  }
  for (auto run = lines.begin(); run != lines.end();) {
    const auto has_host = [](const PasteLine& line) { return !line.host.empty(); };
    const auto begin = std::find_if(run, lines.end(), has_host);
    run = std::find_if_not(begin, lines.end(), has_host);
    std::map<std::string_view, int> order;
    for (auto line = begin; line != run; ++line)
      order.emplace(line->host, static_cast<int>(order.size()));
    std::stable_sort(begin, run, [&](const PasteLine& a, const PasteLine& b) {
      return order[a.host] < order[b.host];
    });
  }
}

// ---- commands ----

constexpr auto kKnownTools = std::to_array<std::string_view>(
    {"ethtool",    "mlnx_qos",    "dcb",         "lldptool", "cma_roce_tos", "cma_roce_mode",
     "show_gids",  "ibv_devinfo", "ibv_devices", "rdma",     "ip",           "lspci",
     "dmesg",      "journalctl",  "grep",        "cat",      "head",         "tail",
     "tcpdump",    "ulimit",      "sysctl",      "lsmod",    "ibdev2netdev", "ibstat",
     "nvidia-smi", "mlxlink",     "mlxconfig",   "uname",    "hostname",     "show",
     "nv",         "pfcwd",       "ping",        "ibstatus", "top",          "uptime",
     "date",       "lldpcli",     "lldpctl",     "tshark",   "ifconfig",     "sonic-db-cli",
     "redis-cli",  "traceroute",  "tracepath",   "mtr",      "mlxreg",       "gnmic",
     "arping",     "arp",         "curl",        "mstconfig"});

/// "show …", "nv show …", and "sh …" as people shorten it, which is no shell.
bool is_show(const std::vector<std::string>& words) {
  if (words.empty()) return false;
  if (words[0] == "show" || words[0] == "nv" || words[0] == "pfcwd") return true;
  if ((words[0] != "sh" && words[0] != "sho") || words.size() < 2) return false;
  constexpr auto kTopics = std::to_array<std::string_view>(
      {"int", "que", "prior", "pol", "qos", "class", "clock", "lldp", "hard", "ver", "run", "pfc"});
  return std::any_of(kTopics.begin(), kTopics.end(), [&](std::string_view topic) {
    return words[1].starts_with(topic) && words[1].find('.') == std::string::npos;
  });
}

bool is_program(std::string_view word) {
  const bool is_load = (word.starts_with("ib_") || word.starts_with("raw_ethernet_")) &&
                       (word.ends_with("_bw") || word.ends_with("_lat"));
  const bool is_shell =
      word == "clush" || word == "pdsh" || word == "pssh" || word == "parallel-ssh";
  return is_load || is_shell || (word.ends_with("_perf") && word.find('_') < word.size() - 5) ||
         std::find(kKnownTools.begin(), kKnownTools.end(), word) != kKnownTools.end();
}

std::string_view base_name(std::string_view word) {
  const std::size_t slash = word.rfind('/');
  return slash == std::string_view::npos ? word : word.substr(slash + 1);
}

/// Words of a command without what is put in front of it (sudo, env, ssh HOST, watch) and behind it
/// (pipes, redirections, comments). `host` is that of ssh.
std::vector<std::string> words_of_command(std::string_view text, std::string& host) {
  std::vector<std::string_view> words = words_of(text);
  for (std::string_view& word : words) {
    while (!word.empty() && (word.front() == '\'' || word.front() == '"' || word.front() == '`'))
      word.remove_prefix(1);
    while (!word.empty() &&
           (word.back() == '\'' || word.back() == '"' || word.back() == '`' || word.back() == ';'))
      word.remove_suffix(1);
  }
  std::size_t at = 0;
  const auto word = [&](std::size_t n) { return n < words.size() ? words[n] : std::string_view(); };
  while (at < words.size()) {
    const std::string_view now = base_name(word(at));
    if (now == "ssh" && at + 2 < words.size()) {
      std::string_view name = word(at + 1);
      if (const auto sign = name.find('@'); sign != std::string_view::npos)
        name = name.substr(sign + 1);
      if (is_host(name)) host = name;
      at += 2;
    } else if (now == "sudo" || now == "time" || now == "env" || now == "watch" || now == "-E" ||
               now == "-n" || now == "-n1" || (at > 0 && has_digit(now) && now.size() < 3) ||
               (now.find('=') != std::string_view::npos && !now.starts_with('-'))) {
      ++at;
    } else {
      break;
    }
  }
  std::vector<std::string> out;
  for (; at < words.size(); ++at) {
    if (words[at].empty()) continue;
    if (words[at] == "|" || words[at] == "#" || words[at].starts_with("2>") || words[at] == ">" ||
        words[at] == "&&")
      break;
    out.emplace_back(out.empty() ? base_name(words[at]) : words[at]);
    if (out.back().empty()) out.pop_back();
  }
  return out;
}

std::string word_after(const std::vector<std::string>& words, std::string_view option) {
  for (std::size_t at = 0; at + 1 < words.size(); ++at)
    if (words[at] == option) return words[at + 1];
  return "";
}

/// "…/infiniband/mlx5_0/…", "…/net/eth2/…", "…/rdma_cm/mlx5_0/…".
std::string device_of_path(std::string_view path) {
  for (const std::string_view folder : {"/infiniband/", "/net/", "/rdma_cm/"}) {
    const std::size_t at = path.find(folder);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = path.substr(at + folder.size());
    const std::string_view name = rest.substr(0, rest.find('/'));
    if (is_host(name)) return std::string(name);
  }
  return "";
}

std::string device_of(const std::vector<std::string>& words) {
  const std::string& tool = words.front();
  std::string out;
  if (tool == "ethtool") {
    const bool has_name = words.size() > 1 && !words.back().starts_with('-');
    out = has_name ? words.back() : "";
  } else if (tool == "mlnx_qos" || tool == "lldptool" || tool == "tcpdump") {
    for (const std::string_view option : {"-i", "--interface", "-ti", "-tni", "-nni", "-ni"})
      if (out.empty()) out = word_after(words, option);
  } else if (tool == "dcb" || tool == "ip") {
    out = word_after(words, "dev");
  } else if (tool == "rdma") {
    for (const std::string& word : words)
      if (is_rdma_name(word)) out = word.substr(0, word.find('/'));
  } else if (tool == "cat" || tool == "grep" || tool == "head" || tool == "tail") {
    for (const std::string& word : words)
      if (out.empty()) out = device_of_path(word);
  } else if (tool == "ibstat" || tool == "ibstatus") {
    out = words.size() > 1 && !words[1].starts_with('-') ? words[1] : "";
  } else {
    for (const std::string_view option : {"-d", "--ib-dev"})
      if (out.empty()) out = word_after(words, option);
  }
  return is_host(out) ? out : "";
}

/// "gpu07" of `curl -s http://gpu07:9100/metrics`: an exporter speaks of the host it runs on.
std::string host_of_metrics(const Mark& mark) {
  for (std::size_t i = 1; i < mark.words.size(); ++i) {
    std::string_view word = mark.words[i];
    const std::size_t scheme = word.find("://");
    if (scheme != std::string_view::npos) word = word.substr(scheme + 3);
    const std::string_view name = word.substr(0, word.find_first_of(":/"));
    const bool is_metrics = word.find("/metrics") != std::string_view::npos;
    if (is_metrics && is_host(name) && name != "localhost") return std::string(name);
  }
  return "";
}

/// "…; sleep 10; …": how long the command waited between its readings.
std::optional<std::int64_t> seconds_waited(std::string_view command) {
  const std::size_t at = command.find("sleep ");
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = command.substr(at + 6);
  const std::size_t end = std::min(rest.find_first_not_of("0123456789"), rest.size());
  const auto value = parse_u64(rest.substr(0, end));
  constexpr std::uint64_t kDay = 86'400;
  if (!value || *value == 0 || *value > kDay) return std::nullopt;
  const char unit = end < rest.size() ? rest[end] : 's';
  const std::int64_t scale = unit == 'm' ? 60 : unit == 'h' ? 3600 : 1;
  return static_cast<std::int64_t>(*value) * scale;
}

/// The words of "show …" in "date; show …" and "sleep 30 && show …"; empty where there is none.
std::vector<std::string> show_among(std::string_view command) {
  for (const std::string_view part : commands_of(command)) {
    std::string ignored;
    auto words = words_of_command(part, ignored);
    if (is_show(words)) return words;
  }
  return {};
}

/// The words of "ethtool …" in "sleep 10; ethtool …": what waits, clears or shows the time prints
/// nothing of its own. Empty where no known program follows.
std::vector<std::string> known_behind_wait(std::string_view command, std::string& host) {
  const auto parts = commands_of(command);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto words = words_of_command(parts[i], host);
    if (words.empty()) return {};
    const std::string& tool = words.front();
    if (tool == "sleep" || tool == "date" || tool == "clear" || tool == "cd") continue;
    const bool is_behind = i > 0 && is_program(tool);
    return is_behind ? words : std::vector<std::string>();
  }
  return {};
}

Mark mark_from(std::string host, std::string_view command) {
  Mark mark;
  mark.words = words_of_command(command, host);
  if (auto behind = known_behind_wait(command, host); !behind.empty())
    mark.words = std::move(behind);
  mark.host = std::move(host);
  mark.is_switch = is_show(mark.words);
  if (!mark.is_switch) {
    if (auto words = show_among(command); !words.empty()) {
      mark.words = std::move(words);
      mark.is_switch = true;
    }
  }
  const std::string_view tool = mark.tool();
  mark.command = trim(command);
  if (!mark.words.empty()) mark.device = device_of(mark.words);
  if (mark.device.empty() && (tool == "for" || tool == "cd")) mark.device = device_of_path(command);
  if (mark.host.empty() && (tool == "curl" || tool == "wget")) mark.host = host_of_metrics(mark);
  for (const std::string_view part : commands_of(command))
    if (trim(part).starts_with("cd ")) mark.entered = device_of_path(trim(part).substr(3));
  mark.waited = seconds_waited(command);
  return mark;
}

/// The first word is a program we know, and what follows is no sentence.
bool is_command(std::string_view text) {
  const std::string_view first = base_name(text.substr(0, text.find_first_of(" \t")));
  const bool is_wrapper = first == "ssh" || first == "sudo" || first == "time" || first == "env" ||
                          first == "watch" || first.find('=') != std::string_view::npos;
  if (!is_wrapper && !is_program(first)) return false;  // of most lines: do not take them apart
  std::string host;
  const auto words = words_of_command(text, host);
  if (words.empty() || !is_program(words.front())) return false;
  constexpr std::size_t kMost = 24;
  if (words.size() == 1) {
    return words.front() == "show_gids" || words.front() == "ibv_devinfo" ||
           words.front() == "dmesg" || words.front() == "ibdev2netdev" ||
           words.front() == "lsmod" || words.front() == "ibstatus" || words.front() == "ibstat";
  }
  const std::string& second = words[1];
  // "ip address 10.0.0.1/31" is a line of a switch's configuration.
  const bool is_statement = words.front() == "ip" && words.size() > 2 && is_digit(words[2].front());
  if (is_statement) return false;
  constexpr auto kSubcommands = std::to_array<std::string_view>(
      {"link", "stat",    "statistic", "res", "resource", "system", "sys",  "dev",
       "addr", "address", "pfc",       "app", "ets",      "buffer", "dcbx", "maxrate",
       "show", "a",       "l",         "r",   "route",    "topo"});
  const bool is_argument =
      second.starts_with('-') || second.starts_with('/') || second.starts_with('.') ||
      (has_digit(second) && is_host(second)) || second.find("net.") == 0 ||
      std::find(kSubcommands.begin(), kSubcommands.end(), second) != kSubcommands.end();
  return is_argument && words.size() <= kMost && !text.ends_with('.') && !text.ends_with('?');
}

// ---- prompts ----

/// "[root@gpu01 ~]# …", "root@gpu01:~$ …", "(base) root@gpu01:~# …".
std::optional<Mark> prompt_with_user(std::string_view text) {
  if (text.starts_with('(')) {
    const std::size_t close = text.find(") ");
    if (close == std::string_view::npos) return std::nullopt;
    text = text.substr(close + 2);
  }
  const bool has_bracket = text.starts_with('[');
  if (has_bracket) text.remove_prefix(1);
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  if (!std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), is_name_char))
    return std::nullopt;
  const std::string_view after = text.substr(at + 1);
  const auto name_end = static_cast<std::size_t>(
      std::find_if_not(after.begin(), after.end(), is_name_char) - after.begin());
  if (name_end == after.size()) return std::nullopt;
  const std::string_view host = after.substr(0, name_end);
  const std::size_t sign = after.find_first_of("#$%>", name_end);
  // A container has the begin of its id for a name: "root@4a2e1:/#".
  const bool is_container = !host.empty() && is_digit(host.front()) && after[name_end] == ':' &&
                            std::any_of(host.begin(), host.end(), is_letter);
  if ((!is_host(host) && !is_container) || sign == std::string_view::npos) return std::nullopt;
  const std::string_view between = after.substr(name_end, sign - name_end);
  const bool is_prompt = between.empty() || between.starts_with(':') || between.starts_with(' ') ||
                         between.starts_with(']');
  constexpr std::size_t kLongestFolder = 120;
  if (!is_prompt || between.size() > kLongestFolder) return std::nullopt;
  if (sign + 1 < after.size() && after[sign + 1] != ' ' && !is_letter(after[sign + 1]))
    return std::nullopt;
  return mark_from(std::string(host), after.substr(sign + 1));
}

/// "gpu01# ethtool …", "leaf01#show …", "leaf01(config)# show …".
std::optional<Mark> prompt_of_host(std::string_view text) {
  const std::size_t sign = text.find_first_of("#$>%");
  if (sign == std::string_view::npos || sign == 0) return std::nullopt;
  std::string_view host = text.substr(0, sign);
  host = trim(host.substr(0, host.find('(')));
  // "[gpu01]# …", "[gpu01 ~]# …"
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (const auto colon = host.find(':'); colon != std::string_view::npos)
    host = host.substr(0, colon);
  // "zsh gpu-w10 % …": a shell may say its own name first.
  for (const std::string_view shell : {"zsh ", "bash ", "fish ", "tcsh ", "csh "})
    if (host.starts_with(shell)) host = trim(host.substr(shell.size()));
  // "dgx-04 ~ # …": a folder may be between.
  if (const auto blank = host.find(' '); blank != std::string_view::npos &&
                                         blank + 1 < host.size() &&
                                         (host[blank + 1] == '~' || host[blank + 1] == '/'))
    host = host.substr(0, blank);
  if (!is_host(host)) return std::nullopt;
  // "bash-5.1#", "sh-4.4#": the shell's own prompt names no host.
  if (host.starts_with("bash-") || host.starts_with("sh-")) host = {};
  const std::string_view command = trim(text.substr(sign + 1));
  std::string ignored;
  const auto words = words_of_command(command, ignored);
  const bool is_loop = !words.empty() && (words.front() == "for" || words.front() == "while") &&
                       command.find("; do") != std::string_view::npos;
  // "cd …; grep . …": what prints is behind what goes there.
  const auto parts = commands_of(command);
  const bool is_behind = std::any_of(parts.begin(), parts.end(), [](std::string_view part) {
    std::string nobody;
    const auto own = words_of_command(part, nobody);
    return own.size() > 1 && is_program(own.front());
  });
  const bool is_known =
      is_loop || is_behind || (!words.empty() && (is_program(words.front()) || is_show(words)));
  if (!is_known && show_among(command).empty()) return std::nullopt;
  return mark_from(std::string(host), command);
}

/// "$ ethtool …", "# ethtool …", "+ ethtool …".
std::optional<Mark> bare_prompt(std::string_view text) {
  if (text.size() < 3 || (text[0] != '$' && text[0] != '#' && text[0] != '+' && text[0] != '%') ||
      text[1] != ' ')
    return std::nullopt;
  const std::string_view command = trim(text.substr(2));
  std::string host;
  const auto words = words_of_command(command, host);
  if (words.empty()) return std::nullopt;
  const bool is_shell = text[0] == '$' && is_letter(words.front().front());
  if (!is_shell && !is_program(words.front())) return std::nullopt;
  if (!is_shell && !is_command(command)) return std::nullopt;
  return mark_from("", command);
}

// ---- headings ----

/// "receiver node (gpu02):", "server srv-2, every 20 s:": a line that ends in a colon and says
/// whose output follows.
std::optional<Mark> heading_of_side(std::string_view text) {
  constexpr auto kSides =
      std::to_array<std::string_view>({"receiver", "sender", "node", "server", "client", "host",
                                       "Receiver", "Sender", "Node", "Server", "Client", "Host"});
  constexpr std::size_t kMost = 8;
  const auto words = words_of(text);
  if (!text.ends_with(':') || words.size() > kMost) return std::nullopt;
  bool is_side = false;
  for (std::string_view word : words) {
    while (!word.empty() && (word.front() == '(' || word.front() == '"'))
      word.remove_prefix(1);
    while (!word.empty() && std::string_view("),:\"").find(word.back()) != std::string_view::npos)
      word.remove_suffix(1);
    if (is_side && is_host(word) && has_digit(word) && !is_rdma_name(word) && !is_netdev_name(word))
      return mark_from(std::string(word), "");
    is_side = is_side || std::find(kSides.begin(), kSides.end(), word) != kSides.end();
  }
  return std::nullopt;
}

/// Words of a heading that say what its names are, or which reading follows.
bool is_heading_word(std::string_view word) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"node",     "host",   "server",     "client", "sender", "receiver",   "nic",
       "device",   "dev",    "port",       "rail",   "hca",    "counters",   "before",
       "after",    "first",  "second",     "third",  "sample", "reading",    "run",
       "snapshot", "at",     "on",         "of",     "from",   "interface",  "iface",
       "output",   "start",  "end",        "t0",     "t1",     "t2",         "leaf",
       "spine",    "switch", "statistics", "stats",  "utc",    "again",      "during",
       "idle",     "load",   "tor",        "the",    "side",   "hw_counters"});
  return std::find(kWords.begin(), kWords.end(), lower_case(word)) != kWords.end();
}

/// "gpu01", "gpu01 mlx5_0, before", "mlx5_3 on n12 at 10:00:05": at most one host, one device and
/// one time, and nothing but words that say what they are.
std::optional<Mark> heading_of_names(std::string_view inner) {
  constexpr std::size_t kMost = 8;
  Mark mark;
  std::size_t pieces = 0;
  bool is_labelled = false;  // by the word before: "port 1"
  for (std::size_t at = 0; at < inner.size();) {
    const std::size_t begin = std::min(inner.find_first_not_of(" \t,()[]|", at), inner.size());
    const std::size_t end = std::min(inner.find_first_of(" \t,()[]|", begin), inner.size());
    std::string_view word = inner.substr(begin, end - begin);
    at = end;
    while (word.ends_with(':'))
      word.remove_suffix(1);
    if (word.find_first_not_of("-=#*~/") == std::string_view::npos) continue;
    if (++pieces > kMost) return std::nullopt;
    const bool is_number = std::all_of(word.begin(), word.end(), is_digit);
    if (const auto second = second_of_day(word)) {
      mark.second = second;
    } else if (is_heading_word(word) || (is_number && word.size() < 3 && is_labelled) ||
               begins_like(word, "dddd-dd-dd")) {
      is_labelled = is_heading_word(word);
      continue;
    } else if (place_of_counter(word) || !is_host(word) || !has_digit(word) ||
               (is_switch_port(word) && !is_netdev_name(word))) {
      return std::nullopt;
    } else {
      std::string& name = is_rdma_name(word) || is_netdev_name(word) ? mark.device : mark.host;
      if (!name.empty()) return std::nullopt;
      name = word;
    }
  }
  return mark.host.empty() && mark.device.empty() ? std::nullopt : std::optional(std::move(mark));
}

/// "=== gpu01 ===", "### ethtool -S eth2", "gpu01 | CHANGED | rc=0 >>", "Host: gpu01".
std::optional<Mark> heading(std::string_view text) {
  if (auto side = heading_of_side(trim(text))) return side;
  constexpr std::string_view kSigns = "=-*#~+[]<>: \t";
  if (const auto bar = text.find(" | "); bar != std::string_view::npos) {
    const std::string_view name = text.substr(0, bar);
    const bool is_ansible = text.find("rc=", bar) != std::string_view::npos && is_host(name);
    return is_ansible ? std::optional(mark_from(std::string(name), "")) : std::nullopt;
  }
  for (const std::string_view word : {"Host: ", "host: ", "Hostname: ", "hostname: ", "Node: "}) {
    if (text.starts_with(word) && is_host(trim(text.substr(word.size()))))
      return mark_from(std::string(trim(text.substr(word.size()))), "");
  }
  const std::size_t begin = text.find_first_not_of(kSigns);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::size_t end = text.find_last_not_of(kSigns) + 1;
  const std::string_view inner = text.substr(begin, end - begin);
  const bool is_decorated =
      begin >= 2 || (begin == 0 && end + 1 == text.size() && text[end] == ':');
  if (!is_decorated || text.front() == ' ' || text.front() == '\t') return std::nullopt;
  if (is_command(inner)) return mark_from("", inner);
  return heading_of_names(inner);
}

/// "➜  ~ ethtool …", "❯ ethtool …": without the signs that shells are decorated with.
std::string_view without_sign(std::string_view text) {
  const auto is_sign = [](char c) { return static_cast<unsigned char>(c) >= 0x80; };
  if (text.empty() || !is_sign(text.front())) return text;
  const auto end = std::find_if_not(text.begin(), text.end(), is_sign);
  std::string_view rest = trim(text.substr(static_cast<std::size_t>(end - text.begin())));
  if (rest.starts_with("~ ")) rest = trim(rest.substr(2));
  return is_command(rest) ? rest : text;
}

}  // namespace

bool is_read_tool(std::string_view program) {
  return is_program(program);
}

bool Mark::has_word(std::string_view word) const {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_rdma_name(std::string_view name) {
  return has_digit(name) && vocab::rdma_stem(name) > 0;
}

bool is_netdev_name(std::string_view name) {
  if (!has_digit(name)) return false;
  for (const std::string_view start :
       {"eth", "eno", "ens", "enp", "enP", "bond", "ib", "rdma", "rail", "hsn"})
    if (name.starts_with(start)) return true;
  return false;
}

PlainText plain_text(std::string_view text) {
  PlainText out;
  const std::vector<Line> lines = lines_of(text);
  const bool has_diff = std::any_of(lines.begin(), lines.end(), [](const Line& line) {
    return line.text.starts_with('<') && is_diff_line(line.text);
  });
  for (const Line& line : lines) {
    PasteLine plain;
    plain.number = line.number;
    const std::string_view bare = without_colours(line.text, out.owned);
    plain.text = without_markup(without_fence(without_quoting(bare, has_diff)), out.owned);
    out.lines.push_back(plain);
  }
  take_from_all(out.lines, behind_bar);
  take_line_numbers(out.lines);
  take_times(out.lines);
  for (PasteLine& line : out.lines) {
    const Stamped stamped = without_time(line.text, false);
    if (!stamped.second) continue;
    line.text = stamped.rest;
    line.second = stamped.second;
  }
  take_prefixes(out.lines);
  return out;
}

std::optional<Mark> mark_of(std::string_view line) {
  const std::string_view text = without_sign(without_time(trim(line), true).rest);
  constexpr std::size_t kLongest = 600;
  if (text.empty() || text.size() > kLongest) return std::nullopt;
  if (auto mark = prompt_with_user(text)) return mark;
  if (auto mark = bare_prompt(text)) return mark;
  if (auto mark = prompt_of_host(text)) return mark;
  if (is_command(text)) return mark_from("", text);
  return heading(line);
}

}  // namespace weir::readers
