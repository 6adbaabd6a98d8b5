#pragma once
// Verbs that are not functions of ops yet take their inputs through these.
#include <optional>

#include "cli/frame/design_input.h"
#include "cli/frame/host_input.h"
#include "ops/source/snapshot_file.h"

namespace weir::cli {

using DesignInput = ops::Fabric;
using ops::find_host;
using ops::HostSet;
using ops::is_simulation;
using ops::kLargestResults;
using ops::Observation;
using ops::read_simulation;
using ops::read_snapshot_file;
using ops::read_snapshot_text;
using ops::set_values;
using ops::snapshot_json;

std::optional<DesignInput> load_design(const Args&, Context&, ExitCode& code);
std::optional<DesignInput> load_design_file(const std::string& path, Context&, ExitCode& code);
std::optional<HostSet> open_hosts(const Args&, Context&, ExitCode& code);
std::optional<DesignInput> design_for(const Args&, Context&, const HostSet&, ExitCode& code);
Observation observe(const HostSet&, Context&);

}  // namespace weir::cli
