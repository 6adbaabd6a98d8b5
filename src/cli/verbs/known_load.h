#pragma once
// What ran while the counters were read, as the user states it (--workload, --took, --seed), and
// how the real run compares with simulated ones of that load (lab/expectation/expectation.h).
#include <optional>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "cli/frame/command.h"
#include "lab/expectation/expectation.h"

namespace weir::cli {

[[nodiscard]] std::vector<Option> known_load_options();

/// nullopt where no workload is named.
[[nodiscard]] Result<std::optional<lab::KnownLoad>> known_load(const Args& args);

/// Simulates the load on the design, with a progress bar, and compares. An error where the load
/// does not fit the fabric.
[[nodiscard]] Result<lab::Expectation> compare_load(const diagnose::Case& observed,
                                                    const design::Design& design,
                                                    const lab::KnownLoad& load, Context& context);

/// A sentence, then a row for each value outside the expected range.
[[nodiscard]] std::string expectation_text(const lab::Expectation& expected);

/// {replicas, compared, outside[]{what, counter, where, unit, measured, low, high}}
[[nodiscard]] Json expectation_json(const lab::Expectation& expected);

}  // namespace weir::cli
