#pragma once
// The counters of one port, from every place that has some. No child process.
#include "counters/snapshot.h"
#include "host/kernel.h"
#include "host/linux_dcb.h"
#include "host/linux_nic.h"

namespace weir::host {

/// Every name that was there; one that could not be read is in it as missing. Where a whole place
/// was refused, the names that the catalogue expects there are missing for that reason.
[[nodiscard]] counters::PortCounters read_counters(Kernel& kernel, const RdmaPort& port,
                                                   const Answer<DcbState>& dcb);

}  // namespace weir::host
