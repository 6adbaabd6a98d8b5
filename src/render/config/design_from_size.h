#pragma once
// A design to start from, for a fabric of a given size.
#include <string>

#include "base/result.h"
#include "design/file/fabric.h"
#include "units/quantity.h"

namespace weir::render {

struct FabricSize {
  design::SwitchSystem system = design::SwitchSystem::kSonic;
  std::string model;  // of leaves and spines; a row of the table
  int hosts = 0;
  int rails = 1;
  BitRate speed;  // of the NICs
};

/// The model that a system is usually run on at this speed.
[[nodiscard]] std::string usual_model(design::SwitchSystem system);

/// Leaves without oversubscription, by rail where there are several, and spines if one switch does
/// not hold all. Error where two tiers of this model are too small, or the speed is none of it.
[[nodiscard]] Result<std::string> design_from_size(const FabricSize& size);

}  // namespace weir::render
