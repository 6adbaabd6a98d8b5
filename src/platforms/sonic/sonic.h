#pragma once
// SONiC: CONFIG_DB as JSON, which `config load` merges into that of the switch.
//
// Two buffer models. Where the switch computes headroom (NVIDIA), the file has `buffer_model:
// dynamic` and overrides headroom per port. Everywhere else it is `traditional`: headroom is looked
// up by speed and cable length in the pg_profile_lookup.ini of the switch, unless CONFIG_DB already
// has a profile of that name. The file therefore contains the profiles.
//
// Lowering: cable lengths become whole metres (dynamic) or the next row of the lookup table
// (traditional; ports of one speed and row share the largest headroom among them, so that none has
// less than designed); times become milliseconds. For the rest see lower_common.h.
#include "platforms/common/systems.h"

namespace weir::platforms {

enum class SonicModel { kTraditional, kDynamic };

[[nodiscard]] SonicModel sonic_model_of(const design::AsicModel&);

/// Alpha of the stock profiles for lossy traffic and egress queues, as powers of two
/// (sonic-buildimage 086b03b: Nokia-IXR7220-H5 for traditional, ACS-SN5600 for dynamic).
struct SonicStock {
  int ingress_lossy_alpha;
  int egress_lossy_alpha;
};
[[nodiscard]] SonicStock sonic_stock(SonicModel);

/// The rows of every published pg_profile_lookup.ini; some switches have longer ones.
[[nodiscard]] std::vector<Length> sonic_common_rows();

[[nodiscard]] Lowered sonic_lower(const design::Intent&, const design::SwitchIntent&);
[[nodiscard]] Rendered sonic_render(const design::Intent&, const design::SwitchIntent&);
[[nodiscard]] Result<Parsed> sonic_parse(std::string_view text, std::string_view file);

}  // namespace weir::platforms
