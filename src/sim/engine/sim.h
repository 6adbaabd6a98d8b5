#pragma once
// One simulation: a Network brought to life, packet by packet. No globals; many may run at once.
//
// The parts, each in its own file:
//   sim.cc        set-up, the loop, messages, link changes
//   wire.cc       ports: serialisation, lazy "port free", pause frames
//   switch.cc     classify, admit, route, queue, schedule, mark
//   nic.cc        arbitration, pacing, receive buffer, CNPs
//   transport.cc  requester and responder of the RC queue pairs
//   audit.cc      conservation, digest
//   event_list    what happens next         shared_buffer  a switch's MMU
//   route         shortest paths            dcqcn          the reaction point
//
// Seams for what is built on top:
//   Driver    told when a message was sent or delivered; posts more (collectives, training steps)
//   Observer  sees every frame put on a wire (capture files, traces); absent, it costs one branch
//   run_until a sampler runs the simulation in slices and reads the counters between them: sampling
//             pushes no events and disturbs nothing
//   faults    are edits of the Network before make(), LinkChange entries, or set_*() between slices
//
// Rules that hold throughout: a port is free lazily (an event exists only while something waits); a
// frame is lost only in drop(), with a reason; nothing is allocated after make().
//
// Most frames find their next wire idle. What such a frame does is the hot path: switch_arrive(),
// cross_idle(), put_on_wire(). It reads one word of the egress port that says "nothing unusual"
// (PortCondition), keeps one tally at each end, and leaves everything else to the general path,
// which comes to the same result for it.
//
// These files are compiled as one (WEIR_SIM_ENGINE in CMakeLists.txt): what is marked inline in one
// of them is inline in all.
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "sim/engine/dcqcn.h"
#include "sim/engine/event_list.h"
#include "sim/engine/packet.h"
#include "sim/engine/packet_pool.h"
#include "sim/engine/shared_buffer.h"
#include "sim/fabric/network.h"
#include "sim/fabric/route.h"
#include "sim/peer/ns3_random.h"

