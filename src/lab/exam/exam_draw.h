#pragma once
// Questions of the exam, drawn from a seed: a design, a load, faults and their sizes.
#include <cstdint>
#include <string>
#include <vector>

#include "design/fabric/intent.h"
#include "design/file/fabric.h"
#include "units/quantity.h"

namespace weir::lab {

/// Names a fabric without a fault where kinds of fault are listed.
inline constexpr std::string_view kHealthyQuestion = "healthy";

struct Question {
  std::uint64_t seed = 0;
  std::uint64_t attempt = 0;
  std::vector<std::string> kinds;  // names of faults; none: a healthy fabric
  std::string text;                // the design, as a file would have it
  design::Design design;
  design::Intent intent;               // as designed, without the faults
  std::vector<std::string> workloads;  // as for weir sim --workload
  std::vector<std::string> faults;     // as for weir sim --fault
  Duration span;                       // roughly what the load takes without faults
};

/// The faults of a seed: none, one or two. `among` limits the choice; empty: all kinds.
[[nodiscard]] std::vector<std::string> drawn_kinds(std::uint64_t seed,
                                                   const std::vector<std::string>& among);

/// The `attempt`-th question of a seed with these faults. Lint has no error for any drawn design.
[[nodiscard]] Question draw_question(std::uint64_t seed, std::uint64_t attempt,
                                     std::vector<std::string> kinds);

/// The simulator's seed: decides paths, and which packets are marked.
[[nodiscard]] std::uint64_t simulation_seed(const Question& question);
/// A number below `bound`: chooses the host of the one-host view.
[[nodiscard]] std::size_t drawn_witness(const Question& question, std::size_t bound);

}  // namespace weir::lab
