#pragma once
// One function a system; platform.cc makes the table of them. Not for other folders.
#include "platforms/common/platform.h"

namespace weir::platforms {

[[nodiscard]] Platform cumulus();
[[nodiscard]] Platform eos();
[[nodiscard]] Platform nxos();
[[nodiscard]] Platform junos();
[[nodiscard]] Platform sonic();

}  // namespace weir::platforms
