#pragma once
// Which port of a switch each of its links takes, and what the system calls it.
#include <string>
#include <vector>

#include "design/file/fabric.h"
#include "design/tables/switch_models.h"

namespace weir::design {

/// A link as its switch sees it.
struct PortWish {
  BitRate speed;
  int split = 0;  // ports per cage; 0 = as many as the cage can
  bool is_up = false;
  std::string peer;  // the node at the other end
  friend bool operator==(const PortWish&, const PortWish&) = default;
};

struct PlannedPort {
  std::string name;
  CagePort place;  // cage 0: not known
};

struct PortPlan {
  std::vector<PlannedPort> ports;  // in the order of the wishes
  bool is_assumed = false;         // no model and no `ports:`; the names are a guess
  std::string fault;               // why the links do not fit, as a sentence without its subject
};

/// With names in `spec`, those. With a model, downlinks from its first cage on and uplinks on its
/// last ones; a cage is split in one way only. With neither, or where the links do not fit, ports
/// are counted through as if every cage had one.
[[nodiscard]] PortPlan plan_ports(SwitchSystem system, const SwitchModel* model,
                                  const PortSpec& spec, const std::vector<PortWish>& wishes);

}  // namespace weir::design
