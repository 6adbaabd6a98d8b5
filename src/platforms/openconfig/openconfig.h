#pragma once
// OpenConfig: a partial target. Its models have classifiers, queues, schedulers, marking and alpha,
// but no PFC, headroom or watchdog (openconfig/public 94f5896: none in 223 files). A switch
// configured from this alone would drop packets; every render says so in its remarks.
//
// It is not a switch system of the design: it is selected by name (`render --to openconfig`) and
// recognised in files, for switches of any system. The traffic class of a code point is its queue
// number, because OpenConfig has no traffic classes.
#include "platforms/common/platform.h"

namespace weir::platforms {

/// `system` has no meaning here.
[[nodiscard]] const Platform& openconfig();

[[nodiscard]] Lowered openconfig_lower(const design::Intent&, const design::SwitchIntent&);
[[nodiscard]] Rendered openconfig_render(const design::Intent&, const design::SwitchIntent&);
[[nodiscard]] Result<Parsed> openconfig_parse(std::string_view text, std::string_view file);

}  // namespace weir::platforms
