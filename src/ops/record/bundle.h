#pragma once
// This host in one text, to be looked at elsewhere.
#include <cstdint>
#include <string>
#include <vector>

#include "evidence/evidence.h"
#include "host/bundle/bundle_secrets.h"
#include "ops/source/failure.h"
#include "ops/source/hosts.h"

namespace weir::ops {

struct BundleRequest {
  std::string root = {};      // a captured machine; empty: this one
  std::uint64_t seconds = 0;  // until the counters are read a second time; 0: once
  bool keeps_names = false;   // no pseudonyms
  std::string key = {};       // the secret of the pseudonyms; may be empty
};

struct Bundled {
  std::string text;
  evidence::Evidence seen;  // what the text shows, and nothing else
  bool has_pseudonyms = false;
  std::size_t looks = 0;
  std::vector<host::Leaving> leaving;  // what the text holds, one by one
  std::vector<std::string> withheld;   // files that were left out, in part or all of it
};

[[nodiscard]] Result<Bundled> bundle(const BundleRequest& request);

/// The bundles of a fleet as files, HOST.bundle each.
struct FleetBundles {
  std::vector<std::string> written;  // hosts
  std::vector<std::string> unseen;   // "gpu03: why"
};
/// Written to `directory` as they arrive; what must not leave a host is taken out, and names and
/// addresses become pseudonyms unless `keeps_names`.
[[nodiscard]] Result<FleetBundles> bundle_fleet(const FleetSource& fleet,
                                                const std::string& directory,
                                                const BundleRequest& request);

}  // namespace weir::ops
