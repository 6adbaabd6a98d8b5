#pragma once
// What a change may touch on a Linux host, exactly as it was before: what a rollback puts back, the
// same day or after a crash. A text in the journal, so it must survive the process that wrote it.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "host/linux/dcb_image.h"

namespace weir::host {

/// Only the parts that the change may touch; the others are absent or empty.
struct HostMemory {
  std::string netdev;
  DcbImage dcb;
  std::vector<std::pair<std::string, std::string>> files;  // path, text; in the order to write them
  std::vector<std::pair<std::string, unsigned>> mtus;      // network devices from below to above
  std::optional<std::pair<bool, bool>> pause;              // rx, tx
  std::optional<std::pair<unsigned, unsigned>> rings;      // rx, tx
  std::vector<std::string> absent;                         // directories that were not there
  friend bool operator==(const HostMemory&, const HostMemory&) = default;
};

/// One line of JSON.
[[nodiscard]] std::string to_text(const HostMemory& memory);
/// The error names the place.
[[nodiscard]] Result<HostMemory> parse_memory(std::string_view text);

}  // namespace weir::host
