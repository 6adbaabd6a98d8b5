#pragma once
// Cages of a switch that the design splits, or runs below their native speed.
#include <string>
#include <vector>

#include "design/fabric/intent.h"
#include "platforms/common/port_modes.h"

namespace weir::platforms {

struct UsedCage {
  int cage = 0;  // from 1
  std::string name;
  design::CageMode mode;
  BitRate native;

  [[nodiscard]] bool is_split() const { return mode.ports > 1; }
  [[nodiscard]] bool is_slowed() const { return !is_split() && mode.speed < native; }
  [[nodiscard]] int lanes_per_port() const { return mode.lanes / mode.ports; }
};

/// In their order; only those that are not used as they come.
[[nodiscard]] std::vector<UsedCage> changed_cages(const design::SwitchIntent& node);

/// Cages next to each other that are used alike.
struct CageRun {
  UsedCage first;
  UsedCage last;
  std::vector<std::string> names;
};
[[nodiscard]] std::vector<CageRun> runs_of(const std::vector<UsedCage>& cages);

/// What the lines of a system say of the cages in use, in natural order of names. Empty on SONiC,
/// where the PORT table has speed and lanes of every port.
[[nodiscard]] std::vector<PortMode> designed_modes(const design::SwitchIntent& node,
                                                   vocab::SwitchSystem system);

/// "400g".
[[nodiscard]] std::string speed_word(BitRate speed);

/// The other end of a port: "gpu001 eth0", "spine1 swp3s1".
[[nodiscard]] std::string peer_text(const design::Intent& intent,
                                    const design::SwitchPortIntent& port);
/// The port of that name. REQUIRES: the switch has it.
[[nodiscard]] const design::SwitchPortIntent& intent_of(const design::SwitchIntent& node,
                                                        std::string_view name);

}  // namespace weir::platforms
