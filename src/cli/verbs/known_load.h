#pragma once
// What ran while counters were read, as a user says it: --workload, --took, --seed. With it a
// diagnosis can be rehearsed (lab/rehearsal/rehearsal.h).
#include <optional>
#include <vector>

#include "base/result.h"
#include "cli/frame/command.h"
#include "lab/rehearsal/rehearsal.h"

namespace weir::cli {

[[nodiscard]] std::vector<Option> known_load_options();

/// nullopt where no workload is named.
[[nodiscard]] Result<std::optional<lab::KnownLoad>> known_load(const Args& args);

/// The judgement with what the rehearsal adds; a bar shows how far it is, and a line on stderr says
/// how many runs there were, or why there was none. An error where the load does not fit the
/// fabric.
[[nodiscard]] Result<finding::Judgement> rehearse(const diagnose::Case& of,
                                                  const design::Design& design,
                                                  const lab::KnownLoad& load,
                                                  finding::Judgement said, Context& context);

}  // namespace weir::cli
