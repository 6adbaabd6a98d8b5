#pragma once
// For tests: which findings a case raised, and which a case near it did not. A test asks
// is_raised() and states the answer it expects. The answers of all tests are noted in the file that
// WEIR_SHOWN names, and tests/diagnose/shown_test.py compares them with the catalogue: an id that
// no test saw raised, or that no test saw spared, has no proven rule.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

#include "finding/finding.h"

namespace weir::finding {

/// Notes what a test saw of an id; for tests that compare ids in their own way.
inline void note_shown(std::string_view id, bool is_raised) {
  static std::ofstream to = [] {
    const char* const path = std::getenv("WEIR_SHOWN");
    return path == nullptr ? std::ofstream() : std::ofstream(path);
  }();
  if (to.is_open()) to << (is_raised ? "raised " : "spared ") << id << std::endl;
}

/// A finding of this id is among them.
[[nodiscard]] inline bool is_raised(std::span<const Finding> findings, std::string_view id) {
  const bool is_there = std::any_of(findings.begin(), findings.end(),
                                    [&](const Finding& finding) { return finding.id == id; });
  note_shown(id, is_there);
  return is_there;
}

}  // namespace weir::finding