namespace weir::sim {

inline constexpr std::uint32_t kNone = 0xFFFFFFFFU;
/// Selective repeat keeps this many * 64 early packets of a queue pair.
inline constexpr std::uint32_t kBitmapWords = 64;

enum class MessageState : std::uint8_t { kPosted, kDone, kFailed };

struct MessageRecord {
  Ps post = 0;
  Ps delivered = kNever;  // last byte at the target
  Ps done = kNever;       // completion at the side that posted it
  std::int64_t size = 0;
  std::uint32_t qp = 0;
  std::uint32_t next = kNone;  // of the same QP
  std::uint32_t first_psn = 0;
  std::uint32_t packets = 0;
  MessageState state = MessageState::kPosted;
};

struct PortCounters {
  std::uint64_t tx_frames = 0;
  std::uint64_t tx_bytes = 0;
  std::uint64_t rx_frames = 0;
  std::uint64_t rx_bytes = 0;
  std::uint64_t marked = 0;
  std::uint64_t pfc_tx_frames = 0;
  std::uint64_t pfc_rx_frames = 0;
  std::array<std::uint64_t, 8> tx_class_frames{};  // by queue (switch) or priority (NIC)
  std::array<std::uint64_t, 8> tx_class_bytes{};
  std::array<std::uint64_t, 8> rx_class_frames{};  // by priority group or priority
  std::array<std::uint64_t, 8> rx_class_bytes{};
  std::array<std::uint64_t, 8> pause_tx{};  // by priority: XOFF transitions announced
  std::array<std::uint64_t, 8> resume_tx{};
  std::array<std::uint64_t, 8> pause_rx{};
  std::array<std::uint64_t, 8> resume_rx{};
  std::array<Ps, 8> paused_time{};  // by priority: how long this port was told not to send
  std::array<std::uint64_t, kDropReasons> drops{};
  std::uint64_t lossless_drops = 0;  // want of buffer in a lossless class
  std::uint64_t watchdog_trips = 0;
  std::uint64_t watchdog_restores = 0;
};

struct NicCounters {
  std::uint64_t cnp_sent = 0;         // np_cnp_sent
  std::uint64_t ce_received = 0;      // np_ecn_marked_roce_packets
  std::uint64_t cnp_handled = 0;      // rp_cnp_handled
  std::uint64_t cnp_ignored = 0;      // rp_cnp_ignored
  std::uint64_t out_of_sequence = 0;  // responder: a gap
  std::uint64_t packet_seq_err = 0;   // requester: a NAK arrived
  std::uint64_t duplicate_request = 0;
  std::uint64_t implied_nak_seq_err = 0;  // a gap in a READ's response
  std::uint64_t local_ack_timeout = 0;
  std::uint64_t out_of_buffer = 0;  // responder: no receive posted
  std::uint64_t rnr_nak_received = 0;
  std::uint64_t retries_exhausted = 0;
  std::uint64_t retransmitted = 0;
  std::uint64_t acks_sent = 0;
  std::uint64_t socket_tx_frames = 0;  // of the port's frames those that are no RDMA
  std::uint64_t socket_tx_bytes = 0;
  std::uint64_t socket_rx_frames = 0;
  std::uint64_t socket_rx_bytes = 0;
};

/// Time-weighted statistics of one egress queue (bytes waiting, the frame on the wire excluded).
struct QueueWatch {
  std::uint32_t port = kNone;
  std::uint32_t queue = 0;
  Ps since = 0;
  Ps last = 0;
  std::int64_t level = 0;  // bytes since `last`
  Int128 sum = 0;          // byte * ps
  Int128 square = 0;       // byte^2 * ps
  std::int64_t low = 0;
  std::int64_t high = 0;
};

class Driver {
 public:
  virtual ~Driver() = default;
  virtual void on_sent(std::uint32_t message) = 0;       // completed at the poster
  virtual void on_delivered(std::uint32_t message) = 0;  // last byte at the target
  virtual void on_call(std::uint32_t token) = 0;         // a call it asked for
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_frame(Ps at, std::uint32_t port, const Packet& packet) = 0;  // starts on the wire
  virtual void on_pause(Ps at, std::uint32_t port, std::uint8_t pause, std::uint8_t resume) = 0;
  virtual void on_drop(Ps at, std::uint32_t port, const Packet& packet, DropReason reason) = 0;
};

class Sim {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Sim>> make(Network network);

  void set_driver(Driver* driver) { driver_ = driver; }
  void set_observer(Observer* observer) {
    observer_ = observer;
    is_observed_ = hpcc_ || observer != nullptr;
  }

  /// Until every message is done or failed and no frame is left anywhere, or until `end`.
  void run(Time end = Time::never());
  /// Everything before `end`; the clock stays at the last event.
  void run_until(Time end);

  /// A new message on `qp`, posted now or at `at`. REQUIRES: room (Network::spare_messages); of one
  /// QP in the order of `at`.
  std::uint32_t post(std::uint32_t qp, Bytes size, Time at);
  /// Driver::on_call(token) at `at` (after now).
  void call_at(Time at, std::uint32_t token);
  void set_link(std::uint32_t link, bool up, bool reroute);
  /// Faults between slices (live.cc). REQUIRES: no other node shares this NIC's configuration.
  void set_drain(std::uint32_t node, BitRate drain);
  void set_congestion_control(std::uint32_t node, bool np, bool rp);
  void set_errors(std::uint32_t link, std::uint64_t threshold);

