#pragma once
// Switch ports as a text shows them: what they trust, what they drop, how evenly they are used. No
// design says what they are for, so each is judged by what else the text shows.
#include "diagnose/core/view.h"
#include "finding/finding.h"
#include "readers/paste/paste.h"

namespace weir::diagnose {

/// Adds to the findings of the rules; what they have already found is not said again.
void judge_switches(const View& view, const readers::Paste& paste, finding::Judgement& out);

}  // namespace weir::diagnose
