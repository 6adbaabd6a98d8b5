#pragma once
// `weir show`: hosts as they are, a row a rail, on one screen. Needs no design. What looks wrong
// ends with a '!' (and is red where there are colours); what could not be read is a '?'. Hosts
// that show the same are told once.
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
