// How switches sort and mark, as people cut it out with loops and filters: one code point of many
// switches, marking thresholds, entries of queues, classes that are paused, drops of CNPs.
#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"
#include "readers/paste/notes/notes.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

std::string_view without_quotes(std::string_view word) {
  constexpr std::string_view kQuotes = "\"'`,;)";
  while (!word.empty() && kQuotes.find(word.front()) != std::string_view::npos)
    word.remove_prefix(1);
  while (!word.empty() && kQuotes.find(word.back()) != std::string_view::npos)
    word.remove_suffix(1);
  return word;
}

/// 26 of `hget "DSCP_TO_TC_MAP|AZURE" 26`.
std::optional<unsigned> point_of_command(std::string_view command) {
  constexpr std::string_view kTable = "DSCP_TO_TC_MAP";
  const std::size_t at = command.find(kTable);
  if (at == std::string_view::npos || command.find("hget ") == std::string_view::npos)
    return std::nullopt;
  const auto words = words_of(command.substr(at));
  const auto number = words.size() > 1 ? parse_count(without_quotes(words[1])) : std::nullopt;
  return number && *number < Dscp::kLimit ? std::optional(static_cast<unsigned>(*number))
                                          : std::nullopt;
}

}  // namespace

/// "leaf-b3 1", "leaf-b3: 1": the class of one code point, switch by switch.
std::size_t note_code_points(const PasteAt& at, PasteSink& out) {
  const auto dscp = point_of_command(at.mark.command);
  if (!dscp) return 0;
  std::size_t said = 0;
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const auto words = words_of(at.line(n));
    if (words.size() != 2) continue;
    std::string_view name = words[0];
    if (name.ends_with(':')) name.remove_suffix(1);
    const auto value = parse_u64(without_quotes(words[1]));
    if (!value || *value > 7 || parse_u64(name)) continue;
    out.paste().code_points.push_back({std::string(name), Dscp::of(*dscp),
                                       TrafficClass::of(static_cast<unsigned>(*value)),
                                       out.cite(at.lines[n])});
    ++said;
  }
  return said;
}

// ---- thresholds ----

namespace {

std::optional<Bytes> with_unit(std::string_view number, std::string_view unit) {
  const auto value = parse_count(number);
  const std::int64_t scale = unit.starts_with("kbyte")   ? 1'000
                             : unit.starts_with("mbyte") ? 1'000'000
                             : unit.starts_with("byte")  ? 1
                                                         : 0;
  constexpr std::uint64_t kMost = 1'000'000'000;
  if (!value || *value > kMost || scale == 0) return std::nullopt;
  return Bytes::raw(static_cast<std::int64_t>(*value) * scale);
}

/// "minimum-threshold 5 kbytes maximum-threshold 15 kbytes" of EOS and NX-OS.
std::optional<Bytes> threshold_in(const std::vector<std::string_view>& words,
                                  std::string_view key) {
  for (std::size_t i = 0; i + 2 < words.size(); ++i)
    if (words[i] == key) return with_unit(words[i + 1], words[i + 2]);
  return std::nullopt;
}

/// 1048576 of "'green_min_threshold': '1048576'".
std::optional<Bytes> profile_value(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + key.size());
  const std::size_t begin = text.find_first_of("0123456789");
  if (begin == std::string_view::npos || begin > 6) return std::nullopt;
  text.remove_prefix(begin);
  return with_unit(text.substr(0, std::min(text.find_first_not_of("0123456789"), text.size())),
                   "bytes");
}

/// "spine1 {'ecn': …}": a loop put the switch's name in front.
std::string name_before_brace(std::string_view text) {
  const std::size_t brace = text.find('{');
  if (brace == std::string_view::npos) return {};
  const auto words = words_of(text.substr(0, brace));
  if (words.size() != 1 || words[0].size() < 2) return {};
  return std::string(words[0].ends_with(':') ? words[0].substr(0, words[0].size() - 1) : words[0]);
}

}  // namespace

std::size_t note_thresholds(const PasteAt& at, PasteSink& out) {
  std::string queue;
  std::size_t said = 0;
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const std::string_view text = at.line(n);
    const auto words = words_of(text);
    if (words.empty()) continue;
    const bool is_queue = words[0] == "uc-tx-queue" || words[0] == "tx-queue" ||
                          text.starts_with("class type queuing ");
    if (is_queue) queue = words.back();
    auto min = threshold_in(words, "minimum-threshold");
    auto max = threshold_in(words, "maximum-threshold");
    if (!min) min = profile_value(text, "green_min_threshold");
    if (!max) max = profile_value(text, "green_max_threshold");
    if (!min || !max) continue;
    const std::string name = name_before_brace(text);
    note(out, out.paste().noted.thresholds,
         {name.empty() ? out.host() : name, queue, *min, *max, out.cite(at.lines[n])});
    ++said;
  }
  return said;
}

