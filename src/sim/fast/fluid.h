#pragma once
// A run as flows instead of packets: what carries `weir sim --fast` between the windows that are
// simulated in full (docs/fast.md).
//
// Time goes in equal steps. In each, every queue pair sends what its own congestion control (the
// engine's, not a model of it) and its share of the NIC allow; every egress port passes on what its
// rate allows, the rest waits in a queue that all flows through it share; a queue above the marking
// threshold marks by the same ramp, and marks become CNPs at the pace of the receiving NIC. Paths
// are those of the packets. What it leaves out: packets, ACKs, pauses, drops, and order within a
// queue.
//
// Integers throughout: bytes in 1024ths, probabilities in 2^-32.
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <queue>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "sim/engine/congestion_control.h"
#include "sim/events/event_heap.h"
#include "sim/fabric/network.h"
#include "sim/fabric/path.h"
#include "sim/fabric/route.h"

namespace weir::sim {

/// Why the flow-level model cannot carry this network's messages; empty: it can.
[[nodiscard]] std::string_view fluid_obstacle(const Network& network);

class FluidModel {
 public:
  static constexpr std::uint32_t kStages = 8;  // switches on a path at most: three tiers have five

  /// `network` outlives it. REQUIRES: no fluid_obstacle().
  explicit FluidModel(const Network& network);

  /// Until every message is complete, or until `end`; may be called again with a later one.
  void run(Time end);
  /// The instant that run() came to: the first step that is not before `end`.
  [[nodiscard]] Time now() const { return Time::at(Duration::raw(now_)); }

  /// Posted to completed, as Flow::completion; none: not complete when the run ended.
  [[nodiscard]] std::optional<Duration> completion(MessageId message) const;
  /// User data of a message that had arrived when run() returned, and how long after its post: what
  /// has left the last switch still has its way to go.
  struct Arrived {
    Bytes bytes;
    Duration after;
  };
  [[nodiscard]] Arrived arrived(MessageId message) const;
  /// Messages that had begun and had not arrived then, in the order of posting.
  [[nodiscard]] std::vector<MessageId> under_way() const;
  /// Over all completions: one input, one digest.
  [[nodiscard]] std::uint64_t digest() const;

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFU;

  /// Amounts are in 1024ths of a byte.
  struct Port {
    std::uint64_t touched = 0;  // the step that the following is of
    std::int64_t total = 0;     // waiting and arriving
    std::int64_t queue = 0;     // after the step …
    std::int64_t before = 0;    // … and before it
    std::uint64_t share = 0;    // of `total` that passes
    std::uint64_t mark = 0;     // probability
    std::int64_t per_step = 0;  // what it can pass
    std::int64_t rate = 0;      // bit/s
    std::int64_t mark_min = std::numeric_limits<std::int64_t>::max();
    std::int64_t mark_max = std::numeric_limits<std::int64_t>::max();
    std::uint64_t mark_most = 0;  // probability at mark_max
    std::uint32_t stage = 0;      // ports of a path are in rising stages
  };
  struct Hop {
    std::uint32_t port = 0;
    std::uint32_t place = 0;  // in stage_flows_
    std::int64_t waits = 0;   // in the queue of the port
  };
  struct Flow {
    std::array<Hop, kStages> hop;
    std::size_t hops = 0;
    std::int64_t left = 0;                             // still at the NIC
    std::int64_t allowed = 0;                          // in this step, by its congestion control
    std::int64_t moving = 0;                           // through the fabric in this step
    std::uint64_t unmarked = std::uint64_t{1} << 32U;  // probability: no packet of this step is
    std::int64_t packet = 0;                           // with its gap
    std::unique_ptr<CongestionControl> control;
    MessageId message{0};
    NodeId source{0};
    Ps begin = 0;
    Ps sent = -1;    // when its last byte left the NIC
    Ps latency = 0;  // after the last byte has left, in an empty fabric, until it is acknowledged …
    Ps one_way = 0;  // … and until it is there
    Ps round_trip = 0;
    std::uint32_t pacer = 0;
  };
  struct Place {
    std::uint32_t slot = 0;  // in flows_
    std::uint32_t hop = 0;
  };
  struct Cnp {
    Ps at;
    MessageId message;
    bool operator>(const Cnp& other) const {
      return at != other.at ? at > other.at : message > other.message;
    }
  };

  void make_ports();
  void set_marking(Port& port, NodeId node, std::uint32_t local) const;
  void set_up_pacers();
  [[nodiscard]] std::uint32_t port_at(const PathStep& step) const {
    return first_port_[step.node] + step.port;
  }

  void step();
  void admit(Ps end);
  void begin_flow(MessageId message, Ps begin);
  void deliver_cnps(Ps end);
  void send_from(NodeId nic, Ps end);
  [[nodiscard]] std::int64_t divide(const std::vector<std::uint32_t>& slots, std::int64_t room);
  void arrive(const Flow& flow, std::size_t hop);
  void move(std::size_t stage);
  void open(Port& port) const;
  void notify(Flow& flow);
  void finish(Flow& flow);
  [[nodiscard]] Ps wait_at(std::uint32_t port, std::uint64_t passed) const;
  void remove_gone();
  void remove(std::uint32_t slot);

  const Network& network_;
  std::vector<NicConfig> nics_;  // prepared
  Routes routes_;
  QpPaths paths_;
  Ps step_;
  std::int64_t per_rate_;  // 1024ths of a byte in a step, per bit/s, 2^-40
  Ps now_ = 0;
  std::uint64_t steps_ = 1;
  Table<NodeId, std::uint32_t> first_port_;
  std::vector<Port> ports_;
  std::array<std::vector<std::uint32_t>, kStages> stage_ports_;  // with traffic in this step
  std::array<std::vector<Place>, kStages> stage_flows_;
  std::vector<MessageId> planned_;  // in the order of posting
  std::size_t next_ = 0;
  std::vector<Flow> flows_;  // under way; the others' places are free
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> active_;
  Table<NodeId, std::vector<std::uint32_t>> at_nic_;
  std::vector<NodeId> busy_nics_;
  Table<MessageId, std::uint32_t> slot_;
  Table<MessageId, Ps> done_;
  std::vector<std::uint32_t> pacer_;  // by queue pair
  std::vector<Ps> next_cnp_;          // by pacer
  std::priority_queue<Cnp, std::vector<Cnp>, std::greater<>> cnps_;
  RandomStream random_;
};

}  // namespace weir::sim
