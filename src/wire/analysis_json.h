#pragma once
// The analysis as JSON: the fields that other programs rely on, docs/wire.md lists them.
#include <cstddef>
#include <vector>

#include "base/json_fwd.h"
#include "wire/analysis.h"
#include "wire/join.h"
#include "wire/judge.h"

namespace weir::wire {

/// Flows by bytes, the largest first; equals by their key.
[[nodiscard]] std::vector<std::uint32_t> largest_flows(const Analysis& analysis);

/// packets, roce_packets, tos{}, ce_packets, cnp_packets, opcodes{}, nak{}, retransmitted, …,
/// flows[] (the `most` largest; all of them where it is 0).
[[nodiscard]] Json to_json(const Analysis& analysis, std::size_t most);
[[nodiscard]] Json to_json(const Join& join, const std::string& first, const std::string& second);
[[nodiscard]] Json to_json(const std::vector<WalkStep>& walk);

}  // namespace weir::wire
