#pragma once
// How a fault shows: the words that people and tools use for it and that the catalogue's title and
// explanation do not have. Read by the search (finding/search.h) and by nothing that judges.
#include <span>
#include <string>
#include <vector>

namespace weir::finding {

struct Symptoms {
  std::string id;     // of the catalogue
  std::string words;  // phrases, messages, names of counters and settings
};

/// Sorted by id, one row per finding.
[[nodiscard]] std::span<const Symptoms> symptoms();

}  // namespace weir::finding