  [[nodiscard]] const Network& network() const { return network_; }
  [[nodiscard]] Ps now() const { return events_.now(); }
  [[nodiscard]] const std::vector<MessageRecord>& messages() const { return messages_; }
  [[nodiscard]] std::uint32_t port_of(std::uint32_t node, std::uint32_t local) const {
    return first_port_[node] + local;
  }
  [[nodiscard]] std::uint32_t port_count() const {
    return static_cast<std::uint32_t>(ports_.size());
  }
  [[nodiscard]] std::uint32_t node_of(std::uint32_t port) const { return ports_[port].node; }
  /// Put together from the tallies by class when asked for.
  [[nodiscard]] PortCounters port_counters(std::uint32_t port) const;
  [[nodiscard]] const NicCounters& nic_counters(std::uint32_t node) const {
    return nics_[index_of_[node]].counters;
  }
  [[nodiscard]] const SharedBuffer& buffer_of(std::uint32_t node) const {
    return switches_[index_of_[node]].buffer;
  }
  [[nodiscard]] std::int64_t queue_bytes(std::uint32_t port, std::uint32_t queue) const {
    return ports_[port].queues[queue].bytes;
  }
  [[nodiscard]] std::int64_t queue_peak(std::uint32_t port, std::uint32_t queue) const {
    return ports_[port].queues[queue].peak;
  }
  [[nodiscard]] std::uint8_t paused_now(std::uint32_t port) const { return ports_[port].paused; }
  /// How long the peer has paused this priority, the pause in force included.
  [[nodiscard]] Ps paused_for(std::uint32_t port, unsigned priority) const {
    const PauseState& state = pauses_[port];
    const bool now_paused = ((state.paused >> priority) & 1U) != 0;
    return port_counters_[port].paused_time[priority] +
           (now_paused ? now() - state.since[priority] : 0);
  }
  /// Sending rate of a QP by its reaction point, and user bytes that have arrived in order.
  [[nodiscard]] std::int64_t qp_rate(std::uint32_t qp) const { return senders_[qp].rp.rate(); }
  [[nodiscard]] const ReactionPoint& reaction_point(std::uint32_t qp) const {
    return senders_[qp].rp;
  }
  [[nodiscard]] std::int64_t qp_delivered(std::uint32_t qp) const { return receivers_[qp].bytes; }
  [[nodiscard]] bool qp_failed(std::uint32_t qp) const { return senders_[qp].failed; }
  [[nodiscard]] const Routes& routes() const { return routes_; }

  /// Starts (again) the statistics of one queue from now.
  void watch_queue(std::uint32_t port, std::uint32_t queue);
  [[nodiscard]] QueueWatch queue_watch() const;

  /// Frames put on a wire, pauses included, and those of them with data.
  [[nodiscard]] std::uint64_t hops() const;
  [[nodiscard]] std::uint64_t data_hops() const { return data_hops_; }
  [[nodiscard]] std::uint64_t events() const { return events_.events(); }
  [[nodiscard]] std::uint64_t live_frames() const { return live_frames_; }
  /// Messages neither done nor failed; when anything happens next, kNever: nothing will.
  [[nodiscard]] std::uint64_t open_messages() const { return open_messages_; }
  [[nodiscard]] Ps next_event() { return events_.next_time(); }
  [[nodiscard]] std::uint64_t drops(DropReason reason) const;
  [[nodiscard]] std::uint64_t lossless_drops() const;

  /// Packets, bytes and pauses are conserved, and every account adds up; the error says which not.
  [[nodiscard]] Status audit() const;
  /// Over counters, completions and random states: equal runs, equal digests.
  [[nodiscard]] std::uint64_t digest() const;

 private:
  explicit Sim(Network network);

  struct Switch;
  struct Nic;
  struct Queue;

