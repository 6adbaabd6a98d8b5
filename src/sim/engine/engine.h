#pragma once
// The state of a simulation, and the world it runs in. The steps are function templates over
// Engine<World>, each part with a header of its own:
//
//   wire.h       ports: serialisation, lazy "port free", pause frames
//   switch.h     classify, admit, route, queue, schedule, mark
//   nic.h        arbitration, pacing, receive buffer, CNPs
//   transport.h  requester and responder of the RC queue pairs
//   set_up.h     from a Network to all of this
//   windows.h    several domains of the fabric, each on a thread
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
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "sim/domains/crew.h"
#include "sim/engine/nic_state.h"
#include "sim/engine/packet_pool.h"
#include "sim/engine/port_state.h"
#include "sim/engine/sim.h"
#include "sim/engine/switch_state.h"
#include "sim/engine/transport_state.h"
#include "sim/engine/world.h"
#include "sim/events/event_list.h"
#include "sim/fabric/class_slots.h"
#include "sim/fabric/network.h"
#include "sim/fabric/route.h"
#include "sim/peer/hpcc_world.h"
#include "sim/replay/region.h"

namespace weir::sim::engine {

struct State;

/// What was posted, or is to be called, when the others have come so far: in the order of time and
/// of the port whose event it was.
struct InOrder {
  Ps at;
  PortId port;
  std::uint32_t what;  // a message, or the driver's token
};

/// What a domain sends to another: written in one window, taken in at the beginning of the next,
/// while that is already written to the other half.
struct Outbox {
  std::array<std::vector<Event>, 2> by_turn;
  Ps earliest = kNever;  // of the window
};

/// The fabric: what exists once, whoever simulates it. Every entry belongs to one domain.
struct Tables {
  explicit Tables(Network given) : network(std::move(given)) {}

  [[nodiscard]] Nic& nic_at(NodeId node) { return nics[index_of[node]]; }
  [[nodiscard]] const Nic& nic_at(NodeId node) const { return nics[index_of[node]]; }
  [[nodiscard]] IdRange<PortId> ports_of(NodeId node) const {
    return {first_port[node], first_port[node + 1]};
  }
  [[nodiscard]] State& domain_at(NodeId node) { return *domains[domain_of[node]]; }
  [[nodiscard]] std::span<ClassTraffic> traffic_of(PortId port) {
    return {ports[port].traffic, slots.count()};
  }
  [[nodiscard]] std::span<const ClassTraffic> traffic_of(PortId port) const {
    return {ports[port].traffic, slots.count()};
  }
  /// Over all domains.
  template <class Value>
  [[nodiscard]] std::uint64_t sum(Value State::*value) const;
  [[nodiscard]] Messages posted() const {
    return {message_room.data(), message_count.load(std::memory_order_relaxed)};
  }

  Network network;
  Routes routes;

  Table<PortId, Port> ports;
  ClassSlots slots;           // of what exists by port and class
  std::vector<Queue> queues;  // by port and slot
  Table<PortId, PauseState> pauses;
  RawArray<PauseTimes> pause_times;          // by port
  RawArray<ClassTraffic> traffic;            // by port and slot; a port's begins a cache line
  RawArray<PortCounters> counter_room;       // most ports never count anything rare, so …
  View<PortId, PortCounters> port_counters;  // … no page of it; rx_*: of frames without a class
  Table<PortId, RandomStream> port_random;   // marks and bit errors
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
  EarlyPackets early;
  RawArray<MessageRecord> message_room;
  std::atomic<std::uint32_t> message_count{0};

  QueueWatch watch;
  std::vector<Repeat> repeats;
  Ps now = -1;  // the last instant of which everything has happened

  // ---- exact replay: made when it is needed first
  Region whole;
  std::vector<Region> regions;
  std::vector<Script> scripts;  // by region
  Table<QpId, std::uint32_t> region_of;
  Table<NodeId, std::uint32_t> region_of_node;  // of one without traffic: none

  // ---- several domains (windows.h)
  std::vector<std::unique_ptr<State>> domains;
  Table<NodeId, std::uint32_t> domain_of;
  Ps window = kNever;                      // what one domain does is felt in another so much later
  MessageId in_order{0};                   // messages from here on are numbered as they came
  std::vector<InOrder> posted_in_between;  // posts of the driver while no domain ran …
  bool is_between = true;                  // … as now
  InOrder call{-1, PortId{0}, 0};          // the one in hand
  bool adapts = true;                      // see Threads
  bool has_retries = true;                 // nothing fails within a window of what is well
  std::unique_ptr<Crew> crew;
};

/// A part of the fabric with its own clock: one thread simulates it. Most runs have one domain.
struct State {
  explicit State(Tables& tables, Ties ties)
      : all(tables),
        network(tables.network),
        slots(tables.slots),
        routes(tables.routes),
        events(ties),
        watch(tables.watch),
        early(tables.early) {}
  virtual ~State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  [[nodiscard]] Ps now() const { return events.now(); }
  /// A frame that did not exist before.
  void frame_created() {
    ++live_frames;
    ++created;
  }
  /// A frame was consumed or dropped.
  void frame_gone() {
    last_gone = events.now();
    if (--live_frames == 0 && open_messages <= stop_below) events.stop();
  }
  /// Of the tables, once they stay where they are.
  void bind();

  Tables& all;
  const Network& network;
  const ClassSlots slots;
  Routes& routes;
  EventList events;
  PacketPool pool;

  View<PortId, Port> ports;
  View<PortId, PauseState> pauses;
  View<PortId, PortCounters> port_counters;
  View<PortId, RandomStream> port_random;
  View<PortId, std::uint64_t> error_threshold;
  View<QpId, Sender> senders;
  View<QpId, Receiver> receivers;
  View<QpId, QpId> cnp_pacer;
  Messages messages;  // with the room for those to come

  Driver* driver = nullptr;
  Observer* observer = nullptr;
  QueueWatch& watch;
  EarlyPackets& early;
  std::uint64_t data_hops = 0;
  // Of several domains only the sums mean something: a frame is created in one and gone in another.
  std::uint64_t live_frames = 0;  // created, and neither consumed nor dropped
  std::uint64_t open_messages = 0;
  std::uint64_t unsent = 0;       // messages whose last packet never left
  std::uint64_t undelivered = 0;  // … or has not arrived
  bool may_fail = false;          // a timer was up, or a receive was missing: retries count
  std::uint64_t stop_below = 0;   // without a frame, a run stops with this many open messages
  std::uint64_t created = 0;
  std::uint64_t consumed = 0;
  std::uint64_t dropped = 0;
  Ps last_gone = -1;

  bool is_replay_in_doubt = false;  // since something was repeated: it might have been otherwise

  std::uint32_t index = 0;       // of this domain
  std::uint8_t turn = 0;         // which half of the outboxes is written
  std::vector<Outbox> outboxes;  // to each of the others
  std::vector<InOrder> posts;    // messages, while several domains ran
  std::vector<InOrder> calls;    // that the driver asked for
};

template <class Value>
std::uint64_t Tables::sum(Value State::*value) const {
  std::uint64_t out = 0;
  for (const auto& domain : domains)
    out += static_cast<std::uint64_t>((*domain).*value);
  return out;
}

template <class W>
struct Engine final : State {
  using World = W;
  explicit Engine(Tables& tables) : State(tables, W::kTies), extra(network) {}

  [[no_unique_address]] typename W::Extra extra;
};

}  // namespace weir::sim::engine
