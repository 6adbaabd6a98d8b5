#pragma once
// From evidence to causes: every rule examines the view, what a cause explains is folded under it,
// and the rest is the answer, most important first. A pure function.
//
//   healthy        traffic flowed, every check had its data, and no fault was found;
//                  notes (info) may describe the load
//   findings       at least one warning or error
//   inconclusive   no fault was found, but the data does not suffice to call it healthy
#include "diagnose/core/view.h"
#include "finding/finding.h"

namespace weir::diagnose {

[[nodiscard]] finding::Judgement diagnose(const View& view);
/// For a caller that needs nothing else of the view.
[[nodiscard]] inline finding::Judgement diagnose(const Case& subject) {
  return diagnose(View(subject));
}

/// One sentence: the first fault and its place, or healthy, or why it cannot tell.
[[nodiscard]] std::string headline(const finding::Judgement& judgement, std::size_t hosts,
                                   std::size_t switches);

}  // namespace weir::diagnose
