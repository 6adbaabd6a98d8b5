#pragma once
// A NIC: arbitration between queue pairs, pacing, the receive buffer, and congestion notification.
#include "sim/engine/engine.h"

namespace weir::sim::engine {

/// kArrive.
template <class World>
void nic_arrive(Engine<World>& sim, Port& port, const Packet& packet);
/// kNicDrain: the receive buffer may be down at XON.
template <class World>
void nic_drain(Engine<World>& sim, Nic& nic);
/// Between slices of a run: PCIe drains at another rate from now on.
void change_drain(State& sim, NodeId node, BitRate drain);

/// An answer: at once where the NIC is idle, else in front of the data of its priority.
template <class World>
void send_control(Engine<World>& sim, Nic& nic, unsigned priority, const Packet& packet);
/// A control packet that waits leaves now.
template <class World>
void send_queued(Engine<World>& sim, Port& port, unsigned priority);
template <class World>
void send_packet(Engine<World>& sim, Nic& nic, unsigned priority, const Packet& packet);
/// A CE mark arrived.
template <class World>
void notify_congestion(Engine<World>& sim, Nic& nic, Receiver& receiver, QpId qp);

/// kCnpDue, or at once.
template <class World>
void send_cnp(Engine<World>& sim, Receiver& receiver, QpId qp);

/// kQpWake at `at`, unless the QP wakes before.
void wake_later(State& sim, QpId qp, Ps at);

// ---- what each world does in its own way

/// The idle port sends what is next, if anything may go.
void nic_send(Engine<NativeWorld>& sim, Port& port);
void nic_send(Engine<PeerWorld>& sim, Port& port);
/// Something changed for the QP: lets it compete for the port now or when its rate allows.
void activate(Engine<NativeWorld>& sim, QpId qp);
void activate(Engine<PeerWorld>& sim, QpId qp);
/// kQpWake: a message is posted, or the rate allows the next packet.
void wake(Engine<NativeWorld>& sim, QpId qp);
void wake(Engine<PeerWorld>& sim, QpId qp);
/// kNicWake: only the peer's hosts wake as a whole.
void nic_wake(Engine<NativeWorld>& sim, Port& port);
void nic_wake(Engine<PeerWorld>& sim, Port& port);

}  // namespace weir::sim::engine
