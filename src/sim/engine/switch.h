#pragma once
// What a switch does with a frame: classify, admit, route, queue, schedule, mark.
#include <span>

#include "sim/engine/engine.h"

namespace weir::sim::engine {

/// kArrive. `packet` is the event's own: what changes on the way is changed in place.
template <class World>
void switch_arrive(Engine<World>& sim, Port& in, Packet& packet);
/// kForward: an admitted frame leaves the pipeline. What it was going to may have failed.
template <class World>
void switch_forward(Engine<World>& sim, Port& in, FrameId held, PortId to);
/// The idle port sends what is next, if anything is eligible.
template <class World>
void switch_send(Engine<World>& sim, Port& port);
template <class World>
void flush_queue(Engine<World>& sim, Port& port, std::uint32_t queue, DropReason reason);
/// kWatchdog: looks at a port that is or was paused. A queue stuck for the detection time comes
/// under the action; one that was not paused for the restoration time is restored.
template <class World>
void watchdog(Engine<World>& sim, Port& port);

// ---- what each world does in its own way

/// One of several ports, by every rule but plain ECMP.
std::uint32_t balance(Engine<NativeWorld>& sim, Switch& node, const Packet& packet,
                      std::span<const std::uint16_t> ports);
std::uint32_t balance(Engine<PeerWorld>& sim, Switch& node, const Packet& packet,
                      std::span<const std::uint16_t> ports);
/// Whether a frame is marked at this level, between the thresholds.
bool draw_mark(Engine<NativeWorld>& sim, const Port& port, const Queue& queue, std::int64_t bytes);
bool draw_mark(Engine<PeerWorld>& sim, const Port& port, const Queue& queue, std::int64_t bytes);

}  // namespace weir::sim::engine
