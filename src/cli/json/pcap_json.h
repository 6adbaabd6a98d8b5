#pragma once
// The model of `pcap` for programs.
#include "cli/frame/command.h"
#include "ops/inspect/pcap.h"

namespace weir::cli {

/// The `most_flows` largest flows; 0: all.
void print_captured_json(Context&, const Command&, const ops::Captured&, std::size_t most_flows);

}  // namespace weir::cli
