#pragma once
// The design's mistakes, found before anything is touched. Pure: the design and its intent in,
// findings out, each with its line, the numbers, and what to change.
#include <string>

#include "design/fabric/intent.h"
#include "design/file/fabric.h"
#include "finding/finding.h"

namespace weir::design {

/// Settled: most important first. REQUIRES: the design loaded and derived without errors.
[[nodiscard]] finding::Judgement lint(const Design& design, const Intent& intent);

/// Where a switch sets thresholds in percents of its largest queue, one percent of it: the least
/// that it can mark from. Nothing for systems that count bytes.
[[nodiscard]] std::optional<Bytes> smallest_threshold(const SwitchIntent& node);

/// Why a link cannot do without RS-FEC, by the rate of its lanes and its cable; empty where it can.
[[nodiscard]] std::string why_rs_fec(const Intent& intent, const LinkIntent& link);

}  // namespace weir::design
