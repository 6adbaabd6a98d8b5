#pragma once
// What a rehearsal tries: faults that leave few traces in counters, as the simulator plays them.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/core/view.h"
#include "finding/finding.h"

namespace weir::lab {

struct Guess {
  std::string fault;       // as for weir sim --fault
  std::string_view id;     // the finding that names it
  std::string_view words;  // "marking thresholds that are too low"
  finding::Where where;    // empty: everywhere
};

/// Where a fault of one place is tried.
struct Suspects {
  std::vector<std::string> switches;
  std::vector<std::string> hosts;
};

/// How large a fault is tried: a few sizes, far enough apart to look different, or those between.
enum class Sizes : std::uint8_t { kFew, kBetween };

/// Faults that fit this fabric and that no setting which was read speaks against, everywhere or at
/// the suspects. Of a fabric of which one host is seen, also those that switches would show.
[[nodiscard]] std::vector<Guess> guesses_everywhere(const diagnose::View& view,
                                                    Sizes sizes = Sizes::kFew);
[[nodiscard]] std::vector<Guess> guesses_at(const diagnose::View& view, const Suspects& suspects,
                                            Sizes sizes = Sizes::kFew);

/// "ecn-too-low" of "ecn-too-low,at=leaf1,min=1KB".
[[nodiscard]] std::string kind_of_fault(const std::string& fault);

/// The fault that a finding names, in the sizes it may have; none where the simulator would have to
/// know more of it (when a link went down, which route is wrong).
[[nodiscard]] std::vector<std::string> faults_behind(const finding::Finding& finding,
                                                     const design::Intent& intent);

}  // namespace weir::lab
