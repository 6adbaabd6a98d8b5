#pragma once
// A judgement for a terminal: the verdict first, then each finding with its place, why it matters,
// the evidence, the fix, and `weir explain ID`. The same finding at several places is printed once
// (finding/fold.h). Checks that were skipped for lack of data are listed at the end.
#include <cstddef>
#include <string>
#include <string_view>

#include "finding/finding.h"

namespace weir::render {

struct TextOptions {
  bool colour = false;     // errors red, warnings yellow, the why dim
  bool quiet = false;      // one line per finding
  std::size_t width = 88;  // prose is wrapped here; commands never are
};

/// `headline` is the caller's verdict, without a line break: "3 errors: the design will lose
/// packets". Every line ends with a newline. A finding's own fixes are all printed; of the
/// catalogue's fixes those for the place (design, host or switch), with the names of the other
/// platforms. The why of an id is printed the first time only.
[[nodiscard]] std::string findings_text(const finding::Judgement& judgement,
                                        std::string_view headline, const TextOptions& options = {});

/// "3 errors, 1 warning", "1 note, 2 unknown", "nothing found": for headlines.
[[nodiscard]] std::string count_text(const finding::Judgement& judgement);

}  // namespace weir::render
