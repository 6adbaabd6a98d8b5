#pragma once
// What was found on a host in one short line, for programs that keep little more: a reason of
// Slurm, a message of node-problem-detector, a status of Nagios.
#include <string>

#include "cli/frame/command.h"
#include "finding/finding.h"

namespace weir::cli {

/// --format npd and --exit-style nagios.
[[nodiscard]] std::vector<Option> node_options();

/// "[node_problem] weir:pfc.wrong_priority mlx5_3": the worst finding that --fail-on counts. At
/// most 100 bytes, and no measured number: exporters make it a label. Empty where there is none.
[[nodiscard]] std::string drain_reason(const Args&, const finding::Judgement&);

/// At most 80 bytes, which is what node-problem-detector keeps.
[[nodiscard]] std::string npd_line(const Args&, const finding::Judgement&);

/// The status of the verb, or 0, 1 warning, 2 critical, 3 unknown with --exit-style nagios.
[[nodiscard]] ExitCode styled_exit(const Args&, const finding::Judgement&);
/// The same where nothing could be looked at.
[[nodiscard]] ExitCode styled_failure(const Args&, ExitCode code);

}  // namespace weir::cli
