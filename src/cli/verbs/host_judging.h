#pragma once
// What the verbs that judge hosts have in common.
#include <string>
#include <string_view>

#include "cli/frame/host_input.h"
#include "cli/verbs/judging.h"
#include "finding/finding.h"

namespace weir::cli {

/// Hosts that could not be looked at are unknown: nothing is healthy because nobody looked.
void add_unseen(const Observation& seen, finding::Judgement& judgement);

/// "16 hosts (simulated) match fabric.yaml.", "gpu[01-16] (simulated) do not match …: 9 faults, 144
/// places.", "… no fault found, but 3 checks could not look.".
[[nodiscard]] std::string match_verdict(const Observation& seen,
                                        const finding::Judgement& judgement,
                                        std::string_view against);

}  // namespace weir::cli
