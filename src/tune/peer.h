#pragma once
// The same changes under the rules of another simulator: the HPCC project's, whose completion times
// ours reproduces. A gain that only one model shows may be the model's.
#include <vector>

#include "tune/search.h"

namespace weir::tune {

/// Runs the start values and those changes that the peer has, on flows of runs of the start values,
/// in our rules and in the peer's, on the first `seeds` report seeds.
[[nodiscard]] Result<PeerCheck> check_in_peer(Search& search, const Point& point,
                                              std::size_t seeds);

/// Of the peer's rules: whether a load's gain there supports ours. Above 3 % of ours it must have
/// the same sign and at least half the size; below, it must not point the other way by more.
[[nodiscard]] bool does_peer_agree(double ours, double peer);

}  // namespace weir::tune
