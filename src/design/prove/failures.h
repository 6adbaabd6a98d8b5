#pragma once
// The fabric with links and switches broken: does the routing still keep lossless buffers from
// waiting for each other in a cycle, and which hosts are cut off?
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "design/fabric/intent.h"
#include "design/fabric/routes.h"
#include "design/prove/buffer_cycle.h"
#include "finding/finding.h"

namespace weir::design {

/// Up to this many switches every combination is walked; above, one of each kind of alike failures
/// (colour refinement of the graph tells which are alike).
inline constexpr std::size_t kExhaustiveSwitches = 64;
/// Where no cycle is possible by structure, the walk only finds hosts that are cut off: above this
/// many scenarios one of each kind is enough for that too.
inline constexpr std::size_t kExhaustiveScenarios = 100'000;

struct Deadlock {
  Broken broken;
  std::vector<Buffer> cycle;  // each waits for the next, the last for the first
  std::vector<Turn> flows;    // for each buffer of the cycle, a flow that makes it wait
};

struct FailureWalk {
  int failures = 0;
  bool by_symmetry = false;
  bool by_structure = false;        // no cycle is possible in any scenario: up, then down
  std::size_t scenarios = 0;        // looked at, the intact fabric included
  std::vector<Deadlock> deadlocks;  // the first found, with the fewest failures
  std::size_t cutting = 0;          // scenarios that part leaves with hosts
  Broken first_cut;
  std::vector<CutOff> first_cut_off;
  /// Hosts that lose every NIC with the switches that `failures` may take: those of the fewest.
  std::vector<std::uint32_t> isolated;
  std::vector<std::uint32_t> isolated_by;  // switches that take the first of them
  std::size_t isolating = 0;               // sets of switches that do so to some host
};

/// Walks the intact fabric, then every single failure, then every pair, up to `failures` (0 to 2).
/// Stops at the first number of failures with a cycle. A link fails when its last cable does, so
/// that a pair of switches joined by more cables than `failures` keeps its link.
[[nodiscard]] FailureWalk walk_failures(const Intent&, int failures);

/// The first cycle as a finding; nullopt where there is none.
[[nodiscard]] std::optional<finding::Finding> deadlock_finding(const FailureWalk&, const Intent&);

/// "leaf1 down isolates 8 hosts (gpu01 is the first)". REQUIRES: isolated hosts.
[[nodiscard]] std::string isolated_text(const FailureWalk&, const Intent&);
/// "with spine1 down, leaf1 and leaf2 have no path". REQUIRES: a cut.
[[nodiscard]] std::string parted_text(const FailureWalk&, const Intent&);
/// Hosts that a failure takes off the fabric, and leaves that it parts: a finding each.
[[nodiscard]] std::vector<finding::Finding> cut_off_findings(const FailureWalk&, const Intent&);

/// "leaf1 - spine2 and spine1": what is broken.
[[nodiscard]] std::string to_text(const Broken&, const Intent&, const SwitchGraph&);
/// "leaf1 > spine1, spine1 > leaf3, …".
[[nodiscard]] std::string to_text(const std::vector<Buffer>& cycle, const Intent&);

}  // namespace weir::design
