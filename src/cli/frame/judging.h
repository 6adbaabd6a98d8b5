#pragma once
// How every verb that judges ends: findings as text or JSON, and the exit status that --fail-on
// asks for.
#include <string_view>

#include "base/json_fwd.h"
#include "cli/frame/command.h"
#include "finding/finding.h"

namespace weir::cli {

/// kFindings where a finding is at or above --fail-on, kPartial where the conclusion is open, else
/// kOk. REQUIRES: a verb that judges.
[[nodiscard]] ExitCode exit_for(const Args&, const finding::Judgement&);

/// `headline` (the verdict in words, one line) and the findings, for a terminal.
void print_findings(Context&, const finding::Judgement&, std::string_view headline);

/// The same, or with --json the fields that programs rely on and `extra` after them. Returns
/// exit_for().
ExitCode print_judgement(const Args&, Context&, const finding::Judgement&,
                         std::string_view headline, const Json& extra);

}  // namespace weir::cli
