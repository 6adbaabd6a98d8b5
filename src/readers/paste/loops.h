#pragma once
// Loops of a shell over hosts, and the lines that each of their turns begins with. Internal to this
// folder.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "readers/paste/paste_text.h"

namespace weir::readers {

/// "0" … "7" of "{0..7}"; a word that is no range is itself.
[[nodiscard]] std::vector<std::string> values_of(std::string_view word);

/// `for t in 1 2 3; do echo tor$t; ssh tor$t "nv show qos roce"; done`
struct HostLoop {
  std::vector<std::string> hosts;  // tor1, tor2, tor3
  std::string command;             // what runs on each of them
};
/// nullopt for another loop, one whose hosts are not written down, and one that prints no names.
[[nodiscard]] std::optional<HostLoop> host_loop(const Mark& mark);

/// "tor2" of "tor2", "tor2:" and "== tor2 ==": the name that a turn begins with.
[[nodiscard]] std::string_view name_of_turn_line(std::string_view line);

}  // namespace weir::readers
