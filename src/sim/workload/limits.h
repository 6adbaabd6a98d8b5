#pragma once
// How large what a workload sends may be. Checked before it is made: a line of forty bytes can ask
// for more than any machine holds.
#include <cstddef>
#include <cstdint>

#include "units/quantity.h"

namespace weir::sim {

/// Transfers of one program (collective.h). Each takes some 80 bytes until it has been sent.
inline constexpr std::size_t kMostTransfers = 50'000'000;

/// Those of double_tree_all_reduce(), or a few more; kMostTransfers + 1 where they do not fit.
/// REQUIRES: two ranks or more, a chunk of one byte or more.
[[nodiscard]] std::size_t tree_transfers(std::uint32_t ranks, Bytes size, Bytes chunk);

}  // namespace weir::sim
