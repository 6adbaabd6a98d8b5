#pragma once
// What differs between two observations: of one host at two times, or of a good and a bad one.
// Facts only; counters have deltas (counters/delta.h). Works on the description of evidence, so a
// new fact is compared without a line here.
#include <string>
#include <vector>

#include "evidence/evidence.h"

namespace weir::evidence {

struct FactChange {
  std::string where;   // "mlx5_0", "leaf1 swp3"; empty: the host itself
  std::string fact;    // "qos.pfc", "qos.dscp_to_priority[24-31]": as in the JSON
  std::string before;  // as a person reads it; "not there", "not readable (permission)"
  std::string after;
  friend bool operator==(const FactChange&, const FactChange&) = default;
};

/// In the order of the evidence: the host, its NICs, GPUs, switches.
[[nodiscard]] std::vector<FactChange> fact_changes(const Evidence& before, const Evidence& after);

/// The values alone: where they came from, and why others are missing, is left out. Two switches
/// that are equal so are set alike.
[[nodiscard]] Switch values_of(Switch sw);

}  // namespace weir::evidence
