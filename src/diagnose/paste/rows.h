#pragma once
// What rows_seen.h holds, judged: addresses that two hosts have, channels that use one member,
// seeds, thresholds, schedulers and classes of CNPs. Internal to this folder.
#include "diagnose/core/view.h"
#include "diagnose/paste/pasted.h"

namespace weir::diagnose {

/// What the rows show by themselves.
void judge_rows(const PastedCase& input, finding::Judgement& out);

/// What they show together with counters and with other findings: called when those are known.
void judge_rows_and_counts(const PastedCase& input, const View& view, finding::Judgement& out);

/// A text that says of its faults that they were fixed: a ticket that was closed with what was
/// done. What it quotes from before is a note.
void soften_fixed(const readers::Paste& paste, finding::Judgement& out);

}  // namespace weir::diagnose
