#pragma once
// Findings worth reading, found by the words of a text: titles, explanations, aliases and symptoms
// of the catalogue, each shared word weighted by how few entries have it.
//
// A word is no evidence. What is found here is something to read, never a cause: it has no
// severity, is counted nowhere and changes no exit status.
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "finding/finding.h"

namespace weir::finding {

inline constexpr std::size_t kMostRelated = 3;

/// The entries that share most with the text, the best first; fewer or none where little is shared.
/// `why` lists the words in common, as the text spells them.
[[nodiscard]] std::vector<Related> search(std::string_view text, std::size_t most = kMostRelated);

/// How a fault shows, in words that its title and explanation do not have. Sorted by id, one row
/// per finding; read by the search and by nothing that judges.
struct Symptoms {
  std::string id;
  std::string words;
};
[[nodiscard]] std::span<const Symptoms> symptoms();

}  // namespace weir::finding
