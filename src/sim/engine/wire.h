#pragma once
// Ports: putting frames on the wire, the lazy "port free", and pause frames both ways.
#include "sim/engine/engine.h"

namespace weir::sim::engine {

/// The port transmits the frame now. REQUIRES: it is idle.
template <class World>
void put_on_wire(Engine<World>& sim, Port& port, const Packet& packet);

/// Something may be sendable: sends it if the port is idle, else makes sure it wakes when it is.
template <class World>
void kick(Engine<World>& sim, Port& port);
/// kPortFree: the frame has left.
template <class World>
void port_free(Engine<World>& sim, Port& port);
/// After a frame: an event for the next one, if there is one.
template <class World>
void send_rest_later(Engine<World>& sim, Port& port);
[[nodiscard]] bool has_work(const Port& port);

/// The only place where frames are lost.
void drop(State& sim, const Port& port, const Packet& packet, DropReason reason, bool lossless);
/// Whether frames reach this port undisturbed is one bit, looked at for each of them.
void refresh_disturbed(const Tables& all, Port& port);
/// A frame comes over a link that is down or makes errors. False: it is lost.
[[nodiscard]] bool survives_link(State& sim, const Port& port, const Packet& packet);

void enqueue(State& sim, Port& port, std::uint32_t queue, const Packet& packet,
             std::int64_t charge);
/// Takes the first packet out of the queue; the caller reads it and then frees it.
void unlink(State& sim, Port& port, std::uint32_t queue, std::int64_t charge);

/// This port's own buffers changed state for these priorities: tells the peer.
template <class World>
void announce(Engine<World>& sim, Port& port, std::uint8_t pause, std::uint8_t resume);
/// kPfcApply: the pause frame's reaction time is over.
template <class World>
void apply_pause(Engine<World>& sim, Port& port, const Packet& frame);
template <class World>
void pause_expire(Engine<World>& sim, Port& port);
template <class World>
void pause_refresh(Engine<World>& sim, Port& port);
void set_pause(State& sim, Port& port, unsigned priority, bool paused);

}  // namespace weir::sim::engine
