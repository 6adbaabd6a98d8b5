#pragma once
// A judgement for a terminal: the verdict in words first, then each finding with its place, why,
// what was seen, what to type, and `weir explain ID` last. The same fault on many places is told
// once (finding/fold.h). What nobody could look at is listed as unknown.
#include <cstddef>
#include <string>
#include <string_view>

#include "finding/finding.h"

namespace weir::render {

struct TextOptions {
  bool colour = false;     // errors red, warnings yellow, the why dim; nothing else
  bool quiet = false;      // one line a fault
  std::size_t width = 88;  // prose is wrapped here; commands never are
};

/// `headline` is the caller's verdict, without a line break: "3 errors: the design will lose
/// packets". Every line ends with a newline. Of the catalogue's fixes those that belong to the
/// place are printed (design, host or switch), the other platforms are named; fixes of the finding
/// itself all are. The why of an id is printed the first time only.
[[nodiscard]] std::string findings_text(const finding::Judgement& judgement,
                                        std::string_view headline, const TextOptions& options = {});

/// "3 errors, 1 warning", "1 note, 2 unknown", "nothing found": for headlines.
[[nodiscard]] std::string count_text(const finding::Judgement& judgement);

}  // namespace weir::render
