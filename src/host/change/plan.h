#pragma once
// From "not as designed" to "what to do about it": the operations that bring a host to its intent,
// and what no operation can fix.
//
// The comparison is evidence::deviations(), the same that validation uses: what validates clean
// plans nothing, so a second apply changes nothing.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "design/fabric/intent.h"
#include "evidence/deviation.h"
#include "evidence/evidence.h"
#include "host/change/operation.h"

namespace weir::host {

struct Step {
  Operation operation;
  std::string rail;              // "0"
  std::optional<Change> before;  // as found; nullopt: is read when it is changed, or cannot be
  std::vector<std::string> commands;
  std::string_view risk;
  bool is_reversible = true;           // a rollback puts it back as it was …
  std::string_view not_restored = {};  // … but for this, which no driver shows; may be empty
};

/// Not as designed, and no step of the plan fixes it.
struct Leftover {
  std::string device;
  std::string rail;
  evidence::Deviation deviation;
  std::string reason;      // why not, and what to do instead
  bool is_unread = false;  // could not be read: it may well be as designed
};

struct HostPlan {
  std::string host;
  /// Rail by rail, and in each in the order in which changes are safe: PFC last.
  std::vector<Step> steps;
  std::vector<Leftover> left;
};

[[nodiscard]] HostPlan plan_host(const evidence::Evidence& found, const design::HostIntent& wanted,
                                 const design::Intent& intent);

}  // namespace weir::host
