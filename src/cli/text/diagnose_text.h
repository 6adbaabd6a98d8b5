#pragma once
// What `weir diagnose` shows beside its findings.
#include <string>

#include "cli/frame/context.h"
#include "lab/expectation/expectation.h"
#include "readers/paste/paste.h"

namespace weir::cli {

/// Prints to stderr what the text was read as, how many lines were not read, and the first lines of
/// a known output that could not be parsed.
void print_what_was_read(const readers::Paste& paste, Context& context);

/// A sentence, then a row for each value outside the expected range.
[[nodiscard]] std::string expectation_text(const lab::Expectation& expected);

}  // namespace weir::cli