  struct Tally {
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0;
    void add(std::uint16_t size) {
      ++frames;
      bytes += size;
    }
  };
  struct ClassTraffic {
    Tally rx;  // by priority group (switch) or priority (NIC)
    Tally tx;  // by queue or priority
  };
  /// Both directions of a class share a cache line.
  struct alignas(64) Traffic {
    std::array<ClassTraffic, 8> of;
  };
  /// What keeps a frame from going straight through a port: eight bytes, read as one word.
  struct PortCondition {
    std::uint8_t waiting = 0;    // queues (control packets at a NIC) that hold something
    std::uint8_t paused = 0;     // queues (priorities at a NIC) that may not send
    std::uint8_t pause_due = 0;  // priorities to announce in the next pause frame
    std::uint8_t resume_due = 0;
    std::uint8_t tripped = 0;  // queues under the watchdog's action
    bool down = false;
    bool free_pending = false;
    bool watched = false;  // watch_queue() looks at one of its queues
    [[nodiscard]] bool is_plain() const { return std::bit_cast<std::uint64_t>(*this) == 0; }
  };
  static_assert(sizeof(PortCondition) == 8);
  /// What every frame needs fills the first cache line, with the condition.
  struct alignas(64) Port : PortCondition {
    Ps busy_until = 0;
    const std::uint32_t* wire_time = nullptr;  // ps, by frame size
    Traffic* traffic = nullptr;
    Switch* sw = nullptr;  // its owner: this …
    Nic* nic = nullptr;    // … or this
    std::uint32_t peer = kNone;
    std::uint16_t local = 0;
    std::uint16_t mtu = 0xFFFF;         // largest frame in or out (switches)
    std::uint16_t full_size = kNoSize;  // the frame size that lane_full is for
    std::uint16_t ack_size = kNoSize;   // and lane_ack
    std::uint8_t lane_full = EventList::kNoLane;
    std::uint8_t lane_ack = EventList::kNoLane;
    bool is_disturbed = false;    // down, or frames arrive with errors
    bool is_cut_through = false;  // the peer starts on the header: `flight` counts from the first
                                  // bit, and lane_full is for every size

