#pragma once
// From evidence to causes: every rule looks at the case, what a cause explains is folded under it,
// and what is left is the answer, most important first. Pure: the same case, the same answer.
//
//   healthy        traffic flowed, everything that was asked could be seen, nothing is wrong;
//                  notes (info) may say what the load did
//   findings       at least one warning or error
//   inconclusive   nothing is known to be wrong, but too little was seen to call it healthy
#include "diagnose/core/view.h"
#include "finding/finding.h"

namespace weir::diagnose {

[[nodiscard]] finding::Judgement diagnose(const View& view);
/// For a caller that needs nothing else of the view.
[[nodiscard]] inline finding::Judgement diagnose(const Case& subject) {
  return diagnose(View(subject));
}

/// One line with a full stop: the fault in words and its place, or why it is healthy or open.
[[nodiscard]] std::string headline(const finding::Judgement& judgement, std::size_t hosts,
                                   std::size_t switches);

}  // namespace weir::diagnose
