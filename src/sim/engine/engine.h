#pragma once
// The state of a simulation, and the world it runs in. The steps are function templates over
// Engine<World>, each part with a header of its own:
//
//   wire.h       ports: serialisation, lazy "port free", pause frames
//   switch.h     classify, admit, route, queue, schedule, mark
//   nic.h        arbitration, pacing, receive buffer, CNPs
//   transport.h  requester and responder of the RC queue pairs
//   set_up.h     from a Network to all of this
//
// Their .cc files are compiled as one (WEIR_SIM_ENGINE in CMakeLists.txt): what is marked inline in
// one of them is inline in all. Nobody else includes these headers; sim.h is the way in.
//
// Rules that hold throughout: a port is free lazily (an event exists only while something waits); a
// frame is lost only in drop(), with a reason; nothing is allocated after set-up.
//
// Most frames find their next wire idle. What such a frame does is the hot path: switch_arrive(),
// cross_idle(), put_on_wire(). It reads one word of the egress port that says "nothing unusual"
// (PortCondition), keeps one tally at each end, and leaves everything else to the general path,
// which comes to the same result for it.
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "sim/engine/nic_state.h"
#include "sim/engine/packet_pool.h"
#include "sim/engine/port_state.h"
#include "sim/engine/rest.h"
#include "sim/engine/sim.h"
#include "sim/engine/switch_state.h"
#include "sim/engine/transport_state.h"
#include "sim/engine/world.h"
#include "sim/events/event_list.h"
#include "sim/fabric/network.h"
#include "sim/fabric/route.h"
#include "sim/peer/hpcc_world.h"

namespace weir::sim::engine {

struct State {
  State(Network given, Ties ties) : network(std::move(given)), events(ties) {}
  virtual ~State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  [[nodiscard]] Ps now() const { return events.now(); }
  [[nodiscard]] Nic& nic_at(NodeId node) { return nics[index_of[node]]; }
  [[nodiscard]] const Nic& nic_at(NodeId node) const { return nics[index_of[node]]; }
  [[nodiscard]] IdRange<PortId> ports_of(NodeId node) const {
    return {first_port[node], first_port[node + 1]};
  }
  /// A frame that did not exist before.
  void frame_created() {
    ++live_frames;
    ++created;
  }
  /// A frame was consumed or dropped.
  void frame_gone() {
    if (--live_frames == 0 && open_messages <= stop_below) events.stop();
  }

  Network network;
  EventList events;
  Routes routes;
  PacketPool pool;

  Table<PortId, Port> ports;
  std::vector<Queue> queues;  // eight per port
  Table<PortId, PauseState> pauses;
  Table<PortId, Traffic> traffic;
  Table<PortId, PortCounters> port_counters;     // the rare ones; rx_*: of frames without a class
  Table<PortId, RandomStream> port_random;       // marks and bit errors
  Table<PortId, std::uint64_t> error_threshold;  // of the receiving port
  Table<LinkId, std::array<PortId, 2>> link_ports;
  Table<NodeId, PortId> first_port;                    // and one past the last node
  std::vector<std::vector<std::uint32_t>> wire_times;  // one table per distinct rate

  Table<NodeId, std::uint32_t> index_of;  // into switches or nics
  std::vector<Switch> switches;
  std::vector<Nic> nics;

  Table<QpId, Sender> senders;
  Table<QpId, Receiver> receivers;
  Table<QpId, QpId> cnp_pacer;  // by QP: whose time its CNPs wait for; empty: each its own
  Messages messages;
  EarlyPackets early;

  Driver* driver = nullptr;
  Observer* observer = nullptr;
  QueueWatch watch;
  std::uint64_t data_hops = 0;
  std::uint64_t live_frames = 0;  // created, and neither consumed nor dropped
  std::uint64_t open_messages = 0;
  std::uint64_t stop_below = 0;  // without a frame, a run stops with this many open messages
  std::uint64_t created = 0;
  std::uint64_t consumed = 0;
  std::uint64_t dropped = 0;

  std::vector<Repeat> repeats;
  bool guards_timers = false;       // since something was repeated: see start_timer()
  bool is_replay_in_doubt = false;  // … a time-out might have been another one
};

template <class W>
struct Engine final : State {
  using World = W;
  explicit Engine(Network given) : State(std::move(given), W::kTies), extra(network) {}

  [[no_unique_address]] typename W::Extra extra;
};

}  // namespace weir::sim::engine
