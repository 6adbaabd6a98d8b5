#pragma once
// What `weir snapshot` writes and `weir diff` reads: counters where programs look for them, facts
// beside them, of one host or of many.
//
//   captures[]{host, time, clock_ns, simulated, facts{…}}   facts: evidence without its snapshots
//   nics[]{host, device, netdev, driver, counters{…}}
//   switch_ports[]{host, device, netdev, driver, counters{…}}
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/partial_file.h"
#include "base/result.h"
#include "evidence/evidence.h"

namespace weir::ops {

/// Results of a simulation of thousands of hosts are large; what is beyond this is something else.
inline constexpr std::size_t kLargestResults = std::size_t{512} << 20U;

/// What `weir sim --json` prints and `weir sim --out` writes to sim.json.
[[nodiscard]] bool is_simulation(const Json& document);
/// Its evidence: every host, then the switches together. Errors name the JSON pointer.
[[nodiscard]] weir::Result<std::vector<evidence::Evidence>> read_simulation(const Json& document);

/// The last snapshot of each, after the members of `heading`: JSON with one record per line.
using CapturePointers = std::span<const evidence::Evidence* const>;
void write_snapshot(const Json& heading, CapturePointers captures, const PieceSink& put);

/// Reads such a file, one of evidence (`weir schema evidence`), or a bundle. Errors name the file
/// and the JSON pointer.
[[nodiscard]] weir::Result<std::vector<evidence::Evidence>> read_snapshot_file(
    const std::string& path);

/// The same for the text of a file that was read already.
[[nodiscard]] weir::Result<std::vector<evidence::Evidence>> read_snapshot_text(
    const std::string& text, const std::string& path);

/// Evidence of a text that is JSON of ours (a snapshot, evidence, a simulation) or a bundle;
/// nullopt where it is something else: plain text.
[[nodiscard]] weir::Result<std::optional<std::vector<evidence::Evidence>>> read_document(
    const std::string& text, const std::string& path);

}  // namespace weir::ops
