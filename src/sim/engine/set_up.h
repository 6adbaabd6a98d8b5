#pragma once
// From a Network to ports, switches, NICs, queue pairs and the memory that a run needs.
#include "sim/engine/engine.h"

namespace weir::sim::engine {

/// REQUIRES: check_network() accepts the network. Nothing is allocated after it.
template <class World>
void set_up(Tables& all, const Threads& threads);

/// A new message. REQUIRES: room (Network::spare_messages).
template <class World>
MessageId post(Engine<World>& sim, QpId qp, Bytes size, Ps at);

}  // namespace weir::sim::engine
