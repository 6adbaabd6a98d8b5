#pragma once
// What the proof's parts share; not for other folders. prove_hops.cc judges one hop, prove.cc
// walks.
#include <optional>
#include <string>

#include "design/prove/prove.h"

namespace weir::design {

/// A packet on a wire, and what is behind it: the place in which its like wait when the wire is
/// paused.
struct OnWire {
  Dscp dscp;
  std::optional<Pcp> pcp;                    // of a VLAN tag
  std::optional<std::uint32_t> rewriter;     // the switch that changed its TOS byte
  std::optional<std::uint32_t> from_switch;  // nullopt: a NIC sent it
  std::uint32_t from_port = 0;
  Queue queue;        // at a switch behind it
  Priority priority;  // at the NIC or switch behind it

  friend bool operator==(const OnWire&, const OnWire&) = default;
};

struct Break {
  Proven proven = Proven::kBroken;
  std::string id;
  std::string reason;
  finding::Where where;
};

/// What the proof knows of the whole: the classes, and each switch as it is.
struct ProofCase {
  const Design& design;
  const Intent& intent;
  std::vector<Hop> hops;  // by switch
  Priority rdma;
  Priority cnp;
  Queue cnp_queue;
};

/// Words for people cost more than the walk: it asks for them only where a chain is shown.
enum class Detail : std::uint8_t { kNone, kSteps };

/// A step through a NIC or switch: what it did, where it sends the packet, or why the chain ends.
struct Passed {
  std::vector<ChainStep> steps;
  OnWire out;
  Priority priority;  // as this node sees it
  std::optional<Break> broken;
};

[[nodiscard]] Passed leave_nic(const ProofCase&, TrafficKind, const HostIntent&, const NicIntent&,
                               Detail);
/// Arrives at a switch: trust, map, group, PFC.
[[nodiscard]] Passed enter_switch(const ProofCase&, TrafficKind, const OnWire&, std::uint32_t node,
                                  std::uint32_t port, Detail);
/// Leaves it by `port`: queue, marking, scheduler, rewrite. `entered` is what enter_switch gave.
[[nodiscard]] Passed leave_switch(const ProofCase&, TrafficKind, const OnWire&,
                                  const Passed& entered, std::uint32_t node, std::uint32_t port,
                                  Detail);
[[nodiscard]] Passed arrive_at_nic(const ProofCase&, TrafficKind, const OnWire&, const HostIntent&,
                                   const NicIntent&, Detail);

}  // namespace weir::design
