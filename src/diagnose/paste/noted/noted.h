#pragma once
// What was noted beside the readers of pasted outputs (readers/paste/notes), judged: settings that
// contradict what the text shows of the fabric, and which of several findings is the cause of the
// others. Nothing is compared with a plan that the text does not state.
#include <string_view>

#include "diagnose/core/view.h"
#include "diagnose/paste/pasted.h"
#include "finding/finding.h"

namespace weir::diagnose {

/// By the lines alone.
void judge_noted(const PastedCase& input, finding::Judgement& out);

/// Together with counters and settings.
void judge_relations(const PastedCase& input, const View& view, finding::Judgement& out);

/// A setting that explains what another finding counts comes before it.
void rank_causes(const PastedCase& input, finding::Judgement& out);

// ---- by file; internal to this room ----
void judge_neighbours(const PastedCase& input, finding::Judgement& out);
void judge_filters(const PastedCase& input, finding::Judgement& out);
void judge_sessions(const PastedCase& input, finding::Judgement& out);
void judge_noted_ports(const PastedCase& input, finding::Judgement& out);
void judge_noted_marking(const PastedCase& input, finding::Judgement& out);
/// `is_marked`: packets arrive marked.
void judge_low_thresholds(const PastedCase& input, bool is_marked, finding::Judgement& out);
void judge_queues(const PastedCase& input, const View& view, finding::Judgement& out);
[[nodiscard]] bool has_loud(const finding::Judgement& judgement, std::string_view id);
/// Findings with this id become notes; with a host, those at it alone.
void quieten(finding::Judgement& judgement, std::string_view id, std::string_view host = {});

}  // namespace weir::diagnose
