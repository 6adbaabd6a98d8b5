#pragma once
// The model of `diagnose` for programs.
#include <string_view>

#include "base/json_fwd.h"
#include "cli/frame/command.h"
#include "ops/inspect/diagnose.h"

namespace weir::cli {

void print_thresholds_json(Context&, const Command&, const finding::Thresholds&);

/// questions[], and of a text read[] and unread[]; expectation{} where a load is compared.
void print_diagnosed_json(Context&, const Command&, const ops::Diagnosed&,
                          std::string_view verdict);

/// {replicas, compared, outside[]{what, counter, where, unit, measured, low, high}}
[[nodiscard]] Json expectation_json(const lab::Expectation& expected);

}  // namespace weir::cli