// ---- entries of queues ----

namespace {

/// "Ethernet64|3": { over several lines, as the database is written out: the lines of each entry.
std::size_t note_queue_table(const PasteAt& at, PasteSink& out) {
  std::size_t said = 0;
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const std::string_view text = at.line(n);
    const std::size_t bar = text.find('|');
    const bool is_key = text.starts_with("\"") && text.ends_with('{') && bar < text.size() &&
                        is_switch_port(text.substr(1, bar - 1));
    if (!is_key) continue;
    const std::string_view rest = text.substr(bar + 1);
    const std::string queue(
        rest.substr(0, std::min(rest.find_first_not_of("0123456789"), rest.size())));
    bool has_profile = false;
    bool has_more = false;
    std::size_t line = n + 1;
    for (; line < at.lines.size() && !at.line(line).starts_with('}'); ++line) {
      has_profile = has_profile || at.line(line).find("\"wred_profile\"") == 0;
      has_more = has_more || at.line(line).find("\"scheduler\"") == 0;
    }
    n = line;
    if (queue.empty() || line >= at.lines.size() || (!has_profile && !has_more)) continue;
    note(out, out.paste().noted.queue_entries,
         {out.host(), queue, has_profile, out.cite(at.lines[line - 1])});
    ++said;
  }
  return said;
}

/// "1) \"scheduler\"", "2) \"scheduler.1\"": as redis-cli prints an entry.
std::size_t note_redis_entry(const PasteAt& at, const std::string& queue, PasteSink& out) {
  bool has_profile = false;
  bool has_more = false;
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const std::string_view text = at.line(n);
    if (text.empty() || text.front() < '1' || text.front() > '9') continue;
    has_profile = has_profile || text.find(") \"wred_profile\"") != std::string_view::npos;
    has_more = has_more || text.find(") \"scheduler\"") != std::string_view::npos;
  }
  if (!has_profile && !has_more) return 0;
  note(out, out.paste().noted.queue_entries,
       {out.host(), queue, has_profile, out.cite(at.lines[0])});
  return 1;
}

}  // namespace

/// Answers to `hgetall "QUEUE|Ethernet64|3"`: of loops that put the name of the switch in front, or
/// of a diff of two switches; the table QUEUE of the database.
std::size_t note_queue_entries(const PasteAt& at, PasteSink& out) {
  const std::string_view command = at.mark.command;
  const std::size_t table = command.find("QUEUE|");
  if (table == std::string_view::npos) return note_queue_table(at, out);
  const auto parts = split(command.substr(table), '|');
  if (parts.size() < 3) return 0;
  const std::string queue(
      parts[2].substr(0, std::min(parts[2].find_first_not_of("0123456789"), parts[2].size())));
  std::vector<std::string> names;  // of a diff, in its order
  const auto words = words_of(command);
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i].ends_with("ssh")) names.emplace_back(words[i + 1]);
  const bool is_diff = command.starts_with("diff ") && names.size() == 2;
  std::size_t said = 0;
  for (std::size_t n = 0; n < at.lines.size() && !queue.empty(); ++n) {
    const std::string_view text = at.line(n);
    const bool has_profile = text.find("wred_profile") != std::string_view::npos;
    if (text.find('{') == std::string_view::npos ||
        (!has_profile && text.find("scheduler") == std::string_view::npos))
      continue;
    std::string name = name_before_brace(text);
    if (is_diff && text.starts_with('<')) name = names[0];
    if (is_diff && text.starts_with('>')) name = names[1];
    if (name.empty()) name = out.host();
    note(out, out.paste().noted.queue_entries, {name, queue, has_profile, out.cite(at.lines[n])});
    ++said;
  }
  return said > 0 || queue.empty() ? said : note_redis_entry(at, queue, out);
}

// ---- classes that are paused ----

/// `show class-of-service forwarding-class` of Junos: "NO-LOSS  4  4  normal  Enabled  4".
std::size_t note_pause_classes(const PasteAt& at, PasteSink& out) {
  bool is_table = false;
  PrioritySet set;
  std::optional<Cited> first;
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const std::string_view text = at.line(n);
    if (text.find("No-Loss") != std::string_view::npos &&
        text.find("PFC priority") != std::string_view::npos) {
      is_table = true;
      continue;
    }
    const auto words = words_of(text);
    if (!is_table || words.size() < 6 || words[words.size() - 2] != "Enabled") continue;
    const auto priority = parse_u64(words.back());
    if (!priority || *priority >= Priority::kLimit) continue;
    set.insert(Priority::of(static_cast<unsigned>(*priority)));
    if (!first) first = out.cite(at.lines[n]);
  }
  if (!first) return 0;
  out.paste().lossless.push_back({out.host(), set, *first});
  return 1;
}

// ---- CNPs ----

