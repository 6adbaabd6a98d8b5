#pragma once
// The losslessness proof: each class of RDMA traffic, from the job's traffic class to the receiver,
// hop by hop, on every path that the routing takes.
//
// A class is proven where every hop does its part:
//   data, ACKs  the same lossless class everywhere: a map that finds the priority, a priority group
//               with PFC, pauses that stop exactly the queue in which the packets wait at the hop
//               before, and for data a queue that marks
//   CNPs        never paused, never behind RDMA, served before the rest
// The first hop that breaks it is the finding; what could not be read is unknown, not proven.
//
// The walk sees a switch through `Hop`, which the design's intent fills here and a configuration
// that was read fills elsewhere (diagnose/core/hop.h), so that both are judged by the same rules.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "design/fabric/intent.h"
#include "design/file/fabric.h"
#include "finding/finding.h"

namespace weir::design {

enum class HopTrust : std::uint8_t { kDscp, kPcp, kNothing };

/// Absent: not known.
struct HopQueue {
  std::optional<bool> marks;   // ECN
  std::optional<bool> strict;  // scheduling
  std::optional<bool> served;  // strict, or with a share of its own
  friend bool operator==(const HopQueue&, const HopQueue&) = default;
};

struct HopPort {
  std::string name;
  std::optional<HopTrust> trust;
  std::optional<PrioritySet> pfc;  // pauses are sent and obeyed
  std::optional<bool> link_pause;  // 802.3x, which takes PFC's place
  std::optional<bool> rewrites;    // the TOS byte of what leaves
  std::array<std::optional<bool>, 8> lossless_groups{};
  std::array<HopQueue, 8> queues{};
};

struct Hop {
  std::string name;
  std::string source;  // "design", or the file it was read from
  /// Outer: the map was not read. Inner: the map has no entry.
  std::optional<std::array<std::optional<Priority>, 64>> dscp_to_priority;
  std::optional<std::array<std::optional<Priority>, 8>> pcp_to_priority;
  std::optional<std::array<Queue, 8>> priority_to_queue;
  std::optional<std::array<PriorityGroup, 8>> priority_to_group;
  std::optional<std::array<Queue, 8>> pfc_to_queue;  // which queue a received pause stops
  /// What ports that rewrite put in place of the code point; absent: not known, hence 0.
  std::optional<std::array<std::optional<Dscp>, 8>> priority_to_dscp;
  std::vector<HopPort> ports;  // as in SwitchIntent::ports
};
[[nodiscard]] Hop hop_of(const SwitchIntent&);

enum class TrafficKind : std::uint8_t { kData, kAck, kCnp };
[[nodiscard]] std::string_view to_text(TrafficKind);   // "data" "ack" "cnp"
[[nodiscard]] std::string_view title_of(TrafficKind);  // "RDMA data" "ACKs" "CNPs"

enum class Proven : std::uint8_t { kHolds, kBroken, kUnknown };
[[nodiscard]] std::string_view to_text(Proven);  // "proven" "broken" "unknown"

struct ChainStep {
  std::string place;  // "job", "gpu01 mlx5_0", "leaf1 swp1 in"
  std::string what;   // "DSCP 26 -> priority 3 -> group 3; PFC 3"
};

/// A class along one path: the longest of those that hold, or up to the hop that breaks it.
struct Chain {
  TrafficKind kind = TrafficKind::kData;
  Proven proven = Proven::kHolds;
  std::string from;  // hosts
  std::string to;    // empty where the path ends at a switch
  std::vector<ChainStep> steps;
  // Where it breaks, or what is not known.
  std::string id;      // of the finding
  std::string reason;  // one sentence
  finding::Where where;
  std::string source;      // the file that says so, where it is not the design
  std::size_t places = 0;  // hops that break it the same way
};

struct Proof {
  std::vector<Chain> chains;  // by kind; one for a class that is proven, else one per cause
  std::uint64_t paths = 0;    // that the proof stands for, over all pairs of NICs; saturates
  std::size_t hops_checked = 0;

  [[nodiscard]] bool holds() const;
};

/// `configured` replaces what the design derives for switches of the same name.
[[nodiscard]] Proof prove(const Design&, const Intent&, std::span<const Hop> configured = {});

/// A finding for each broken chain, an unknown for each that could not be followed.
[[nodiscard]] finding::Judgement judge(const Proof&, const Design&);

}  // namespace weir::design
