#pragma once
// The one table of finding ids. `weir explain`, the man page, the JSON output, docs/findings.md and the
// tests all read it, so that they cannot disagree.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "finding/finding.h"

namespace weir::finding {

struct CatalogFix {
  std::string_view platform;                 // see Fix::platform
  std::vector<std::string_view> commands;    // with <placeholders> where a value is the user's own
  std::string_view note;
};

/// Everything about a fault that does not depend on the case at hand.
struct CatalogEntry {
  std::string_view id;                     // "dscp.tos_confusion"
  std::string_view title;                  // half a line: "a DSCP typed where a TOS byte belongs"
  Severity severity = Severity::kError;    // the usual one; a rule may lower or raise it and says why
  std::vector<std::string_view> aliases;   // check ids of docs/check-ids and codes that mean this fault
  std::vector<std::string_view> rows;      // mission rows: "A2", "I14"
  std::string_view phase;                  // where it can be found: "lint", "validate", "verify", …
  std::string_view why;                    // what it does to the fabric, two to five sentences
  std::vector<CatalogFix> fix;
  std::vector<std::string_view> sources;   // one citation a claim
};

/// All entries, sorted by id.
[[nodiscard]] std::span<const CatalogEntry> catalog();

/// By id or by alias; nullptr when there is none.
[[nodiscard]] const CatalogEntry* find(std::string_view id_or_alias);

}  // namespace weir::finding
