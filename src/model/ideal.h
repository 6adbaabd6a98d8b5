#pragma once
// Closed forms that a fabric cannot beat, and that an idle one must meet: collectives, incast,
// latency, ECMP, go-back-N. What simulator and reports compare with.
//
// Times that are bounds round down to the picosecond, so that "measured >= bound" never fails by
// rounding. Sizes are what crosses the NIC: for bytes of user data divide by the goodput ceiling
// (roce_wire.h).
#include <cstdint>

#include "units/quantity.h"

namespace weir::model {

// ---- collectives: `size` bytes per rank, `ranks` ranks, NICs of `rate` in both directions ----

struct Collective {
  int ranks = 2;  // >= 2
  Bytes size;     // of one rank's buffer
  BitRate rate;
  Duration per_message;  // latency of one message
};

/// 2(n-1)*a + 2(n-1)/n * S/B: bandwidth-optimal.
[[nodiscard]] Duration ring_all_reduce(const Collective&);
/// 2*ceil(log2 n)*a + the same bandwidth term. REQUIRES: ranks is a power of two.
[[nodiscard]] Duration halving_doubling_all_reduce(const Collective&);
/// 2*ceil(log2 n)*a + 2*S/B, pipelined.
[[nodiscard]] Duration double_tree_all_reduce(const Collective&);
/// No algorithm is faster: max(ceil(log2 n)*a, 2(n-1)/n * S/B).
[[nodiscard]] Duration all_reduce_bound(const Collective&);
/// Ring all-gather or reduce-scatter of `size` in total: half an all-reduce.
[[nodiscard]] Duration ring_all_gather(const Collective&);

/// Every rank sends `pair` bytes to every other one.
struct AllToAll {
  int ranks = 2;
  Bytes pair;
  BitRate rate;
  int hosts_per_leaf = 1;
  /// Downlink over uplink capacity of a leaf, as a fraction: {2, 1} is 2:1.
  std::int64_t oversubscription_over = 1;
  std::int64_t oversubscription_under = 1;
};
/// (n-1) * S/B: a NIC sends to all others.
[[nodiscard]] Duration all_to_all_nic_bound(const AllToAll&);
/// (n-h) * o * S/B: what leaves a leaf of h hosts.
[[nodiscard]] Duration all_to_all_uplink_bound(const AllToAll&);
[[nodiscard]] Duration all_to_all_bound(const AllToAll&);

// ---- incast: `senders` send `message` bytes each into one port ----

struct Incast {
  int senders = 1;
  Bytes message;
  BitRate rate;  // of the senders and of the port alike
};
[[nodiscard]] Duration incast_drain(const Incast&);
/// Line-rate senders, no feedback at all: (K-1)*M.
[[nodiscard]] Bytes incast_peak_queue(const Incast&);
/// What piles up before feedback of `delay` takes hold: (K-1)*C*D, at most the peak. PFC must
/// engage where it exceeds XOFF.
[[nodiscard]] Bytes incast_queue_before_feedback(const Incast&, Duration delay);

// ---- latency of one frame over an idle path ----

struct IdlePath {
  int switches = 1;
  Bytes frame;           // as serialised: count preamble and gap if the link does
  Bytes header;          // what a cut-through switch waits for
  BitRate rate;          // of every link
  Duration propagation;  // of each link
  Duration switch_delay;
};
/// (H+1)*L/C + (H+1)*d + H*s, first bit sent to last bit received.
[[nodiscard]] Duration store_and_forward_latency(const IdlePath&);
/// L/C + H*header/C + (H+1)*d + H*s.
[[nodiscard]] Duration cut_through_latency(const IdlePath&);

// ---- ECMP: `flows` equal flows hashed uniformly onto `links` ----

/// All flows on links of their own: prod(1 - i/m).
[[nodiscard]] double no_collision_probability(int flows, int links);
/// Expected share of links without a flow: (1 - 1/m)^n.
[[nodiscard]] double idle_link_share(int flows, int links);

struct MaxLoad {
  double mean = 0;
  double deviation = 0;
};
/// Flows on the fullest link, exact: the distribution of the maximum of `flows` balls in `links`
/// bins. Over flows/links it is how much later a synchronous collective ends. Cost: links * flows *
/// spread for each value the maximum may take; 1000 flows on 16 links take milliseconds.
[[nodiscard]] MaxLoad ecmp_max_load(int flows, int links);

// ---- transport and loops ----

/// Share of the line that go-back-N turns into goodput at iid loss `p` with `in_flight` packets in
/// flight, when every gap is NAKed again: (1-p) / (1-p + p*W).
[[nodiscard]] double go_back_n_efficiency(double p, double in_flight);
/// The same when a given PSN is NAKed once, so that a lost retransmission waits for a timeout of
/// `timeout_packets` packet times: about 1 / (1 + p*W + p^2/(1-p) * RTO).
[[nodiscard]] double go_back_n_efficiency(double p, double in_flight, double timeout_packets);

/// A routing loop of `hops` links deadlocks once more than this is injected: n*B/TTL (Hu et al.,
/// HotNets 2016).
[[nodiscard]] BitRate loop_deadlock_rate(int hops, BitRate rate, int ttl);

}  // namespace weir::model
