#pragma once
// The fabric and flows of an HPCC simulator's files under our own rules.
#include "sim/fabric/network.h"

namespace weir::sim {

/// Takes the peer's simplifications out of what read_hpcc() made: real headers and gaps, CNPs as
/// packets of a class of their own, ConnectX's reaction point with the file's values, hashing with
/// one seed per switch over all shortest paths. Buffers, thresholds and payload stay the file's.
void make_native(Network& network);

}  // namespace weir::sim
