#pragma once
// The models of `snapshot`, `diff` and `bundle` for programs.
#include <string>
#include <string_view>

#include "base/partial_file.h"
#include "cli/frame/command.h"
#include "ops/record/bundle.h"
#include "ops/record/snapshot.h"

namespace weir::cli {

/// What --out writes and --json prints.
void write_snapshot_json(const Command&, const ops::Observation&, std::string_view verdict,
                         const PieceSink& put);
void print_diff_json(Context&, const Command&, const ops::Diff&, std::string_view verdict);
void print_bundle_json(Context&, const Command&, const ops::Bundled&, const std::string& path,
                       std::string_view verdict);

/// The bundles of a fleet: how many, where, and which hosts are missing.
void print_fleet_bundle_json(Context&, const Command&, const ops::FleetBundles& made,
                             const std::string& directory, std::string_view verdict);

}  // namespace weir::cli
