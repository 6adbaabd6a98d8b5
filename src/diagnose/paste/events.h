#pragma once
// What a kernel or the watchdog of a switch wrote into its log, as findings: the same rules for a
// log that was pasted and for one that was read on a host.
#include <optional>
#include <span>

#include "evidence/evidence.h"
#include "finding/finding.h"
#include "finding/thresholds.h"
#include "readers/paste/paste.h"

namespace weir::diagnose {

/// `today`: the newest day that the text shows (readers::day_of_line). Links that went down more
/// than `log_age` before it are a note.
void judge_events(std::span<const readers::PasteEvent> events, const finding::Thresholds& limits,
                  finding::Judgement& out, std::optional<int> today = std::nullopt);

/// The log of a host that was observed. Only lines about its RDMA NICs, its GPUs and the machine
/// count: the link of a management port is none of the fabric's. What happened more than `log_age`
/// hours before the host was looked at is left alone, unless it lasts since then. A log that could
/// not be read is an optional check without an answer.
void judge_kernel_log(const evidence::Evidence& host, const finding::Thresholds& limits,
                      finding::Judgement& out);

}  // namespace weir::diagnose
