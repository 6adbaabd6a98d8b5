// Who answers for an address: ip neigh, arp, arping.
#include <algorithm>

#include "base/text.h"
#include "readers/paste/rows/rows_tools.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

bool is_station_address(std::string_view word) {
  const auto parts = split(plain_address(word), '.');
  return parts.size() == 4 && std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
           const auto number = parse_u64(part);
           return number && *number < 256;
         });
}

/// "b8:ce:f6:11:a0:41", "[B8:CE:F6:11:A0:41]".
bool is_mac(std::string_view word) {
  constexpr std::size_t kParts = 6;
  if (word.starts_with('[') && word.ends_with(']')) word = word.substr(1, word.size() - 2);
  const auto parts = split(word, ':');
  return parts.size() == kParts &&
         std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
           return part.size() == 2 &&
                  part.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
         });
}

/// "Unicast reply from 10.30.2.41 [B8:CE:F6:11:A0:41]  0.641ms" and "60 bytes from
/// b8:ce:f6:11:a0:41 (10.30.2.41): index=0 …" of the two programs that are called arping.
bool is_answer_row(const std::vector<std::string_view>& words) {
  if (words.size() < 5) return false;
  const bool is_reply = (words[0] == "Unicast" || words[0] == "Broadcast") && words[1] == "reply" &&
                        words[2] == "from";
  if (is_reply) return is_station_address(words[3]) && is_mac(words[4]);
  return words[1] == "bytes" && words[2] == "from" && is_mac(words[3]) &&
         is_station_address(words[4]);
}

/// "10.30.2.41 dev rail2 lladdr b8:… REACHABLE" of `ip neigh`, "10.30.2.41  ether  b8:…  C  rail2"
/// of `arp -n`, "? (10.30.2.41) at b8:… [ether] on rail2" of `arp -a`.
bool is_table_row(const std::vector<std::string_view>& words) {
  if (words.size() < 4) return false;
  if (!is_station_address(words[2] == "at" ? words[1] : words[0])) return false;
  for (std::size_t i = 1; i + 1 < words.size(); ++i)
    if ((words[i] == "lladdr" || words[i] == "ether" || words[i] == "at") && is_mac(words[i + 1]))
      return true;
  return false;
}

bool is_station_row(std::string_view text) {
  const auto words = words_of(text);
  return is_answer_row(words) || is_table_row(words);
}

/// What arping prints around its answers.
bool is_arping_line(std::string_view text) {
  return text.starts_with("ARPING ") || text.starts_with("Sent ") || text.starts_with("Received ");
}

}  // namespace

bool begins_stations(const PasteAt& at) {
  return is_station_row(at.line(0)) ||
         (at.line(0).starts_with("ARPING ") && is_station_row(at.line(1)));
}

/// Takes the lines; what they say is noted with that of switches (notes/addresses.cc).
std::size_t read_stations(const PasteAt& at, PasteSink& /*out*/) {
  std::size_t taken = 0;
  while (taken < at.lines.size() &&
         (is_station_row(at.line(taken)) || is_arping_line(at.line(taken))))
    ++taken;
  return taken;
}

}  // namespace weir::readers
