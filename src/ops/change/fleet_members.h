#pragma once
// The hosts of a fleet, each of which is changed by its own weir. Internal to this folder.
#include <map>
#include <memory>
#include <string>

#include "ops/source/hosts.h"
#include "units/quantity.h"

namespace weir::ops {

inline constexpr Duration kChangeTime = 180_s;  // links that go down train for half a minute
inline constexpr Duration kShortTime = 30_s;

using FleetMembers = std::map<std::string, std::unique_ptr<host::FleetMember>>;

enum class Interruptible { kYes, kNo };

/// No budget for all of them: each call has its own limit, and a host that is changed is not left
/// half way because others took long. A failure where nothing can be run there.
[[nodiscard]] Result<FleetMembers> open_members(const FleetSource& fleet, Interruptible whether);

/// The first line of what a host printed, for a person: printable, and not too long.
[[nodiscard]] std::string first_line(std::string_view text);

}  // namespace weir::ops
