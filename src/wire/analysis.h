#pragma once
// What a capture says about RoCE, in all and per flow, in one pass and in memory that does not grow
// with it: so many flows are kept, the packets of further ones count in the totals alone, and the
// result says how many there were.
//
// A flow is one direction of a queue pair: source, destination, destination QP. Requests and
// responses of a flow number their packets apart. The other direction is found by the addresses,
// the UDP source port and the acknowledged numbers (a packet does not name its sender's QP); where
// that is ambiguous, nothing is claimed.
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "wire/packet.h"
#include "wire/sequence.h"
#include "wire/timeline.h"

namespace weir::wire {

inline constexpr std::uint32_t kNoFlow = 0xFFFFFFFFU;
inline constexpr std::size_t kRoles = static_cast<std::size_t>(Role::kCount);
inline constexpr std::size_t kDefaultFlows = 16'384;

struct FlowKey {
  Address source;
  Address destination;
  std::uint32_t qp = 0;  // destination QP

  friend auto operator<=>(const FlowKey&, const FlowKey&) = default;
};

/// TOS bytes of one role in one flow: normally one, with CE two. The rest counts together.
class TosTally {
 public:
  struct Entry {
    std::uint8_t tos = 0;
    std::uint64_t packets = 0;
  };
  void add(std::uint8_t tos);
  [[nodiscard]] std::span<const Entry> entries() const { return {entries_.data(), used_}; }
  [[nodiscard]] std::uint64_t others() const { return others_; }
  /// The most frequent DSCP; none of no packets.
  [[nodiscard]] std::optional<std::uint8_t> dscp() const;
  [[nodiscard]] std::uint64_t with_ecn(std::uint8_t ecn) const;

 private:
  std::array<Entry, 4> entries_{};
  std::uint8_t used_ = 0;
  std::uint64_t others_ = 0;
};

/// NAKs by what they say.
struct Naks {
  std::uint64_t sequence = 0;
  std::uint64_t rnr = 0;
  std::uint64_t invalid_request = 0;
  std::uint64_t remote_access = 0;
  std::uint64_t remote_operation = 0;
  std::uint64_t reserved = 0;  // codes that the specification does not have

  [[nodiscard]] std::uint64_t other() const {
    return invalid_request + remote_access + remote_operation + reserved;
  }
  [[nodiscard]] std::uint64_t all() const { return sequence + rnr + other(); }
  void add(std::uint8_t syndrome);
};

struct Flow {
  FlowKey key;
  Transport transport = Transport::kUnknown;
  bool is_v1 = false;
  std::uint16_t source_port = 0;
  bool ports_vary = false;  // packets spread over paths: order is not to be expected
  std::uint16_t vlan = 0;
  std::uint8_t pcp = 0;
  std::int64_t first_ns = 0;
  std::int64_t last_ns = 0;
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;    // of frames on the wire, without FCS
  std::uint64_t payload = 0;  // of data packets, those sent again too
  std::array<std::uint64_t, kRoles> by_role{};
  std::array<TosTally, kRoles> tos;
  std::uint64_t ce = 0;
  std::uint64_t becn = 0;  // CNPs among them
  std::uint64_t acks = 0;  // positive
  Naks naks;
  std::uint64_t icrc_bad = 0;
  std::uint64_t duplicates = 0;  // copies of one packet: captured twice, or doubled on the way
  Sequence requests;
  Sequence responses;
  Histogram message_bytes;
  Histogram ack_ns;  // from a request's last packet (a READ's request) to its answer
  Timeline<std::uint64_t, 32> bytes_over_time;
  std::uint32_t other_way = kNoFlow;

  [[nodiscard]] std::uint64_t retransmitted() const {
    return requests.counts().retransmitted + responses.counts().retransmitted;
  }
  [[nodiscard]] std::uint64_t out_of_order() const {
    return requests.counts().out_of_order + responses.counts().out_of_order;
  }
  [[nodiscard]] std::uint64_t gaps() const {
    return requests.counts().gaps + responses.counts().gaps;
  }
  [[nodiscard]] std::uint64_t lost() const {
    return requests.counts().lost + responses.counts().lost;
  }

