#pragma once
// What a requester and a responder do: send data, acknowledge it, recover from loss, time out.
#include "sim/engine/engine.h"

namespace weir::sim::engine {

/// Whether the QP has a packet to send now; what is posted for later wakes it then.
[[nodiscard]] bool has_data(State& sim, QpId qp);
/// The next packet; the QP goes on to the one after.
[[nodiscard]] Packet build_data(State& sim, Sender& sender, QpId qp);
/// The driver hears of it, unless it was done or failed before.
void message_done(State& sim, MessageId message);
/// What was repeated might have been otherwise: the run ends (Sim::is_replay_in_doubt).
void doubt_replay(State& sim);
/// Starts the retransmission timer, unless it runs.
void start_timer(State& sim, QpId qp);
/// kQpTimeout.
template <class World>
void qp_timeout(Engine<World>& sim, QpId qp);

template <class World>
void on_data(Engine<World>& sim, Nic& nic, const Packet& packet);
/// An ACK, a NAK or an RNR NAK.
template <class World>
void on_ack(Engine<World>& sim, Nic& nic, const Packet& packet);
template <class World>
void on_read_request(Engine<World>& sim, const Packet& packet);
/// READ: asks for the messages that are posted by now.
template <class World>
void post_reads(Engine<World>& sim, QpId qp);

/// A message joins its QP, which wakes when it is posted.
template <class World>
void add_message(Engine<World>& sim, MessageId index);

}  // namespace weir::sim::engine
