#pragma once
// A kernel from a capture: `--root DIR`. Nothing of the machine it runs on shows through.
//
//   DIR/tree.tsv             files, links and errors in one text, and/or
//   DIR/sys, DIR/proc, …     the files themselves; links stay inside DIR, and a file that holds
//                            nothing but "../…" is a link that a copy flattened
//   DIR/netlink/*.hex        recorded netlink and ioctl answers
//   DIR/ethtool/NETDEV.txt   what `ethtool -S` and `ethtool -i` printed; or SIOCETHTOOL in a .hex
//
// The forms are in kernel_capture.h. What the capture does not hold is absent: ENOENT.
#include <memory>
#include <string>

#include "base/result.h"
#include "host/kernel/kernel.h"

namespace weir::host {

[[nodiscard]] Result<std::unique_ptr<Kernel>> open_replay(const std::string& directory);

}  // namespace weir::host
