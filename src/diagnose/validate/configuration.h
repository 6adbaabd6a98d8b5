#pragma once
// What a switch's configuration says beside the state that it leads to: how its cages are split,
// and lines that cannot take effect.
#include "design/fabric/intent.h"
#include "finding/finding.h"
#include "platforms/common/platform.h"

namespace weir::diagnose {

/// Adds its findings to `out`, which has to be settled again. `parsed` has the switch's name of the
/// design.
void validate_configuration(const platforms::Parsed& parsed, const design::SwitchIntent& wanted,
                            finding::Judgement& out);

}  // namespace weir::diagnose
