#include "ops/change/fleet_members.h"

#include "base/text.h"
#include "base/untrusted/printable.h"

namespace weir::ops {

Result<FleetMembers> open_members(const FleetSource& fleet, Interruptible whether) {
  if (!host::runs_lines(fleet.reach))
    return bad_request("--exec has no %c, the place of the command to run on the host");
  FleetSource own = fleet;
  own.reach.keeps_connection = true;  // an apply, a look and a confirmation
  own.limits.budget = 86400_s;
  if (whether == Interruptible::kNo) own.limits.is_interrupted = {};
  WEIR_TRY(made, or_bad_request(host::make_fleet(own.hosts, own.reach, own.limits)));
  FleetMembers members;
  for (auto& member : made) {
    const std::string name = member->name();
    members.emplace(name, std::move(member));
  }
  return members;
}

std::string first_line(std::string_view text) {
  constexpr std::size_t kMost = 200;
  text = trim(text);
  return printable_line(text.substr(0, std::min(text.find('\n'), kMost)));
}

}  // namespace weir::ops
