#pragma once
// How every verb that judges ends: findings as text, and the exit status that --fail-on
// asks for.
#include <string_view>

#include "cli/frame/command.h"
#include "finding/finding.h"

namespace weir::cli {

/// What --fail-on says. REQUIRES: a verb that judges.
[[nodiscard]] finding::Severity fail_severity(const Args&);

/// kFindings where a finding is at or above --fail-on; else kPartial where a required check gave no
/// answer, with or without findings below the limit; else kOk. REQUIRES: a verb that judges.
[[nodiscard]] ExitCode exit_for(const Args&, const finding::Judgement&);

/// `headline` (the verdict in words, one line) and the findings, for a terminal.
void print_findings(Context&, const finding::Judgement&, std::string_view headline);

}  // namespace weir::cli