/// "unicast-no-buffer-discard  90082114  Tx buffer discards for CNP traffic" of Cumulus, or without
/// a description below "tx-cnp-stats".
std::size_t note_cnp_drops(const PasteAt& at, PasteSink& out) {
  bool is_cnp = false;  // the group of counters at hand
  std::size_t said = 0;
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const std::string_view text = at.line(n);
    const auto words = words_of(text);
    if (words.empty()) continue;
    if (words[0].ends_with("-stats")) is_cnp = words[0] == "tx-cnp-stats";
    const bool is_told = text.find("discards for CNP traffic") != std::string_view::npos;
    if (words.size() < 2 || words[0].find("discard") == std::string_view::npos ||
        (!is_told && !is_cnp))
      continue;
    const auto packets = parse_count(words[1]);
    if (!packets) continue;
    note(out, out.paste().noted.cnp_drops,
         {out.host(), port_of_command(at.mark), *packets, out.cite(at.lines[n])});
    ++said;
  }
  return said;
}

// ---- rules that mark ----

namespace {

/// 26 of "0x1a", "26", "AF31" and "af31"; nullopt for other names.
std::optional<Dscp> code_point_named(std::string_view word) {
  word = without_quotes(word);
  unsigned value = 0;
  const bool is_hex = word.starts_with("0x");
  const std::string_view digits = is_hex ? word.substr(2) : word;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, is_hex ? 16 : 10);
  if (error == std::errc() && end == digits.data() + digits.size())
    return value < Dscp::kLimit ? std::optional(Dscp::of(value)) : std::nullopt;
  const std::string name = lower_case(word);
  const auto digit = [&](std::size_t i) { return static_cast<unsigned>(name[i] - '0'); };
  const auto is_digits = [&](std::size_t from) {
    return std::all_of(name.begin() + static_cast<std::ptrdiff_t>(from), name.end(),
                       [](char c) { return c >= '0' && c <= '7'; });
  };
  // RFC 2597, RFC 2474, RFC 3246.
  if (name.size() == 4 && name.starts_with("af") && is_digits(2) && digit(2) > 0 && digit(2) < 5 &&
      digit(3) > 0 && digit(3) < 4)
    return Dscp::of(8 * digit(2) + 2 * digit(3));
  if (name.size() == 3 && name.starts_with("cs") && is_digits(2)) return Dscp::of(8 * digit(2));
  return name == "ef" ? std::optional(Dscp::of(46)) : std::nullopt;
}

}  // namespace

/// "-A POSTROUTING -p tcp … -j DSCP --set-dscp 0x1a" (iptables), "tcp dport 873 ip dscp set af31"
/// (nft): what a host marks besides RDMA.
std::size_t note_marking_rules(const PasteAt& at, PasteSink& out) {
  std::size_t said = 0;
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const auto words = words_of(at.line(n));
    const auto has = [&](std::string_view word) {
      return std::find(words.begin(), words.end(), word) != words.end();
    };
    if (!has("tcp") || at.line(n).starts_with('#')) continue;
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      const bool is_iptables = words[i] == "--set-dscp" || words[i] == "--set-dscp-class";
      const bool is_nft = i > 0 && words[i - 1] == "dscp" && words[i] == "set";
      // `iptables -vL` prints "DSCP  tcp  --  …  tcp dpt:873 DSCP set 0x1a"
      const bool is_listed = i > 0 && words[i - 1] == "DSCP" && words[i] == "set";
      if (!is_iptables && !is_nft && !is_listed) continue;
      const auto dscp = code_point_named(words[i + 1]);
      if (!dscp || dscp->value() == 0) continue;
      note(out, out.paste().noted.marking_rules, {out.host(), *dscp, out.cite(at.lines[n])});
      ++said;
    }
  }
  return said;
}

/// "tx_prio3_bytes: 220" (mlx5), "tx_bytes_pri3: 220" (bnxt). Counters that were read once beside
/// others that make a window are not among its counts; which priority carries the bytes they show.
std::size_t note_carried(const PasteAt& at, PasteSink& out) {
  PasteCarried found;
  bool is_there = false;
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const std::string_view text = at.line(n);
    if (!text.starts_with("tx_prio") && !text.starts_with("tx_bytes_pri")) continue;
    const auto count = named_count(text);
    if (!count) continue;
    const std::size_t digit = count->name.find_first_of("01234567");
    if (digit == std::string_view::npos) continue;
    const std::string_view before = count->name.substr(0, digit);
    const std::string_view behind = count->name.substr(digit + 1);
    const bool is_sent =
        (before == "tx_prio" && behind == "_bytes") || (before == "tx_bytes_pri" && behind.empty());
    if (!is_sent) continue;
    found.bytes.at(static_cast<std::size_t>(count->name[digit] - '0')) = count->value;
    is_there = true;
  }
  if (is_there) note(out, out.paste().noted.carried, found);
  return 0;  // a reader of counters has them too
}

}  // namespace weir::readers
