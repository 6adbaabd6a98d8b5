#pragma once
// One fault on many places is one thing to read: sixteen hosts with the factory's trust mode are
// one line with sixteen names. For people only; programs get every finding.
#include <span>
#include <string>
#include <vector>

#include "finding/finding.h"

namespace weir::finding {

/// Findings that say the same (id, severity, confidence, verdict) of different hosts, rails,
/// switches or ports. A verdict that begins with its own place says the same without it.
struct Folded {
  std::vector<const Finding*> findings;  // at least one; the first stands for all
  std::string where;                     // "gpu[01-16] rail 0 (mlx5_0)", "leaf[1-2] swp[1-8]"
  std::string verdict;                   // of all: without the place, where there are several
};

/// In the order in which the first of each is. Findings in a file are never folded: each has
/// its own line to go to.
[[nodiscard]] std::vector<Folded> fold(std::span<const Finding> findings);

/// The same for checks that could not look, "gpu01 mlx5_0: trust" being a place and a check: one
/// Unknown each, "gpu[01-16] mlx5_[0-7]: trust".
[[nodiscard]] std::vector<Unknown> fold(std::span<const Unknown> unknown);

}  // namespace weir::finding
