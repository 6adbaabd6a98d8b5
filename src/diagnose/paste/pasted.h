#pragma once
// Pasted text judged: settings against the design, or against the usual convention where there is
// none; what the kernel said; results of tests; packets; the job.
//
// A text shows what the user chose to paste. What it does not show is unknown, one line per host,
// and never healthy. Without a design the convention is that of the text where the text tells it (a
// traffic class that is set, a code point that was mapped on purpose), and what rests on it alone
// is not certain.
#include <span>

#include "design/fabric/intent.h"
#include "diagnose/core/convention.h"
#include "diagnose/core/view.h"
#include "evidence/evidence.h"
#include "finding/finding.h"
#include "finding/thresholds.h"
#include "readers/paste/paste.h"

namespace weir::diagnose {

struct PastedCase {
  const readers::Paste& paste;
  std::span<const evidence::Evidence>
      evidence;  // what the paste became, and whatever else is known
  const design::Intent* intent = nullptr;
  finding::Thresholds thresholds = {};
  const RdmaClass* shown = nullptr;  // what shows the class of RDMA; null where nothing does
};

/// Everything together: the rules on counters and facts, what the outputs show by themselves
/// (judge_pasted), facts stated in the words around them (stated.h), and findings worth reading for
/// those words. The view is of
/// what the paste became and whatever else is known.
[[nodiscard]] finding::Judgement diagnose_paste(const readers::Paste& paste, const View& view);

[[nodiscard]] finding::Judgement judge_pasted(const PastedCase&);

/// What rules found in pasted counters and facts, as sure as a text allows: a single dump shows
/// sums since an unknown time, and without a design nobody knows which ports are meant to be up.
void weigh_counts(const PastedCase& input, finding::Judgement& judgement);

/// What the text itself says about its plan: the code point in use and its priority.
[[nodiscard]] Convention convention_of(const PastedCase&);

/// Outputs were read, and nothing in them is wrong. Not the same as healthy: a text shows a part.
[[nodiscard]] bool shows_nothing_wrong(const readers::Paste& paste,
                                       const finding::Judgement& judgement);

/// One judgement of two: a fault that both name once, the surer first; what is unknown once.
/// Findings are sorted again; the conclusion is `findings`, or the less healthy of the two.
[[nodiscard]] finding::Judgement combined(finding::Judgement first, finding::Judgement second);

}  // namespace weir::diagnose
