#pragma once
// `weir show`: the settings of hosts on one screen, one row per rail. Needs no design. Values that
// look wrong end with '!' (in red on a colour terminal); '?' is a value that could not be read.
// Hosts with equal settings are shown once.
#include <span>
#include <string>
#include <vector>

#include "evidence/deviation.h"
#include "evidence/evidence.h"
#include "units/qos_code.h"

namespace weir::render {

struct ScreenHost {
  const evidence::Evidence* evidence = nullptr;
  std::vector<std::vector<evidence::Setting>> wrong;  // of each NIC; may be shorter
};

struct ScreenOptions {
  bool colour = false;
  Dscp rdma = Dscp::of(26);  // the code points whose priority is shown
  Dscp cnp = Dscp::of(48);
};

/// Every line ends with a newline. A host without RDMA devices says so.
[[nodiscard]] std::string host_screen(std::span<const ScreenHost> hosts,
                                      const ScreenOptions& options = {});

}  // namespace weir::render
