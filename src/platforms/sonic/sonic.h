#pragma once
// SONiC: CONFIG_DB as JSON, which `config load` merges into that of the switch.
//
// Two buffer models. Where the switch computes headroom (NVIDIA), it is `buffer_model: dynamic` and
// a lossless group has `profile: NULL`. Everywhere else it is `traditional`: the switch makes
// lossless groups itself from pfc_enable, and looks headroom up by speed and cable length in its
// pg_profile_lookup.ini. Only a headroom that the design states in bytes becomes a profile. Pools
// belong to the platform. What stock configurations have and the design must not keep is in a file
// of its own, NODE.remove.json, which is loaded first.
//
// Lowering: cable lengths become whole metres (dynamic) or the next row of the lookup table
// (traditional; ports of one speed and row share the largest headroom among them, so that none has
// less than designed); times become milliseconds. For the rest see lower_common.h.
#include "platforms/common/systems.h"

namespace weir::platforms {

enum class SonicModel { kTraditional, kDynamic };

[[nodiscard]] SonicModel sonic_model_of(const design::AsicModel&);

/// Keys of the stock BUFFER_QUEUE (and, lossless, BUFFER_PG) rows of a port: "0-2", "3-4", "5-6"
/// (buffers_config.j2 of sonic-buildimage).
struct SonicRange {
  unsigned first;
  unsigned last;
  bool lossless;
};
[[nodiscard]] std::vector<SonicRange> sonic_stock_ranges();
/// Whether the stock row of this queue does not fit these lossless queues (a mask), so that it is
/// removed and each of its queues gets a row of its own.
[[nodiscard]] bool sonic_writes_queue(std::uint8_t lossless, unsigned queue);

/// Alpha of the stock profile for lossy egress queues, as a power of two
/// (sonic-buildimage 086b03b: Nokia-IXR7220-H5 for traditional, ACS-SN5600 for dynamic).
struct SonicStock {
  int egress_lossy_alpha;
};
[[nodiscard]] SonicStock sonic_stock(SonicModel);

/// The rows of every published pg_profile_lookup.ini; some switches have longer ones.
[[nodiscard]] std::vector<Length> sonic_common_rows();

[[nodiscard]] Lowered sonic_lower(const design::Intent&, const design::SwitchIntent&);
[[nodiscard]] Rendered sonic_render(const design::Intent&, const design::SwitchIntent&);
[[nodiscard]] Result<Parsed> sonic_parse(std::string_view text, std::string_view file);

}  // namespace weir::platforms
