#pragma once
// How a configuration splits and slows the cages of a box: what its ports are made of.
#include <string>
#include <vector>

#include "units/quantity.h"

namespace weir::platforms {

/// As one line of the configuration says it, or several of the same cage.
struct PortMode {
  std::string name;    // of the cage; on EOS of the port itself
  unsigned ports = 0;  // sub-ports; 0 = it is not said
  BitRate speed;       // of each; 0 = it is not said
  unsigned lanes = 0;  // of each; 0 = it is not said
  friend bool operator==(const PortMode&, const PortMode&) = default;
};

}  // namespace weir::platforms