  // What the analysis remembers of the last packets.
  struct Sent {
    std::uint32_t psn = 0xFFFFFFFFU;
    std::int64_t at_ns = 0;
  };
  struct Recent {
    std::uint32_t psn = 0xFFFFFFFFU;
    std::uint32_t icrc = 0;
    std::int64_t at_ns = 0;
    std::uint32_t interface = 0;
    std::uint16_t ip_id = 0;
    std::uint8_t ttl = 0;
  };
  static constexpr std::size_t kSent = 64;
  static constexpr std::size_t kRecent = 16;
  std::array<Sent, kSent> sent{};
  std::array<Recent, kRecent> recent{};
  std::uint64_t message_so_far = 0;
  std::uint32_t next_same_pair = kNoFlow;
  std::uint32_t candidate = kNoFlow;
  std::uint16_t votes = 0;
  std::uint16_t searches = 0;
  std::uint16_t ip_id = 0;           // of the first packet
  std::uint16_t ip_id_over_psn = 0;  // … less its PSN
  bool ip_id_varies = false;
  bool ip_id_is_free = false;      // not the PSN plus a constant
  std::uint16_t newest_ip_id = 0;  // of the packet furthest ahead
  bool read_is_open = false;       // the next request may jump over the READ's responses
  std::uint32_t read_psn = 0;
  std::uint32_t read_bytes = 0;
};

/// Pause frames of one sender.
struct PauseSource {
  std::uint64_t mac = 0;
  std::uint64_t pfc = 0;
  std::uint64_t pause = 0;                // 802.3x
  std::array<std::uint64_t, 8> xoff{};    // frames that pause the class
  std::array<std::uint64_t, 8> xon{};     // … that resume it
  std::array<std::uint64_t, 8> quanta{};  // sum of the pause times requested
};

struct Moment {  // one bin of the time axis
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ce = 0;
  std::uint64_t cnps = 0;
  std::uint64_t repeats = 0;
  std::uint64_t pauses = 0;

  Moment& operator+=(const Moment& other);
};

struct Totals {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  std::uint64_t roce_packets = 0;
  std::uint64_t roce_bytes = 0;
  std::uint64_t roce_v1 = 0;
  std::uint64_t tunnelled = 0;
  std::uint64_t vlan_tagged = 0;
  std::uint64_t ipv6 = 0;
  std::uint64_t cut = 0;        // RoCE of which too little was captured
  std::uint64_t malformed = 0;  // RoCE shorter than its own headers
  std::uint64_t payload = 0;    // user bytes of data packets
  std::uint64_t padding = 0;
  std::array<std::uint64_t, 256> opcodes{};
  std::array<std::array<std::uint64_t, 256>, kRoles> tos{};  // by role
  std::uint64_t ce = 0;
  std::uint64_t acks = 0;
  Naks naks;
  std::uint64_t icrc_good = 0;
  std::uint64_t icrc_bad = 0;
  std::uint64_t icrc_unverified = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t retransmitted = 0;  // these five: of the flows that were kept
  std::uint64_t out_of_order = 0;
  std::uint64_t gaps = 0;
  std::uint64_t lost = 0;
  std::uint64_t restarts = 0;
  std::uint64_t pfc = 0;
  std::uint64_t pause = 0;
  std::vector<PauseSource> pausers;  // at most kMostPausers
  std::uint64_t flow_overflow = 0;   // packets of flows that were not kept
  std::uint64_t unordered_time = 0;  // frames whose time is before the one before
  std::int64_t first_ns = 0;
  std::int64_t last_ns = 0;
  Histogram message_bytes;
  Histogram ack_ns;
  Timeline<Moment, 256> over_time;

  [[nodiscard]] std::uint64_t tos_packets(std::uint8_t tos_byte) const;
  [[nodiscard]] std::uint64_t cnps() const { return opcodes[kCnpOpcode]; }
  [[nodiscard]] std::int64_t duration_ns() const { return last_ns - first_ns; }
};

class Analysis {
 public:
  explicit Analysis(std::size_t most_flows = kDefaultFlows);

  void add(const Record& record);
  /// Settles what waited for more packets and sums the flows up. Once, at the end.
  void finish();

  [[nodiscard]] const Totals& totals() const { return totals_; }
  [[nodiscard]] const std::deque<Flow>& flows() const { return flows_; }
  [[nodiscard]] std::size_t most_flows() const { return most_flows_; }

 private:
  static constexpr std::size_t kMostPausers = 64;

  void pause_frame(const Packet& packet, std::int64_t offset);
  void roce(const Record& record, const Packet& packet, std::int64_t offset);
  std::uint32_t find_flow(const Packet& packet);
  std::uint32_t add_flow(const FlowKey& key, std::size_t slot, const Packet& packet);
  void account(Flow& flow, const Record& record, const Packet& packet, std::int64_t offset);
  static Age age_of(const Flow& flow, const Packet& packet);
  bool is_copy(const Flow& flow, const Record& record, const Packet& packet) const;
  bool sequence(std::uint32_t index, const Record& record, const Packet& packet);
  void request(std::uint32_t index, const Record& record, const Packet& packet, const Opcode& code);
  void response(std::uint32_t index, const Record& record, const Packet& packet,
                const Opcode& code);
  void message(Flow& flow, const Packet& packet, const Opcode& code);
  void find_other_way(std::uint32_t index, std::uint32_t psn);
  void answered(Flow& asker, std::uint32_t psn, std::int64_t at_ns);
  [[nodiscard]] std::uint32_t first_of_pair(const Address& from, const Address& to) const;

  std::size_t most_flows_;
  Packet packet_;
  Totals totals_;
  std::deque<Flow> flows_;
  std::vector<std::uint32_t> slots_;       // open addressing: index of a flow
  std::vector<std::uint32_t> pair_slots_;  // … of the first flow between two addresses
  std::uint32_t last_flow_ = kNoFlow;
  bool is_finished_ = false;
};

}  // namespace weir::wire
