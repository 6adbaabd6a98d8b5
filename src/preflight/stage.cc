#include "preflight/stage.h"

#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"

namespace weir::preflight {
namespace {

constexpr std::array<StageRow, kStages> kRows = {{
    {StageId::kFacts, "facts", "settings of every host and switch against the design"},
    {StageId::kIdle, "idle", "counters while nothing is sent"},
    {StageId::kPath, "path", "full-size packets over every NIC's link, both ways"},
    {StageId::kLoopback, "loopback", "each host with itself, and with its GPUs"},
    {StageId::kPairs, "pairs", "2, 4, 8 … hosts in pairs: bandwidth, latency, fairness"},
    {StageId::kOverload, "overload", "many senders to one receiver: mark or pause, never drop"},
    {StageId::kCollectives, "collectives", "all-reduce, all-to-all, then with other traffic"},
    {StageId::kFailure, "failure", "the same load while a rail or a link is down"},
    {StageId::kSoak, "soak", "collectives for a long time"},
}};

}  // namespace

std::span<const StageRow> stages() {
  return kRows;
}

const StageRow& row_of(StageId id) {
  return kRows.at(number_of(id));
}

Result<StageId> parse_stage(std::string_view text) {
  std::vector<std::string> names;
  for (const StageRow& row : kRows) {
    if (text == row.name || text == std::to_string(number_of(row.id))) return row.id;
    names.emplace_back(row.name);
  }
  return invalid_error(fmt::format("no stage '{}': 0 to {}, or {}{}", text, kStages - 1,
                                   join(names, ", "), did_you_mean(std::string(text), names)));
}

}  // namespace weir::preflight
