// Who answers for an address: ip neigh, arp -n, arping, `show ip arp`; MACs of interfaces; logs
// that name an address in use twice.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "readers/paste/notes/notes.h"
#include "readers/paste/rows/rows_tools.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// "b8:3f:d2:11:0a:10", "[94:6D:AE:03:77:1A]", "946d.ae03.771a" as twelve digits with colons; empty
/// for anything else.
std::string mac_of(std::string_view word) {
  std::string digits;
  if (word.starts_with('[') && word.ends_with(']')) word = word.substr(1, word.size() - 2);
  const bool is_long = word.size() == 17;
  const bool is_dotted = word.size() == 14;
  if (!is_long && !is_dotted) return {};
  for (std::size_t i = 0; i < word.size(); ++i) {
    const bool is_mark = is_long ? i % 3 == 2 : i % 5 == 4;
    if (is_mark ? word[i] != (is_long ? ':' : '.') : !is_hex(word[i])) return {};
    if (!is_mark) digits += word[i];
  }
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && i % 2 == 0) out += ':';
    out += digits[i];
  }
  return lower_case(out);
}

bool is_address(std::string_view word) {
  const auto parts = split(word, '.');
  return parts.size() == 4 && std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
           const auto number = parse_u64(part);
           return number && *number < 256;
         });
}

/// Of several stations at one address on purpose: VRRP, HSRP, VARP, anycast gateways.
bool is_shared_mac(std::string_view mac) {
  return mac.starts_with("00:00:5e:00:0") || mac.starts_with("00:00:0c:07:ac") ||
         mac.starts_with("00:00:0c:9f:f") || mac.starts_with("00:1c:73:00:") ||
         mac == "00:00:00:00:00:00" || mac == "ff:ff:ff:ff:ff:ff";
}

}  // namespace

std::size_t note_bindings(const PasteAt& at, PasteSink& out) {
  PasteNoted& noted = out.paste().noted;
  std::size_t said = 0;
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const std::string_view text = at.line(n);
    if (text.find_first_of(":.") == std::string_view::npos) continue;
    const auto words = words_of(text);
    if (words.size() < 3 || words.size() > 14) continue;
    std::string mac;
    std::string_view address;
    for (const std::string_view word : words) {
      if (mac.empty()) mac = mac_of(word);
      if (address.empty() && is_address(plain_address(word))) address = plain_address(word);
    }
    if (mac.empty() || is_shared_mac(mac)) continue;
    // "rail0  UP  b8:3f:d2:11:0a:10 <BROADCAST,…>" of `ip -br link`
    const bool is_link = words.size() == 4 && words[3].starts_with('<') && mac_of(words[2]) == mac;
    if (is_link) {
      note(out, noted.macs,
           {out.host(), std::string(words[0].substr(0, words[0].find('@'))), mac,
            out.cite(at.lines[n])},
           kMostBindings);
      continue;
    }
    const bool is_reply = words[1] == "bytes" && words[2] == "from" && words.size() > 4;
    const bool is_probe = text.find("cast reply from ") != std::string_view::npos ||
                          (is_reply && mac_of(words[3]) == mac);
    const bool is_neigh = std::find(words.begin(), words.end(), "lladdr") != words.end();
    // "? (10.30.2.41) at b8:… [ether] on rail2" of `arp -a`
    const bool is_listed = words.size() > 3 && words[2] == "at" && mac_of(words[3]) == mac &&
                           plain_address(words[1]) == address;
    const bool is_arp =
        is_listed || (words.size() > 3 && words[0] == address && words[1] == "ether");
    const bool is_table = at.mark.is_switch && words[0] == address &&
                          at.mark.command.find(" arp") != std::string::npos;
    if (address.empty() || (!is_probe && !is_neigh && !is_arp && !is_table)) continue;
    if (words.back() == "FAILED" || words.back() == "INCOMPLETE") continue;
    const bool is_fresh = is_probe || is_arp || words.back() == "REACHABLE" ||
                          words.back() == "DELAY" || words.back() == "PERMANENT";
    note(out, noted.bindings,
         {out.host(), std::string(address), std::move(mac), is_fresh, is_probe,
          out.cite(at.lines[n])},
         kMostBindings);
    ++said;
  }
  return said;
}

std::size_t note_conflicts(const PasteAt& at, PasteSink& out) {
  constexpr auto kSigns = std::to_array<std::string_view>(
      {"KERN_ARP_DUPLICATE_ADDR", "-DUP_SRC_IP:", "DUPLICATE_IPADDR", "IPv6 duplicate address ",
       "duplicate IP address", "conflict detected for IP"});
  std::size_t said = 0;
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const std::string_view text = at.line(n);
    if (std::none_of(kSigns.begin(), kSigns.end(), [&](std::string_view sign) {
          return text.find(sign) != std::string_view::npos;
        }))
      continue;
    // A log's line, not a sentence about one.
    const bool is_log = text.find_first_of("0123456789") < 24 || text.starts_with('%');
    if (!is_log || text.find('?') != std::string_view::npos) continue;
    note(out, out.paste().noted.conflicts, {out.host(), out.cite(at.lines[n])});
    ++said;
  }
  return said;
}

}  // namespace weir::readers