    Queue* queues = nullptr;  // eight
    Ps flight = 0;            // from the last bit sent to kArrive at the peer
    Ps free_delay = 0;        // of a full frame: what lane_free is for
    std::uint32_t self = 0;
    std::uint32_t node = 0;
    std::uint8_t lane_free = EventList::kNoLane;
    std::uint8_t round_robin = 0;  // queue served last among the weighted
    static constexpr std::uint16_t kNoSize = 0xFFFF;
  };
  /// An egress queue of a switch, or the control packets of a NIC's priority.
  struct alignas(64) Queue {
    std::uint32_t head = kNone;
    std::uint32_t tail = kNone;
    std::int64_t bytes = 0;  // charged bytes
    std::int64_t peak = 0;
    std::int64_t mark_min = INT64_MAX;
    std::int64_t mark_max = INT64_MAX;
    std::uint64_t mark_slope = 0;  // chance of 2^32 a byte above mark_min, << 16
    std::int64_t deficit = 0;
    std::int64_t quantum = 0;
  };
  struct PauseState {           // what the peer told this port, and what this port told the peer
    std::array<Ps, 8> until{};  // by priority
    std::array<Ps, 8> since{};
    std::array<Ps, 8> last_rx{};
    std::uint8_t paused = 0;     // priorities paused by the peer
    std::uint8_t announced = 0;  // priorities this port has paused at the peer
    bool expire_pending = false;
    bool refresh_pending = false;
    bool watchdog_pending = false;
    Ps reaction = 0;
    Ps cable = 0;
    Ps quanta_time = 0;  // of a full pause at this link's rate, as announced
    std::int64_t rate = 0;
    std::uint16_t quanta = 0;
    std::uint8_t enabled = 0;  // priorities with PFC
  };
  struct Lookup {  // of a DSCP at a switch
    std::uint8_t queue = 0;
    std::uint8_t group = 0;
  };
  struct Switch {
    std::uint32_t node;
    std::uint32_t first_port;
    std::uint32_t port_count;
    const SwitchConfig* config;
    SharedBuffer buffer;
    RandomStream spray;
    Port* ports = nullptr;
    std::size_t route_row = 0;  // see Routes::row_of
    std::array<Lookup, 64> classes{};
    std::uint8_t strict = 0;    // queues
    std::uint8_t lossless = 0;  // groups
    std::uint8_t lane_pipeline = EventList::kNoLane;
    bool has_pipeline = false;
    bool has_plain_ecmp = false;
    std::uint64_t ecmp_seed = 0;
    std::int64_t in_pipeline = 0;  // charged bytes, not yet in a queue
  };
  struct Nic {
    std::uint32_t node = 0;
    Port* port = nullptr;
    const NicConfig* config = nullptr;
    std::int64_t line = 0;
    std::array<std::uint32_t, 8> ready_head{};
    std::array<std::uint32_t, 8> ready_tail{};
    std::uint8_t ready = 0;  // priorities with a QP that may send
    std::uint8_t strict = 0;
    std::uint8_t cnp_priority = 0;
    std::uint8_t receive_paused = 0;
    bool drain_pending = false;
    Ps next_cnp = 0;  // capacity limit
    std::int64_t receive_level = 0;
    Ps receive_at = 0;
    NicCounters counters;
    std::vector<std::uint32_t> peer_qps;  // model `hpcc`: in the order of their start
    std::uint32_t peer_last = 0;          // place of the one that sent last
    bool peer_wake_pending = false;
  };
  struct Sender {
    ReactionPoint rp;
    Ps next_send = 0;
    Ps last_send = 0;
    std::int64_t gap_rate = 0;     // the rate that gap_inverse stands for
    std::int64_t gap_inverse = 0;  // ps a byte << 16
    Ps wake_at = kNever;           // earliest pending kQpWake
    Ps timeout_at = kNever;
    Ps hold_until = 0;  // RNR back-off
    Nic* nic = nullptr;
    std::uint32_t key = 0;
    std::uint32_t next_psn = 0;
    std::uint32_t una = 0;          // oldest not acknowledged
    std::uint32_t top_psn = 0;      // one past the highest ever sent
    std::uint32_t granted = kNone;  // READ: responses may go up to here
    std::uint32_t current = kNone;  // message of next_psn
    std::uint32_t oldest = kNone;   // message of una
    std::uint32_t last = kNone;     // newest message
    std::uint32_t next_ready = kNone;
    std::uint32_t gap_from = 0;  // selective: to be sent again, [from, to)
    std::uint32_t gap_to = 0;
    std::uint16_t last_wire = 0;  // bytes of the last packet on the wire: what pacing spaces
    std::uint16_t dst = 0;
    std::uint8_t priority = 0;
    std::uint8_t tos = 0;
    std::uint8_t retries = 0;
    std::uint8_t rnr_retries = 0;
    Operation operation = Operation::kWrite;
    bool is_socket = false;
    bool in_ready = false;
    bool timer_pending = false;
    bool failed = false;
  };
  struct Receiver {
    Ps next_cnp = 0;
    Ps nak_again = 0;        // the same gap may be NAKed again from here
    Ps timeout_at = kNever;  // READ: the requester's timer
    std::int64_t bytes = 0;
    Nic* nic = nullptr;
    std::uint32_t key = 0;  // of the way back
    std::uint32_t expected = 0;
    std::uint32_t naked = kNone;  // expected PSN of the last NAK
    std::uint32_t unacked = 0;
    std::uint32_t queued_ack = kNone;  // pool index of an ACK that still waits
    std::uint32_t message = kNone;     // of `expected`
    std::uint32_t requested = kNone;   // READ: next message to ask for
    std::uint32_t bitmap = kNone;      // selective: index into bitmaps_
    std::uint32_t highest = 0;         // selective: one past the highest seen
    std::int32_t receives = -1;
    std::uint16_t dst = 0;
    std::uint8_t priority = 0;  // of control packets at this NIC
    std::uint8_t tos = 0;
    std::uint8_t retries = 0;
    bool is_read = false;
    bool is_socket = false;
  };

