#pragma once
// weir rollback --hosts and weir confirm --hosts: every host's own weir does it.
#include "cli/frame/command.h"
#include "ops/change/fleet_change.h"

namespace weir::cli {

/// Asks first, unless only what awaits its confirmation is undone: what was confirmed is not undone
/// by accident. The exit status: kOk where every host answered well; kRolledBack where a
/// confirmation came too late; kPartial where hosts are missing or failed, kCouldNotLook where all
/// are missing.
ExitCode run_fleet_change(const Args&, Context&, const ops::FleetSource&, ops::FleetVerb);

}  // namespace weir::cli
