#pragma once
// A step that a region of the fabric repeats while others are simulated: not its packets, but what
// the driver hears of them, at the same instants and in the same place among the events of an
// instant. What the driver then posts is what it posted before, and is not sent. Counters and queue
// pairs are brought up to date at the end.
#include "sim/engine/engine.h"

namespace weir::sim::engine {

/// Begins one, for the messages that are posted already. REQUIRES: the region is at rest and like
/// the episode's beginning.
void begin_script(Tables& all, std::uint32_t region, std::shared_ptr<const Episode> episode,
                  Ps origin, std::vector<MessageId> posted);
/// The driver posts a message on a queue pair of a region with a script.
void script_post(State& sim, MessageId index);
/// kArrive, with kFlagReplayed.
void script_arrive(State& sim, const Packet& packet);

}  // namespace weir::sim::engine
