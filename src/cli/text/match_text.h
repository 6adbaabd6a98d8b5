#pragma once
// The verdict of a comparison, in one line.
#include <string>
#include <string_view>

#include "finding/finding.h"
#include "ops/source/hosts.h"

namespace weir::cli {

/// "16 hosts (simulated) match fabric.yaml.", "gpu[01-16] (simulated) do not match fabric.yaml: 9
/// faults in 144 places.", "…; 3 checks skipped: data not available.". Of switches where there are
/// no hosts. The words agree with the exit status: where no fault reaches `fail_on`, "leaf1 differs
/// from fabric.yaml: 2 differences below --fail-on error.".
[[nodiscard]] std::string match_verdict(const ops::Observation& seen,
                                        const finding::Judgement& judgement,
                                        std::string_view against, finding::Severity fail_on);

/// "; 3 checks skipped: data not available", or nothing.
[[nodiscard]] std::string skipped_text(const finding::Judgement& judgement);

}  // namespace weir::cli
