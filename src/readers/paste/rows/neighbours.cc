// Who answers for an address: ip neigh, arp, arping.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "readers/paste/rows/rows_tools.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

bool is_station_address(std::string_view word) {
  const auto parts = split(word, '.');
  return parts.size() == 4 && std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
           const auto number = parse_u64(part);
           return number && *number < 256;
         });
}

/// "b8:ce:f6:11:a0:41" in lower case; empty where the word is none.
std::string mac_of(std::string_view word) {
  constexpr std::size_t kParts = 6;
  while (!word.empty() && (word.front() == '[' || word.front() == '('))
    word.remove_prefix(1);
  while (!word.empty() && (word.back() == ']' || word.back() == ')'))
    word.remove_suffix(1);
  const auto parts = split(word, ':');
  const bool is_mac =
      parts.size() == kParts && std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
        return part.size() == 2 &&
               part.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
      });
  return is_mac ? lower_case(word) : std::string();
}

struct StationRow {
  std::string_view address;
  std::string mac;
  bool is_requested = false;
};

/// "Unicast reply from 10.30.2.41 [B8:CE:F6:11:A0:41]  0.641ms" and "60 bytes from
/// b8:ce:f6:11:a0:41 (10.30.2.41): index=0 …" of the two programs that are called arping.
std::optional<StationRow> answer_row(const std::vector<std::string_view>& words) {
  const bool is_reply = words.size() >= 5 && (words[0] == "Unicast" || words[0] == "Broadcast") &&
                        words[1] == "reply" && words[2] == "from";
  if (is_reply && is_station_address(words[3]))
    if (auto mac = mac_of(words[4]); !mac.empty())
      return StationRow{words[3], std::move(mac), true};
  const bool is_bytes = words.size() >= 5 && words[1] == "bytes" && words[2] == "from";
  if (!is_bytes) return std::nullopt;
  std::string_view address = words[4];
  if (address.ends_with(':')) address.remove_suffix(1);
  if (!address.starts_with('(') || !address.ends_with(')')) return std::nullopt;
  address = address.substr(1, address.size() - 2);
  auto mac = mac_of(words[3]);
  if (mac.empty() || !is_station_address(address)) return std::nullopt;
  return StationRow{address, std::move(mac), true};
}

/// "10.30.2.41 dev rail2 lladdr b8:… REACHABLE" of `ip neigh`, "10.30.2.41  ether  b8:…  C  rail2"
/// of `arp -n`, "? (10.30.2.41) at b8:… [ether] on rail2" of `arp -a`.
std::optional<StationRow> table_row(const std::vector<std::string_view>& words) {
  if (words.size() < 4) return std::nullopt;
  std::string_view address = words[0];
  if (words[2] == "at" && words[1].starts_with('(') && words[1].ends_with(')')) {
    address = words[1].substr(1, words[1].size() - 2);
  }
  if (!is_station_address(address)) return std::nullopt;
  for (std::size_t i = 1; i + 1 < words.size(); ++i)
    if (words[i] == "lladdr" || words[i] == "ether" || words[i] == "at")
      if (auto mac = mac_of(words[i + 1]); !mac.empty())
        return StationRow{address, std::move(mac), false};
  return std::nullopt;
}

std::optional<StationRow> station_row(std::string_view text) {
  const auto words = words_of(text);
  auto row = answer_row(words);
  return row ? row : table_row(words);
}

/// What arping prints around its answers.
bool is_arping_line(std::string_view text) {
  return text.starts_with("ARPING ") || text.starts_with("Sent ") || text.starts_with("Received ");
}

}  // namespace

bool begins_stations(const PasteAt& at) {
  return station_row(at.line(0)) || (at.line(0).starts_with("ARPING ") && station_row(at.line(1)));
}

std::size_t read_stations(const PasteAt& at, PasteSink& out) {
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    const auto row = station_row(at.line(taken));
    if (row) {
      out.paste().rows.stations.push_back({out.host(), std::string(row->address), row->mac,
                                           row->is_requested, out.cite(at.lines[taken])});
    } else if (!is_arping_line(at.line(taken))) {
      break;
    }
  }
  return taken;
}

}  // namespace weir::readers
