#pragma once
// Every rail as it is, and what of it is not as RoCEv2 fabrics usually have it. No design needed.
#include <vector>

#include "evidence/deviation.h"
#include "ops/source/hosts.h"

namespace weir::ops {

struct ShownHost {
  std::vector<std::vector<evidence::Deviation>> wrong;  // of each NIC; what was read and differs
  std::size_t unread = 0;                               // settings that could not be read
};

struct Shown {
  Observation seen;
  std::vector<ShownHost> hosts;  // one per host that was seen

  [[nodiscard]] std::size_t wrong_nics() const;
  [[nodiscard]] std::size_t unread() const;
};

[[nodiscard]] Result<Shown> show(const Source& source);

}  // namespace weir::ops
