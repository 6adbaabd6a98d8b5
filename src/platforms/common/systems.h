#pragma once
// One function per system; platform.cc makes the table of them. Private to src/platforms.
#include "platforms/common/platform.h"

namespace weir::platforms {

[[nodiscard]] Platform cumulus();
[[nodiscard]] Platform eos();
[[nodiscard]] Platform nxos();
[[nodiscard]] Platform junos();
[[nodiscard]] Platform sonic();

}  // namespace weir::platforms
