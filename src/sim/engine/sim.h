#pragma once
// One simulation: a Network brought to life, packet by packet. No globals; many may run at once.
//
// Seams for what is built on top:
//   Driver    told when a message was sent or delivered; posts more (collectives, training steps)
//   Observer  sees every frame put on a wire (capture files, traces); absent, it costs one branch
//   run_until a sampler runs the simulation in slices and reads the counters between them: sampling
//             pushes no events and disturbs nothing
//   faults    are edits of the Network before make(), LinkChange entries, or set_*() between slices
//
// How it works: sim/engine/engine.h.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/engine/records.h"
#include "sim/engine/shared_buffer.h"
#include "sim/fabric/network.h"
#include "sim/fabric/route.h"
#include "sim/replay/rest.h"

namespace weir::sim {

namespace engine {
struct Tables;
}

/// Periods of a steady state that were counted instead of simulated; none: why not.
struct Skipped {
  std::uint64_t periods = 0;
  std::uint64_t hops = 0;
  std::string_view why_not;
};

class Driver {
 public:
  virtual ~Driver() = default;
  virtual void on_sent(MessageId message, Ps now) = 0;       // completed at the poster
  virtual void on_delivered(MessageId message, Ps now) = 0;  // last byte at the target
  virtual void on_call(std::uint32_t token, Ps now) = 0;     // a call it asked for
  /// Several threads: the messages from `first` on were posted in another order. What now has the
  /// number first + i had order[i].
  virtual void on_numbered(MessageId first, std::span<const MessageId> order) = 0;
};

/// On how many threads a simulation runs, which changes nothing but the time it takes (docs/
/// performance.md).
struct Threads {
  unsigned count = 1;  // at most; fewer where the fabric has fewer parts; 0: as many as help
  /// What the driver posts in on_call() comes so much after the call at least. In on_sent() and
  /// on_delivered(), which are then called on several threads, it posts on queue pairs of the NIC
  /// where that happened, and nowhere else. None: there is no driver, or it never posts.
  std::optional<Duration> reach;
  /// One thread simulates all parts while that is faster: where a window has little to do, or
  /// others use the cores. Tests of the threads have them all.
  bool adapts = true;
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_frame(Ps at, PortId port, const Packet& packet) = 0;  // starts on the wire
  virtual void on_pause(Ps at, PortId port, std::uint8_t pause, std::uint8_t resume) = 0;
  virtual void on_drop(Ps at, PortId port, const Packet& packet, DropReason reason) = 0;
};

class Sim {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Sim>> make(Network network, Threads threads = {});
  ~Sim();
  Sim(const Sim&) = delete;
  Sim& operator=(const Sim&) = delete;

  void set_driver(Driver* driver);
  void set_observer(Observer* observer);

  /// Until every message is done or failed and no frame is left anywhere, or until `end`.
  void run(Time end = Time::never());
  /// Everything before `end`; the clock stays at the last event.
  void run_until(Time end);

  /// A new message on `qp`, posted now or at `at`. REQUIRES: room (Network::spare_messages); of one
  /// QP in the order of `at`.
  MessageId post(QpId qp, Bytes size, Time at);
  /// Driver::on_call(token), when everything before the event in hand, which is one of `node`, has
  /// happened everywhere; at once, where one thread simulates.
  void call_in_order(NodeId node, std::uint32_t token);
  void set_link(LinkId link, bool up, bool reroute);
  /// Faults between slices. REQUIRES: no other node shares this NIC's configuration.
  void set_drain(NodeId node, BitRate drain);
  void set_congestion_control(NodeId node, bool np, bool rp);
  void set_errors(LinkId link, std::uint64_t threshold);

  [[nodiscard]] const Network& network() const;
  [[nodiscard]] Ps now() const;
  [[nodiscard]] View<MessageId, const MessageRecord> messages() const;
  /// How many there are.
  [[nodiscard]] std::uint32_t posted() const;
  /// Domains of the fabric, each with its thread.
  [[nodiscard]] unsigned threads() const;
  [[nodiscard]] const Routes& routes() const;

  [[nodiscard]] PortId port_of(NodeId node, std::uint32_t local) const;
  [[nodiscard]] NodeId node_of(PortId port) const;
  /// Of its node: what port_of() takes.
  [[nodiscard]] std::uint32_t local_port(PortId port) const;
  [[nodiscard]] IdRange<PortId> ports() const;
  [[nodiscard]] std::uint32_t port_count() const;

