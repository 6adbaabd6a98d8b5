#pragma once
// Several domains of one fabric, each simulated by a thread of its own, to the result of one.
//
// Conservative windows: what a domain does is felt in another one link later at the earliest, so
// all may simulate a window of that length without looking at each other. Frames and pauses that
// cross are handed over between windows (Outbox). Within an instant domains do not touch each
// other, and in one domain the order of ties is the canonical one: so nothing depends on the number
// of domains. What remains to be the same as in one domain:
//
//   the end         A run ends at the instant when its last frame is gone, not a timer later. A
//                   message is done at its last ACK, which is on its way for a window at least, so
//                   that instant is in no window at whose beginning some message has not arrived.
//                   From there on one thread simulates all domains, instant by instant. A message
//                   that fails has no such ACK: once one may (a time-out, a missing receive), it is
//                   from where every message has left its NIC, since nothing is posted and done
//                   within a window.
//   the driver      It may post at once on a queue pair of the NIC whose event it hears of; for
//                   everything else it is called in order between windows (Sim::call_in_order), and
//                   what it posts then comes after the window.
//   message numbers They are given as posts come, and set right afterwards (number_messages).
#include "sim/engine/engine.h"

namespace weir::sim::engine {

/// By node: the same number for those that packets connect, on any of their paths. REQUIRES: routes
/// are built.
[[nodiscard]] Table<NodeId, std::uint32_t> parts_of(const Network& network, const Routes& routes);

/// Cuts the fabric into as many domains as are wanted, or fewer: parts that no traffic connects
/// first, then leaves with their NICs. REQUIRES: routes are built.
[[nodiscard]] Table<NodeId, std::uint32_t> cut_into_domains(const Network& network,
                                                            const Routes& routes, unsigned wanted);
/// Sets Tables::window and each port's peer_domain. `reach`: see Threads.
void set_up_windows(Tables& all, Ps reach);

/// How to simulate one domain of the run's world.
struct DomainSteps {
  void (*run_before)(State& domain, Ps end);
  void (*dispatch)(State& domain, Event& event);
};
/// Everything before `end`, or until nothing is left to do. REQUIRES: several domains.
void run_domains(Tables& all, Ps end, const DomainSteps& steps);
/// The same by the calling thread alone, window by window.
void run_domains_alone(Tables& all, Ps end, const DomainSteps& steps);

/// To the port's peer in another domain.
void send_across(State& sim, std::uint8_t domain, const Event& event);

/// Numbers messages as one domain would have.
void number_messages(Tables& all);

}  // namespace weir::sim::engine
