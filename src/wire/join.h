#pragma once
// Two captures of the same traffic at two places: what got lost between them, what was marked
// again, what was changed. A packet is recognised by its flow, its numbers and its ICRC, which no
// hop may change.
//
// The clocks of two captures differ: they order the reading, roughly, and no latency is derived
// from them. A packet that only one side has counts only if that flow has packets on both sides
// before and after it: one capture may have begun earlier or ended later. Memory is fixed; what
// leaves the window without a verdict is counted as undecided.
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <unordered_map>
#include <vector>

#include "wire/analysis.h"
#include "wire/packet.h"

namespace weir::wire {

struct JoinedFlow {
  FlowKey key;
  std::uint64_t matched = 0;
  std::array<std::uint64_t, 2> only{};     // by side
  std::uint64_t remarked = 0;              // another DSCP at the other place
  std::uint8_t dscp_first = 0;             // of the last one that differs, in the first capture …
  std::uint8_t dscp_second = 0;            // … and in the second
  std::array<std::uint64_t, 2> ce_only{};  // CE here and ECT there: marked on the way to here
  std::uint64_t ecn_erased = 0;            // ECT or CE at one place, not-ECT at the other
  std::uint64_t higher_ttl_first = 0;
  std::uint64_t higher_ttl_second = 0;
  std::array<std::int64_t, 2> first_match{};
  std::array<std::int64_t, 2> last_match{};

  /// 0 or 1: the capture nearer to the sender, by TTL, else by where marks appear; -1: not known.
  [[nodiscard]] int upstream() const;
};

struct JoinTotals {
  std::uint64_t matched = 0;
  std::array<std::uint64_t, 2> only{};
  std::uint64_t remarked = 0;
  std::array<std::uint64_t, 2> ce_only{};
  std::uint64_t ecn_erased = 0;
  std::uint64_t undecided = 0;
  std::uint64_t lost = 0;  // seen upstream, not downstream, of flows whose direction is known
};

class Join {
 public:
  explicit Join(std::size_t window = std::size_t{1} << 18U, std::size_t most_flows = kDefaultFlows);

  /// A packet of side 0 or 1; each side in its own order.
  void add(int side, std::int64_t time_ns, const Packet& packet);
  /// Which side to read next, so that the same packets meet: `next` are the times of the two.
  [[nodiscard]] int wants(std::array<std::int64_t, 2> next) const;
  void finish();

  [[nodiscard]] const JoinTotals& totals() const { return totals_; }
  [[nodiscard]] const std::deque<JoinedFlow>& flows() const { return flows_; }

 private:
  struct Waiting {
    std::uint64_t identity = 0;
    std::int64_t time_ns = 0;
    std::uint64_t next = 0;  // place of the next one that looks the same (0: none)
    std::uint32_t flow = 0;
    std::uint8_t tos = 0;
    std::uint8_t ttl = 0;
    bool is_matched = false;
  };
  struct Alike {  // places of packets that look the same, oldest first: they meet in order
    std::uint64_t first = 0;
    std::uint64_t last = 0;
  };
  struct Side {
    std::deque<Waiting> waiting;
    std::uint64_t front = 1;  // place of the oldest in `waiting`
    std::unordered_map<std::uint64_t, Alike> index;
    std::uint64_t fed = 0;

    Waiting& at(std::uint64_t place) { return waiting[place - front]; }
    Waiting& take_first(std::uint64_t identity);
  };

  std::uint32_t flow_of(const Packet& packet);
  void matched(const Waiting& first, const Waiting& second);
  void retire(int side);
  void settle(int side, const Waiting& waiting, bool is_last);

  std::size_t window_;
  std::size_t most_flows_;
  std::array<Side, 2> sides_;
  std::deque<JoinedFlow> flows_;
  std::map<FlowKey, std::uint32_t> index_;
  JoinTotals totals_;
  bool has_offset_ = false;
  std::int64_t offset_ns_ = 0;  // first clock less second
};

}  // namespace weir::wire
