#pragma once
// The counters of one port, from every place that has some. No child process.
#include "counters/snapshot.h"
#include "host/kernel/kernel.h"
#include "host/linux/dcb.h"
#include "host/linux/nic.h"

namespace weir::host {

/// Every name that was there; one that could not be read is in it as missing. Where a whole place
/// was refused, the names that the catalogue expects there are missing for that reason.
/// `with_machine`: the counters of the machine around it too; one NIC of a host carries them.
[[nodiscard]] counters::PortCounters read_counters(Kernel& kernel, const RdmaPort& port,
                                                   const Answer<DcbState>& dcb, bool with_machine);

}  // namespace weir::host
