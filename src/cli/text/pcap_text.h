#pragma once
// The tables of `weir pcap` for a terminal.
#include <cstddef>
#include <string>
#include <vector>

#include "cli/frame/context.h"
#include "wire/analysis.h"
#include "wire/join.h"
#include "wire/judge.h"

namespace weir::cli {

/// Totals, then the `most` largest flows (0: all).
void print_capture(const wire::Analysis& analysis, std::size_t most, Context& context);
void print_walk(const std::vector<wire::WalkStep>& walk, Context& context);
void print_join(const wire::Join& join, const std::string& first, const std::string& second,
                Context& context);
void print_capture_ways(Context& context);

}  // namespace weir::cli
