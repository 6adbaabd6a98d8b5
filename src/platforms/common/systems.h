#pragma once
// One function per system; platform.cc makes the table of them. Private to src/platforms.
#include "platforms/common/platform.h"
#include "vocab/switch_systems.h"

namespace weir::platforms {

/// The row of a system: name and title are those of vocab/switch_systems.h.
[[nodiscard]] inline Platform platform_row(Platform row) {
  row.name = vocab::names_of(row.system).name;
  row.title = vocab::names_of(row.system).title;
  return row;
}

[[nodiscard]] Platform cumulus();
[[nodiscard]] Platform eos();
[[nodiscard]] Platform nxos();
[[nodiscard]] Platform junos();
[[nodiscard]] Platform sonic();

}  // namespace weir::platforms
