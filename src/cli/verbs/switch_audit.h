#pragma once
// Configurations of switches, held against the design by meaning: `weir validate --switch`.
#include <optional>
#include <vector>

#include "cli/frame/switch_input.h"
#include "design/fabric/intent.h"
#include "evidence/evidence.h"
#include "finding/finding.h"
#include "lab/fabric/lab.h"

namespace weir::cli {

struct SwitchAudit {
  evidence::Evidence evidence;           // the switches as their files set them
  design::Intent intent;                 // with what each of these systems can hold of the design
  std::vector<finding::Unknown> unread;  // lines that were not understood, one entry a file
};

/// What --switch names; none: the exit code says why.
[[nodiscard]] std::optional<SwitchAudit> read_switch_audit(const Args&, const design::Intent&,
                                                           Context&, ExitCode& code);

/// What these switches of a lab can hold of the design, in place of the design itself: those that
/// run a configuration that was loaded.
void lower_loaded(const lab::Lab&, design::Intent&);

/// `weir validate DESIGN --switch …` alone, without hosts.
[[nodiscard]] ExitCode validate_switches(const Args&, Context&);

}  // namespace weir::cli
