#pragma once
// What an operator sees, and what it points at: a table to look symptoms up in.
//
// Unlike finding/search.h, which compares words with the whole catalogue, this knows what "no
// pauses" means: a symptom that is said to be absent excludes the rows that consist of it.
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::finding {

struct SymptomRow {
  std::string_view row;  // of the mission's table, for tests and JSON
  std::string_view symptom;
  std::string_view cause;
};
[[nodiscard]] std::span<const SymptomRow> symptom_rows();

/// Findings of the catalogue that belong to a row.
[[nodiscard]] std::vector<std::string> findings_of(const SymptomRow&);

/// Rows that agree with a description, the best first; empty where none does. At most five.
[[nodiscard]] std::vector<const SymptomRow*> look_up_symptom(std::string_view description);

}  // namespace weir::finding
