#pragma once
// Which loads a tuning runs: those to tune for, and those that it must not hurt.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "design/fabric/intent.h"
#include "tune/evaluation.h"

namespace weir::tune {

/// Where nobody names a workload: a long and a short incast, a permutation, mixed flows, an
/// all-to-all; sized to the fabric.
[[nodiscard]] std::vector<std::string> usual_loads(const design::Intent& intent);

/// A neighbour of a load that the search never sees: other fan-in and receiver, another shift, half
/// the load, another algorithm. nullopt where there is none (a trace).
[[nodiscard]] std::optional<std::string> held_out_of(const Load& load,
                                                     const design::Intent& intent);

/// The workload with other values of some parameters.
[[nodiscard]] std::string with_parameters(
    std::string_view load, const std::vector<std::pair<std::string, std::string>>& values);

}  // namespace weir::tune
