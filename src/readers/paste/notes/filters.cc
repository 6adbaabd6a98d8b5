// Filters that drop RoCEv2: entries of access lists (EOS, NX-OS), iptables, nft, and what a
// firewall wrote into the kernel's log.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "readers/paste/notes/notes.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

constexpr std::string_view kPort = "4791";

/// 4791 as a word of its own: "eq 4791", "dpt:4791", "DPT=4791".
bool names_port(std::string_view text) {
  const auto is_digit = [&](std::size_t i) {
    return i < text.size() && text[i] >= '0' && text[i] <= '9';
  };
  for (std::size_t i = text.find(kPort); i != std::string_view::npos; i = text.find(kPort, i + 1))
    if ((i == 0 || !is_digit(i - 1)) && !is_digit(i + kPort.size())) return true;
  return false;
}

std::optional<std::uint64_t> number_behind(std::string_view text, std::string_view key) {
  const std::size_t i = text.find(key);
  if (i == std::string_view::npos) return std::nullopt;
  text.remove_prefix(i + key.size());
  return parse_count(text.substr(0, std::min(text.find_first_not_of("0123456789"), text.size())));
}

/// How often it matched: "[match 182733, …]", "[match=182733]", "counter packets 183 bytes …", or
/// the first column of iptables -v.
std::optional<std::uint64_t> matches_in(std::string_view text,
                                        const std::vector<std::string_view>& words) {
  for (const std::string_view key : {"[match ", "[match=", "match:", "packets "})
    if (const auto count = number_behind(text, key)) return count;
  const bool is_verbose = words.size() > 8 && (words[2] == "DROP" || words[2] == "REJECT");
  return is_verbose ? parse_count(words[0]) : std::nullopt;
}

bool drops(const std::vector<std::string_view>& words) {
  constexpr auto kVerdicts = std::to_array<std::string_view>(
      {"deny", "drop", "reject", "discard", "DENY", "DROP", "REJECT", "DISCARD"});
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return std::find(kVerdicts.begin(), kVerdicts.end(), word) != kVerdicts.end();
  });
}

/// `show acl rule` of SONiC: "DATAACL  RULE_2  9998  DROP  IP_PROTOCOL: 17  Active", and below it
/// "L4_DST_PORT: 4791"; `aclshow` counts by the rule's name.
std::size_t note_acl_rules(const PasteAt& at, PasteSink& out) {
  auto& filters = out.paste().noted.filters;
  std::string rule;
  bool is_drop = false;
  std::size_t said = 0;
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const std::string_view text = at.line(n);
    const auto words = words_of(text);
    if (words.size() >= 4 && parse_u64(words[2])) {
      rule = words[1];
      is_drop = words[3] == "DROP" || words[3] == "DENY";
      const auto packets = parse_count(words[3]);
      for (PasteFilter& filter : filters)
        if (packets && !filter.rule.empty() && filter.rule == words[0] &&
            filter.host == out.host()) {
          filter.matches = packets;
          ++said;
        }
    }
    if (!is_drop || text.find("L4_DST_PORT:") == std::string_view::npos || !names_port(text))
      continue;
    note(out, filters, {out.host(), true, std::nullopt, out.cite(at.lines[n]), rule});
    ++said;
  }
  return said;
}

}  // namespace

std::size_t note_filters(const PasteAt& at, PasteSink& out) {
  if (at.mark.command.find("acl") != std::string::npos)
    if (const std::size_t said = note_acl_rules(at, out); said > 0) return said;
  std::size_t said = 0;
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const std::string_view text = at.line(n);
    if (!names_port(text)) continue;
    const auto words = words_of(text);
    const bool is_udp = text.find("udp") != std::string_view::npos ||
                        text.find("UDP") != std::string_view::npos ||
                        text.find(" 17 ") != std::string_view::npos;
    // "[UFW BLOCK] IN=rail0 … PROTO=UDP … DPT=4791", whatever the firewall calls it
    const bool is_logged = text.find("DPT=4791") != std::string_view::npos &&
                           (text.find("BLOCK") != std::string_view::npos ||
                            text.find("DROP") != std::string_view::npos ||
                            text.find("REJECT") != std::string_view::npos);
    const bool is_rule = drops(words) && words.size() >= 5 &&
                         text.find("permit") == std::string_view::npos &&
                         text.find("accept") == std::string_view::npos;
    if (!is_udp || (!is_logged && !is_rule)) continue;
    const auto matches = is_logged ? std::optional<std::uint64_t>(1) : matches_in(text, words);
    note(out, out.paste().noted.filters,
         {out.host(), at.mark.is_switch, matches, out.cite(at.lines[n])});
    ++said;
  }
  return said;
}

}  // namespace weir::readers
