// How switches and bonds spread their load: the use of the members of a channel, what the hash
// takes, and its seed.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "readers/paste/rows/rows_tools.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

/// "24.10%"
std::optional<double> percent_of(std::string_view word) {
  if (!word.ends_with('%')) return std::nullopt;
  const auto value = leading_decimal(word);
  return value && *value >= 0 && *value <= 100 ? value : std::nullopt;
}

/// "    10    Eth1/50  25.77%  98.02%  25.00%  24.99%    0.0%    0.0%" of `show port-channel
/// traffic` (NX-OS): channel, member, then received and sent, unicast first.
struct MemberRow {
  std::string_view channel;
  std::string_view port;
  double sent = 0;
};
std::optional<MemberRow> member_row(std::string_view text) {
  const auto words = words_of(text);
  constexpr std::size_t kShares = 6;
  if (words.size() != kShares + 2 || !parse_u64(words[0]) || !is_switch_port(words[1]))
    return std::nullopt;
  for (std::size_t i = 2; i < words.size(); ++i)
    if (!percent_of(words[i])) return std::nullopt;
  return MemberRow{words[0], words[1], *percent_of(words[3])};
}

bool is_member_heading(std::string_view text) {
  return text.starts_with("ChanId ") && text.find("Tx-Ucst") != std::string_view::npos;
}

/// What is behind "IP:" of `show port-channel load-balance` (NX-OS), behind "Transmit Hash Policy:"
/// of /proc/net/bonding, and behind "port-channel load-balance" of a configuration.
std::string_view hash_fields(std::string_view text) {
  for (const std::string_view key :
       {"IP: ", "Transmit Hash Policy: ", "port-channel load-balance "})
    if (text.starts_with(key)) return trim(text.substr(key.size()));
  return {};
}

bool is_about_channels(const PasteAt& at) {
  return at.line(0).starts_with("Transmit Hash Policy: ") ||
         at.mark.command.find("load-balance") != std::string::npos ||
         (at.line(0).starts_with("port-channel load-balance ") && at.mark.is_switch);
}

/// Nothing else chooses: addresses alone, of Ethernet or IP.
bool is_known_hash(std::string_view fields) {
  for (const std::string_view start :
       {"src-dst ip", "src ip", "dst ip", "src-dst mac", "src mac", "dst mac", "layer2", "layer3+4",
        "encap", "src-dst-ip", "source-dest-ip", "source-dest-port", "src-dst-mac"})
    if (fields.starts_with(start)) return true;
  return false;
}

/// "10" of "Universal-id seed: 10", `hash-seed 10`, "ecmp_hash_seed: 10", "hash seed is 10".
std::optional<std::string> seed_in(std::string_view text) {
  const std::string lower = lower_case(text);
  const std::size_t at = lower.find("seed");
  if (at == std::string::npos) return std::nullopt;
  std::string_view rest = std::string_view(lower).substr(at + 4);
  rest = rest.substr(std::min(rest.find_first_not_of(" \t:=\"'"), rest.size()));
  if (rest.starts_with("is ")) rest = trim(rest.substr(3));
  const std::string_view number = rest.substr(0, rest.find_first_of(" \t,;\"'"));
  const bool is_hex = number.starts_with("0x") && number.size() > 2 &&
                      number.find_first_not_of("0123456789abcdef", 2) == std::string_view::npos;
  return is_hex || parse_u64(number) ? std::optional(std::string(number)) : std::nullopt;
}

/// Words that make a seed one of the choice among paths.
bool names_paths(std::string_view text) {
  const std::string lower = lower_case(text);
  for (const std::string_view word :
       {"ecmp", "hash", "load-shar", "load_shar", "load-balanc", "universal-id"})
    if (lower.find(word) != std::string::npos) return true;
  return false;
}

/// `sonic-db-cli APPL_DB hget SWITCH_TABLE:switch ecmp_hash_seed`, `redis-cli … hget …
/// ecmp_hash_seed`: the number alone is below it.
bool asks_for_seed(const Mark& mark) {
  return !mark.words.empty() && mark.words.back().ends_with("ecmp_hash_seed") &&
         mark.has_word("hget");
}

std::optional<std::string> seed_at(const PasteAt& at) {
  if (asks_for_seed(at.mark)) {
    std::string_view text = at.line(0);
    while (!text.empty() && (text.front() == '"' || text.front() == '\''))
      text.remove_prefix(1);
    while (!text.empty() && (text.back() == '"' || text.back() == '\''))
      text.remove_suffix(1);
    return parse_u64(text) ? std::optional(std::string(text)) : std::nullopt;
  }
  // A person who speaks of seeds says no number behind the word, or says it in a sentence.
  constexpr std::size_t kMost = 8;
  const bool is_here = words_of(at.line(0)).size() <= kMost &&
                       (names_paths(at.line(0)) || names_paths(at.mark.command));
  return is_here ? seed_in(at.line(0)) : std::nullopt;
}

}  // namespace

bool begins_members(const PasteAt& at) {
  return is_member_heading(at.line(0)) || member_row(at.line(0)).has_value();
}

std::size_t read_members(const PasteAt& at, PasteSink& out) {
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    const std::string_view text = at.line(taken);
    if (is_member_heading(text) || is_rule(text)) continue;
    const auto row = member_row(text);
    if (!row) break;
    out.paste().rows.members.push_back({out.host(), std::string(row->channel),
                                        std::string(row->port), row->sent,
                                        out.cite(at.lines[taken])});
  }
  return taken;
}

bool begins_hash(const PasteAt& at) {
  return is_about_channels(at) && is_known_hash(hash_fields(at.line(0)));
}

std::size_t read_hash(const PasteAt& at, PasteSink& out) {
  const std::string_view fields = hash_fields(at.line(0));
  const bool has_ports =
      fields.find("port") != std::string_view::npos || fields.find("3+4") != std::string_view::npos;
  out.paste().rows.hashes.push_back({out.host(), has_ports, out.cite(at.lines[0])});
  return 1;
}

bool begins_seed(const PasteAt& at) {
  return seed_at(at).has_value();
}

std::size_t read_seed(const PasteAt& at, PasteSink& out) {
  out.paste().rows.seeds.push_back({out.host(), *seed_at(at), out.cite(at.lines[0])});
  if (asks_for_seed(at.mark))  // the number alone says nothing to a reader
    out.paste().rows.seeds.back().at.text = "ecmp_hash_seed: " + *seed_at(at);
  return 1;
}

}  // namespace weir::readers
