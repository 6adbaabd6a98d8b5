#pragma once
// SONiC: CONFIG_DB as JSON, what `config load` merges into the box's own.
//
// Two buffer models. Where the makers compute headroom on the box (NVIDIA), the file says
// `buffer_model: dynamic` and overrides headroom port by port. Everywhere else it is `traditional`:
// a port finds its headroom by speed and cable in the box's pg_profile_lookup.ini, unless a profile
// of that very name stands in CONFIG_DB already. The file therefore brings the profiles with it.
//
// lower: cable lengths become whole metres (dynamic) or the next row of the lookup table
// (traditional; ports of one speed and row share the largest headroom among them, so that none gets
// less than designed); times become milliseconds. The rest as lower_common.h says.
#include "platforms/common/systems.h"

namespace weir::platforms {

// ---- between the files of this platform
// ----------------------------------------------------------------

enum class SonicModel { kTraditional, kDynamic };

[[nodiscard]] SonicModel sonic_model_of(const design::AsicModel&);

/// Profiles of lossy traffic and egress queues that CONFIG_DB ships with, as powers of two
/// (sonic-buildimage 086b03b: Nokia-IXR7220-H5 for traditional, ACS-SN5600 for dynamic).
struct SonicStock {
  int ingress_lossy_alpha;
  int egress_lossy_alpha;
};
[[nodiscard]] SonicStock sonic_stock(SonicModel);

/// Rows that every published pg_profile_lookup.ini has; boxes add longer ones.
[[nodiscard]] std::vector<Length> sonic_common_rows();

[[nodiscard]] Lowered sonic_lower(const design::Intent&, const design::SwitchIntent&);
[[nodiscard]] Rendered sonic_render(const design::Intent&, const design::SwitchIntent&);
[[nodiscard]] Result<Parsed> sonic_parse(std::string_view text, std::string_view file);

}  // namespace weir::platforms
