#pragma once
// What ran while the counters were read, as the user states it: --workload, --took, --seed.
#include <optional>
#include <vector>

#include "base/result.h"
#include "cli/frame/command.h"
#include "lab/expectation/expectation.h"

namespace weir::cli {

[[nodiscard]] std::vector<Option> known_load_options();

/// nullopt where no workload is named.
[[nodiscard]] Result<std::optional<lab::KnownLoad>> known_load(const Args& args);

}  // namespace weir::cli