  /// Put together from the tallies per class when asked for.
  [[nodiscard]] PortCounters port_counters(PortId port) const;
  [[nodiscard]] const NicCounters& nic_counters(NodeId node) const;
  [[nodiscard]] const SharedBuffer& buffer_of(NodeId node) const;
  [[nodiscard]] std::int64_t queue_bytes(PortId port, std::uint32_t queue) const;
  [[nodiscard]] std::int64_t queue_peak(PortId port, std::uint32_t queue) const;
  [[nodiscard]] std::uint8_t paused_now(PortId port) const;
  /// How long the peer has paused this priority, the pause in force included.
  [[nodiscard]] Ps paused_for(PortId port, unsigned priority) const;
  /// The same at a time that is not before now() and before which nothing happens: a pause in force
  /// lasts.
  [[nodiscard]] Ps paused_for(PortId port, unsigned priority, Ps at) const;

  /// Sending rate of a QP by its congestion control, and user bytes that have arrived in order.
  [[nodiscard]] std::int64_t qp_rate(QpId qp) const;
  [[nodiscard]] std::int64_t qp_delivered(QpId qp) const;
  [[nodiscard]] bool qp_failed(QpId qp) const;

  /// Starts (again) the statistics of one queue from now.
  void watch_queue(PortId port, std::uint32_t queue);
  [[nodiscard]] QueueWatch queue_watch() const;

  /// Frames put on a wire, pauses included, and those of them with data.
  [[nodiscard]] std::uint64_t hops() const;
  [[nodiscard]] std::uint64_t data_hops() const;
  [[nodiscard]] std::uint64_t events() const;
  [[nodiscard]] std::uint64_t live_frames() const;
  /// Messages neither done nor failed; when anything happens next, kNever: nothing will.
  [[nodiscard]] std::uint64_t open_messages() const;
  [[nodiscard]] Ps next_event();
  [[nodiscard]] std::uint64_t drops(DropReason reason) const;
  [[nodiscard]] std::uint64_t lossless_drops() const;

  // ---- exact replay (docs/replay.md)

  /// Why this run never repeats anything; empty: it may.
  [[nodiscard]] std::string_view cannot_rest() const;
  /// run() also returns when no frame is left, so that rest() can look.
  void set_stop_at_rest(bool stops);
  /// The present instant, if nothing moves and messages are posted for later; else `why` says what
  /// moves.
  [[nodiscard]] std::unique_ptr<Rest> rest(std::string_view& why) const;
  /// All that happened between `before` and now, the present rest(), happens `times` more, at once.
  /// `is_last`: and then no message follows. REQUIRES: the two do not differ, and is_compact where
  /// it is the last.
  void repeat(const Rest& before, const Rest& now, std::uint64_t times, bool is_last);
  /// Parts of the fabric that share no queue, no pause and no NIC: how many there are.
  [[nodiscard]] std::uint32_t find_regions();
  /// The present instant, as for rest(), but of one region. REQUIRES: find_regions().
  [[nodiscard]] std::unique_ptr<Rest> rest_of(std::uint32_t region, std::string_view& why) const;
  /// What a region did between two instants of rest; none where that is not known. REQUIRES: the
  /// second is now, and not touched since the first.
  [[nodiscard]] std::shared_ptr<const Episode> episode(std::uint32_t region, const Rest& before,
                                                       const Rest& now) const;
  /// The region does it again, from its present rest on, without being simulated. REQUIRES: that
  /// begins like the episode. Counters follow at its end: nobody looks before.
  void play(std::uint32_t region, std::shared_ptr<const Episode> episode, const Rest& now);
  /// Simulates a little further, and where flows in the middle of messages have come to a state
  /// that repeats itself, takes it on by whole periods: before `stop`, and before anything happens
  /// that is no part of it. REQUIRES: cannot_rest() has nothing to say, and frames are under way.
  [[nodiscard]] Skipped skip_steady(Time stop);
  /// In the order of time.
  [[nodiscard]] const std::vector<Repeat>& repeats() const;
  /// Messages posted so far, those of repeated periods included. messages() has them once.
  [[nodiscard]] std::uint64_t message_count() const;
  /// After a repeat a time-out was due that might have come at another time, or not at all: the run
  /// has stopped and must be done again without.
  [[nodiscard]] bool is_replay_in_doubt() const;

  /// Packets, bytes and pauses are conserved, and every account adds up; the error says which not.
  [[nodiscard]] Status audit() const;
  /// Over counters, completions and random states: equal runs, equal digests.
  [[nodiscard]] std::uint64_t digest() const;

 private:
  explicit Sim(std::unique_ptr<engine::Tables> tables);

  std::unique_ptr<engine::Tables> all_;
};

}  // namespace weir::sim