  struct Answer {  // of a responder
    PacketKind kind = PacketKind::kAck;
    std::uint32_t psn = 0;       // the next one expected
    std::uint32_t gap_from = 0;  // selective: what is missing, [from, to)
    std::uint32_t gap_to = 0;
    bool echo = false;
  };

  // sim.cc
  void set_up_ports();
  void set_up_lanes();
  void set_up_switches();
  void set_up_queues(std::uint32_t node, const SwitchConfig& config);
  void set_up_nics();
  void set_up_owners();
  void set_up_qps();
  void reserve_events();
  void reserve_peer_lists();
  void dispatch(Event& event);
  void port_arrive(Port& port, Packet& packet);
  void dispatch_rare(const Event& event);
  void add_message(std::uint32_t index);
  void change_link(std::uint32_t change);
  void message_done(std::uint32_t message, Ps at);
  void message_failed(std::uint32_t message);
  void frame_gone() {
    if (--live_frames_ == 0 && open_messages_ == 0) events_.stop();
  }

  // wire.cc
  void put_on_wire(Port& port, const Packet& packet);
  void before_wire(Port& port, const Packet& packet);
  void push_arrival(Port& port, std::uint32_t tie, const Packet& packet);
  void schedule_free(Port& port);
  void kick(Port& port);
  void port_free(Port& port);
  void send_next(Port& port);
  void send_pause_frame(Port& port);
  void announce(Port& port, std::uint8_t pause, std::uint8_t resume);
  void apply_pause(Port& port, const Packet& packet);
  void set_pause(Port& port, unsigned priority, bool paused);
  void pause_expire(Port& port);
  void pause_refresh(Port& port);
  void drop(const Port& port, const Packet& packet, DropReason reason, bool lossless);
  void enqueue(Port& port, std::uint32_t queue, const Packet& packet, std::int64_t charge);
  void unlink(Port& port, std::uint32_t queue, std::int64_t charge);
  void watch_note(std::int64_t bytes);
  void disturbed_arrive(Port& port, Packet& packet);
  void refresh_disturbed(Port& port);

  // switch.cc
  void switch_arrive(Port& in, Packet& packet);
  bool cross_idle(Port& in, Port& out, Lookup lookup, const Packet& packet);
  void switch_admit(Port& in, Port& out, Lookup lookup, Packet& packet);
  void switch_forward(Port& in, std::uint32_t held, std::uint32_t out);
  void switch_queue(Port& out, std::uint32_t queue, Packet& packet, std::int64_t charge);
  std::uint32_t choose_port(Switch& node, const Packet& packet,
                            std::span<const std::uint16_t> ports);
  std::uint32_t balance(Switch& node, const Packet& packet, std::span<const std::uint16_t> ports);
  void switch_send(Port& port);
  void leave_switch(Port& port, std::uint32_t queue, Packet& packet, std::int64_t charge);
  std::uint32_t next_queue(Port& port, std::uint8_t eligible);
  bool marks(const Port& port, const Queue& queue, std::int64_t bytes);
  void mark(const Port& port, Packet& packet);
  void flush_queue(Port& port, std::uint32_t queue, DropReason reason);
  void discard(Port& port, const Packet& packet, DropReason reason);
  void watchdog(Port& port);

  // nic.cc
  void nic_arrive(Port& port, const Packet& packet);
  void nic_send(Port& port);
  bool has_work(const Port& port) const;
  void send_queued(Port& port, unsigned priority);
  bool send_data(Nic& nic, std::uint32_t qp);
  void send_control(Nic& nic, unsigned priority, const Packet& packet);
  void send_packet(Nic& nic, unsigned priority, const Packet& packet);
  void make_ready(std::uint32_t qp);
  void activate(std::uint32_t qp);
  void wake(std::uint32_t qp);
  void wake_later(std::uint32_t qp, Ps at);
  Ps pacing_gap(Sender& sender, std::int64_t wire_bytes, std::int64_t rate) const;
  Ps earliest_send(Sender& sender);
  Ps retime_at(const Sender& sender, Ps earliest) const;
  bool receive_into_buffer(Nic& nic, const Packet& packet, unsigned priority);
  void drain_level(Nic& nic);
  void nic_drain(Nic& nic);
  void notify_congestion(Nic& nic, Receiver& receiver, std::uint32_t qp);

