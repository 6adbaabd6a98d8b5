#pragma once
// Faults that the words of a paste state literally: an error message or a setting that names one
// fault, a counter with its value, two numbers that cannot both be right.
//
// Only what is in the text counts, never what a word suggests; that is for the search of the
// catalogue (finding/search.h). A sentence that denies, remembers, advises or asks states nothing
// (readers/paste/words/hearsay.h). Of other sentences only messages and settings in them are
// literal: a state or a number counts in the form of a tool. Each finding quotes the lines it rests
// on, and none is certain: a person typed them.
#include <span>
#include <vector>

#include "finding/finding.h"
#include "finding/thresholds.h"
#include "readers/paste/paste.h"

namespace weir::diagnose {

[[nodiscard]] std::vector<finding::Finding> stated_faults(std::span<const readers::Cited> lines,
                                                          const finding::Thresholds& limits = {});
/// The same of a text in which readers took some lines: `lines` are the others, `all` is the text.
/// What a reader took states nothing by its words, but where counters and the words around them say
/// it together.
[[nodiscard]] std::vector<finding::Finding> stated_faults(std::span<const readers::Cited> lines,
                                                          std::span<const readers::Cited> all,
                                                          const finding::Thresholds& limits);

}  // namespace weir::diagnose
