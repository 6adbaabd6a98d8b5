#pragma once
// The models of `show`, `check` and `validate` for programs.
#include <string>
#include <string_view>

#include "cli/frame/command.h"
#include "ops/inspect/show.h"
#include "ops/inspect/validate.h"

namespace weir::cli {

void print_shown_json(Context&, const Command&, const ops::Shown&, std::string_view verdict,
                      const std::vector<std::string>& next);

void print_checked_json(Context&, const Command&, const ops::Checked&, std::string_view verdict);

/// `drain` is the reason to drain the node with, if one was requested.
void print_validated_json(Context&, const Command&, const ops::Validated&, std::string_view verdict,
                          const std::optional<std::string>& drain);

/// Every fact of a host as the JSON has it, a row each: name, and value or why it is not known.
struct FactRow {
  std::string name;
  std::string value;
};
struct FactGroup {
  std::string title;  // "gpu01 mlx5_0"
  std::vector<FactRow> rows;
};
[[nodiscard]] std::vector<FactGroup> all_facts(const evidence::Evidence& host);

}  // namespace weir::cli
