// Lines of configurations about neighbours of BGP: their descriptions, and those that are shut
// down. FRR and EOS have them in one line, NX-OS and Junos below the neighbour, NVUE and Junos also
// as commands, SONiC in its database.
#include <algorithm>

#include "readers/paste/notes/notes.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

using Words = std::vector<std::string_view>;

/// Without what configurations put around a word.
std::string_view bare(std::string_view word) {
  while (!word.empty() && (word.back() == ';' || word.back() == '"'))
    word.remove_suffix(1);
  while (!word.empty() && word.front() == '"')
    word.remove_prefix(1);
  return word;
}

/// What follows the neighbour's name: "description spine-03", "shutdown", "shutdown message …",
/// "shutdown on", "shutdown administrative".
std::optional<PastePeerLine> statement_at(const Words& words, std::size_t from) {
  if (from >= words.size()) return std::nullopt;
  const std::string_view key = bare(words[from]);
  const bool is_off =
      from + 1 < words.size() && (words[from + 1] == "off" || words[from + 1] == "disabled");
  PastePeerLine out;
  if (key == "shutdown" && !is_off) {
    out.is_shut = true;
    return out;
  }
  if (key != "description") return std::nullopt;
  for (std::size_t i = from + 1; i < words.size(); ++i)
    out.description += (out.description.empty() ? "" : " ") + std::string(bare(words[i]));
  return out.description.empty() ? std::nullopt : std::optional(out);
}

/// "BGP_NEIGHBOR|10.255.6.4" of a command that asks a switch's database.
std::string_view peer_of_database(std::string_view command) {
  constexpr std::string_view kKey = "BGP_NEIGHBOR|";
  const std::size_t at = command.find(kKey);
  if (at == std::string_view::npos || command.find("admin_status") == std::string_view::npos)
    return {};
  const std::string_view rest = command.substr(at + kKey.size());
  const std::string_view key = rest.substr(0, rest.find_first_of("\"' "));
  const std::size_t vrf = key.rfind('|');
  return vrf == std::string_view::npos ? key : key.substr(vrf + 1);
}

}  // namespace

std::size_t note_peer_lines(const PasteAt& at, PasteSink& out) {
  std::string peer;  // whose statements follow
  std::size_t said = 0;
  const std::string_view asked = peer_of_database(at.mark.command);
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const Words words = words_of(at.line(n));
    if (words.empty() || words[0] == "no") continue;
    const auto key = std::find(words.begin(), words.end(), "neighbor");
    const auto after = static_cast<std::size_t>(key - words.begin()) + 2;
    std::optional<PastePeerLine> found;
    if (!asked.empty() && words.size() == 1 && words[0] == "down") {
      peer = asked;
      found = PastePeerLine{.is_shut = true};
    } else if (words[0] == "deactivate" && after == words.size()) {
      peer = bare(words.back());
      found = PastePeerLine{.is_shut = true};
    } else if (key != words.end() && after <= words.size()) {
      peer = bare(words[after - 1]);
      found = statement_at(words, after);
    } else if (words[0] == "router" || words[0] == "interface") {
      peer.clear();
    } else if (!peer.empty()) {
      found = statement_at(words, 0);
    }
    if (!found) continue;
    found->host = out.host();
    found->peer = peer;
    found->at = out.cite(at.lines[n]);
    note(out, out.paste().rows.peer_lines, std::move(*found));
    ++said;
  }
  return said;
}

}  // namespace weir::readers
