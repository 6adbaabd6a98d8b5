#pragma once
// Looks at the counters of a host's NICs while a load runs there: a shell reads them some ten times
// per second (less often where that takes long), beside the load, and prints them behind what the
// load said. It needs nothing there but the shell; without ethtool what only that shows is missing,
// and missing is not zero.
#include <string>
#include <string_view>
#include <vector>

#include "preflight/moments.h"

namespace weir::ops {

/// As the host names it.
struct LookedNic {
  std::string device;  // of RDMA
  unsigned port = 1;
  std::string netdev;  // empty: not known
  std::string driver;

  friend bool operator==(const LookedNic&, const LookedNic&) = default;
};

enum class When : std::uint8_t {
  kThroughout,  // before the load, ten times per second, until it ends
  kAround,      // before and after it: nothing is read while it runs
};

struct LookPlan {
  std::vector<LookedNic> nics;
  When when = When::kThroughout;
};

/// Functions of a shell for it, and what starts and what ends it, in the words of load_line():
/// "$d" is the load's directory. All empty where there is nothing to look at.
struct LookLines {
  std::string begin;  // before the tasks; it sets `q`, the processes that look
  std::string end;    // when the tasks have ended
  std::string print;  // when they have been printed
};
[[nodiscard]] LookLines look_lines(const LookPlan& plan);

/// What they printed, of each NIC. A host may print anything: what is no look is none.
[[nodiscard]] std::vector<std::vector<preflight::Look>> read_looks(std::string_view output,
                                                                   const LookPlan& plan);
/// A line of this begins what belongs to no task.
inline constexpr std::string_view kLooksMark = "weir-looks ";

}  // namespace weir::ops
