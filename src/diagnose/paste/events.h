#pragma once
// What a kernel or the watchdog of a switch wrote into its log, as findings: the same rules for a
// log that was pasted and for one that was read on a host.
#include <span>

#include "evidence/evidence.h"
#include "finding/finding.h"
#include "finding/thresholds.h"
#include "readers/paste/paste.h"

namespace weir::diagnose {

void judge_events(std::span<const readers::PasteEvent> events, const finding::Thresholds& limits,
                  finding::Judgement& out);

/// The log of a host that was observed. Only lines about its RDMA NICs, its GPUs and the machine
/// count: the link of a management port is none of the fabric's. What happened more than `log_age`
/// hours before the host was looked at is left alone, unless it lasts since then. A log that could
/// not be read is an optional check without an answer.
void judge_kernel_log(const evidence::Evidence& host, const finding::Thresholds& limits,
                      finding::Judgement& out);

}  // namespace weir::diagnose