  // transport.cc
  bool has_data(std::uint32_t qp);
  Packet build_data(Sender& sender, std::uint32_t qp);
  void after_send(std::uint32_t qp);
  void on_data(Nic& nic, const Packet& packet);
  void accept_in_order(Nic& nic, Receiver& receiver, const Packet& packet);
  void on_gap(Nic& nic, Receiver& receiver, const Packet& packet);
  void accept_early(Receiver& receiver, const Packet& packet);
  void advance_past_early(Receiver& receiver);
  void finish_delivered(Receiver& receiver);
  void send_ack(Nic& nic, Receiver& receiver, std::uint32_t qp, const Answer& answer);
  void on_ack(Nic& nic, const Packet& packet);
  void acknowledge(Sender& sender, std::uint32_t psn);
  void rewind(Sender& sender, std::uint32_t psn);
  void recover(Sender& sender, std::uint32_t psn);
  void fail(std::uint32_t qp);
  void arm_timeout(std::uint32_t qp, Ps timeout);
  void qp_timeout(std::uint32_t qp);
  void request_read(std::uint32_t qp, std::uint32_t psn);
  void post_reads(std::uint32_t qp);
  void on_read_request(const Packet& packet);
  void recv_repost(std::uint32_t qp);

  // hpcc_host.cc
  void peer_start(std::uint32_t qp);
  std::uint32_t peer_choose(Nic& nic);
  void peer_send(Port& port);
  void peer_send_data(Nic& nic, std::uint32_t qp);
  void peer_wake(Port& port);

  static ClassTraffic sum_of(const Traffic& traffic);  // audit.cc
  static const NicConfig& nic_config(const Sender& sender) { return *sender.nic->config; }
  bool test_early(const Receiver& receiver, std::uint32_t psn) const;
  void set_early(const Receiver& receiver, std::uint32_t psn, bool value);

  Network network_;
  bool hpcc_ = false;
  bool is_observed_ = false;  // before_wire() has something to do
  EventList events_;
  Routes routes_;
  PacketPool pool_;
  std::vector<Port> ports_;
  std::vector<Queue> queues_;  // 8 a port
  std::vector<PauseState> pauses_;
  std::vector<Traffic> traffic_;                // by port
  std::vector<PortCounters> port_counters_;     // what is rare; rx_* only of frames without a class
  std::vector<RandomStream> port_random_;       // marks and bit errors, by port
  std::vector<std::uint64_t> error_threshold_;  // by receiving port
  std::vector<std::uint32_t> link_ports_;       // two a link
  std::vector<std::uint32_t> first_port_;       // by node
  std::vector<std::uint32_t> index_of_;         // node -> switches_ or nics_
  std::vector<Switch> switches_;
  std::vector<Nic> nics_;
  std::vector<Sender> senders_;
  std::vector<Receiver> receivers_;
  std::vector<MessageRecord> messages_;
  std::vector<std::uint64_t> bitmaps_;
  std::vector<std::vector<std::uint32_t>> wire_times_;  // one table a distinct rate
  Driver* driver_ = nullptr;
  Observer* observer_ = nullptr;
  QueueWatch watch_;
  Ns3Random peer_random_;                // model `hpcc` only
  std::vector<double> peer_mark_share_;  // as the peer computes: by queue, at mark_max
  std::uint64_t data_hops_ = 0;
  std::uint64_t live_frames_ = 0;  // created, and neither consumed nor dropped
  std::uint64_t open_messages_ = 0;
  std::uint64_t created_ = 0;
  std::uint64_t consumed_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace weir::sim
