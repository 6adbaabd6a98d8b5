#pragma once
// OpenConfig: a partial target. Its models know classifiers, queues, schedulers, marking and alpha;
// they have no PFC, no headroom and no watchdog (openconfig/public 94f5896: none in 223 files). A
// switch that got its QoS from here alone would lose packets: every render says so in remarks.
//
// No switch system of the design: it is asked for by name (`render --to openconfig`) and recognised
// in files, for switches of any system. The traffic class of a code point is the number of its
// queue, because OpenConfig has no other.
#include "platforms/common/platform.h"

namespace weir::platforms {

/// `system` says nothing here.
[[nodiscard]] const Platform& openconfig();

[[nodiscard]] Lowered openconfig_lower(const design::Intent&, const design::SwitchIntent&);
[[nodiscard]] Rendered openconfig_render(const design::Intent&, const design::SwitchIntent&);
[[nodiscard]] Result<Parsed> openconfig_parse(std::string_view text, std::string_view file);

}  // namespace weir::platforms
