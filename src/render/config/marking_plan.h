#pragma once
// One page for the wall: who marks which traffic with which DSCP and PCP, what each switch makes of
// it, and where that is trusted. Most RoCE troubles begin where two teams believe different things
// about this page.
#include <string>

#include "design/fabric/intent.h"
#include "design/file/fabric.h"

namespace weir::render {

/// Plain text, 100 columns at most where names allow it.
[[nodiscard]] std::string marking_plan(const design::Design& design, const design::Intent& intent);

}  // namespace weir::render
